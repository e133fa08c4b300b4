"""Scheduler of a team: the leader chooses the next phase, for all threads, from the one just finished.

root          ADD, WIDEN, SEARCH, or with many columns SEARCH
large node    MOVE, ADD, WIDEN, SEARCH, or with many columns MOVE, SEARCH; MARK if its children must be leaves
by level      large nodes one by one, others as tasks of EXPAND, and once nodes are small enough, BRANCH
by leaf       the best leaf, and at the same time the next best ones, if they are small: EXPAND
at the end    SETTLE

The tree is the same as `boosting/grower.py` makes; only the order in which nodes are numbered differs.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import inner_kernel, lean_kernel
from sapwood.kernels.branch_growth import keep_histograms, place_children
from sapwood.kernels.branching import branch_one, drop_weak, end_in_leaves, is_splittable, limit_by_root, new_node
from sapwood.kernels.entry import call_at
from sapwood.kernels.frontier import best_without_children, pop, push
from sapwood.kernels.newton import NO_GAIN
from sapwood.kernels.phases import (
    ADD,
    AHEAD,
    BEGIN,
    BRANCH,
    EXPAND,
    LEAVES,
    MARK,
    MOST_AHEAD,
    MOVE,
    SEARCH,
    SETTLE,
    WIDEN,
)
from sapwood.kernels.split_order import take_over
from sapwood.kernels.team import add, post
from sapwood.kernels.team_frame import SETTLED, records_at, take_slot
from sapwood.kernels.team_rows import count_pieces, sum_rows, thread_rows
from sapwood.kernels.team_search import n_blocks, smaller_and_larger

ONE = np.uint64(1)


@inner_kernel
def phase(team, step, n_tasks):
    """Note what all threads do next; returns the number of tasks."""
    team.step = step
    return np.int64(n_tasks)


@inner_kernel
def open_children(nodes, at, team):
    """Children worth splitting wait to be split; OUT team.open, a heap if leaves are split best first."""
    for child in (nodes[at].left, nodes[at].right):
        if nodes[child].gain > NO_GAIN:
            if team.leaf_wise:
                push(nodes, team.open, team.n_open, child)
            else:
                team.open[team.n_open] = child
            team.n_open += 1


@inner_kernel
def end_split(nodes, at, own, team):
    """Put slots that nobody needs back; by level, children worth splitting wait. OUT team.free, team.open."""
    free = team.free
    for slot in (own, nodes[at].slot):
        if slot >= 0:
            free[team.n_free] = slot
            team.n_free += 1
    nodes[at].slot = -1
    if not team.leaf_wise:
        open_children(nodes, at, team)


@inner_kernel
def begin_split(nodes, at, team, rules):
    """Split a node by all threads together: first, its rows move, or their leaves are written."""
    branch_one(nodes, at, add(team.node_count, 0, 2), team.signs, rules)
    team.child_slots[0] = take_slot(team)
    team.at = at
    return phase(team, MARK if end_in_leaves(nodes, at, rules) else MOVE, team.n_threads)


@inner_kernel
def exchange_rows(records, left, border, count):
    """Records from `left` upwards change places with those below `border`; OUT records."""
    at, other = np.uint64(left), np.uint64(border)
    for _ in range(count):
        other -= ONE
        records[at], records[other] = records[other], records[at]
        at += ONE


@inner_kernel
def join_shares(nodes, team):
    """Bring what the threads have moved together, by exchanging rows on the wrong side; OUT records.

    So far, rows on the left end at `left` and those on the right at the end of the last share. In the next share, rows
    on the left follow: as many as there are on the right so far, or all of them, change places with those.
    """
    node, counts = nodes[team.at], team.counts
    records = records_at(team, node.depth + 1)
    left = node.first + counts[0]
    for thread in range(1, team.n_threads):
        first, _ = thread_rows(node, thread, team)
        border = first + counts[thread]
        exchange_rows(records, left, border, min(first - left, counts[thread]))
        left += counts[thread]


@inner_kernel
def after_move(nodes, team, rules):
    """Rows of the node that is split together have moved; returns whether a child may be split. OUT nodes, team."""
    are_leaves = team.step == MARK
    if not are_leaves:
        join_shares(nodes, team)
    n_left = np.int64(0)
    for count in team.counts:
        n_left += count
    place_children(nodes, team.at, n_left, are_leaves)
    team.smaller, team.larger = smaller_and_larger(nodes, team.at)
    if not are_leaves and (is_splittable(nodes[team.smaller], rules) or is_splittable(nodes[team.larger], rules)):
        return True
    end_split(nodes, team.at, team.child_slots[0], team)
    return False


@inner_kernel
def after_search(nodes, team, rules):
    """Note the splits found for the root, or for the children of the node that is split together; OUT nodes, team."""
    small, large, own, found = nodes[team.smaller], nodes[team.larger], team.child_slots[0], team.found
    for i in range(n_blocks(team)):
        take_over(found[i, 0], small)
        take_over(found[i, 1], large)
    if own >= 0:
        own = keep_histograms(team, nodes[team.at], small, large, own, rules)
        end_split(nodes, team.at, own, team)
    else:
        drop_weak(large, rules)
        if large.gain > NO_GAIN:
            team.open[0] = 0
            team.n_open = 1


@inner_kernel
def weigh_root(nodes, team, rules):
    """Sums of the root, and limits that depend on them; OUT nodes, rules."""
    root, shard = nodes[0], team.shard
    start = shard.starts[shard.drawn[0]]
    if team.by_tiles:
        root.gradient, root.hessian = sum_rows(team, root)
    for thread in range(0 if team.by_tiles else team.n_threads):
        own = team.pool[thread]
        for cell in range(start, start + shard.n_codes[shard.drawn[0]] + 1):
            root.gradient += own[cell, 0]
            root.hessian += own[cell, 1]
    limit_by_root(root, rules)


@inner_kernel
def next_by_level(nodes, team, rules):
    """Large nodes are split together, others each by one thread; when they are small, branches are grown below them."""
    waiting, branches, ids, child_slots = team.open, team.branches, team.ids, team.child_slots
    team.n_ids = 0
    while team.n_open > 0:
        team.n_open -= 1
        at = waiting[team.n_open]
        has_room = team.n_branches + team.n_open + 2 * team.n_ids + 2 <= team.most_branches
        if nodes[at].n_rows > team.large and has_room:
            if team.n_ids == 0:
                return begin_split(nodes, at, team, rules)
            waiting[team.n_open] = at
            team.n_open += 1
            break
        if nodes[at].n_rows > team.share and has_room:
            branch_one(nodes, at, add(team.node_count, 0, 2), team.signs, rules)
            ids[team.n_ids], child_slots[team.n_ids] = at, take_slot(team)
            team.n_ids += 1
            continue
        place = team.n_branches
        while place > 0 and nodes[branches[place - 1]].n_rows < nodes[at].n_rows:
            branches[place] = branches[place - 1]
            place -= 1
        branches[place] = at
        team.n_branches += 1
    if team.n_ids > 0:
        return phase(team, EXPAND, team.n_ids)
    return phase(team, BRANCH, team.n_branches)


@inner_kernel
def next_by_leaf(nodes, splits, team, rules):
    """The best leaf is split; what the children of the next best ones offer is found out at the same time."""
    while team.n_open > 0 and team.n_leaves < team.max_leaves:
        if nodes[team.open[0]].left < 0:
            return expand_best(nodes, team, rules)
        at = pop(nodes, team.open, team.n_open)
        team.n_open -= 1
        splits[at] = True
        team.n_leaves += 1
        open_children(nodes, at, team)
    return settle_leaves(nodes, splits, team)


@inner_kernel
def expand_best(nodes, team, rules):
    """The best leaves without children get some: a large one from all threads together, others each from one."""
    unused = (team.node_count[0] + 1) // 2 - team.n_leaves  # so far
    wanted = AHEAD if team.n_threads > 1 and unused + AHEAD <= MOST_AHEAD else 1
    ids, most = team.ids, min(wanted, team.max_leaves - team.n_leaves)
    n_best = best_without_children(nodes, team.open, team.n_open, most, ids)
    if nodes[ids[0]].n_rows > team.large:
        return begin_split(nodes, ids[0], team, rules)
    team.n_ids = 0
    while team.n_ids < n_best and nodes[ids[team.n_ids]].n_rows <= team.large:
        branch_one(nodes, ids[team.n_ids], add(team.node_count, 0, 2), team.signs, rules)
        team.child_slots[team.n_ids] = take_slot(team)
        team.n_ids += 1
    return phase(team, EXPAND, team.n_ids)


@inner_kernel
def settle_leaves(nodes, splits, team):
    """Growth is over: write the leaf of each row that has none yet; OUT nodes."""
    n_nodes, ids = team.node_count[0], team.ids
    team.n_ids = 0
    for at in range(n_nodes):  # children come after their parents
        node = nodes[at]
        if not team.leaf_wise:
            splits[at] = node.left >= 0
        if splits[at]:
            continue
        if node.left >= 0:  # looked into, but not chosen
            nodes[node.left].slot = nodes[node.right].slot = SETTLED
            node.left, node.right = -1, -1
        if node.slot != SETTLED:
            ids[team.n_ids] = at
            team.n_ids += 1
    return phase(team, SETTLE, (team.n_ids + LEAVES - 1) // LEAVES)


@inner_kernel
def begin_tree(nodes, key, n_rows, own_slots, stack_slots, team):
    """Before the first phase: the root has all rows, and all slots are free; OUT nodes, team."""
    new_node(nodes, 0, 0, key, 0, 0, -np.inf, np.inf)
    root = nodes[0]
    root.n_rows, root.first, root.slot = n_rows, 0, own_slots[0]
    team.at, team.smaller, team.larger, team.child_slots[0] = 0, 0, 0, -1
    team.node_count[0] = 1
    free = team.free
    for i in range(1, len(own_slots)):
        free[i - 1] = own_slots[i]
    team.n_free, team.n_ids, team.n_branches, team.n_open, team.n_leaves = len(own_slots) - 1, 0, 0, 0, 1
    team.step = BEGIN
    for thread in range(team.n_threads):
        stack, n = team.threads[thread].stack, stack_slots.shape[1]
        stack[0] = n
        for i in range(n):
            stack[i + 1] = stack_slots[thread, i]


@inner_kernel
def next_phase(nodes, splits, team, rules):
    """Choose what is done after the phase that was just done; returns the number of tasks, -1 at the end; OUT nodes."""
    step = team.step
    if step == ADD:
        return phase(team, WIDEN, team.n_threads)
    if step == WIDEN:
        if nodes[0].left < 0:
            weigh_root(nodes, team, rules)
        return phase(team, SEARCH, n_blocks(team))
    if step == BEGIN or (step in (MOVE, MARK) and after_move(nodes, team, rules)):
        if step == BEGIN and team.by_tiles:
            weigh_root(nodes, team, rules)
        if step != MARK and team.by_tiles:
            return phase(team, SEARCH, n_blocks(team))
        return phase(team, ADD, count_pieces(nodes[team.smaller], team))
    if step == BRANCH:
        return settle_leaves(nodes, splits, team)
    if step == SETTLE:
        return np.int64(-1)
    if step == SEARCH:
        after_search(nodes, team, rules)
    elif step == EXPAND:
        for task in range(team.n_ids):
            end_split(nodes, team.ids[task], team.child_slots[task], team)
    return next_by_leaf(nodes, splits, team, rules) if team.leaf_wise else next_by_level(nodes, team, rules)


@lean_kernel
def lead(nodes, splits, key, n_rows, own_slots, stack_slots, team, rules):
    """Grow a tree, phase by phase; `key` and `n_rows` are those of its root, slots those of the leader and of threads.

    The other threads stay for the next tree until somebody calls `end`. OUT nodes, splits (nodes that are split), and
    the leaf of every row in the shard's frame.
    """
    begin_tree(nodes, key, n_rows, own_slots, stack_slots, team)
    n_tasks = next_phase(nodes, splits, team, rules)
    while n_tasks >= 0:
        post(team.board, n_tasks)
        call_at(team.work, (np.int64(0), n_tasks, nodes, team, rules))
        n_tasks = next_phase(nodes, splits, team, rules)

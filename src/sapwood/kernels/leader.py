"""Scheduler of a team: the leader chooses the next phase, for all threads, from the one just finished.

root          ADD, WIDEN, SEARCH
large node    MOVE, ADD, WIDEN, SEARCH, or with many columns MOVE, TILES; MARK if its children must be leaves
by level      large nodes one by one, others as tasks of EXPAND, and once nodes are small enough, BRANCH
by leaf       the best leaf, and at the same time the next best ones, if they are small: EXPAND
at the end    SETTLE
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.branch_growth import new_children, place_children
from sapwood.kernels.branching import drop_weak, end_in_leaves, is_splittable, limit_by_root, new_node
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
    SETTLED,
    TILES,
    UNKNOWN,
    WIDEN,
)
from sapwood.kernels.split_order import take_over
from sapwood.kernels.team_frame import records_at, take_slot
from sapwood.kernels.team_rows import count_pieces, thread_rows
from sapwood.kernels.team_search import n_blocks, n_tiles, smaller_and_larger

ONE = np.uint64(1)


@lean_kernel
def phase(team, kind, at, n_tasks):
    """Note what is being done; returns topic and number of tasks."""
    team.step = kind
    return at << 4 | kind, np.int64(n_tasks)


@lean_kernel
def give_back(nodes, at, own, team):
    """Put slots that nobody needs back; OUT team.free."""
    free = team.free
    for slot in (own, nodes[at].slot):
        if slot >= 0:
            free[team.n_free] = slot
            team.n_free += 1
    nodes[at].slot = -1


@lean_kernel
def open_children(nodes, at, team):
    """Children worth splitting wait to be split; OUT team.open, a heap if leaves are split best first."""
    for child in (nodes[at].left, nodes[at].right):
        if nodes[child].gain > NO_GAIN:
            if team.leaf_wise:
                push(nodes, team.open, team.n_open, child)
            else:
                team.open[team.n_open] = child
            team.n_open += 1


@lean_kernel
def begin_split(nodes, at, team, rules):
    """Split a node by all threads together: first, its rows move, or learn their leaves."""
    new_children(nodes, at, team, rules)
    team.child_slots[0] = take_slot(team)
    team.at = at
    return phase(team, MARK if end_in_leaves(nodes, at, rules) else MOVE, at, team.n_threads)


@lean_kernel
def count_left(nodes, team):
    """How many rows of the node that is being split together go left; OUT nodes: where its children's records are."""
    n_left = np.int64(0)
    for count in team.counts:
        n_left += count
    place_children(nodes, team.at, n_left)


@lean_kernel
def exchange_rows(records, left, border, count):
    """Records from `left` upwards change places with those below `border`; OUT records."""
    at, other = np.uint64(left), np.uint64(border)
    for _ in range(count):
        other -= ONE
        records[at], records[other] = records[other], records[at]
        at += ONE


@lean_kernel
def join_shares(nodes, team):
    """Bring what the threads have moved together, by exchanging rows on the wrong side; OUT records, nodes.

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
    count_left(nodes, team)


@lean_kernel
def after_search(nodes, n_parts, team, rules):
    """Note the splits found for the children of the node that is being split together; OUT nodes."""
    node, own, found = nodes[team.at], team.child_slots[0], team.found
    s, l = smaller_and_larger(nodes, team.at)  # noqa: E741
    small, large = nodes[s], nodes[l]
    for i in range(n_parts):
        take_over(found[i, 0], small)
        take_over(found[i, 1], large)
    drop_weak(small, rules)
    drop_weak(large, rules)
    if small.gain > NO_GAIN:
        small.slot, own = own, np.int64(-1)
    if large.gain > NO_GAIN:
        large.slot, node.slot = node.slot, np.int64(-1)
    give_back(nodes, team.at, own, team)


@lean_kernel
def weigh_root(nodes, team, rules):
    """Sums of the root, and limits that depend on them; OUT nodes, rules."""
    root = nodes[0]
    for thread in range(team.n_threads):
        own = team.pool[thread]
        for code in range(team.shard.n_codes[0] + 1):
            root.gradient += own[code, 0]
            root.hessian += own[code, 1]
    limit_by_root(root, rules)


@lean_kernel
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
            new_children(nodes, at, team, rules)
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
        return phase(team, EXPAND, np.int64(0), team.n_ids)
    return phase(team, BRANCH, np.int64(0), team.n_branches)


@lean_kernel
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


@lean_kernel
def expand_best(nodes, team, rules):
    """The best leaves without children get some: a large one from all threads together, others each from one."""
    in_vain = (team.node_count[0] + 1) // 2 - team.n_leaves  # so far
    wanted = AHEAD if team.n_threads > 1 and in_vain + AHEAD <= MOST_AHEAD else 1
    ids, most = team.ids, min(wanted, team.max_leaves - team.n_leaves)
    n_best = best_without_children(nodes, team.open, team.n_open, most, ids)
    if nodes[ids[0]].n_rows > team.large:
        return begin_split(nodes, ids[0], team, rules)
    team.n_ids = 0
    while team.n_ids < n_best and nodes[ids[team.n_ids]].n_rows <= team.large:
        new_children(nodes, ids[team.n_ids], team, rules)
        team.child_slots[team.n_ids] = take_slot(team)
        team.n_ids += 1
    return phase(team, EXPAND, np.int64(0), team.n_ids)


@lean_kernel
def settle_leaves(nodes, splits, team):
    """Growth is over: tell rows their leaves, as far as they do not know them; OUT nodes."""
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
    return phase(team, SETTLE, np.int64(0), (team.n_ids + LEAVES - 1) // LEAVES)


@lean_kernel
def begin_tree(nodes, key, n_rows, own_slots, stack_slots, team):
    """Before the first phase: the root has all rows, and all slots are free; OUT nodes, team."""
    new_node(nodes, 0, 0, key, 0, 0, -np.inf, np.inf)
    root = nodes[0]
    root.n_rows, root.first, root.slot, root.feature = n_rows, 0, own_slots[0], UNKNOWN
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


@lean_kernel
def next_phase(nodes, splits, team, rules):
    """What is done after the phase that was just done: topic and number of tasks, negative at the end; OUT nodes."""
    step, root = team.step, nodes[0]
    if step == BEGIN:
        return phase(team, ADD, np.int64(0), count_pieces(root, team))
    if root.feature == UNKNOWN:  # the root was summed up, or searched
        if step == ADD:
            return phase(team, WIDEN, np.int64(0), team.n_threads)
        if step == WIDEN:
            weigh_root(nodes, team, rules)
            return phase(team, SEARCH, np.int64(0), n_blocks(team))
        root.feature = -1
        for block in range(n_blocks(team)):
            take_over(team.found[block, 1], root)
        drop_weak(root, rules)
        if root.gain > NO_GAIN:
            team.open[0] = 0
            team.n_open = 1
    elif step == MOVE:
        join_shares(nodes, team)
        s, l = smaller_and_larger(nodes, team.at)  # noqa: E741
        if is_splittable(nodes[s], rules) or is_splittable(nodes[l], rules):
            if team.by_tiles:
                return phase(team, TILES, team.at, n_tiles(team))
            return phase(team, ADD, s, count_pieces(nodes[s], team))
        give_back(nodes, team.at, team.child_slots[0], team)
    elif step == ADD:
        return phase(team, WIDEN, team.at, team.n_threads)
    elif step == WIDEN:
        return phase(team, SEARCH, team.at, n_blocks(team))
    elif step == SEARCH:
        after_search(nodes, n_blocks(team), team, rules)
    elif step == TILES:
        after_search(nodes, n_tiles(team), team, rules)
    elif step == MARK:
        count_left(nodes, team)
        nodes[nodes[team.at].left].slot = nodes[nodes[team.at].right].slot = SETTLED
        give_back(nodes, team.at, team.child_slots[0], team)
    elif step == EXPAND:
        ids, child_slots = team.ids, team.child_slots
        for task in range(team.n_ids):
            give_back(nodes, ids[task], child_slots[task], team)
            if not team.leaf_wise:
                open_children(nodes, ids[task], team)
    elif step == BRANCH:
        return settle_leaves(nodes, splits, team)
    elif step == SETTLE:
        return np.int64(0), np.int64(-1)
    if team.leaf_wise:
        return next_by_leaf(nodes, splits, team, rules)
    if step in (MOVE, SEARCH, TILES, MARK) and root.left >= 0:
        open_children(nodes, team.at, team)
    return next_by_level(nodes, team, rules)

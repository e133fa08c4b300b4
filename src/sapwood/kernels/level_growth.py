"""Growth of a symmetric tree by one thread: what `Grower` does step by step, with the same bits."""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import inner_kernel, lean_kernel
from sapwood.kernels.branch_growth import place_children
from sapwood.kernels.branching import branch_one, is_splittable, limit_by_root
from sapwood.kernels.histogram import subtract
from sapwood.kernels.leader import begin_tree
from sapwood.kernels.level_scan import begin_level, give_split, scan_level
from sapwood.kernels.newton import NO_GAIN
from sapwood.kernels.scan import Columns
from sapwood.kernels.team import add
from sapwood.kernels.team_frame import take_slot
from sapwood.kernels.team_rows import part_rows, settle_node
from sapwood.kernels.team_search import smaller_and_larger, sum_columns

ALONE = np.int64(0)  # the number of the only thread


@inner_kernel
def open_root(nodes, team, rules):
    """Histogram and sums of the root, and limits that depend on them; OUT nodes, rules."""
    root, shard = nodes[0], team.shard
    sum_columns(team, root, root.slot, 0, shard.n_used[0], ALONE)
    first = shard.drawn[0]
    for cell in range(shard.starts[first], shard.starts[first] + shard.n_codes[first] + 1):
        root.gradient += team.pool[root.slot, cell, 0]
        root.hessian += team.pool[root.slot, cell, 1]
    limit_by_root(root, rules)


@inner_kernel
def part_histogram(node, small, large, team):
    """Sum up the smaller child; the parent's histogram becomes the larger child's. OUT slots of the nodes."""
    shard, pool, own = team.shard, team.pool, take_slot(team)
    sum_columns(team, small, own, 0, shard.n_used[0], ALONE)
    whole_hist, own_hist = pool[node.slot], pool[own]
    for place in range(shard.n_used[0]):
        f = shard.drawn[place]
        subtract(own_hist, shard.starts[f], shard.starts[f] + shard.n_codes[f] + 1, whole_hist)
    large.slot, small.slot, node.slot = node.slot, own, np.int64(-1)


@inner_kernel
def give_back(node, team):
    """A node's histogram is of no more use; OUT team.free, node."""
    if node.slot >= 0:
        team.free[team.n_free] = node.slot
        team.n_free += 1
        node.slot = -1


@inner_kernel
def split_node(nodes, at, team, rules):
    """Make the children of a node, with their rows and, where they may be split, their histograms; OUT nodes."""
    branch_one(nodes, at, add(team.node_count, 0, 2), team.signs, rules)
    node = nodes[at]
    n_left = part_rows(team, node, node.first, node.first + node.n_rows, False, ALONE)
    place_children(nodes, at, n_left, False)
    s, l = smaller_and_larger(nodes, at)  # noqa: E741
    small, large = nodes[s], nodes[l]
    if is_splittable(small, rules) or is_splittable(large, rules):
        part_histogram(node, small, large, team)
        for child in (s, l):
            if not is_splittable(nodes[child], rules):
                give_back(nodes[child], team)
    give_back(node, team)


@inner_kernel
def split_level(nodes, ids, depth, team, columns, rules):
    """Find the split of a level and give it to its nodes; OUT team.takes: which gain by it; returns how many."""
    level, shard, pool = team.level_node[0], team.shard, team.pool
    begin_level(ids, depth, rules, nodes, level)
    scan_level(pool, ids, shard.drawn[: shard.n_used[0]], columns, rules, team.level, nodes, level)
    if level.gain == NO_GAIN:
        return 0
    give_split(pool, ids, columns, rules, team.level, nodes, level, team.takes)
    count = 0
    for k in range(len(ids)):
        count += np.int64(team.takes[k])
    return count


@inner_kernel
def next_level(nodes, n_ids, first_new, team, rules):
    """Nodes that were not split, then children that may be split; OUT team.ids; returns how many."""
    n_next, ids = 0, team.ids
    for k in range(n_ids):
        if not team.takes[k]:
            ids[n_next] = ids[k]
            n_next += 1
    for at in range(first_new, team.node_count[0]):
        if is_splittable(nodes[at], rules):
            ids[n_next] = at
            n_next += 1
    return n_next


@lean_kernel
def grow_by_level(nodes, splits, key, n_rows, own_slots, stack_slots, team, rules):
    """Grow a tree of shared splits, as `lead` grows others; OUT nodes, splits, and the leaf of every row."""
    begin_tree(nodes, key, n_rows, own_slots, stack_slots, team)
    open_root(nodes, team, rules)
    columns = Columns(team.shard.starts, team.shard.n_codes, team.shard.is_category, team.signs)
    ids, n_leaves, depth = team.ids, 1, 0
    ids[0] = 0
    n_ids = np.int64(is_splittable(nodes[0], rules))
    while n_ids > 0 and depth < rules.max_depth:
        count = split_level(nodes, ids[:n_ids], depth, team, columns, rules)
        if count == 0 or n_leaves + count > team.max_leaves:
            break
        first_new = team.node_count[0]
        for k in range(n_ids):
            if team.takes[k]:
                splits[ids[k]] = True
                split_node(nodes, ids[k], team, rules)
        n_ids, n_leaves, depth = next_level(nodes, n_ids, first_new, team, rules), n_leaves + count, depth + 1
    for at in range(team.node_count[0]):
        if not splits[at]:
            settle_node(team, nodes[at], at)

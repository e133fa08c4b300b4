"""Growth by one thread: a node is split and its children are searched, or all that is below a node is grown."""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import inner_kernel, part
from sapwood.kernels.branching import branch_one, drop_weak, end_in_leaves, is_splittable
from sapwood.kernels.newton import NO_GAIN
from sapwood.kernels.small_nodes import remove_rows
from sapwood.kernels.split_order import begin_search
from sapwood.kernels.team import add
from sapwood.kernels.team_frame import SETTLED
from sapwood.kernels.team_rows import gather_rows, part_rows
from sapwood.kernels.team_search import part_and_search, search_rows, smaller_and_larger, sum_and_search
from sapwood.kernels.tiles import keeps_histogram


@inner_kernel
def place_children(nodes, at, n_left, are_leaves):
    """Where the records of a node's children are; rows of leaves have their leaf written already. OUT nodes."""
    node = nodes[at]
    left, right = nodes[node.left], nodes[node.right]
    left.first, left.n_rows = node.first, n_left
    right.first, right.n_rows = node.first + n_left, node.n_rows - n_left
    if are_leaves:
        left.slot = right.slot = SETTLED


@inner_kernel
def keep_histograms(team, node, small, large, own, rules):
    """Children that will be split keep their histograms if those of their children will be made from them; OUT nodes.

    The node's slot becomes the larger child's and `own` the smaller one's; returns `own` if it is not used.
    """
    drop_weak(small, rules)
    drop_weak(large, rules)
    if large.gain > NO_GAIN and keeps_histogram(team, large, rules):
        large.slot, node.slot = node.slot, np.int64(-1)
    if small.gain > NO_GAIN and keeps_histogram(team, small, rules):
        small.slot = own
        return np.int64(-1)
    return own


@inner_kernel
def expand_alone(nodes, at, own, team, rules, me):
    """Split the rows of a node and search its children, by one thread; OUT nodes; returns `own` if it is not used."""
    node, are_leaves = nodes[at], end_in_leaves(nodes, at, rules)
    n_left = part_rows(team, node, node.first, node.first + node.n_rows, are_leaves, me)
    place_children(nodes, at, n_left, are_leaves)
    if are_leaves:
        return own
    s, l = smaller_and_larger(nodes, at)  # noqa: E741
    small, large = nodes[s], nodes[l]
    search_small, search_large = is_splittable(small, rules), is_splittable(large, rules)
    if not (search_small or search_large):
        return own
    begin_search(small, rules)
    begin_search(large, rules)
    are_direct = large.n_rows <= team.direct
    if are_direct:
        if search_large:
            search_rows(team, large, rules, me)
    elif small.n_rows <= team.small:
        thread = team.threads[me]
        gather_rows(team, small, thread)
        remove_rows(thread.rows, thread.values, small.n_rows, team.shard, team.by_tiles, team.pool[node.slot])
        part_and_search(team, node.slot, np.int64(-1), 0, team.shard.n_used[0], small, large, rules, me)
    else:
        sum_and_search(team, node.slot, own, small, large, rules, me)
    if search_small and (are_direct or small.n_rows <= team.small):
        search_rows(team, small, rules, me)
    return keep_histograms(team, node, small, large, own, rules)


@part
def grow_branch(nodes, top, team, rules, me):
    """Grow all that is below a node; the smaller child first, so that few slots are enough; OUT nodes."""
    thread = team.threads[me]
    free, waiting = thread.stack, thread.waiting
    n_free, n_open = free[0], 1
    waiting[0] = top
    while n_open > 0:
        n_open -= 1
        at = waiting[n_open]
        branch_one(nodes, at, add(team.node_count, 0, 2), team.signs, rules)
        if expand_alone(nodes, at, free[n_free], team, rules, me) < 0:
            n_free -= 1
        if nodes[at].slot >= 0:
            n_free += 1
            free[n_free] = nodes[at].slot
            nodes[at].slot = -1
        s, l = smaller_and_larger(nodes, at)  # noqa: E741
        for child in (l, s):
            if nodes[child].gain > NO_GAIN:
                waiting[n_open] = child
                n_open += 1
    free[0] = n_free

"""Search by a team: best splits of the children of a node, from histograms or from rows, for some columns or all."""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import inner_kernel, lean_kernel, part
from sapwood.kernels.branching import is_splittable
from sapwood.kernels.histogram import COLUMNS, add_rows, clear, subtract
from sapwood.kernels.newton import score_of
from sapwood.kernels.scan import scan_column
from sapwood.kernels.small_nodes import clear_codes, codes_of, count_rows
from sapwood.kernels.split_order import begin_search
from sapwood.kernels.team_frame import records_at
from sapwood.kernels.team_rows import add_up, gather_rows
from sapwood.kernels.tiles import WIDTH, search_tiles

BLOCK = 8  # columns that a thread searches at a time


@inner_kernel
def smaller_and_larger(nodes, at):
    """The children of a node by their rows."""
    left, right = nodes[at].left, nodes[at].right
    return (left, right) if nodes[left].n_rows <= nodes[right].n_rows else (right, left)


@inner_kernel
def copy_node(source, rules, target):
    """What a search needs to know of a node; OUT target."""
    target.depth, target.first, target.n_rows, target.key = source.depth, source.first, source.n_rows, source.key
    target.gradient, target.hessian = source.gradient, source.hessian
    target.lower, target.upper = source.lower, source.upper
    begin_search(target, rules)


@inner_kernel
def block_columns(team):
    """Columns that a thread searches at a time: if it sums them up, too, a tile."""
    return np.int64(WIDTH) if team.by_tiles else np.int64(BLOCK)


@lean_kernel
def n_blocks(team):
    """Blocks of the tree's columns."""
    return (team.shard.n_used[0] + block_columns(team) - 1) // block_columns(team)


@inner_kernel
def part_and_search(team, whole, own, first, last, small, large, rules, me):
    """Column by column, the parent's histogram becomes the larger child's, and both are searched; OUT whole, children.

    The columns are the first to the last of those that the tree may use. Without `own`, the whole belongs to the larger
    child.
    """
    lanes, shard, pool = team.threads[me].lanes, team.shard, team.pool
    drawn, starts, n_codes = shard.drawn, shard.starts, shard.n_codes
    small_score, large_score = score_of(small, rules), score_of(large, rules)
    search_small, search_large = own >= 0 and is_splittable(small, rules), is_splittable(large, rules)
    whole_hist, own_hist = pool[whole], pool[max(own, 0)]
    for place in range(first, last):
        f = drawn[place]
        start, stop = starts[f], starts[f + 1]
        is_category, sign = shard.is_category[f], team.signs[f]
        if own >= 0:
            subtract(own_hist, start, start + n_codes[f] + 1, whole_hist)
        if search_small:
            hist = own_hist[start:stop]
            scan_column(hist, lanes.codes, n_codes[f], is_category, rules, sign, small_score, f, lanes, small)
        if search_large:
            hist = whole_hist[start:stop]
            scan_column(hist, lanes.codes, n_codes[f], is_category, rules, sign, large_score, f, lanes, large)


@inner_kernel
def sum_columns(team, node, slot, first, last, me):
    """Histogram of a node for some of the tree's columns; OUT the slot."""
    out = team.pool[slot]
    clear(team.shard, first, last, out)
    add_rows(records_at(team, node.depth), node.first, node.first + node.n_rows, team.shard, me, first, last, out)


@part
def sum_and_search(team, whole, own, small, large, rules, me):
    """Sum up the smaller child and search both, tile by tile of the columns while it is in the cache; OUT children."""
    n_columns = team.shard.n_used[0]
    if team.by_tiles:
        search_tiles(team, whole, own, 0, n_columns, small, large, rules, me)
        return
    step = n_columns if team.shard.n_tables > 0 else np.int64(COLUMNS)
    for first in range(0, n_columns, step):
        last = min(first + step, n_columns)
        sum_columns(team, small, own, first, last, me)
        part_and_search(team, whole, own, first, last, small, large, rules, me)


@inner_kernel
def search_rows(team, node, rules, me):
    """Best split of a small node from its rows; OUT node. The thread's histogram is zero before and after."""
    thread, shard = team.threads[me], team.shard
    if node.n_rows > team.small:
        begin_search(node, rules)
        search_tiles(team, np.int64(-1), np.int64(-1), 0, shard.n_used[0], node, node, rules, me)
        return
    hist, codes, lanes = thread.hist, thread.codes, thread.lanes
    gather_rows(team, node, thread)
    parent = begin_search(node, rules)
    for place in range(shard.n_used[0]):
        f = shard.drawn[place]
        column = codes_of(shard, f, team.by_tiles)
        count = count_rows(thread.rows, thread.values, node.n_rows, column, thread.present, hist, codes)
        is_category, sign = shard.is_category[f], team.signs[f]
        scan_column(hist, codes, count, is_category, rules, sign, parent, f, lanes, node)
        clear_codes(codes, count, hist)


@part
def search_block(nodes, block, team, rules, me):
    """Sum up a block of columns of the smaller child, and search both; or of the root; OUT team.found, pool."""
    first = block * block_columns(team)
    last = min(first + block_columns(team), team.shard.n_used[0])
    whole, own = nodes[team.at].slot, team.child_slots[0]
    small, large = team.found[block, 0], team.found[block, 1]
    copy_node(nodes[team.smaller], rules, small)
    copy_node(nodes[team.larger], rules, large)
    if not team.by_tiles:
        add_up(team, own if own >= 0 else whole, first, last)
        part_and_search(team, whole, own, first, last, small, large, rules, me)
    elif own >= 0:
        search_tiles(team, whole, own, first, last, small, large, rules, me)
    else:
        search_tiles(team, own, whole, first, last, small, large, rules, me)

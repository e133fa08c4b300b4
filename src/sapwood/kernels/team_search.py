"""Search by a team: best splits of the children of a node, from histograms or from rows, for some columns or all."""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import lean_kernel, part
from sapwood.kernels.branching import is_splittable
from sapwood.kernels.histogram import TILE, add_tile, clear
from sapwood.kernels.newton import score_of
from sapwood.kernels.phases import BLOCK
from sapwood.kernels.scan import scan_column, scan_levels
from sapwood.kernels.shard_frame import codes_of
from sapwood.kernels.small_nodes import clear_present, count_rows, list_present
from sapwood.kernels.split_order import begin_search
from sapwood.kernels.team_frame import records_at
from sapwood.kernels.team_rows import add_up, gather_rows, sum_rows

COLUMNS = 8 * int(TILE)  # of a tile


@lean_kernel
def smaller_and_larger(nodes, at):
    """The children of a node by their rows."""
    left, right = nodes[at].left, nodes[at].right
    return (left, right) if nodes[left].n_rows <= nodes[right].n_rows else (right, left)


@lean_kernel
def copy_node(source, rules, target):
    """What a search needs to know of a node; OUT target."""
    target.depth, target.first, target.n_rows = source.depth, source.first, source.n_rows
    target.gradient, target.hessian = source.gradient, source.hessian
    target.lower, target.upper = source.lower, source.upper
    begin_search(target, rules)


@lean_kernel
def n_blocks(team):
    """Blocks of columns."""
    return (team.n_columns + BLOCK - 1) // BLOCK


@lean_kernel
def n_tiles(team):
    """Tiles of columns."""
    return (team.n_columns + COLUMNS - 1) // COLUMNS


@lean_kernel
def scan_one(team, hists, f, parent, rules, lanes, node):
    """Best split of a node on column f, if it is better than what the node has; OUT node."""
    hist, n_codes = hists[256 * f : 256 * f + 256], team.shard.n_codes[f]
    if team.shard.is_category[f]:
        scan_levels(hist, n_codes, rules, parent, f, lanes, node)
    else:
        scan_column(hist, lanes.codes, n_codes, rules, team.signs[f], parent, f, lanes, node)


@lean_kernel
def part_and_search(team, whole, own, first, last, small, large, rules, me):
    """Column by column, the parent's histogram becomes the larger child's, and both are searched; OUT whole, children.

    Without `own`, the whole belongs to the larger one.
    """
    lanes, mask, n_codes, pool = team.threads[me].lanes, team.mask, team.shard.n_codes, team.pool
    small_score, large_score = score_of(small, rules), score_of(large, rules)
    search_small, search_large = own >= 0 and is_splittable(small, rules), is_splittable(large, rules)
    whole_hist, own_hist = pool[whole], pool[max(own, 0)]
    for f in range(first, last):
        if mask[f]:
            if own >= 0:
                for i in range(256 * f, 256 * f + n_codes[f] + 1):
                    for d in range(whole_hist.shape[1]):
                        whole_hist[i, d] -= own_hist[i, d]
            if search_small:
                scan_one(team, own_hist, f, small_score, rules, lanes, small)
            if search_large:
                scan_one(team, whole_hist, f, large_score, rules, lanes, large)


@lean_kernel
def sum_and_search_tile(team, whole, own, small, large, tile, rules, me):
    """The same for one tile; OUT children."""
    shard, records, out = team.shard, records_at(team, small.depth), team.pool[own]
    codes, packed = codes_of(shard), shard.packed[me]
    first, last = small.first, small.first + small.n_rows
    start, stop, words = COLUMNS * tile, min(COLUMNS * tile + COLUMNS, team.n_columns), np.uint64(tile) * TILE
    clear(codes, start, stop, out)
    if shard.is_packed:
        add_tile(records, first, last, codes, words, shard.block_rows, None, packed, out)
    else:
        add_tile(records, first, last, codes, words, shard.block_rows, shard.quantized, packed, out)
    part_and_search(team, whole, own, start, stop, small, large, rules, me)


@part
def sum_and_search(team, whole, own, small, large, rules, me):
    """Sum up the smaller child and search both, tile by tile of the columns while it is in the cache; OUT children."""
    if team.shard.n_meanings > 0:
        clear(codes_of(team.shard), 0, team.n_columns, team.pool[own])
        sum_rows(team, small, small.first, small.first + small.n_rows, me, team.pool[own])
        part_and_search(team, whole, own, 0, team.n_columns, small, large, rules, me)
    else:
        for tile in range(n_tiles(team)):
            sum_and_search_tile(team, whole, own, small, large, tile, rules, me)


@lean_kernel
def search_rows(team, node, rules, me):
    """Best split of a small node from its rows; OUT node. The thread's histogram is zero before and after."""
    thread, shard, mask = team.threads[me], team.shard, team.mask
    hist, codes, present, lanes = thread.hist, thread.codes, thread.present, thread.lanes
    gather_rows(team, node, thread)
    parent = begin_search(node, rules)
    for f in range(team.n_columns):
        if mask[f]:
            count_rows(thread.rows, thread.values, node.n_rows, shard.columns[f], present, hist)
            if shard.is_category[f]:
                scan_levels(hist, shard.n_codes[f], rules, parent, f, lanes, node)
            else:
                n_present = list_present(present, hist, codes)
                scan_column(hist, codes, n_present, rules, team.signs[f], parent, f, lanes, node)
            clear_present(present, hist)


@part
def copies(nodes, at, block, team, rules):
    """Copies of a node's children, the smaller one first, or of the root, for the search of some columns; OUT team."""
    is_root = nodes[at].left < 0
    s, l = (at, at) if is_root else smaller_and_larger(nodes, at)  # noqa: E741
    small, large = team.found[block, 0], team.found[block, 1]
    copy_node(nodes[s], rules, small)
    copy_node(nodes[l], rules, large)
    return small, large


@part
def search_block(nodes, at, task, team, rules, me):
    """Sum up a block of columns, and search both children, or the root; OUT team.found, pool."""
    first, last = task * BLOCK, min(task * BLOCK + BLOCK, team.n_columns)
    node, own = nodes[at], team.child_slots[0]
    is_root = node.left < 0
    add_up(team, node.slot if is_root else own, first, last)
    small, large = copies(nodes, at, task, team, rules)
    part_and_search(team, node.slot, np.int64(-1) if is_root else own, first, last, small, large, rules, me)


@part
def search_tile(nodes, at, tile, team, rules, me):
    """Sum up a tile of columns for the smaller child, and search both; OUT team.found, pool."""
    small, large = copies(nodes, at, tile, team, rules)
    sum_and_search_tile(team, nodes[at].slot, team.child_slots[0], small, large, tile, rules, me)

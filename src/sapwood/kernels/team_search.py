"""Search by a team: best splits of the children of a node, from histograms or from rows, for some columns or all."""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import lean_kernel, part
from sapwood.kernels.branching import may_split
from sapwood.kernels.histogram import TILE, add_tile, clear
from sapwood.kernels.memory import (
    byte_table_at,
    flags_at,
    int_table_at,
    ints_at,
    nodes_at,
    signs_at,
    uints_at,
    words_at,
)
from sapwood.kernels.newton import NO_GAIN, worth_of
from sapwood.kernels.phases import BLOCK
from sapwood.kernels.scan import gain_of, scan_column, scan_levels
from sapwood.kernels.small_nodes import SMALL, scan_rows
from sapwood.kernels.team_rows import (
    CODES,
    PRESENT,
    ROWS,
    SIZE,
    VALUES,
    add_up,
    codes_of,
    gather_rows,
    lanes_of,
    records_at,
    slot_of,
    sum_rows,
)

COLUMNS = 8 * int(TILE)  # of a tile


@lean_kernel
def smaller_and_larger(nodes, at):
    """The children of a node by their rows."""
    left, right = nodes[at].left, nodes[at].right
    return (left, right) if nodes[left].n_rows <= nodes[right].n_rows else (right, left)


@lean_kernel
def drop_weak(node, rules):
    """A gain that is too weak is none; OUT node."""
    if node.gain < rules.weak:
        node.gain = NO_GAIN


@lean_kernel
def copy_node(source, target):
    """What a search needs to know of a node; OUT target."""
    target.depth, target.first, target.n_rows = source.depth, source.first, source.n_rows
    target.gradient, target.hessian = source.gradient, source.hessian
    target.lower, target.upper, target.gain, target.feature = source.lower, source.upper, NO_GAIN, -1


@lean_kernel
def take_over(found, rules, node):
    """Keep a split found among some columns if it beats the best so far; OUT node."""
    parent = worth_of(node, rules)
    if found.gain > NO_GAIN and gain_of(2.0 * found.gain + parent, parent, node.gain) > NO_GAIN:
        node.gain, node.feature, node.code, node.next_code = found.gain, found.feature, found.code, found.next_code
        node.missing_left = found.missing_left
        node.left_gradient, node.left_hessian = found.left_gradient, found.left_hessian
        for word in range(8):
            node.subset[word] = found.subset[word]


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
    hist = hists[256 * f : 256 * f + 256]
    n_codes = ints_at(team.n_codes, team.n_columns)[f]
    if flags_at(team.is_category, team.n_columns)[f]:
        scan_levels(hist, n_codes, rules, parent, f, lanes.keys, lanes.order, node)
    else:
        sign = signs_at(team.signs, team.n_columns)[f]
        scan_column(hist, lanes.codes, n_codes, rules, sign, parent, f, lanes, node)


@lean_kernel
def part_and_search(team, whole, own, first, last, small, large, rules, me):
    """Column by column, the parent's histogram becomes the larger child's, and both are searched; OUT whole, children.

    Without `own`, the whole belongs to the larger one.
    """
    lanes = lanes_of(team, me)
    mask, n_codes = flags_at(team.mask, team.n_columns), ints_at(team.n_codes, team.n_columns)
    small_worth, large_worth = worth_of(small, rules), worth_of(large, rules)
    search_small, search_large = own >= 0 and may_split(small, rules), may_split(large, rules)
    whole_hist, own_hist = slot_of(team, whole), slot_of(team, own)
    for f in range(first, last):
        if mask[f]:
            if own >= 0:
                for i in range(256 * f, 256 * f + n_codes[f] + 1):
                    for d in range(whole_hist.shape[1]):
                        whole_hist[i, d] -= own_hist[i, d]
            if search_small:
                scan_one(team, own_hist, f, small_worth, rules, lanes, small)
            if search_large:
                scan_one(team, whole_hist, f, large_worth, rules, lanes, large)


@lean_kernel
def sum_and_search_tile(team, whole, own, small, large, tile, rules, me):
    """The same for one tile; OUT children."""
    codes, n, out = codes_of(team), 256 * team.n_bundles, slot_of(team, own)
    records, packed = records_at(team, small.depth), ints_at(team.packed + 8 * me * n, n)
    first, last, block_rows = small.first, small.first + small.n_rows, np.uint64(team.block_rows)
    start, stop, words = COLUMNS * tile, min(COLUMNS * tile + COLUMNS, team.n_columns), np.uint64(tile) * TILE
    clear(codes, start, stop, out)
    if team.is_packed:
        add_tile(records, first, last, codes, words, block_rows, None, packed, out)
    else:
        add_tile(records, first, last, codes, words, block_rows, int_table_at(team.quanta, team.n_rows, 2), packed, out)
    part_and_search(team, whole, own, start, stop, small, large, rules, me)


@part
def sum_and_search(team, whole, own, small, large, rules, me):
    """Sum up the smaller child and search both, tile by tile of the columns while it is in the cache; OUT children."""
    if team.n_meanings > 0:
        clear(codes_of(team), 0, team.n_columns, slot_of(team, own))
        sum_rows(team, small, small.first, small.first + small.n_rows, me, slot_of(team, own))
        part_and_search(team, whole, own, 0, team.n_columns, small, large, rules, me)
    else:
        for tile in range(n_tiles(team)):
            sum_and_search_tile(team, whole, own, small, large, tile, rules, me)


@lean_kernel
def search_rows(team, node, rules, me):
    """Best split of a small node from its rows; OUT node."""
    gather_rows(team, node, me)
    at, n = team.scratch + me * SIZE, team.n_columns
    scan_rows(
        uints_at(at + ROWS, SMALL),
        int_table_at(at + VALUES, SMALL, 2),
        node.n_rows,
        byte_table_at(team.columns, n, team.n_rows),
        flags_at(team.mask, n),
        ints_at(team.n_codes, n),
        flags_at(team.is_category, n),
        signs_at(team.signs, n),
        rules,
        int_table_at(team.hist + 8 * me * 256 * team.n_sums, 256, team.n_sums),
        ints_at(at + CODES, 257),
        words_at(at + PRESENT, 4),
        lanes_of(team, me),
        node,
    )


@part
def search_block(nodes, at, task, team, rules, me):
    """Sum up a block of columns, and search both children, or the root; OUT team.found, pool."""
    first, last = task * BLOCK, min(task * BLOCK + BLOCK, team.n_columns)
    node, own = nodes[at], ints_at(team.lent, 1)[0]
    is_root = node.left < 0
    add_up(team, node.slot if is_root else own, first, last)
    s, l = (at, at) if is_root else smaller_and_larger(nodes, at)  # noqa: E741
    found = nodes_at(team.found, 2 * task + 2)
    small, large = found[2 * task], found[2 * task + 1]
    copy_node(nodes[s], small)
    copy_node(nodes[l], large)
    part_and_search(team, node.slot, np.int64(-1) if is_root else own, first, last, small, large, rules, me)


@part
def search_tile(nodes, at, tile, team, rules, me):
    """Sum up a tile of columns for the smaller child, and search both; OUT team.found, pool."""
    s, l = smaller_and_larger(nodes, at)  # noqa: E741
    found = nodes_at(team.found, 2 * tile + 2)
    small, large = found[2 * tile], found[2 * tile + 1]
    copy_node(nodes[s], small)
    copy_node(nodes[l], large)
    sum_and_search_tile(team, nodes[at].slot, ints_at(team.lent, 1)[0], small, large, tile, rules, me)

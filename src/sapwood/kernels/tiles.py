"""Tables of many columns: histograms are summed up and searched a tile at a time, in memory of the thread's own.

Histograms of all columns are larger than the caches, and reading them takes longer than the sums of a thousand rows.
A tile has 64 columns of the tree, whose codes are one cache line of a row; the k-th of them begins at cell k * ROOM. It
stays in the second cache and goes to the pool only if children will be made from it. A node of few rows is searched
from tiles of its own rows, and has no histogram.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import inner_kernel, part, prefetch
from sapwood.kernels.branching import is_splittable
from sapwood.kernels.histogram import (
    AHEAD,
    BYTE,
    EIGHT,
    HALF,
    NONE,
    ONE,
    ROOM,
    SEVEN,
    THREE,
    add_bundles,
    add_code,
    widen_codes,
)
from sapwood.kernels.newton import score_of
from sapwood.kernels.scan import scan_column
from sapwood.kernels.team_frame import records_at

WIDTH = 64  # columns of a tile
DIRECT = 1024  # rows of a node that is searched from its own rows, where columns have 255 codes
CELLS = int(ROOM) * WIDTH  # of a tile


@part
def add_word_to_tile(word, n, at, gradient, hessian, tile):
    """Add a row to `n` columns, whose codes are the bytes of a word; OUT tile; returns where the next column begins."""
    for _ in range(n):
        add_code(tile, at + (word & BYTE), gradient, hessian)
        word >>= EIGHT
        at += ROOM
    return at


@inner_kernel
def add_words_to_tile(records, first, last, shard, begin, end, tile):
    """Add rows to a tile of all columns from `begin` to `end`; OUT tile."""
    words, n_words, quantized = shard.words, shard.words_of_row, shard.quantized
    word, full, rest = begin >> THREE, (end - begin) >> THREE, (end - begin) & SEVEN
    for i in range(first, last):
        row, at = records[i] >> HALF, NONE
        prefetch(words, (records[min(i + AHEAD, last - ONE)] >> HALF) * n_words + word)
        gradient, hessian, start = quantized[row, 0], quantized[row, 1], row * n_words + word
        for j in range(full):
            at = add_word_to_tile(words[start + j], EIGHT, at, gradient, hessian, tile)
        if rest > NONE:
            add_word_to_tile(words[start + full], rest, at, gradient, hessian, tile)


@inner_kernel
def add_places_to_tile(records, first, last, shard, begin, end, tile):
    """The same for the columns of a tree that may not use all of them; OUT tile."""
    cells, width, quantized, places = shard.cells, shard.words_of_row << THREE, shard.quantized, shard.places
    for i in range(first, last):
        row = records[i] >> HALF
        prefetch(cells, (records[min(i + AHEAD, last - ONE)] >> HALF) * width + (places[begin] >> HALF))
        gradient, hessian = quantized[row, 0], quantized[row, 1]
        for j in range(begin, end):
            code = np.uint64(cells[row * width + (places[j] >> HALF)])
            add_code(tile, (j - begin) * ROOM + code, gradient, hessian)


@part
def of_tile(tile, k, n_codes):
    """Histogram of the k-th column of a tile."""
    start = k * np.int64(ROOM)
    return tile[start : start + n_codes + 1]


@inner_kernel
def sum_tile(team, node, first, last, me):
    """Sums of a node's rows for a tile of the tree's columns; OUT the thread's tile."""
    shard, records, tile = team.shard, records_at(team, node.depth), team.threads[me].tile
    start, stop = np.uint64(node.first), np.uint64(node.first + node.n_rows)
    begin, end = np.uint64(first), np.uint64(last)
    for place in range(first, last):
        of_tile(tile, place - first, shard.n_codes[shard.drawn[place]])[:] = 0
    if not shard.is_packed:
        if shard.n_used[1] < shard.n_bundles:
            add_places_to_tile(records, start, stop, shard, begin, end, tile)
        else:
            add_words_to_tile(records, start, stop, shard, begin, end, tile)
        return
    packed = shard.packed[me]
    while start < stop:
        after = min(start + shard.block_rows, stop)
        add_bundles(records, start, after, shard, begin, end, packed)
        for place in range(first, last):
            f = shard.drawn[place]
            own = packed[f * np.int64(ROOM) :][: shard.sizes[f]]
            widen_codes(own, of_tile(tile, place - first, shard.n_codes[f]))
        start = after


@inner_kernel
def keeps_histogram(team, node, rules):
    """Whether children of a node, if it is split, will be made from its histogram."""
    return node.n_rows > team.direct and node.depth + 1 < rules.max_depth


@part
def copy_sums(source, target):
    """Copy a histogram; OUT target."""
    for i in range(len(source)):
        for d in range(source.shape[1]):
            target[i, d] = source[i, d]


@part
def take_out(whole, own, rest):
    """What is left of a histogram without another; OUT rest, which may be the whole."""
    for i in range(len(own)):
        for d in range(own.shape[1]):
            rest[i, d] = whole[i, d] - own[i, d]


@inner_kernel
def scan_place(team, hist, f, rules, score, node, me):
    """Best split of a node on a column of this histogram, if it is better than those before; OUT node."""
    lanes, shard = team.threads[me].lanes, team.shard
    is_category, sign = shard.is_category[f], team.signs[f]
    scan_column(hist, lanes.codes, shard.n_codes[f], is_category, rules, sign, score, f, lanes, node)


@inner_kernel
def search_tiles(team, whole, own, first, last, small, large, rules, me):
    """Best splits of the children of a node on some of the tree's columns; OUT children.

    The histogram of the node becomes the larger child's, and the slot `own` has the smaller child's, if they are kept.
    Without a histogram of the node, -1, only the smaller child is searched; without a slot, -1, it keeps nothing.
    """
    shard, tile, rest = team.shard, team.threads[me].tile, team.threads[me].rest
    small_score, large_score = score_of(small, rules), score_of(large, rules)
    search_small, search_large = is_splittable(small, rules), whole >= 0 and is_splittable(large, rules)
    keeps_small, keeps_large = own >= 0 and keeps_histogram(team, small, rules), keeps_histogram(team, large, rules)
    for start in range(first, last, WIDTH):
        stop = min(start + WIDTH, last)
        sum_tile(team, small, start, stop, me)
        for place in range(start, stop):
            f = shard.drawn[place]
            hist = of_tile(tile, place - start, shard.n_codes[f])
            if search_small:
                scan_place(team, hist, f, rules, small_score, small, me)
            if keeps_small:
                copy_sums(hist, team.pool[own, shard.starts[f] :])
            if search_large:
                both = team.pool[whole, shard.starts[f] :]
                other = both[: len(hist)] if keeps_large else rest[: len(hist)]
                take_out(both, hist, other)
                scan_place(team, other, f, rules, large_score, large, me)

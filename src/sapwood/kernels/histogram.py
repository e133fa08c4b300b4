"""Histograms: for every column and code, the sums of gradients and hessians of a node's rows.

Gradients are whole numbers, so sums do not depend on the order of the rows, and a sibling is parent minus child to
the last bit. Two forms of a row's numbers:

packed  a record is row << 32 | gradient << 16 | hessian; both are added at once as (gradient << 32) + hessian into
        one int64 per code, which is widened into two before it can overflow: after `block_rows` rows
wide    a record is row << 32, and `quantized` holds two int64 per row (some 40 bits), for data small enough to be exact

Rows are summed by bundle: a byte that stands for one column, or for several of few values (`codes/bundles.py`). Sums of
columns follow from those of their bundles. Arrays of the rows are those of the shard (`shard_frame.py`). If a tree may
not use all columns, only bundles that hold one of its own are summed, byte by byte instead of word by word.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from sapwood.kernels._jit import inner_kernel, lean_kernel, part, prefetch
from sapwood.kernels.intrinsic_types import BaseContext, Intrinsic, Signature, Values

BYTE = np.uint64(255)
ROOM = np.uint64(260)  # packed sums of a bundle: an odd number of cache lines, see `spaced` in `codes/bundles.py`
EIGHT = np.uint64(8)
HALF = np.uint64(32)
LOW = np.uint64(0xFFFF)
SIXTEEN = np.uint64(16)
THREE = np.uint64(3)
SEVEN = np.uint64(7)
NONE = np.uint64(0)
ONE = np.uint64(1)
AHEAD = np.uint64(64)  # rows to fetch in advance: twice the time that memory takes to answer
LOW_HALF = np.int64(0xFFFFFFFF)
START = np.uint64(0xFFFFFFFF)  # of a place
TILE = np.uint64(4)  # words of a row that are added at a time: their histograms stay in the second cache
COLUMNS = np.uint64(32)  # the same in bytes


@intrinsic
def add_pair(
    _context: object, sums: types.Type, _cell: types.Type, _first: types.Type, _second: types.Type
) -> Intrinsic:
    """Add to both numbers of a cell of an array (cells, 2) at once."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values) -> ir.Value:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        pair = ir.VectorType(ir.IntType(64), 2)
        start = builder.gep(data, [builder.shl(arguments[1], ir.Constant(ir.IntType(64), 1))])
        place = builder.bitcast(start, pair.as_pointer())
        value = builder.insert_element(ir.Constant(pair, ir.Undefined), arguments[2], ir.IntType(32)(0))
        value = builder.insert_element(value, arguments[3], ir.IntType(32)(1))
        builder.store(builder.add(builder.load(place, align=8), value), place, align=8)
        return context.get_dummy_value()

    return types.void(sums, types.uint64, types.int64, types.int64), generate


@part
def add_word(word, n, at, value, packed):
    """Add the value of a row for `n` bundles, whose codes are the bytes of a word; OUT packed."""
    for _ in range(n):
        packed[at + (word & BYTE)] += value
        word >>= EIGHT
        at += ROOM
    return at


@part
def packed_numbers(record):
    """Gradient and hessian of a packed record."""
    return np.int64(np.int16(record >> SIXTEEN)), np.int64(record & LOW)


@part
def numbers_of(record, quantized):
    """Gradient and hessian of a record; `quantized` is None if they are packed."""
    if quantized is None:
        return packed_numbers(record)
    return quantized[record >> HALF, 0], quantized[record >> HALF, 1]


@part
def packed_value(record):
    """(gradient << 32) + hessian."""
    gradient, hessian = packed_numbers(record)
    return (gradient << 32) + hessian


@inner_kernel
def add_block(records, first, last, shard, first_word, last_word, packed):
    """Add some words of consecutive records to packed sums, tile by tile; OUT packed.

    Row by row: a sum that was written a moment ago takes long to read, and the columns of a row have sums of their own.
    """
    words, n_words, n_bundles = shard.words, shard.words_of_row, np.uint64(shard.n_bundles)
    for tile in range(first_word, last_word, TILE):
        full = min((n_bundles >> THREE) - tile, TILE)
        rest = n_bundles & SEVEN if full < TILE else NONE
        for i in range(first, last):
            record = records[i]
            prefetch(words, (records[min(i + AHEAD, last - ONE)] >> HALF) * n_words + tile)
            value, start, at = packed_value(record), (record >> HALF) * n_words + tile, (tile << THREE) * ROOM
            for j in range(full):
                at = add_word(words[start + j], EIGHT, at, value, packed)
            if rest > NONE:
                add_word(words[start + full], rest, at, value, packed)


@part
def add_code(sums, cell, gradient, hessian):
    """Add a row to a cell, and count it where there is room; OUT sums."""
    if sums.shape[1] == 2:
        add_pair(sums, cell, gradient, hessian)
    else:
        sums[cell, 0] += gradient
        sums[cell, 1] += hessian
        sums[cell, 2] += 1


@inner_kernel
def add_wide(records, first, last, shard, tile, sums):
    """Add a tile of the rows of a block; OUT sums."""
    words, n_words, quantized, starts = shard.words, shard.words_of_row, shard.quantized, shard.bundle_starts
    stop = min(np.uint64(shard.n_bundles), (tile + TILE) << THREE)
    for i in range(first, last):
        row = records[i] >> HALF
        prefetch(words, (records[min(i + AHEAD, last - ONE)] >> HALF) * n_words + tile)
        gradient, hessian = quantized[row, 0], quantized[row, 1]
        j = tile << THREE
        while j < stop:
            word = words[row * n_words + (j >> THREE)]
            for _ in range(min(EIGHT, stop - j)):
                add_code(sums, starts[j] + (word & BYTE), gradient, hessian)
                word >>= EIGHT
                j += ONE


@inner_kernel
def add_places(records, first, last, shard, tile, stop, sums):
    """Add up to a tile of the bundles that the tree needs; OUT sums, packed or wide."""
    cells, width, quantized, places = shard.cells, shard.words_of_row << THREE, shard.quantized, shard.places
    begin = places[tile] >> HALF
    for i in range(first, last):
        record = records[i]
        row = record >> HALF
        prefetch(cells, (records[min(i + AHEAD, last - ONE)] >> HALF) * width + begin)
        if sums.ndim == 1:
            value = packed_value(record)
            for j in range(tile, stop):
                byte = places[j] >> HALF
                sums[byte * ROOM + cells[row * width + byte]] += value
        else:
            gradient, hessian = quantized[row, 0], quantized[row, 1]
            for j in range(tile, stop):
                at = (places[j] & START) + cells[row * width + (places[j] >> HALF)]
                add_code(sums, at, gradient, hessian)


@inner_kernel
def add_bundles(records, first, last, shard, first_place, last_place, sums):
    """Add consecutive records to the sums of some of the bundles that the tree needs, whole tiles; OUT sums."""
    if shard.n_used[1] < shard.n_bundles:
        for tile in range(first_place, last_place, COLUMNS):
            add_places(records, first, last, shard, tile, min(tile + COLUMNS, last_place), sums)
        return
    first_word, last_word = first_place >> THREE, (last_place + SEVEN) >> THREE
    if sums.ndim == 1:
        add_block(records, first, last, shard, first_word, last_word, sums)
    else:
        for tile in range(first_word, last_word, TILE):
            add_wide(records, first, last, shard, tile, sums)


@lean_kernel
def clear(shard, first, last, out):
    """Make the sums of all codes that some of the tree's columns have zero; OUT out."""
    drawn, starts, n_codes = shard.drawn, shard.starts, shard.n_codes
    for i in range(first, last):
        f = drawn[i]
        out[starts[f] : starts[f] + n_codes[f] + 1] = 0


@inner_kernel
def subtract(part_of, first, last, whole):
    """Take some cells of a histogram out of another one; OUT whole."""
    n_sums = whole.shape[1]
    if n_sums == 2:  # a number that the compiler knows lets it take many cells at once
        for i in range(np.uint64(first), np.uint64(last)):
            whole[i, 0] -= part_of[i, 0]
            whole[i, 1] -= part_of[i, 1]
    else:
        for i in range(np.uint64(first), np.uint64(last)):
            for d in range(n_sums):
                whole[i, d] -= part_of[i, d]


@inner_kernel
def list_present(sums, start, size, present):
    """Codes of a bundle whose sums are not all zero; OUT present; returns how many."""
    count = 0
    for code in range(size):
        present[count] = code
        if sums.ndim == 1:
            count += np.int64(sums[start + code] != 0)
        else:
            bits = np.int64(0)
            for d in range(sums.shape[1]):
                bits |= sums[start + code, d]
            count += np.int64(bits != 0)
    return count


@part
def start_of(sums, shard, bundle):
    """Where the sums of a bundle begin."""
    if sums.ndim == 1:
        return bundle * np.int64(ROOM)
    return np.int64(shard.bundle_starts[bundle])


@inner_kernel
def unbundle(sums, shard, thread, out):
    """Add sums of bundles, packed or wide, to those of the tree's columns; OUT out, sums become zero."""
    present, bundle, start, count = shard.present[thread], np.int64(-1), np.int64(0), np.int64(0)
    for i in range(shard.n_used[0]):
        f = shard.drawn[i]
        if shard.bundle_of[f] != bundle:
            bundle = shard.bundle_of[f]
            start = start_of(sums, shard, bundle)
            count = list_present(sums, start, shard.sizes[bundle], present)
        table, into = shard.table_of[f], out[shard.starts[f] :]
        for p in range(count):
            code = present[p]
            own = code if table < 0 else np.int64(shard.tables[table, code])
            if sums.ndim == 1:
                into[own, 0] += sums[start + code] >> 32
                into[own, 1] += sums[start + code] & LOW_HALF
            else:
                for d in range(sums.shape[1]):
                    into[own, d] += sums[start + code, d]
    sums[:] = 0


@part
def widen_codes(own, into):
    """Add the packed sums of a column to wide ones; OUT into, own becomes zero."""
    for code in range(len(own)):
        into[code, 0] += own[code] >> 32
        into[code, 1] += own[code] & LOW_HALF
        own[code] = 0


@inner_kernel
def widen(packed, shard, thread, first, last, out):
    """Add packed sums to wide ones of some of the tree's columns, of all where columns share bytes.

    OUT out, packed becomes zero.
    """
    if shard.n_tables > 0:
        unbundle(packed, shard, thread, out)
        return
    for i in range(first, last):
        f = shard.drawn[i]
        start = f * np.int64(ROOM)
        widen_codes(packed[start : start + shard.sizes[f]], out[shard.starts[f] :])


@inner_kernel
def add_rows(records, first, last, shard, thread, first_column, last_column, out):
    """Add consecutive records to the sums of some of the tree's columns, whole tiles, or of all where they share bytes.

    OUT out. The thread's own sums of bundles are zero before and after.
    """
    packed, sums = shard.packed[thread], shard.bundle_sums[thread]
    start, stop = np.uint64(first), np.uint64(last)
    first_place, last_place = np.uint64(first_column), np.uint64(last_column)
    is_bundled = shard.n_tables > 0
    if is_bundled:
        first_place, last_place = NONE, np.uint64(shard.n_used[1])
    if shard.is_packed:
        while start < stop:
            end = min(start + shard.block_rows, stop)
            add_bundles(records, start, end, shard, first_place, last_place, packed)
            widen(packed, shard, thread, first_column, last_column, out)
            start = end
    else:
        add_bundles(records, start, stop, shard, first_place, last_place, sums if is_bundled else out)
        if is_bundled:
            unbundle(sums, shard, thread, out)


@lean_kernel
def build(pieces, shard, thread, pool):
    """Histograms of pieces (first record, last record, slot of the pool), one after the other; OUT pool."""
    for p in range(len(pieces)):
        out = pool[pieces[p, 2]]
        clear(shard, 0, shard.n_used[0], out)
        add_rows(shard.records[0], pieces[p, 0], pieces[p, 1], shard, thread, 0, shard.n_used[0], out)

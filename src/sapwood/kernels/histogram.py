"""Histograms: for every column and code, the sums of gradients and hessians of a node's rows.

Gradients are whole numbers, so sums do not depend on the order of the rows, and a sibling is parent minus child to
the last bit. Two forms of a row's numbers:

packed  a record is row << 32 | gradient << 16 | hessian; both are added at once as (gradient << 32) + hessian into
        one int64 per code, which is widened into two before it can overflow: after `block_rows` rows
wide    a record is row << 32, and `quantized` holds two int64 per row (some 40 bits), for data small enough to be exact

Rows are summed by bundle: a byte that stands for one column, or for several of few values (`codes/bundles.py`). Sums of
columns follow from those of their bundles.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from sapwood.kernels._jit import lean_kernel, part, prefetch

Array = Any
BYTE = np.uint64(255)
EIGHT = np.uint64(8)
CODES = np.uint64(256)
HALF = np.uint64(32)
LOW = np.uint64(0xFFFF)
SIXTEEN = np.uint64(16)
THREE = np.uint64(3)
ELEVEN = np.uint64(11)  # eight columns have 2^11 codes
NONE = np.uint64(0)
ONE = np.uint64(1)
AHEAD = np.uint64(24)  # rows to fetch in advance: about the time that memory takes to answer
LOW_HALF = np.int64(0xFFFFFFFF)
TILE = np.uint64(4)  # words of a row that are added at a time: their histograms stay in the second cache


class RowCodes(NamedTuple):
    """Codes of rows, eight bundles in a word, and what bundles mean."""

    words: Array
    n_words: Array  # of a row
    n_bundles: Array
    sizes: Array  # (bundles,) codes of each, 0 included
    n_codes: Array  # (columns,) largest code of each
    home: Array  # (columns,) bundle of each column
    meaning_of: Array  # (columns,) its row in `meanings`, or -1 if the bundle is the column itself
    meanings: Array  # (bundled columns, 256) code of the column for each code of its bundle


@intrinsic
def add_pair(_context: Any, sums: Any, _cell: Any, _first: Any, _second: Any) -> Any:
    """Add to both numbers of a cell of an array (cells, 2) at once."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
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
        at += CODES
    return at


@part
def packed_value(record):
    """(gradient << 32) + hessian."""
    return (np.int64(np.int16(record >> SIXTEEN)) << 32) + np.int64(record & LOW)


@lean_kernel
def add_packed(records, first, last, codes, tile, packed):
    """Add a tile of the rows of a block; OUT packed.

    Row by row: a sum that was written a moment ago takes long to read, and the columns of a row have sums of their own.
    """
    words, n_words = codes.words, codes.n_words
    full = min((codes.n_bundles >> THREE) - tile, TILE)
    rest = codes.n_bundles & np.uint64(7) if full < TILE else NONE
    for i in range(first, last):
        record = records[i]
        prefetch(words, (records[min(i + AHEAD, last - ONE)] >> HALF) * n_words + tile)
        value, start, at = packed_value(record), (record >> HALF) * n_words + tile, tile << ELEVEN
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


@lean_kernel
def add_wide(records, first, last, codes, tile, quantized, sums):
    """Add a tile of the rows of a block; OUT sums."""
    words, n_words = codes.words, codes.n_words
    stop = min(codes.n_bundles, (tile + TILE) << THREE)
    for i in range(first, last):
        row = records[i] >> HALF
        prefetch(words, (records[min(i + AHEAD, last - ONE)] >> HALF) * n_words + tile)
        gradient, hessian = quantized[row, 0], quantized[row, 1]
        j = tile << THREE
        at = j * CODES
        while j < stop:
            word = words[row * n_words + (j >> THREE)]
            for _ in range(min(EIGHT, stop - j)):
                add_code(sums, at + (word & BYTE), gradient, hessian)
                word >>= EIGHT
                at += CODES
            j += EIGHT


@lean_kernel
def clear(codes, first, last, out):
    """Make the sums of all codes that some columns have zero; OUT out."""
    for f in range(first, last):
        out[256 * f : 256 * f + codes.n_codes[f] + 1] = 0


@lean_kernel
def widen(packed, codes, first, last, out):
    """Add packed sums of bundles to wide ones of some columns; OUT out."""
    for f in range(first, last):
        home = codes.home[f]
        own, into = packed[256 * home : 256 * home + codes.sizes[home]], out[256 * f : 256 * f + 256]
        if codes.meaning_of[f] < 0:
            for code in range(len(own)):
                into[code, 0] += own[code] >> 32
                into[code, 1] += own[code] & LOW_HALF
                own[code] = 0
        else:
            meaning = codes.meanings[codes.meaning_of[f]]
            for code in range(len(own)):
                into[meaning[code], 0] += own[code] >> 32
                into[meaning[code], 1] += own[code] & LOW_HALF


@lean_kernel
def widen_all(packed, codes, out):
    """Add packed sums of bundles to wide ones of all columns; OUT out, packed becomes zero."""
    widen(packed, codes, 0, len(codes.home), out)
    if len(codes.meanings) > 0:
        packed[:] = 0


@lean_kernel
def unfold(sums, codes, out):
    """Add wide sums of bundles to those of columns; OUT out, sums become zero."""
    for f in range(len(codes.home)):
        home = codes.home[f]
        own, into = sums[256 * home : 256 * home + codes.sizes[home]], out[256 * f : 256 * f + 256]
        for code in range(len(own)):
            column_code = code if codes.meaning_of[f] < 0 else np.int64(codes.meanings[codes.meaning_of[f], code])
            for d in range(sums.shape[1]):
                into[column_code, d] += own[code, d]
    sums[:] = 0


@lean_kernel
def add_block(records, first, last, codes, packed):
    """Add consecutive records to packed sums; OUT packed."""
    for tile in range(NONE, codes.n_words, TILE):
        add_packed(records, np.uint64(first), np.uint64(last), codes, tile, packed)


@lean_kernel
def add_tile(records, first, last, codes, tile, block_rows, quantized, packed, out):
    """Add consecutive records to the columns of a tile, none of which share a byte; OUT out; packed is zero after."""
    start, stop = np.uint64(first), np.uint64(last)
    if quantized is not None:
        add_wide(records, start, stop, codes, tile, quantized, out)
    else:
        while start < stop:
            end = min(start + block_rows, stop)
            add_packed(records, start, end, codes, tile, packed)
            widen(packed, codes, tile << THREE, min((tile + TILE) << THREE, codes.n_bundles), out)
            start = end


@lean_kernel
def add_rows(records, first, last, codes, block_rows, quantized, packed, sums, out):
    """Add consecutive records to a histogram; `packed` and `sums` are zero before and after. OUT out."""
    start, stop = np.uint64(first), np.uint64(last)
    if len(codes.meanings) == 0:
        for tile in range(NONE, codes.n_words, TILE):
            add_tile(records, first, last, codes, tile, block_rows, quantized, packed, out)
    elif quantized is not None:
        for tile in range(NONE, codes.n_words, TILE):
            add_wide(records, start, stop, codes, tile, quantized, sums)
        unfold(sums, codes, out)
    else:
        while start < stop:
            end = min(start + block_rows, stop)
            add_block(records, start, end, codes, packed)
            widen_all(packed, codes, out)
            start = end


@lean_kernel
def build(pieces, records, codes, block_rows, quantized, packed, sums, pool):
    """Histograms of pieces (first record, last record, slot of the pool), one after the other; OUT pool."""
    for p in range(len(pieces)):
        out = pool[pieces[p, 2]]
        clear(codes, 0, len(codes.home), out)
        add_rows(records, pieces[p, 0], pieces[p, 1], codes, block_rows, quantized, packed, sums, out)


@lean_kernel
def add_to(pool, target, source):
    """Add one slot to another; OUT pool[target]."""
    into, other = pool[target], pool[source]
    for i in range(into.shape[0]):
        for d in range(into.shape[1]):
            into[i, d] += other[i, d]


@lean_kernel
def subtract(pool, parents, smaller):
    """The parents' slots become the larger children's; OUT pool."""
    for k in range(len(parents)):
        parent, child = pool[parents[k]], pool[smaller[k]]
        for i in range(parent.shape[0]):
            for d in range(parent.shape[1]):
                parent[i, d] -= child[i, d]

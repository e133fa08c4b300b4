"""Entries: the stored cells of a sparse table, their histograms, and how rows are split by them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sapwood.kernels._jit import inner_kernel, lean_kernel
from sapwood.kernels.histogram import HALF, add_code, numbers_of
from sapwood.kernels.routing import SIDES, goes_left, split_records


class Entries(NamedTuple):
    """Cells of each row in ascending order; a cell is `starts[column] + code`."""

    first: NDArray[np.int64]  # (rows + 1,) where the cells of each row begin
    cells: NDArray[np.uint32]
    starts: NDArray[np.int64]  # (columns + 1,) where the codes of each column begin in a histogram
    absent: NDArray[np.uint8]  # (columns,) code of the cells that are not stored


@inner_kernel
def code_at(entries, row, column):
    """Code of a cell, found by halving the row."""
    cells, start = entries.cells, entries.starts[column]
    low, end = entries.first[row], entries.first[row + 1]
    high = end
    while low < high:
        middle = (low + high) >> 1
        if cells[middle] < start:
            low = middle + 1
        else:
            high = middle
    if low < end and cells[low] < entries.starts[column + 1]:
        return np.int64(cells[low]) - start
    return np.int64(entries.absent[column])


@inner_kernel
def add_entries(records, first, last, entries, quantized, out):
    """Add the stored cells of consecutive records; OUT out; returns the sums of the records."""
    cells = entries.cells
    total_g, total_h = np.int64(0), np.int64(0)
    for i in range(first, last):
        row = np.int64(records[i] >> HALF)
        g, h = numbers_of(records[i], quantized)
        total_g += g
        total_h += h
        for k in range(entries.first[row], entries.first[row + 1]):
            add_code(out, np.uint64(cells[k]), g, h)
    return total_g, total_h


@inner_kernel
def fill_absent(entries, total, out):
    """What the stored cells of a column leave of the total belongs to its absent ones; OUT out."""
    for column in range(len(entries.absent)):
        start, stop = entries.starts[column], entries.starts[column + 1]
        absent = start + entries.absent[column]
        for d in range(out.shape[1]):
            rest = total[d]
            for cell in range(start, stop):
                rest -= out[cell, d]
            out[absent, d] = rest


@lean_kernel
def build_sparse(pieces, records, entries, quantized, pool):
    """Histograms of pieces (first record, last record, slot of the pool), one after the other; OUT pool."""
    for p in range(len(pieces)):
        first, last, out = pieces[p, 0], pieces[p, 1], pool[pieces[p, 2]]
        out[:] = 0
        g, h = add_entries(records, first, last, entries, quantized, out)
        fill_absent(entries, (g, h, last - first), out)


@lean_kernel
def split_entries(pieces, records, entries, nodes, sides, spare, cuts):
    """Split pieces (first, last, node) by the splits of their nodes; OUT records, cuts, sides of the rows."""
    for p in range(len(pieces)):
        first, last, node = pieces[p, 0], pieces[p, 1], nodes[pieces[p, 2]]
        for i in range(first, last):
            row = np.int64(records[i] >> HALF)
            sides[row] = goes_left(node, code_at(entries, row, node.feature))
        cuts[p] = split_records(records, first, last, sides, SIDES, spare)


@lean_kernel
def settle_by_entry(entries, nodes, splits, first, last, leaf_of):
    """Find the leaf of those of the rows first…last-1 that are in none; OUT leaf_of."""
    for row in range(first, last):
        if leaf_of[row] >= len(splits):
            at = 0
            while splits[at]:
                node = nodes[at]
                at = node.left if goes_left(node, code_at(entries, row, node.feature)) else node.right
            leaf_of[row] = at

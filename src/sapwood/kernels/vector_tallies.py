"""Tallies of more than two classes: a row is one number, weight << 8 | class, where weights are whole numbers.

What is not here is that of `vector_sums.py` and `subsets.py`.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import ONE, lean_kernel
from sapwood.kernels.code_list import FLAT, list_codes
from sapwood.kernels.criteria import vector_mass
from sapwood.kernels.node_totals import begin_totals, subtract
from sapwood.kernels.pair_tallies import count_tallies, fill_tallies, take_tally
from sapwood.kernels.statistic import VectorTallies, begin_node, collect, collect_drawn, total_node, total_sibling
from sapwood.kernels.tree_frame import Groups
from sapwood.kernels.vector_sums import drawn_vectors, note_group, sorted_vectors, vector_totals


@total_node.of_frame(VectorTallies)
@lean_kernel
def sum_class_tallies(frame, at, node):
    """Totals of a node; returns whether it is pure. OUT nodes, sums."""
    own, tally, entries, sums = begin_totals(frame, at, node), frame.tally, frame.entries, frame.sums[node]
    w = np.int64(0)
    for d in range(len(sums)):
        sums[d] = 0.0
    for i in range(own.first_row, own.first_row + own.n_rows):
        row = np.int64(tally[entries[i] >> ONE])
        w += row >> 8
        sums[row & 255] += np.float64(row >> 8)
    own.weight = w
    pure = sums[np.int64(tally[entries[own.first_row] >> ONE]) & 255] == own.weight
    own.mass = 0.0 if pure else max(vector_mass(frame.criterion, own.weight, sums, frame.output_start), 0.0)
    return pure


@total_sibling.of_frame(VectorTallies)
@lean_kernel
def subtract_vector(frame, at, parent, known, node):  # noqa: ARG001 - sums are exact: a difference will do
    """Totals of a node from those of its parent and its sibling; returns whether it is pure. OUT nodes, sums."""
    pure = subtract(frame, parent, known, node)
    own = frame.nodes[node]
    own.mass = 0.0 if pure else max(vector_mass(frame.criterion, own.weight, frame.sums[node], frame.output_start), 0.0)
    return pure


@begin_node.of(VectorTallies)
def _begin_node(stat, at):
    fill_tallies(stat.frame, at)
    return vector_totals(stat.frame, at)


@collect.of(VectorTallies)
def _collect(stat, codes, column, totals, at):
    if column.code_row < 0:
        return sorted_vectors(stat.frame, stat.frame.tally, column, totals, at)
    if column.n_codes > FLAT:
        return tallied_vectors(stat.frame, codes[column.code_row], stat.frame.summary, at)
    return tallied_vectors(stat.frame, codes[column.code_row], None, at)


@collect_drawn.of(VectorTallies)
def _collect_drawn(stat, gathered, totals, n_missing, threshold, at):  # noqa: ARG001
    return drawn_vectors(stat.frame, stat.frame.tally, gathered, n_missing, threshold, at), 0.0


@lean_kernel
def tallied_vectors(frame, codes, summary, at):
    """Groups of a coded column; OUT missing_sums."""
    counts, code, left, missing_sums = frame.counts, frame.code, frame.left_sums, frame.missing_sums
    n_classes = len(left)
    top = count_tallies(frame, codes, n_classes, summary, at)
    mn, mw = np.int64(0), np.int64(0)
    for d in range(n_classes):
        n_d, w_d = take_tally(counts, d)
        mn += n_d
        mw += w_d
        left[d], missing_sums[d] = 0.0, w_d
    count = list_codes(top, frame.occupied, summary, code)
    n, w = np.int64(0), np.int64(0)
    for g in range(count):
        start = code[g] * n_classes
        for d in range(n_classes):
            n_d, w_d = take_tally(counts, start + d)
            n += n_d
            w += w_d
            left[d] += w_d
        note_group(frame, g, n, w)
    return Groups(count, mn, np.float64(mw), 0.0)

"""Tallies: classes whose weights are whole numbers, so that a row is one number, weight << 8 | class.

Sums are exact: those of a node are the difference of its parent's and its sibling's. What is not here is that of
`pair_sums.py` for two classes, and of `vector_sums.py` for more.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import ONE, inner_kernel, part
from sapwood.kernels.groups import groups_of_codes, groups_of_lists, keep_vector, no_vector
from sapwood.kernels.node_totals import begin_totals
from sapwood.kernels.pair_sums import mass_of_pair, two_groups
from sapwood.kernels.statistic import (
    PairTallies,
    VectorTallies,
    begin_node,
    coded_groups,
    drawn_groups,
    sorted_groups,
    subtract_sibling,
    total_node,
)
from sapwood.kernels.vector_sums import mass_of_vector, two_vector_groups

EIGHT = np.uint64(8)
CLASS = np.uint64(255)
HALF = np.uint64(32)
ROW = np.uint64(1 << 32)
LOW_HALF = np.uint64(0xFFFFFFFF)


@total_node.of(PairTallies)
def _total_pair(stat, at, node):
    return total_tallies(stat.frame, at, node, add_tally, mass_of_pair)


@total_node.of(VectorTallies)
def _total_vector(stat, at, node):
    return total_tallies(stat.frame, at, node, add_to_class, mass_of_vector)


@subtract_sibling.of(PairTallies)
def _subtract_pair(stat, parent, known, node):
    return np.int64(subtract(stat.frame, parent, known, node, mass_of_pair))


@subtract_sibling.of(VectorTallies)
def _subtract_vector(stat, parent, known, node):
    return np.int64(subtract(stat.frame, parent, known, node, mass_of_vector))


@part
def total_tallies(frame, at, node, add_row, mass_of_sums):
    """Totals of a node; returns whether it is pure. OUT nodes, sums."""
    own, tally, entries, sums = begin_totals(frame, at, node), frame.tally, frame.entries, frame.sums[node]
    w, s = 0.0, 0.0
    for d in range(len(sums)):
        sums[d] = 0.0
    for i in range(own.first_row, own.first_row + own.n_rows):
        weight, share = add_row(frame, tally, 0.0, entries[i] >> ONE, sums)
        w += weight
        s += share
    own.weight = w
    sums[0] += s  # of pairs; the sums of vectors are there already
    return finish_totals(frame, node, mass_of_sums)


@part
def subtract(frame, parent, known, node, mass_of_sums):
    """The same from what its parent has more than its sibling."""
    own, above, other, sums = frame.nodes[node], frame.nodes[parent], frame.nodes[known], frame.sums
    own.weight, own.n_rows = above.weight - other.weight, above.n_rows - other.n_rows
    own.first_row = above.first_row if other.first_row > above.first_row else above.first_row + other.n_rows
    for d in range(sums.shape[1]):
        sums[node, d] = sums[parent, d] - sums[known, d]
    return finish_totals(frame, node, mass_of_sums)


@part
def finish_totals(frame, node, mass_of_sums):
    """Mass of a node whose sums are there; returns whether it is pure: one class has all of its weight. OUT nodes."""
    own, sums = frame.nodes[node], frame.sums[node]
    pure = len(sums) == 1 and sums[0] == 0.0  # a pair of class 0
    for d in range(len(sums)):
        pure |= sums[d] == own.weight
    own.mass = 0.0 if pure else max(mass_of_sums(frame, own.weight, sums), 0.0)
    return pure


@begin_node.of(PairTallies, VectorTallies)
def _begin_node(stat, at, totals):  # noqa: ARG001
    fill_tallies(stat.frame, at)


@inner_kernel
def fill_tallies(frame, at):
    """Tallies of the rows of a node, side by side in the order of its list; OUT local_tally."""
    local, tally, entries, first = frame.local_tally, frame.tally, frame.entries, np.uint64(frame.lo[at, 0])
    for i in range(first, np.uint64(frame.hi[at, 0])):
        local[i - first] = tally[entries[i] >> ONE]


# Groups of a column


@part
def add_tally(frame, tally, center, r, sums):  # noqa: ARG001 - a pair is two numbers
    """Weight of a row, and the same again if it is of class 1."""
    weight = np.float64(tally[r] >> np.uint32(8))
    return weight, weight * np.float64(tally[r] & ONE)


@part
def add_to_class(frame, tally, center, r, sums):  # noqa: ARG001 - classes are not centred
    """Add the weight of a row to its class; returns weight and sum. OUT sums."""
    weight = np.float64(tally[r] >> np.uint32(8))
    sums[tally[r] & np.uint32(255)] += weight
    return weight, 0.0


@sorted_groups.of(PairTallies)
def _sorted_pairs(stat, column, totals, at):
    return groups_of_lists(stat.frame, stat.frame.tally, column, totals, at, add_tally, no_vector)


@sorted_groups.of(VectorTallies)
def _sorted_vectors(stat, column, totals, at):
    return groups_of_lists(stat.frame, stat.frame.tally, column, totals, at, add_to_class, keep_vector)


@part
def add_to_counts(frame, local, counts, c, r, i):  # noqa: ARG001
    """Add rows << 32 | weight of row i of the node for its code and class; OUT counts."""
    own = np.uint64(local[i])
    counts[c, own & CLASS] += ROW | (own >> EIGHT)


@part
def take_tally(counts, code, k):
    """Rows and weight of a code and class, which become zero."""
    own = counts[code, k]
    counts[code, k] = 0
    return np.int64(own >> HALF), np.int64(own & LOW_HALF)


@part
def take_two(counts, code, sums):  # noqa: ARG001
    """Rows, weight and sum of a code, which become zero."""
    n_0, w_0 = take_tally(counts, code, 0)
    n_1, w_1 = take_tally(counts, code, 1)
    return n_0 + n_1, w_0 + w_1, w_1


@part
def take_all(counts, code, sums):
    """Rows and weight of a code, whose classes are added to sums; its own become zero. OUT counts, sums."""
    n, w = np.int64(0), np.int64(0)
    for k in range(len(sums)):
        n_k, w_k = take_tally(counts, code, k)
        n += n_k
        w += w_k
        sums[k] += w_k
    return n, w, 0


@coded_groups.of(PairTallies)
def _coded_pairs(stat, codes, column, at):
    frame, rows = stat.frame, stat.frame.local_tally
    return groups_of_codes(frame, rows, frame.counts, codes, column, at, add_to_counts, take_two, no_vector)


@coded_groups.of(VectorTallies)
def _coded_vectors(stat, codes, column, at):
    frame, rows = stat.frame, stat.frame.local_tally
    return groups_of_codes(frame, rows, frame.counts, codes, column, at, add_to_counts, take_all, keep_vector)


@drawn_groups.of(PairTallies)
def _drawn_pairs(stat, gathered, totals, n_missing, threshold, at):  # noqa: ARG001 - rows are side by side
    return two_groups(stat.frame, stat.frame.local_tally, gathered, totals, n_missing, threshold, sum_tallies_up_to)


@inner_kernel
def sum_tallies_up_to(gathered, n_rows, local, threshold):
    """Rows, weight and sum of the values up to a threshold."""
    n, w, s = np.uint32(0), np.uint32(0), np.uint32(0)
    for i in range(np.uint64(n_rows)):
        inside = np.uint32(gathered[i] <= threshold)
        weight = (local[i] >> np.uint32(8)) * inside
        n += inside
        w += weight
        s += weight * (local[i] & ONE)
    return np.int64(n), np.float64(w), np.float64(s)


@drawn_groups.of(VectorTallies)
def _drawn_vectors(stat, gathered, totals, n_missing, threshold, at):  # noqa: ARG001
    return two_vector_groups(stat.frame, stat.frame.tally, gathered, n_missing, threshold, at, add_to_class)

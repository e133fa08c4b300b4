"""Levels of a category that has too many for a histogram: their sums, how far they are believed, and codes of rows.

The rows are cut into two halves at random. Levels are put in order by what they seem to do to the gradient, and the
rows of one half get their place in that order from the sums of the other half. A row's own gradient has then no part
in its code, so a column of names or numbers that mean nothing gains nothing.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.exact import goes_left
from sapwood.kernels.newton import worth_of
from sapwood.kernels.scan import is_large_enough

HALF = np.uint64(32)
SIXTEEN = np.uint64(16)
LOW = np.uint64(0xFFFF)
SIGN = np.uint64(63)


@lean_kernel
def half_of(row, key):
    """0 or 1, each for half of the rows; the key is odd."""
    return (np.uint64(row) * key) >> SIGN


@lean_kernel
def sum_levels(records, first, last, quanta, levels, offset, key, sums):
    """Add gradient and hessian of records to their half and level; OUT sums (halves, levels + 1, 2)."""
    for i in range(np.uint64(first), np.uint64(last)):
        record = records[i]
        row = record >> HALF
        own = sums[half_of(row + np.uint64(offset), key), np.uint64(levels[row])]
        if quanta is None:
            own[0] += np.int64(np.int16(record >> SIXTEEN))
            own[1] += np.int64(record & LOW)
        else:
            own[0] += quanta[row, 0]
            own[1] += quanta[row, 1]


@lean_kernel
def mean_gradient(sums):
    """Gradient per hessian of all levels."""
    g, h = np.int64(0), np.int64(0)
    for half in range(2):
        for level in range(1, sums.shape[1]):
            g += sums[half, level, 0]
            h += sums[half, level, 1]
    return g / h if h > 0 else 0.0


@lean_kernel
def shrinkage(sums, mean):
    """The hessian at which half of a level's effect is believed; infinity if the halves do not agree on effects.

    With d a level's gradient beyond the mean, h its hessian, and the halves 1 and 2: what levels truly do is in both
    halves, chance is not, so the variance of effects is t = sum d1 d2 / sum h1 h2. What is left of sum d^2 is chance:
    s = (sum d^2 - t sum h^2) / sum h. The best guess of an effect is d / (h + s / t).
    """
    shared, both, squares, squared_h, total = 0.0, 0.0, 0.0, 0.0, 0.0
    for level in range(1, sums.shape[1]):
        h0, h1 = np.float64(sums[0, level, 1]), np.float64(sums[1, level, 1])
        d0, d1 = sums[0, level, 0] - mean * h0, sums[1, level, 0] - mean * h1
        shared += d0 * d1
        both += h0 * h1
        squares += d0 * d0 + d1 * d1
        squared_h += h0 * h0 + h1 * h1
        total += h0 + h1
    if shared <= 0.0 or both <= 0.0:
        return np.inf
    variance = shared / both
    return max(squares - variance * squared_h, 0.0) / total / variance


@lean_kernel
def believed_effect(g, h, mean, shrink):
    """What a level does to the gradient per hessian, as far as it is believed."""
    return (g - mean * h) / (h + shrink) if h > 0.0 else 0.0


@lean_kernel
def write_effects(sums, mean, shrink, effects):
    """Effects of levels for the rows of each half, from the other one, and for all; OUT effects (3, levels + 1)."""
    for level in range(sums.shape[1]):
        g0, h0 = np.float64(sums[0, level, 0]), np.float64(sums[0, level, 1])
        g1, h1 = np.float64(sums[1, level, 0]), np.float64(sums[1, level, 1])
        effects[0, level] = believed_effect(g1, h1, mean, shrink)
        effects[1, level] = believed_effect(g0, h0, mean, shrink)
        effects[2, level] = believed_effect(g0 + g1, h0 + h1, mean, shrink)


@lean_kernel
def code_effects(effects, cuts, codes):
    """One more than the number of cuts below each effect, and 0 for missing levels; 255 ascending cuts. OUT codes."""
    for i in range(effects.shape[0]):
        codes[i, 0] = 0
        for level in range(1, effects.shape[1]):
            below = np.int64(0)
            for k in range(8):  # by halving, without branches
                step = np.int64(128) >> k
                below += step * np.int64(cuts[below + step - 1] < effects[i, level])
            codes[i, level] = below + 1


@lean_kernel
def write_group_codes(levels, codes, offset, key, first, last, column, rows, place):
    """Codes of the rows first…last-1 by half and level; OUT column, rows (at their place) unless they are None."""
    for row in range(np.uint64(first), np.uint64(last)):
        code = codes[half_of(row + np.uint64(offset), key), np.uint64(levels[row])]
        column[row] = code
        if rows is not None:
            rows[row, place] = code


@lean_kernel
def count_rows(leaf_of, first, last, counts):
    """Rows of each node; OUT counts."""
    for row in range(np.uint64(first), np.uint64(last)):
        if leaf_of[row] < len(counts):
            counts[leaf_of[row]] += 1


@lean_kernel
def reroute(columns, nodes, splits, above, on_left, first, last, leaf_of):
    """Rows whose codes have changed move to their new leaves; OUT leaf_of.

    `above` is the nearest node above each node that is split on a changed column, or -1; `on_left` is its side there.
    """
    for row in range(first, last):
        at, wrong = np.int64(leaf_of[row]), -1
        if at < len(splits):
            while above[at] >= 0:
                node = nodes[above[at]]
                if goes_left(node, np.int64(columns[node.feature, row])) != on_left[at]:
                    wrong = above[at]
                at = above[at]
        if wrong >= 0:
            while splits[wrong]:
                node = nodes[wrong]
                wrong = node.left if goes_left(node, np.int64(columns[node.feature, row])) else node.right
            leaf_of[row] = wrong


@lean_kernel
def recount(nodes, splits, sums, rules):
    """Sums and gains of nodes after rows have moved, from those of the leaves: gradient, hessian, rows.

    A split with a child that is now too small, or without a gain, is undone. OUT nodes, splits.
    """
    counts = rules.min_child_rows > 1
    for k in range(len(nodes)):
        at = len(nodes) - 1 - k
        node = nodes[at]
        if splits[at]:
            left, right = nodes[node.left], nodes[node.right]
            node.gradient, node.hessian = left.gradient + right.gradient, left.hessian + right.hessian
            node.n_rows, node.left_gradient, node.left_hessian = left.n_rows + right.n_rows, left.gradient, left.hessian
            node.gain = 0.5 * (worth_of(left, rules) + worth_of(right, rules) - worth_of(node, rules))
            left_fits = is_large_enough(left.hessian, left.n_rows, rules, counts)
            right_fits = is_large_enough(right.hessian, right.n_rows, rules, counts)
            splits[at] = left_fits and right_fits and node.gain > 0.0
        else:
            node.gradient, node.hessian, node.n_rows = sums[at, 0], sums[at, 1], sums[at, 2]

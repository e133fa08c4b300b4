"""Levels of a category that has too many for a histogram: their sums, how far they are believed, and codes of rows.

The rows are cut into two halves at random. Levels are put in order by what they seem to do to the gradient, and the
rows of one half get their place in that order from the sums of the other half. A row's own gradient has then no part
in its code, so a column of names or numbers that mean nothing gains nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sapwood.kernels._jit import inner_kernel, lean_kernel
from sapwood.kernels.histogram import HALF, add_pair, numbers_of
from sapwood.kernels.newton import score_of
from sapwood.kernels.routing import goes_left
from sapwood.kernels.rules import is_large_enough

SIGN = np.uint64(63)
TOP = np.uint64(1 << 31)
ALL = np.uint64(0xFFFFFFFF)
ONE = np.uint64(1)


@inner_kernel
def half_of(row, key):
    """0 or 1, each for half of the rows; the key is odd."""
    return (np.uint64(row) * key) >> SIGN


@lean_kernel
def sum_levels(records, first, last, quantized, levels, offset, key, sums):
    """Add gradient and hessian of records to their half and level; OUT sums (halves * (levels + 1), 2)."""
    n_levels = np.uint64(len(sums)) >> ONE
    for i in range(np.uint64(first), np.uint64(last)):
        row = records[i] >> HALF
        half, level = half_of(row + np.uint64(offset), key), np.uint64(levels[row])
        gradient, hessian = numbers_of(records[i], quantized)
        add_pair(sums, half * n_levels + level, gradient, hessian)


@inner_kernel
def total_levels(sums):
    """Gradient and hessian of all levels."""
    g, h = np.int64(0), np.int64(0)
    for half in range(2):
        for level in range(1, sums.shape[1]):
            g += sums[half, level, 0]
            h += sums[half, level, 1]
    return g, h


@inner_kernel
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


@inner_kernel
def believed_effect(g, h, mean, shrink):
    """What a level does to the gradient per hessian, as far as it is believed."""
    return (g - mean * h) / (h + shrink) if h > 0.0 else 0.0


@inner_kernel
def write_effects(sums, mean, shrink, effects):
    """Effects of levels for the rows of each half, from the other one, and for all; OUT effects (3, levels + 1)."""
    for level in range(sums.shape[1]):
        g0, h0 = np.float64(sums[0, level, 0]), np.float64(sums[0, level, 1])
        g1, h1 = np.float64(sums[1, level, 0]), np.float64(sums[1, level, 1])
        effects[0, level] = believed_effect(g1, h1, mean, shrink)
        effects[1, level] = believed_effect(g0, h0, mean, shrink)
        effects[2, level] = believed_effect(g0 + g1, h0 + h1, mean, shrink)


@lean_kernel
def find_effects(sums, effects, bits, keys):
    """Effects in float32, and keys of the levels in their order; returns whether there are any effects.

    `bits` are those of effects[2]. A key is an effect as a whole number of the same order, then its level: no two are
    equal, so every way to sort them gives the same. OUT effects, keys (levels).
    """
    g, h = total_levels(sums)
    mean = g / h if h > 0 else 0.0
    shrink = shrinkage(sums, mean)
    if shrink == np.inf:
        return False
    write_effects(sums, mean, shrink, effects)
    for level in range(1, sums.shape[1]):
        own = np.uint64(bits[level])
        own ^= TOP if own < TOP else ALL
        keys[level - 1] = own << HALF | np.uint64(level)
    return True


@lean_kernel
def cut_levels(keys, sums, effects, cuts):
    """Cut levels into groups of about equal hessian, in the order of their sorted keys; equal effects stay together.

    OUT cuts, infinite before: largest effects of all groups but the last.
    """
    n_cuts, last_group, (_, total) = 0, 0, total_levels(sums)
    scale, end, last_effect = len(cuts) / total, np.int64(0), np.float32(0.0)
    for i in range(len(keys)):
        level = keys[i] & ALL
        weight = sums[0, level, 1] + sums[1, level, 1]
        end += weight
        group = min(np.int64((end - 0.5 * weight) * scale), len(cuts) - 1)
        if i > 0 and group > last_group and (n_cuts == 0 or cuts[n_cuts - 1] < last_effect):
            cuts[n_cuts] = last_effect
            n_cuts += 1
        last_group, last_effect = group, effects[level]


@lean_kernel
def code_effects(effects, cuts, codes):
    """One more than the number of cuts below each effect, and 0 for missing levels; 255 ascending cuts. OUT codes."""
    for i in range(effects.shape[0]):
        for level in range(np.uint64(effects.shape[1])):
            below = np.uint64(0)
            for k in range(8):  # by halving, without branches
                step = np.uint64(128) >> np.uint64(k)
                below += step * np.uint64(cuts[below + step - ONE] < effects[i, level])
            codes[i, level] = below + ONE
        codes[i, 0] = 0


@lean_kernel
def write_group_codes(levels, codes, offset, key, first, last, column, rows, place):
    """Codes of the rows first…last-1 by half and level; OUT column, rows (at their place) unless they are None."""
    for row in range(np.uint64(first), np.uint64(last)):
        code = codes[half_of(row + np.uint64(offset), key), np.uint64(levels[row])]
        column[row] = code
        if rows is not None:
            rows[row, place] = code


class Moves(NamedTuple):
    """A tree, and the groups that levels have now: what decides which rows move to other leaves."""

    nodes: np.ndarray
    splits: np.ndarray
    place_of: np.ndarray  # (columns,) place of each grouped column among these, or -1
    codes: np.ndarray  # (grouped columns, levels + 1)
    start: np.ndarray  # (nodes,) the highest node above each one that is split on a grouped column, or -1
    low: np.ndarray  # (grouped columns, nodes) codes of at least `low` and at most `width` more lead to a node, …
    width: np.ndarray  # … and missing ones do not change


@lean_kernel
def bound_nodes(moves):
    """Find the codes that lead to each node; returns whether any grouped column is split.

    OUT start, low, width, which are -1, 0 and 255 before.
    """
    start, low, width, is_used = moves.start, moves.low, moves.width, False
    for at in range(len(start)):
        if not moves.splits[at]:
            continue
        node = moves.nodes[at]
        own = moves.place_of[node.feature]
        is_used |= own >= 0
        for child in (node.left, node.right):
            start[child] = at if own >= 0 and start[at] < 0 else start[at]
            for place in range(len(low)):
                low[place, child], width[place, child] = low[place, at], width[place, at]
        if own >= 0:
            last = np.int64(low[own, at]) + np.int64(width[own, at])
            width[own, node.left] = node.code - low[own, at]
            low[own, node.right], width[own, node.right] = node.code + 1, last - node.code - 1
    return is_used


@lean_kernel
def stays(moves, levels, row, leaf):
    """Whether the groups of a row still lead to its leaf."""
    for place in range(np.uint64(len(levels))):
        code = moves.codes[place, np.uint64(levels[place, row])]
        if code != 0 and np.uint8(code - moves.low[place, leaf]) > moves.width[place, leaf]:
            return False
    return True


@lean_kernel
def reroute(moves, columns, levels, first, last, leaf_of, moved):
    """Rows whose groups have changed move to their new leaves; OUT leaf_of, moved: rows that leaves gain.

    `columns` need not hold the codes of grouped columns, whose `levels` are (grouped columns, rows).
    """
    for row in range(np.uint64(first), np.uint64(last)):
        leaf = np.uint64(leaf_of[row])
        if leaf >= np.uint64(len(moved)) or stays(moves, levels, row, leaf):
            continue
        at = moves.start[leaf]
        while moves.splits[at]:
            node = moves.nodes[at]
            place = moves.place_of[node.feature]
            code = columns[node.feature, row] if place < 0 else moves.codes[place, levels[place, row]]
            at = node.left if goes_left(node, np.int64(code)) else node.right
        leaf_of[row] = at
        moved[leaf] -= 1
        moved[at] += 1


@lean_kernel
def recount(nodes, splits, sums, scales, moved, rules):
    """Sums and gains of nodes after rows have moved, from the sums of leaves in fine units and the rows they gained.

    A split with a child that is now too small, or without a gain, is undone. OUT nodes, splits, sums of inner nodes.
    """
    for at in range(len(nodes) - 1, -1, -1):
        node = nodes[at]
        if splits[at]:
            left, right = nodes[node.left], nodes[node.right]
            node.gradient, node.hessian = left.gradient + right.gradient, left.hessian + right.hessian
            node.n_rows, node.left_gradient, node.left_hessian = left.n_rows + right.n_rows, left.gradient, left.hessian
            for k in range(2):
                sums[at, k] = sums[node.left, k] + sums[node.right, k]
            node.gain = 0.5 * (score_of(left, rules) + score_of(right, rules) - score_of(node, rules))
            left_fits = is_large_enough(rules, left.n_rows, left.hessian * rules.hessian_unit)
            right_fits = is_large_enough(rules, right.n_rows, right.hessian * rules.hessian_unit)
            splits[at] = left_fits and right_fits and node.gain > 0.0
        else:
            node.gradient = np.int64(np.rint(sums[at, 0] * scales[0]))
            node.hessian = np.int64(np.rint(sums[at, 1] * scales[1]))
            node.n_rows += moved[at]

"""Lines of linear leaves in Shapley values.

A line of a leaf adds m = slope * (x - centre) to its value if column j is known, and 0 if it is not, since centres are
means over the leaf's rows. With the names of `shapley.py`, it is a leaf of value m whose factor for j is t o_j, not
f_j, and whose effect of j is 1 / t, not (o_j - z_j) / f_j. So where o_j is 1 (elsewhere the line adds nothing at all),
with P the product of all factors of the path,

    P m t / f_j      goes to the sums that all features of the path have their part of, and
    P m z_j / f_j²   is for j beyond its part of these: (t / f_j) (1 / t - (1 - z_j) / f_j).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sapwood.kernels._jit import lean_kernel, part
from sapwood.kernels.linear_leaves import line_value
from sapwood.kernels.vectors import WIDTH, load, pick, spread, store


class LeafLines(NamedTuple):
    """Lines of the leaves of a tree: those of node i of its paths are starts[i] … starts[i + 1] - 1."""

    starts: np.ndarray
    column: np.ndarray
    depth: np.ndarray  # of the last edge on the column, 0 if the path does not use it
    coefficients: np.ndarray  # (lines, points, 2): t / f and z / f²
    values: np.ndarray  # (lines, rows): m


class Leaf(NamedTuple):
    """A leaf at the end of a path, for a vector of rows."""

    first: int  # of the rows
    met: np.ndarray  # (depths): lanes whose rows meet all conditions on the feature of each edge
    products: np.ndarray  # flat
    place: int  # of the leaf's first product
    n_points: int


class PairedLines(NamedTuple):
    """Lines of leaves for rows and those of a background."""

    starts: np.ndarray
    column: np.ndarray
    own: np.ndarray  # (rows, lines): m
    others: np.ndarray  # (background, lines)


@lean_kernel
def find_line_values(lines, columns, out):
    """What each line adds to each row, were its leaf the row's; cells are (columns, rows); OUT out (lines, rows)."""
    for i in range(len(lines)):
        column = columns[lines[i].column]
        for row in range(np.uint64(columns.shape[1])):
            out[i, row] = line_value(lines[i], column[row])


@part
def values_in_reach(lines, i, leaf):
    """What a line adds to the rows of all lanes: 0 in those that its column keeps from the leaf."""
    place = np.uint64(i) * np.uint64(lines.values.shape[1]) + leaf.first
    return pick(leaf.met[lines.depth[i]], load(lines.values.reshape(-1), place), spread(0.0))


@part
def scale_by_leaf(lines, at, value, leaf, sums):
    """Products of a leaf times its value and those of its lines; OUT sums, in the place of the products."""
    for place in range(leaf.place, leaf.place + leaf.n_points):
        amount = spread(value)
        for i in range(lines.starts[at], lines.starts[at + np.uint64(1)]):
            share = spread(lines.coefficients[i, place - leaf.place, 0])
            amount = amount + values_in_reach(lines, i, leaf) * share
        store(sums, place * WIDTH, load(leaf.products, place * WIDTH) * amount)


@part
def scale_by_line(lines, i, leaf, scaled):
    """Products of a leaf times what a line adds to its own column beyond its part of the sums; OUT scaled."""
    value = values_in_reach(lines, i, leaf)
    for q in range(leaf.n_points):
        beyond = spread(lines.coefficients[i, q, 1]) * value
        store(scaled, q * WIDTH, load(leaf.products, (leaf.place + q) * WIDTH) * beyond)

"""Shapley values of a tree whose absent features are averaged over the training rows ("path dependent").

The path to a leaf of value v asks d features; o_k is 1 if the row meets all conditions on feature k and else 0, and z_k
the share of training rows that do. With f_k(t) = (1 - t) z_k + t o_k the leaf's part of the Shapley value of i is

    v (o_i - z_i) ∫ Π_{k ≠ i} f_k(t) dt  over t from 0 to 1,

a polynomial of degree d - 1, which Gauss's rule integrates exactly with d / 2 points, rounded up. For each point the
products Π f_k are made on the way down and summed up over leaves on the way up. Each edge on feature i adds

    (o_i - z_i) / f_i  with the edge on the path, less the same without it,

times the sum below it, so that each leaf counts with its last edge on i. As o is 0 or 1, an edge multiplies and adds
one of three numbers for each point, which are made beforehand (`COEFFICIENTS`).

Rows go side by side in lanes. No lane knows of another, so a row's values do not depend on the rows around.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sapwood.kernels._jit import lean_kernel, part
from sapwood.kernels.path_lines import Leaf, scale_by_leaf, scale_by_line
from sapwood.kernels.vectors import ALL, WIDTH, lanes_with, load, pick, spread, store

COEFFICIENTS = ("keep", "lose", "lost", "gain", "loss")
"""Of an edge and a point. The product is multiplied by `keep` if the row meets all conditions on the feature up to this
edge, by `lose` if it meets all but this one, and else by `lost`; the sum below counts `gain`, `loss`, or 0 times."""


class Edge(NamedTuple):
    """The edge to a node, and lanes with rows that meet all conditions on its feature: up to the edge, and before."""

    coefficients: np.ndarray  # of all edges
    at: int
    met: int
    met_before: int


@part
def _factor(edge, q):
    """What an edge multiplies products by."""
    coefficients, at = edge.coefficients, edge.at
    keep, lose, lost = coefficients[at, q, 0], coefficients[at, q, 1], coefficients[at, q, 2]
    return pick(edge.met, spread(keep), pick(edge.met_before, spread(lose), spread(lost)))


@part
def _times(edge, q):
    """How many times the sum below an edge counts for its feature."""
    gain, loss = edge.coefficients[edge.at, q, 3], edge.coefficients[edge.at, q, 4]
    return pick(edge.met, spread(gain), pick(edge.met_before, spread(loss), spread(0.0)))


@part
def descend(edge, above, here, products):
    """Products of a node from those of its parent; OUT products."""
    for q in range(np.uint64(edge.coefficients.shape[1])):
        store(products, (here + q) * WIDTH, load(products, (above + q) * WIDTH) * _factor(edge, q))


@part
def _ascend(edge, value, source, at, sums, above, out, place):
    """What an edge adds to the values of its feature, and to the sums of its parent; OUT sums, out.

    Below it is a leaf with this value, and the products of its parent are in the source; or, if the value is None, a
    node with its own sums there.
    """
    total = load(out, place)
    for q in range(np.uint64(edge.coefficients.shape[1])):
        here, up = load(source, (at + q) * WIDTH), (above + q) * WIDTH
        if value is not None:
            here = spread(value) * (here * _factor(edge, q))
        total = total + here * _times(edge, q)
        store(sums, up, load(sums, up) + here)
    store(out, place, total)


@part
def _add_lines(lines, at, leaf, scaled, n_rows, out):
    """What the lines of a leaf add to their own columns; SCRATCH scaled; OUT out."""
    for i in range(lines.starts[at], lines.starts[at + np.uint64(1)]):
        scale_by_line(lines, i, leaf, scaled)
        place = np.uint64(lines.column[i]) * n_rows + leaf.first
        total = load(out, place)
        for q in range(leaf.n_points):
            total = total + load(scaled, q * WIDTH)
        store(out, place, total)


@lean_kernel
def add_shapley_values(nodes, coefficients, weights, leaf_values, lines, sides, met, products, sums, out):
    """Add a tree's Shapley values to those of a multiple of LANES rows.

    `coefficients` are (nodes, points, COEFFICIENTS), `weights` those of the points, `leaf_values` (nodes of the tree,
    width), `lines` LeafLines or None, and `sides` (steps, rows). SCRATCH met (depths), products (depths, points,
    LANES), sums (depths, width, points, LANES); OUT out (width, features, rows).
    """
    n_points, width, one = np.uint64(len(weights)), np.uint64(leaf_values.shape[1]), np.uint64(1)
    n_features, n_rows, size = np.uint64(out.shape[1]), np.uint64(out.shape[2]), width * n_points
    products, sums, sides, out = products.reshape(-1), sums.reshape(-1), sides.reshape(-1), out.reshape(-1)
    met[0] = ALL
    for first in range(np.uint64(0), n_rows, WIDTH):
        for q in range(n_points):
            store(products, q * WIDTH, spread(weights[q]))
        for at in range(one, np.uint64(len(nodes))):
            node = nodes[at]
            depth, before = np.uint64(node.depth), met[node.before]
            above = depth - one
            own = before & lanes_with(sides, np.uint64(node.step) * n_rows + first, node.side)
            edge = Edge(coefficients, at, own, before)
            if node.is_leaf == 0:
                met[depth] = own
                descend(edge, above * n_points, depth * n_points, products)
                for place in range(depth * size, depth * size + size):
                    store(sums, place * WIDTH, spread(0.0))
                continue
            if lines is None:
                for w in range(width):
                    place = (w * n_features + np.uint64(node.feature)) * n_rows + first
                    up = above * size + w * n_points
                    _ascend(edge, leaf_values[node.node, w], products, above * n_points, sums, up, out, place)
            else:  # the leaf has sums of its own, like a node; width is 1
                met[depth], here = own, depth * n_points
                descend(edge, above * n_points, here, products)
                leaf = Leaf(first, met, products, here, n_points)
                _add_lines(lines, at, leaf, sums[here * WIDTH :], n_rows, out)
                scale_by_leaf(lines, at, leaf_values[node.node, 0], leaf, sums)
                place = np.uint64(node.feature) * n_rows + first
                _ascend(edge, None, sums, here, sums, above * n_points, out, place)
            while node.is_last == 1 and node.parent > 0:  # all children are summed up
                done = np.uint64(node.parent)
                node = nodes[done]
                depth = np.uint64(node.depth)
                edge = Edge(coefficients, done, met[depth], met[node.before])
                for w in range(width):
                    place = (w * n_features + np.uint64(node.feature)) * n_rows + first
                    below = depth * size + w * n_points
                    _ascend(edge, None, sums, below, sums, below - size, out, place)

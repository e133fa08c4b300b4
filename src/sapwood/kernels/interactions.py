"""Shapley interaction values of a tree whose absent features are averaged over the training rows.

With the names of `shapley.py`, a leaf's part of the value of two features i and j together is

    v ∫ (o_i - z_i) / f_i  (o_j - z_j) / f_j  Π_k f_k dt  over t from 0 to 1.

The effects (o - z) / f are made on the way down, one for each edge; the last edge of each feature on the path counts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sapwood.kernels._jit import lean_kernel, part
from sapwood.kernels.path_lines import Leaf, scale_by_leaf, scale_by_line
from sapwood.kernels.shapley import Edge, descend
from sapwood.kernels.vectors import ALL, WIDTH, lanes_with, load, pick, spread, store


class Edges(NamedTuple):
    """What the edges of a tree are at the points of the rule."""

    coefficients: np.ndarray  # (nodes, points, COEFFICIENTS)
    surplus: np.ndarray  # (nodes, points): the effect of an edge where the conditions are met
    deficit: np.ndarray  # (points): and where they are not
    weights: np.ndarray  # of the points


class Scratch(NamedTuple):
    """Memory for the nodes of a path."""

    met: np.ndarray  # (depths)
    products: np.ndarray  # (depths, points, LANES)
    effects: np.ndarray  # (depths, points, LANES)
    scaled: np.ndarray  # (points, LANES)
    places: np.ndarray  # (3, depths)


@part
def _last_edges(nodes, path, depth, hidden, last):
    """Depths of the last edge of each feature on a path; SCRATCH hidden; OUT last; returns how many there are."""
    for d in range(depth + 1):
        hidden[d] = 0
    count = 0
    for d in range(depth, 0, -1):
        if hidden[d] == 0:
            last[count] = d
            count += 1
        hidden[nodes[path[d]].before] = 1
    return count


@part
def _scale(products, source, effects, at, n_points, scaled):
    """Products of a leaf times the effects of an edge; OUT scaled."""
    for q in range(n_points):
        store(scaled, q * WIDTH, load(products, (source + q) * WIDTH) * load(effects, (at + q) * WIDTH))


@part
def _integral(scaled, effects, at, n_points):
    """Sum over the points of scaled products times the effects of a second edge."""
    total = spread(0.0)
    for q in range(n_points):
        total = total + load(scaled, q * WIDTH) * load(effects, (at + q) * WIDTH)
    return total


@part
def _add_line(lines, i, leaf, scratch, nodes, last_edges, n_features, n_rows, out):
    """What a line adds to the pairs of its own column beyond its part of the leaf's; SCRATCH scaled; OUT out."""
    effects, scaled, path = scratch
    last, count = last_edges
    j = np.uint64(lines.column[i])
    scale_by_line(lines, i, leaf, scaled)
    for b in range(count):
        k = np.uint64(nodes[path[last[b]]].feature)
        if k != j:
            place = (min(j, k) * n_features + max(j, k)) * n_rows + leaf.first
            both = _integral(scaled, effects, np.uint64(last[b]) * leaf.n_points, leaf.n_points)
            store(out, place, load(out, place) + both)


@lean_kernel
def add_interactions(nodes, edges, leaf_values, lines, sides, scratch, out):
    """Add a tree's interaction values of all pairs to those of a multiple of LANES rows.

    `leaf_values`, `lines` and `sides` are as for `add_shapley_values`; OUT out (width, features, features, rows), the
    lower feature first.
    """
    coefficients, surplus, deficit, weights = edges
    met, products, effects, scaled, places = scratch
    n_points, width, one = np.uint64(len(weights)), np.uint64(leaf_values.shape[1]), np.uint64(1)
    n_features, n_rows = np.uint64(out.shape[1]), np.uint64(out.shape[3])
    products, effects, scaled = products.reshape(-1), effects.reshape(-1), scaled.reshape(-1)
    sides, out = sides.reshape(-1), out.reshape(-1)
    path, hidden, last = places[0], places[1], places[2]
    met[0] = ALL
    for first in range(np.uint64(0), n_rows, WIDTH):
        for q in range(n_points):
            store(products, q * WIDTH, spread(weights[q]))
        for at in range(one, np.uint64(len(nodes))):
            node = nodes[at]
            depth, before = np.uint64(node.depth), met[node.before]
            own = before & lanes_with(sides, np.uint64(node.step) * n_rows + first, node.side)
            met[depth], path[depth] = own, at
            here = depth * n_points
            descend(Edge(coefficients, at, own, before), here - n_points, here, products)
            for q in range(n_points):
                store(effects, (here + q) * WIDTH, pick(own, spread(surplus[at, q]), spread(deficit[q])))
            if node.is_leaf == 0:
                continue
            count = _last_edges(nodes, path, node.depth, hidden, last)
            if lines is not None:  # the products become those of the value and all lines; width is 1
                leaf = Leaf(first, met, products, here, n_points)
                memory, edges_of_leaf = (effects, scaled, path), (last, count)
                for i in range(lines.starts[at], lines.starts[at + one]):
                    _add_line(lines, i, leaf, memory, nodes, edges_of_leaf, n_features, n_rows, out)
                scale_by_leaf(lines, at, leaf_values[node.node, 0], leaf, products)
            for a in range(1, count):
                _scale(products, here, effects, np.uint64(last[a]) * n_points, n_points, scaled)
                i = np.uint64(nodes[path[last[a]]].feature)
                for b in range(a):
                    both = _integral(scaled, effects, np.uint64(last[b]) * n_points, n_points)
                    j = np.uint64(nodes[path[last[b]]].feature)
                    pair = min(i, j) * n_features + max(i, j)
                    for w in range(width):
                        place = (w * n_features * n_features + pair) * n_rows + first
                        value = both if lines is not None else both * spread(leaf_values[node.node, w])
                        store(out, place, load(out, place) + value)

"""From grown nodes to a `Tree`: links in preorder, thresholds, and leaf values from the sums of the nodes.

Thresholds are midpoints between neighbouring values, from the rows or codes that growth found on either side. Values
are shares of the classes, means or medians.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood import elementary
from sapwood.arrays import Array, Floats, Ints
from sapwood.codes.coded import CodedTable
from sapwood.codes.separation import midpoints
from sapwood.growth.criteria import Statistics
from sapwood.growth.scale import Scale, shifted
from sapwood.kernels.nodes import Links, link_nodes, node_fields, node_medians, preorder
from sapwood.kernels.tree_frame import IMPLICIT_ROW, NO_ROW
from sapwood.tree import UNDEFINED


@dataclass(frozen=True, eq=False)
class GrownNodes:
    """What the growth kernel leaves behind, in preorder: links, fields of kernels.tree_frame.NODE, and other arrays."""

    links: Links
    at_left: Array
    at_right: Array
    threshold: Floats
    subset_start: Array
    weight: Floats
    mass: Floats
    sums: Floats  # (nodes, sums)
    medians: Floats | None  # (nodes, outputs), for the absolute error
    bounds: Floats | None  # (nodes, 2) least and largest value under monotonic constraints
    subsets: NDArray[np.uint32]

    @classmethod
    def read(cls, arrays: dict[str, Array], n_nodes: int, n_words: int) -> GrownNodes:
        """From the arrays of a frame, of which nodes and words of subsets are used so far."""
        nodes = arrays["nodes"][:n_nodes]
        order = preorder(nodes["left"], nodes["right"], n_nodes)
        read: dict[str, Any] = {
            name: arrays[name].take(order, axis=0) if name in arrays else None for name in ("sums", "medians", "bounds")
        }
        subsets = arrays.get("subsets", np.empty(0, dtype=np.uint32))[:n_words].copy()
        links, fields = link_nodes(nodes, nodes["left"] >= 0, order), node_fields(nodes, order)
        return cls(links=links, subsets=subsets, **fields._asdict(), **read)


def split_thresholds(coded: CodedTable, grown: GrownNodes) -> Floats:
    """Threshold of every node: +inf where all present rows go left, NaN at category splits, -2 at leaves."""
    feature = grown.links.feature
    inner = np.flatnonzero(feature >= 0)
    thresholds = np.full(len(feature), float(UNDEFINED))
    drawn = grown.threshold[inner]  # between values
    thresholds[inner] = np.where(grown.at_right[inner] == NO_ROW, np.inf, drawn)
    inner = inner[~coded.is_valued[feature[inner]]]
    by_feature = inner[np.argsort(feature[inner], kind="stable")]
    ends = np.searchsorted(feature[by_feature], np.arange(coded.n_features + 1))
    for j in np.flatnonzero(np.diff(ends)):
        at = by_feature[ends[j] : ends[j + 1]]
        thresholds[at] = np.nan if coded.is_category[j] else _column_thresholds(coded, int(j), grown, at)
    return thresholds


def _column_thresholds(coded: CodedTable, j: int, grown: GrownNodes, at: Ints) -> Floats:
    cut = grown.at_right[at] != NO_ROW
    below = _values(coded, j, grown.at_left[at[cut]], coded.high)
    above = _values(coded, j, grown.at_right[at[cut]], coded.low)
    drawn = grown.threshold[at[cut]]
    result = np.full(len(at), np.inf)
    # A drawn threshold stands unless it lies inside a bin, whose rows all went right.
    result[cut] = np.where(drawn < above, drawn, midpoints(below, above))
    return result


def _values(coded: CodedTable, j: int, places: Array, decode: tuple[Array, ...]) -> Array:
    if coded.is_coded[j]:
        return decode[j][places]
    values = np.full(len(places), coded.implicit_value[j])
    listed = places != IMPLICIT_ROW
    values[listed] = coded.look_up[j](places[listed])
    return values


def leaf_values(grown: GrownNodes, statistics: Statistics, leaf: str, rows: Array, scale: Scale) -> Floats:
    """Values (node, output, class share or 1), in the caller's scale.

    `leaf`: "auto"; for classes "share" or "softmax" (of the class weights); for numbers "mean" or "median".
    """
    if statistics.is_class:
        return _class_values(grown, statistics, leaf, scale)
    values = grown.sums / grown.weight[:, None]
    if grown.medians is not None and leaf != "mean":
        values = grown.medians.copy()
    elif leaf == "median":
        values = _medians(grown, statistics, rows)
    if grown.bounds is not None:
        values = np.clip(values, grown.bounds[:, :1], grown.bounds[:, 1:])
    return np.ascontiguousarray(shifted(values, scale.target)[:, :, None])


def _class_weights(grown: GrownNodes, statistics: Statistics) -> list[Floats]:
    """Weight of each class in each node, one array per output."""
    if statistics.is_pair:
        ones = grown.sums[:, 0]
        return [np.stack([grown.weight - ones, ones]).T[:, : statistics.n_classes[0]]]
    start = statistics.output_start
    return [grown.sums[:, start[o] : start[o + 1]] for o in range(statistics.n_outputs)]


def _class_values(grown: GrownNodes, statistics: Statistics, leaf: str, scale: Scale) -> Floats:
    values = np.zeros((len(grown.sums), statistics.n_outputs, max(statistics.n_classes)))
    for o, weights in enumerate(_class_weights(grown, statistics)):
        if leaf == "softmax":
            shares = _softmax(shifted(weights, scale.weight))
        else:
            shares = weights / weights.sum(axis=1, keepdims=True)
        values[:, o, : weights.shape[1]] = shares
    if grown.bounds is not None and statistics.n_classes == (2,):
        share = np.clip(values[:, 0, 1], grown.bounds[:, 0], grown.bounds[:, 1])
        values[:, 0, 0], values[:, 0, 1] = 1.0 - share, share
    return values


def _softmax(scores: Floats) -> Floats:
    powers = elementary.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares


def _medians(grown: GrownNodes, statistics: Statistics, rows: Array) -> Floats:
    links, medians = grown.links, np.empty((len(grown.sums), statistics.n_outputs))
    in_leaf = np.where(links.children_left < 0, links.n_node_samples, 0)
    first_row = np.cumsum(in_leaf) - in_leaf  # rows are in the order of the leaves
    for o in range(statistics.n_outputs):
        node_medians(rows, first_row, links.n_node_samples, statistics.wy, o, medians[:, o])
    return medians

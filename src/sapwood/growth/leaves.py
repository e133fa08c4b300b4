"""Values of nodes from their sums: shares of the classes, means or medians."""

from __future__ import annotations

import numpy as np

from sapwood import elementary
from sapwood.arrays import Array, Floats
from sapwood.growth.criteria import Statistics
from sapwood.growth.raw import RawTree
from sapwood.growth.scale import Scale, shifted
from sapwood.kernels.nodes import node_medians


def leaf_values(raw: RawTree, statistics: Statistics, leaf: str, rows: Array, scale: Scale) -> Floats:
    """Values (node, output, class share or 1), in the caller's scale.

    `leaf`: "auto"; for classes "share" or "softmax" (of the class weights); for numbers "mean" or "median".
    """
    if statistics.is_class:
        return _class_values(raw, statistics, leaf, scale)
    values = raw.sums / raw.weight[:, None]
    if raw.middle is not None and leaf != "mean":
        values = raw.middle.copy()
    elif leaf == "median":
        values = _medians(raw, statistics, rows)
    if raw.bounds is not None:
        values = np.clip(values, raw.bounds[:, :1], raw.bounds[:, 1:])
    return np.ascontiguousarray(shifted(values, scale.target)[:, :, None])


def class_weights_of(raw: RawTree, statistics: Statistics) -> list[Floats]:
    """Weight of each class in each node, one array per output."""
    if statistics.is_pair:
        ones = raw.sums
        return [np.hstack([raw.weight[:, None] - ones, ones])[:, : statistics.n_classes[0]]]
    start = statistics.output_start
    return [raw.sums[:, start[o] : start[o + 1]] for o in range(statistics.n_outputs)]


def _class_values(raw: RawTree, statistics: Statistics, leaf: str, scale: Scale) -> Floats:
    values = np.zeros((len(raw), statistics.n_outputs, max(statistics.n_classes)))
    for o, weights in enumerate(class_weights_of(raw, statistics)):
        if leaf == "softmax":
            shares = _softmax(shifted(weights, scale.weight))
        else:
            shares = weights / weights.sum(axis=1, keepdims=True)
        values[:, o, : weights.shape[1]] = shares
    if raw.bounds is not None and statistics.n_classes == (2,):
        share = np.clip(values[:, 0, 1], raw.bounds[:, 0], raw.bounds[:, 1])
        values[:, 0, 0], values[:, 0, 1] = 1.0 - share, share
    return values


def _softmax(scores: Floats) -> Floats:
    powers = elementary.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares


def _medians(raw: RawTree, statistics: Statistics, rows: Array) -> Floats:
    medians = np.empty((len(raw), statistics.n_outputs))
    for o in range(statistics.n_outputs):
        column = np.empty(len(medians))
        node_medians(rows, raw.first_row, raw.n_rows, statistics.wy, o, column)
        medians[:, o] = column
    return medians

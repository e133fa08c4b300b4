"""Thresholds: midpoints between neighbouring values, from the rows or codes that growth found on either side."""

from __future__ import annotations

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.codes.coded import CodedTable
from sapwood.codes.separation import midpoints
from sapwood.growth.raw import RawTree
from sapwood.kernels.tree_frame import IMPLICIT_ROW, NO_ROW
from sapwood.tree import UNDEFINED


def split_thresholds(coded: CodedTable, raw: RawTree) -> Floats:
    """Threshold of every node: +inf where all present rows go left, NaN at category splits, -2 at leaves."""
    inner = np.flatnonzero(raw.feature >= 0)
    thresholds = np.full(len(raw), float(UNDEFINED))
    thresholds[inner] = np.where(raw.at_right[inner] == NO_ROW, np.inf, raw.threshold[inner])  # drawn between values
    inner = inner[~coded.is_valued[raw.feature[inner]]]
    by_feature = inner[np.argsort(raw.feature[inner], kind="stable")]
    ends = np.searchsorted(raw.feature[by_feature], np.arange(coded.n_features + 1))
    for j in np.flatnonzero(np.diff(ends)):
        at = by_feature[ends[j] : ends[j + 1]]
        thresholds[at] = np.nan if coded.is_category[j] else _column_thresholds(coded, int(j), raw, at)
    return thresholds


def _column_thresholds(coded: CodedTable, j: int, raw: RawTree, at: Array) -> Floats:
    below, above, drawn = raw.at_left[at], raw.at_right[at], raw.threshold[at]
    result = np.full(len(at), np.inf)
    cut = above != NO_ROW
    result[cut] = midpoints(_values(coded, j, below[cut], coded.high), _values(coded, j, above[cut], coded.low))
    # A drawn threshold stands unless it lies inside a bin, whose rows all went right.
    kept = cut.copy()
    kept[cut] = drawn[cut] < _values(coded, j, above[cut], coded.low)
    result[kept] = drawn[kept]
    return result


def _values(coded: CodedTable, j: int, places: Array, decode: tuple[Array, ...]) -> Array:
    if coded.is_coded[j]:
        return decode[j][places]
    values = np.full(len(places), coded.implicit_value[j])
    listed = places != IMPLICIT_ROW
    values[listed] = coded.look_up[j](places[listed])
    return values

"""Lowest and highest value of columns, and whether values are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sapwood.arrays import Array, Mask

if TYPE_CHECKING:
    from scipy import sparse

_MOST_BYTE = 255
_FOLD = 64  # rows laid side by side: numpy reduces long rows several times faster than short ones


class Ranges(NamedTuple):
    """One entry per column; NaN where a column has no value."""

    low: Array
    high: Array
    has_missing: Mask


def matrix_ranges(matrix: Array) -> Ranges:
    """Ranges of the columns of a float matrix, NaN left out."""
    low = _reduce(np.minimum, matrix)
    missing = np.isnan(low)
    if not missing.any():
        return Ranges(low, _reduce(np.maximum, matrix), missing)
    return Ranges(_reduce(np.fmin, matrix), _reduce(np.fmax, matrix), missing)


def matrix_missing(matrix: Array) -> Array:
    """Number of NaN in each column of a float matrix."""
    n_rows, n_features = matrix.shape
    if not matrix.flags.c_contiguous:
        return np.array([np.count_nonzero(np.isnan(matrix[:, j])) for j in range(n_features)])
    folded = n_rows // _FOLD * _FOLD
    counts: Array = np.isnan(matrix[folded:]).sum(axis=0)
    step = _FOLD * _MOST_BYTE  # so that a byte can count
    for start in range(0, folded, step):
        wide = np.isnan(matrix[start : min(start + step, folded)]).view(np.uint8).reshape(-1, _FOLD * n_features)
        counts += np.add.reduce(wide, axis=0, dtype=np.uint8).reshape(_FOLD, n_features).sum(axis=0, dtype=np.int64)
    return counts


def sparse_ranges(matrix: sparse.csc_array, absent_is_zero: bool = True) -> Ranges:
    """Ranges of the columns of a canonical CSC array, absent zeros included and NaN left out."""
    n_rows, n_features = matrix.shape
    stored = np.diff(matrix.indptr)
    owner = np.repeat(np.arange(n_features), stored)
    low = np.where((stored < n_rows) & absent_is_zero, 0.0, np.nan)
    high = low.copy()
    np.fmin.at(low, owner, matrix.data)
    np.fmax.at(high, owner, matrix.data)
    missing = np.bincount(owner[np.isnan(matrix.data)], minlength=n_features) > 0
    return Ranges(low, high, missing if absent_is_zero else missing | (stored < n_rows))


def _reduce(ufunc: np.ufunc, matrix: Array) -> Array:
    n_rows, n_features = matrix.shape
    folded = n_rows // _FOLD * _FOLD
    if not matrix.flags.c_contiguous or folded == 0:
        return np.asarray(ufunc.reduce(matrix, axis=0))
    wide = ufunc.reduce(matrix[:folded].reshape(-1, _FOLD * n_features), axis=0)
    return np.asarray(ufunc.reduce(np.vstack([wide.reshape(_FOLD, n_features), matrix[folded:]]), axis=0))

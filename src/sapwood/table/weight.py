"""Weights of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Mask
from sapwood.errors import InputError, InputTypeError
from sapwood.table.column import first_row, read_only
from sapwood.table.levels import is_missing
from sapwood.table.read_array import read_array


def check_weight(sample_weight: object, n_rows: int) -> NDArray[np.float64] | None:
    """One finite weight of at least zero for each row, not all of them zero; None stays None."""
    if sample_weight is None:
        return None
    weight = read_weights(sample_weight)
    if weight.ndim == 0:
        weight = np.full(n_rows, weight)
    _check_shape(weight, n_rows)
    _check_values(weight)
    return read_only(weight)


def read_weights(sample_weight: object) -> Array:
    """Weights as floats, missing ones as NaN; whether they are allowed is for `check_weight`."""
    try:
        weight = read_array(sample_weight, "sample_weight")
        if weight.dtype == object:
            weight = np.reshape([np.nan if is_missing(value) else value for value in weight.flat], weight.shape)
        if weight.dtype.kind in "cmMUSV":
            raise TypeError(f"its dtype is {weight.dtype}")
        return np.ascontiguousarray(weight, dtype=np.float64).reshape(weight.shape)
    except (TypeError, ValueError) as error:
        raise InputTypeError(
            f"sample_weight cannot be read as numbers: {error}. Pass one number of at least 0 for each row."
        ) from error


def _check_shape(weight: Array, n_rows: int) -> None:
    if weight.ndim != 1:
        raise InputError(
            f"Sample weights must be 1D array or scalar: sample_weight has shape {weight.shape}. "
            "Pass one number for each row."
        )
    if len(weight) != n_rows:
        raise InputError(
            f"sample_weight.shape == {weight.shape}, expected {(n_rows,)}! Pass one weight for each row of X."
        )


def _check_values(weight: Array) -> None:
    _refuse(weight, np.isnan(weight), "Input sample_weight contains NaN")
    _refuse(weight, np.isinf(weight), "Input sample_weight contains infinity")
    _refuse(weight, weight < 0, "Input sample_weight contains negative weights")
    if not weight.any():
        raise InputError("All of sample_weight is zero. At least one row must have a weight above zero.")
    with np.errstate(over="ignore"):
        total = weight.sum()
    if np.isinf(total):
        raise InputError(
            "The sum of sample_weight is larger than a 64-bit float can be. Divide the weights by a constant."
        )


def _refuse(weight: Array, bad: Mask, what: str) -> None:
    if bad.any():
        row = first_row(bad)
        raise InputError(f"{what}: {weight[row].item()} in row {row}. Weights must be finite numbers of at least 0.")

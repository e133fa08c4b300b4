"""Limits of the size of a table; errors are worded as scikit-learn's."""

from __future__ import annotations

from sapwood.errors import InputError

MAX_ROWS = 2**31 - 2  # rows are 32-bit integers, and sorted lists keep one bit beside them


def check_shape(n_rows: int, n_features: int) -> None:
    """Refuse a table without rows, without columns, or with too many rows."""
    shape = f"(shape=({n_rows}, {n_features}))"
    if n_features == 0:
        raise InputError(
            f"Found array with 0 feature(s) {shape} while a minimum of 1 is required. Pass at least one column in X."
        )
    if n_rows == 0:
        raise InputError(
            f"Found array with 0 sample(s) {shape} while a minimum of 1 is required. Pass at least one row in X."
        )
    if n_rows > MAX_ROWS:
        raise InputError(
            f"X has {n_rows} rows {shape}; at most {MAX_ROWS} are possible. Take a sample, or predict in parts."
        )


def check_dimensions(n_dimensions: int) -> None:
    """Refuse anything that is not two-dimensional."""
    if n_dimensions == 2:
        return
    found = {0: "scalar", 1: "1D"}.get(n_dimensions, f"{n_dimensions}D")
    remedy = (
        "Reshape your data either using array.reshape(-1, 1) if your data has a single feature "
        "or array.reshape(1, -1) if it contains a single sample."
        if n_dimensions < 2
        else "Reshape your data to one row per sample, for example with X.reshape(len(X), -1)."
    )
    raise InputError(f"Expected 2D array, got {found} array instead: X must have rows and columns. {remedy}")

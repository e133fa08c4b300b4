"""Columns and scores that trees need: kernels do not check bounds, so this is checked before they run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array
from sapwood.errors import SchemaError


def columns_needed(steps: NDArray[np.void]) -> int:
    """Minimum number of columns of a table for these steps."""
    return int(np.max(steps["test"], initial=0) >> 1) + 1 if len(steps) else 0


def check_reach(n_needed: int, n_columns: int) -> None:
    """Refuse a table with fewer columns than trees use."""
    if n_columns < n_needed:
        raise SchemaError(
            f"The trees use column {n_needed - 1}, but the rows have {n_columns} columns: the model's schema is not "
            "that of its trees. Fit the model again, or load it from its file."
        )


def check_scores(column: Array, width: int, n_scores: int) -> None:
    """Refuse trees that would add to scores that the model does not have."""
    n_needed = int(np.max(column, initial=0)) + width
    if n_scores < n_needed:
        raise SchemaError(
            f"The trees add to {n_needed} scores, but the model has {n_scores}: its outputs or classes are not those "
            "of its trees. Fit the model again, or load it from its file."
        )

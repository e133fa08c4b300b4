"""How far trees reach: kernels read the cells that steps ask for without a look, so this is checked before they run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array
from sapwood.errors import SchemaError


def columns_asked(steps: NDArray[np.void]) -> int:
    """How many columns a table must have at least, so that every step finds its own."""
    return int(np.max(steps["test"], initial=0) >> 1) + 1 if len(steps) else 0


def check_reach(n_asked: int, n_columns: int) -> None:
    """Refuse a table with fewer columns than trees ask for."""
    if n_columns < n_asked:
        raise SchemaError(
            f"The trees ask for column {n_asked - 1}, but the rows have {n_columns} columns: the model's schema is not "
            "that of its trees. Fit the model again, or load it from its file."
        )


def check_scores(column: Array, width: int, n_scores: int) -> None:
    """Refuse trees that would add to scores that the model does not have."""
    n_asked = int(np.max(column, initial=0)) + width
    if n_scores < n_asked:
        raise SchemaError(
            f"The trees add to {n_asked} scores, but the model has {n_scores}: its outputs or classes are not those of "
            "its trees. Fit the model again, or load it from its file."
        )

"""Results as a data frame of whichever library is installed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from sapwood.errors import MissingExtraError


def make_frame(columns: Mapping[str, Any]) -> Any:
    """A data frame of pandas or, without it, of polars."""
    for library in ("pandas", "polars"):
        try:
            make = import_module(library).DataFrame
        except ImportError:
            continue
        return make({name: _cells(own) for name, own in columns.items()})
    raise MissingExtraError("to_frame() needs pandas or polars, and neither is installed. Use pip install pandas.")


def _cells(column: Any) -> Any:
    """Objects as a list, from which either library finds their type."""
    return column.tolist() if isinstance(column, np.ndarray) and column.dtype == object else column

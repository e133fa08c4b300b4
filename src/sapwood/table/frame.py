"""Results as a data frame of pandas or polars, whichever is installed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from sapwood.arrays import Array
from sapwood.errors import MissingExtraError


def make_frame(columns: Mapping[str, Any]) -> Any:
    """A data frame of pandas or, without it, of polars."""
    for library in ("pandas", "polars"):
        try:
            make = import_module(library).DataFrame
        except ImportError:
            continue
        return make({_whole(name): _cells(own) for name, own in columns.items()})
    raise MissingExtraError("to_frame() needs pandas or polars, and neither is installed. Use pip install pandas.")


def _cells(column: Array | Iterable[object]) -> object:
    """Objects as a list, from which either library finds their type."""
    if isinstance(column, np.ndarray) and column.dtype.kind not in "OU":
        return column
    return [_whole(cell) for cell in (column.tolist() if isinstance(column, np.ndarray) else column)]


def _whole(cell: object) -> object:
    """Text with halves of characters as escapes: columns of text in frames cannot hold them."""
    return cell.encode("utf-8", "backslashreplace").decode("utf-8") if isinstance(cell, str) else cell

"""Which columns the parameter categorical_features names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sapwood.arrays import Array
from sapwood.errors import ParameterError, ParameterTypeError
from sapwood.table.names import nearest_name, shorten
from sapwood.table.read_array import read_array

_ALLOWED = "'from_dtype', None, or an array-like of column names, column indices or one boolean per column"


def find_categorical(categorical_features: object, names: Sequence[str]) -> frozenset[int]:
    """Positions of the columns to treat as categories besides those of a categorical type."""
    if categorical_features is None or _is_text(categorical_features, "from_dtype"):
        return frozenset()
    items = _items(categorical_features)
    types = {_family(item) for item in items}
    if len(types) > 1 or "other" in types:
        raise ParameterTypeError(f"categorical_features={categorical_features!r} must be {_ALLOWED}, not a mixture.")
    if types == {"bool"}:
        return _from_mask(items, len(names))
    if types == {"name"}:
        return frozenset(_position(str(item), names) for item in items)
    return frozenset(_checked_index(int(item), len(names)) for item in items)


def _is_text(value: object, text: str) -> bool:
    return isinstance(value, str) and value == text


def _items(categorical_features: object) -> Array:
    if isinstance(categorical_features, str):
        hint = (
            nearest_name(categorical_features, ["from_dtype"])
            or f" To name one column, pass [{categorical_features!r}]."
        )
        raise ParameterError(f"categorical_features={categorical_features!r} must be {_ALLOWED}.{hint}")
    items = read_array(categorical_features, "categorical_features", object)
    if items.ndim != 1:
        raise ParameterTypeError(f"categorical_features={categorical_features!r} must be {_ALLOWED}.")
    return items


def _family(item: object) -> str:
    if isinstance(item, (bool, np.bool_)):
        return "bool"
    if isinstance(item, (int, np.integer)):
        return "index"
    return "name" if isinstance(item, str) else "other"


def _from_mask(items: Array, n_features: int) -> frozenset[int]:
    if len(items) != n_features:
        raise ParameterError(
            f"categorical_features has {len(items)} booleans, but X has {n_features} columns. "
            "Pass one boolean for each column."
        )
    return frozenset(np.flatnonzero(items).tolist())


def _position(name: str, names: Sequence[str]) -> int:
    if name in names:
        return names.index(name)
    raise ParameterError(
        f"categorical_features names the column {name!r}, which X does not have. "
        f"The columns are {shorten(names)}.{nearest_name(name, names)}"
    )


def _checked_index(index: int, n_features: int) -> int:
    if 0 <= index < n_features:
        return index
    raise ParameterError(
        f"categorical_features contains the index {index}, but X has {n_features} columns. "
        f"Use indices from 0 to {n_features - 1}; the nearest is {min(max(index, 0), n_features - 1)}."
    )

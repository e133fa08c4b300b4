"""Shapley values as pictures read them: a table of effects for each output, and the rows they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.errors import InputError
from sapwood.plot.checks import require_parts
from sapwood.show.number import plain_number
from sapwood.show.value import date_text, duration_text, level_text
from sapwood.table.levels import is_missing

_PARTS = ("values", "base_values", "data", "feature_names")
_REMEDY = "Give the result of explain.shap_values."


@dataclass(frozen=True)
class ShapData:
    """`values` are (rows, features, outputs), `base` (rows, outputs), `data` (rows, features) or None if unknown.

    `shown` is the data as text; an Explanation of shap may have it apart from what is sorted.
    """

    values: Floats
    base: Floats
    data: Array | None
    shown: Array | None
    names: tuple[str, ...]
    outputs: tuple[str, ...]
    scale: str = ""  # what the numbers are, such as "log-odds"; unknown of an Explanation of shap

    @classmethod
    def of(cls, given: Any) -> ShapData:
        """Read the library's own Shapley values, or an Explanation of the package shap."""
        require_parts("shap_values", given, _PARTS, _REMEDY)
        values = np.asarray(given.values, dtype=np.float64)
        data, text = _cells(given.data, values), _cells(getattr(given, "display_data", None), values)
        values = values[None] if values.ndim == 1 else values  # one row
        if values.ndim not in (2, 3) or not values.size:
            raise InputError(f"shap_values.values has the shape {values.shape}, but needs rows and features. {_REMEDY}")
        values = values[:, :, None] if values.ndim == 2 else values
        shown = text if text is not None and data is not None and text.shape == data.shape else data
        base, names, outputs = _base(given.base_values, values), _names(given, values), _outputs(given, values)
        found = cls(values, base, data, shown, names, outputs, getattr(given, "scale", ""))
        found._check()
        return found

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    def column(self, feature: int) -> list[Any] | None:
        """The values of a feature."""
        return None if self.data is None else list(self.data[:, feature])

    def _check(self) -> None:
        wanted = self.values.shape[:2]
        if self.data is not None and self.data.shape != wanted:
            raise InputError(
                f"shap_values.data has the shape {self.data.shape}, but values are those of {wanted[0]} rows and "
                f"{wanted[1]} features. {_REMEDY}"
            )
        for part, found, count in (
            ("feature_names", len(self.names), wanted[1]),
            ("output_names", len(self.outputs), self.values.shape[2]),
        ):
            if found != count:
                raise InputError(f"shap_values.{part} has {found} names, but there are {count}. {_REMEDY}")


def _cells(given: Any, values: Floats) -> Array | None:
    """Cells of the rows; one row may come without its axis."""
    if given is None:
        return None
    cells = np.asarray(given)
    return cells[None] if values.ndim == 1 else cells


def _base(given: Any, values: Floats) -> Floats:
    """Base values of every row and output; one for all rows, or one for each of them."""
    base = np.asarray(given, dtype=np.float64)
    n_rows, _, n_outputs = values.shape
    if base.ndim == 1 and len(base) == n_rows and (n_outputs == 1 or n_rows != n_outputs):
        base = base[:, None]
    try:
        return np.broadcast_to(base, (n_rows, n_outputs))
    except ValueError as error:
        raise InputError(
            f"shap_values.base_values has the shape {base.shape}, but there are {n_rows} rows and {n_outputs} outputs. "
            f"{_REMEDY}"
        ) from error


def _names(given: Any, values: Floats) -> tuple[str, ...]:
    names = given.feature_names
    return tuple(map(str, names)) if names is not None else tuple(f"feature {j}" for j in range(values.shape[1]))


def _outputs(given: Any, values: Floats) -> tuple[str, ...]:
    names = getattr(given, "output_names", None)
    if names is None:
        return tuple(f"output {k}" for k in range(values.shape[2]))
    return (str(names),) if isinstance(names, str) else tuple(map(str, names))


def any_value_text(value: Any) -> str:
    """A value of any kind of column as text."""
    if is_missing(value):
        return "missing"
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (np.datetime64, date)):
        return date_text(seconds(value))
    if isinstance(value, np.timedelta64) or hasattr(value, "total_seconds"):
        return duration_text(seconds(value))
    if isinstance(value, (int, float, np.number)):
        return plain_number(float(value), 3)
    return level_text(value)


def seconds(value: Any) -> float:
    """Seconds since 1970, or of a duration."""
    if hasattr(value, "total_seconds"):
        return float(value.total_seconds())
    if isinstance(value, np.timedelta64):
        return float(value / np.timedelta64(1, "s"))
    naive = value.replace(tzinfo=None) if getattr(value, "tzinfo", None) is not None else value
    return float((np.datetime64(naive, "us") - np.datetime64(0, "us")) / np.timedelta64(1, "s"))


def shades(column: Sequence[Any]) -> tuple[Floats, tuple[str, ...]]:
    """Numbers from 0 to 1 to colour values by, NaN where missing; the levels in their order if they are categories."""
    missing = np.array([is_missing(value) for value in column])
    known = [value for value, none in zip(column, missing, strict=True) if not none]
    numbers, levels = _as_numbers(known)
    out = np.full(len(column), np.nan)
    out[~missing] = _spread(numbers) if not levels else numbers / max(len(levels) - 1, 1)
    return out, levels


def _as_numbers(known: Sequence[Any]) -> tuple[Floats, tuple[str, ...]]:
    try:
        return np.array([_number(value) for value in known], dtype=np.float64), ()
    except (TypeError, ValueError):
        # A time too long for its type comes as text
        texts = [any_value_text(value) if _is_time(value) else level_text(value) for value in known]
        levels = tuple(sorted(set(texts)))
        return np.array([levels.index(text) for text in texts], dtype=np.float64), levels


def _is_time(value: Any) -> bool:
    return isinstance(value, (np.datetime64, np.timedelta64, date)) or hasattr(value, "total_seconds")


def _number(value: Any) -> float:
    if _is_time(value):
        return seconds(value)
    if isinstance(value, str):  # "7" is a name, too
        raise TypeError(value)
    return float(value)


def _spread(numbers: Floats) -> Floats:
    """Place between the 5th and the 95th percentile, so that a few extreme values do not take all colours."""
    finite = numbers[np.isfinite(numbers)]
    if not len(finite):
        return np.full(len(numbers), 0.5)
    low, high = np.percentile(finite, [5, 95])
    if high <= low:
        low, high = finite.min(), finite.max()
    if high <= low:
        return np.full(len(numbers), 0.5)
    return np.asarray(np.clip((numbers - low) / (high - low), 0.0, 1.0))

"""Validated access to fields of untrusted files; errors name the place of the field."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sapwood.arrays import Array, Floats, Ints
from sapwood.errors import ModelFileError

MOST = 2**31 - 1


class Fields:
    """An object of a file: `where` is its path, such as "learner.gradient_booster"."""

    def __init__(self, data: object, where: str) -> None:
        if not isinstance(data, Mapping):
            raise ModelFileError(f"{where} should be an object with named fields, but is {_shown(data)}.")
        self._data, self.where = data, where

    def error(self, name: str, what: str) -> ModelFileError:
        """An error about a field."""
        return ModelFileError(f"{self.where}.{name} {what}. The file is damaged, or of an unknown kind.")

    def __contains__(self, name: str) -> bool:
        return name in self._data

    def raw(self, name: str) -> Any:
        """Any value."""
        if name not in self._data:
            raise self.error(name, "is missing")
        return self._data[name]

    def object(self, name: str) -> Fields:
        """An object with fields of its own."""
        return Fields(self.raw(name), f"{self.where}.{name}")

    def items(self, name: str) -> Sequence[Any]:
        """A list of anything."""
        found = self.raw(name)
        if isinstance(found, np.ndarray):
            found = found.tolist()
        if not isinstance(found, list):
            raise self.error(name, f"should be a list, but is {_shown(found)}")
        return found

    def text(self, name: str) -> str:
        """A string."""
        found = self.raw(name)
        if not isinstance(found, str):
            raise self.error(name, f"should be a string, but is {_shown(found)}")
        return found

    def texts(self, name: str) -> list[str]:
        """A list of strings."""
        found = self.items(name)
        for item in found:
            if not isinstance(item, str):
                raise self.error(name, f"should hold strings, but holds {_shown(item)}")
        return list(found)

    def integer(self, name: str, low: int = 0, high: int = MOST) -> int:
        """A whole number, which may be written as a string."""
        found = self.raw(name)
        try:
            number = int(found) if isinstance(found, str) else found
        except ValueError:
            number = None
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or not low <= number <= high:
            raise self.error(name, f"should be a whole number from {low} to {high}, but is {_shown(found)}")
        return int(number)

    def number(self, name: str) -> float:
        """A finite number, which may be written as a string."""
        return self.as_number(name, self.raw(name))

    def as_number(self, name: str, found: Any) -> float:
        """A finite number from the content of a field."""
        try:
            number = float(found) if isinstance(found, (str, int, float)) else math.nan
        except (ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            raise self.error(name, f"should be a finite number, but is {_shown(found)}")
        return number

    def integers(self, name: str, length: int | None = None, low: int = 0, high: int = MOST) -> Ints:
        """A list of whole numbers."""
        found = self._array(name, "biu", "whole numbers", length)
        if len(found) and not (found.min() >= low and found.max() <= high):
            odd = found[(found < low) | (found > high)][0]
            raise self.error(name, f"holds {odd}, which is not from {low} to {high}")
        return found.astype(np.int64)

    def floats(self, name: str, length: int | None = None, *, finite: bool = True) -> Floats:
        """A list of numbers."""
        found = self._array(name, "iuf", "numbers", length).astype(np.float64)
        bad = ~np.isfinite(found) if finite else np.isnan(found)
        if bad.any():
            raise self.error(name, f"holds {found[bad][0]} in place {int(np.argmax(bad))}")
        return found

    def singles(self, name: str, length: int | None = None) -> Floats:
        """A list of numbers of float32, which a file may hold as decimals of any length."""
        with np.errstate(over="ignore", under="ignore"):
            found = self.floats(name, length).astype(np.float32).astype(np.float64)
        if not np.isfinite(found).all():
            raise self.error(name, "holds a number that is too large for float32")
        return found

    def _array(self, name: str, kinds: str, nouns: str, length: int | None) -> Array:
        raw = self.raw(name)
        try:
            found = np.asarray(raw if len(raw) else np.zeros(0, dtype=np.int64))
        except (TypeError, ValueError):
            found = np.asarray(None)
        if found.ndim != 1 or found.dtype.kind not in kinds:
            raise self.error(name, f"should be a list of {nouns}, but is {_shown(raw)}")
        if length is not None and len(found) != length:
            raise self.error(name, f"should hold {length} {nouns}, but holds {len(found)}")
        return found


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"

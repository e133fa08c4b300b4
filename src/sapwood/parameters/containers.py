"""Lists, arrays and mappings."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sapwood.parameters.rule import Rule


@dataclass(frozen=True)
class ArrayLike(Rule):
    """A list, array, series, table or anything else with a length and an order."""

    description: ClassVar[str] = "an array or a list"

    def accepts(self, value: object) -> bool:
        """Accept what has a length or a shape, but no text, mapping, set, scalar or class."""
        if isinstance(value, (str, bytes, Mapping, AbstractSet, type, np.generic)):
            return False
        shape = getattr(value, "shape", None)
        return shape != () if isinstance(shape, tuple) else hasattr(value, "__len__") or hasattr(value, "__array__")


@dataclass(frozen=True)
class MappingLike(Rule):
    """A dictionary."""

    description: ClassVar[str] = "a dictionary"

    def accepts(self, value: object) -> bool:
        """Accept every mapping."""
        return isinstance(value, Mapping)


@dataclass(frozen=True)
class Each(Rule):
    """A list or array of at least one item, each of which one of some rules accepts."""

    items: tuple[Rule, ...]
    plural: str
    may_be_empty: bool = False

    def accepts(self, value: object) -> bool:
        """Accept a sequence whose items are all legal."""
        if not ArrayLike().accepts(value) or not isinstance(value, (Collection, np.ndarray)):
            return False
        try:
            items = list(value)
        except Exception:  # a container may raise anything
            return False
        return (self.may_be_empty or bool(items)) and all(any(r.accepts(item) for r in self.items) for item in items)

    def describe(self) -> str:
        """Say what is in the list."""
        return f"a list of {self.plural}"


@dataclass(frozen=True)
class Written(Rule):
    """A list or mapping as text, as XGBoost takes constraints."""

    example: str

    def accepts(self, value: object) -> bool:
        """Accept text that is a Python literal of a list, tuple or dictionary."""
        if not isinstance(value, str):
            return False
        try:
            return isinstance(ast.literal_eval(value), (list, tuple, dict))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return False

    def describe(self) -> str:
        """Show an example."""
        return f"text such as {self.example!r}"

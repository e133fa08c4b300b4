"""Parameters in which two models differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sapwood.explain.column_values import plain
from sapwood.model import Model
from sapwood.one_line import one_line
from sapwood.result import Part, Result

LONGEST = 60  # characters of a value in print


@dataclass(frozen=True, repr=False)
class ParameterChange(Result):
    """A parameter with another value; "model" is the class of the estimator."""

    name: str
    before: Any
    after: Any

    def _parts(self) -> Iterator[Part]:
        yield f"{self.name}: {self.text_before} → {self.text_after}"

    @property
    def text_before(self) -> str:
        """The old value in print."""
        return _short(_text(self.before))

    @property
    def text_after(self) -> str:
        """The new value in print."""
        return _short(_text(self.after))


def parameter_changes(before: Any, after: Any) -> tuple[ParameterChange, ...]:
    """Another class of the estimator, and parameters with other values; none if one of the two is a Model."""
    if isinstance(before, Model) or isinstance(after, Model):
        return ()
    kinds = type(before), type(after)
    found = [ParameterChange("model", *kinds)] if kinds[0] is not kinds[1] else []
    old, new = before.get_params(), after.get_params()
    both = [name for name in new if name in old]
    return (*found, *(ParameterChange(name, old[name], new[name]) for name in both if not _same(old[name], new[name])))


def _same(before: object, after: object) -> bool:
    """Compare as text, since 1 and 1.0 may mean different things; functions by identity."""
    if before is after:
        return True
    if isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
        return np.array_equal(before, after)
    return not (callable(before) and callable(after)) and _text(before) == _text(after)


def _text(value: object) -> str:
    """A value as it is written; the class of objects that are equal to nothing but themselves, such as estimators."""
    if callable(value):
        return str(getattr(value, "__name__", type(value).__name__))
    equality: Any = type(value).__eq__
    is_opaque = equality is object.__eq__ and value is not None
    return type(value).__name__ if is_opaque else repr(plain(value))


def _short(text: str) -> str:
    text = one_line(" ".join(text.split()))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"

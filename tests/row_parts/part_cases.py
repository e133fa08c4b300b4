"""Rows cut into parts at random, which answer questions as if they were elsewhere: all that is said is pickled."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from sapwood.row_parts.rows import LocalRows, RowPart

Array = NDArray[Any]


@st.composite
def cuts(draw: st.DrawFn, n: int) -> list[slice]:
    """One to five parts of n rows, empty ones and single rows too."""
    borders = sorted(draw(st.lists(st.integers(0, n), min_size=0, max_size=4)))
    return [slice(first, last) for first, last in zip([0, *borders], [*borders, n], strict=True)]


def part(values: Array | None, of: slice) -> Any:
    """Those rows of an array, the last axis of which is rows."""
    return None if values is None else np.ascontiguousarray(values[..., of])


class SentRows(LocalRows):
    """Parts that get pickled questions and give pickled answers."""

    def ask(self, question: Callable[[RowPart], Any]) -> list[Any]:
        sent = pickle.dumps(question)
        return [pickle.loads(pickle.dumps(pickle.loads(sent)(own))) for own in self.parts]

    @classmethod
    def cut(
        cls,
        where: Sequence[slice],
        y: Array,
        weight: Array | None,
        score: Array,
        group: Array | None = None,
        n_groups: int = 1,
    ) -> SentRows:
        """The rows of each part; targets of several are (rows, targets)."""
        rows = [RowPart(y[of], part(score, of), part(weight, of), part(group, of)) for of in where]
        return cls(rows, n_groups)


def sent(parts: Sequence[Any]) -> Callable[[Callable[[Any], Any]], list[Any]]:
    """The same for parts of any kind."""

    def ask(question: Callable[[Any], Any]) -> list[Any]:
        found = pickle.loads(pickle.dumps(question))
        return [pickle.loads(pickle.dumps(found(own))) for own in parts]

    return ask

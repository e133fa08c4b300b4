"""Moves: the predictions of two models for the same rows, and their differences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats, Mask
from sapwood.cached_property import cached_property
from sapwood.explain.editable_rows import EditableRows
from sapwood.explain.model_output import ModelOutput, plain_prediction, prediction_text
from sapwood.model import Model
from sapwood.one_line import one_line
from sapwood.result import Part, Result
from sapwood.show.number import number_text

QUANTILES = (0.5, 0.9, 0.99)


@dataclass(frozen=True, repr=False)
class RowMove(Result):
    """One row: what was predicted for it, what is predicted now, and the largest change of a number or probability.

    `about` is the output or class that the change is about.
    """

    row: int
    before: Any
    after: Any
    move: float
    about: Any
    has_moved: bool

    def _parts(self) -> Iterator[Part]:
        gap = abs(self.move) if self.move else math.inf
        old, new = (prediction_text(prediction, gap) for prediction in (self.before, self.after))
        yield f"row {self.row}: {old} → {new}" if old != new else f"row {self.row}: {old}"


@dataclass(frozen=True, eq=False, repr=False)
class Moves(Result):
    """Predictions of both models, and the numbers behind them (rows, outputs): probabilities, or the predictions.

    Of two classes there is only the probability of the second one. The size of a row's move is the largest change of
    one of its numbers. A row has moved if its class changed, or if that size is above the tolerance.
    """

    before: Array
    after: Array
    numbers_before: Floats
    numbers_after: Floats
    output_names: tuple[object, ...]
    are_classes: bool
    tolerance: float

    @classmethod
    def of(cls, models: Sequence[Model], rows: Sequence[EditableRows], tolerance: float) -> Moves:
        """Predict the rows with both models."""
        outputs = [ModelOutput.of(model, "auto") for model in models]
        given = [own.unchanged for own in rows]
        before, after = (model.predict(X) for model, X in zip(models, given, strict=True))
        old, new = (np.ascontiguousarray(output.read(X).T) for output, X in zip(outputs, given, strict=True))
        return cls(before, after, old, new, outputs[1].names, models[1].is_classifier, float(tolerance))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.numbers_after)

    @cached_property
    def change(self) -> Floats:
        """New numbers minus old ones, (rows, outputs); numbers that are the same differ by 0."""
        old, new = self.numbers_before, self.numbers_after
        with np.errstate(over="ignore", invalid="ignore"):
            return np.where((old == new) | (np.isnan(old) & np.isnan(new)), 0.0, new - old)

    @cached_property
    def size(self) -> Floats:
        """Largest change of each row, without its sign; infinite if a number was or is NaN."""
        sizes = np.abs(self.change).max(axis=1)
        return np.where(np.isnan(sizes), np.inf, sizes)

    @cached_property
    def changes_class(self) -> Mask:
        """Rows whose class, or one of their classes, is another one; none if numbers are predicted."""
        if not self.are_classes:
            return np.zeros(self.n_rows, dtype=np.bool_)
        return np.asarray((self.before != self.after).reshape(self.n_rows, -1).any(axis=1))

    @cached_property
    def has_moved(self) -> Mask:
        """Rows that have moved."""
        return np.asarray((self.size > self.tolerance) | self.changes_class)

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """Numbers of the rows by the size of their moves, the largest first; of equals, the first row first."""
        return np.argsort(-self.size, kind="stable")

    @cached_property
    def rows(self) -> tuple[RowMove, ...]:
        """All rows in this order."""
        return tuple(self.row(int(i)) for i in self.order)

    def row(self, i: int) -> RowMove:
        """Row i."""
        sizes = np.nan_to_num(np.abs(self.change[i]), nan=np.inf, posinf=np.inf)
        k = int(sizes.argmax())
        before, after = (plain_prediction(own[i]) for own in (self.before, self.after))
        return RowMove(i, before, after, float(self.change[i, k]), self.output_names[k], bool(self.has_moved[i]))

    @cached_property
    def summary(self) -> dict[str, float]:
        """Shares of rows that move, and that change class; mean, quantiles and largest size of the moves."""
        shares = {"moved": self.has_moved.mean()}
        if self.are_classes:
            shares["changes_class"] = self.changes_class.mean()
        at = np.quantile(self.size, QUANTILES, method="inverted_cdf")
        sizes = {"mean": self.size.mean(), **{f"q{100 * q:g}": s for q, s in zip(QUANTILES, at, strict=True)}}
        return {name: float(one) for name, one in {**shares, **sizes, "largest": self.size.max()}.items()}

    def _parts(self) -> Iterator[Part]:
        """The rows that move, the largest move first."""
        moved = self.order[self.has_moved[self.order]]
        yield f"Moves: {len(moved)} of {self.n_rows} rows"
        yield from (f"  {self.describe(int(i))}" for i in moved)

    def describe(self, i: int) -> str:
        """Row i as text, with the output that changed most."""
        row = self.row(i)
        signed = f"{'+' if row.move > 0 else ''}{number_text(row.move, 3)}"
        if self.are_classes:
            return f"{row}, probability of {one_line(row.about)} {signed}"
        about = f"{one_line(row.about)} " if len(self.output_names) > 1 else ""
        return f"{row} ({about}{signed})"

    def columns(self) -> dict[str, object]:
        """Columns of a frame with one line for each row, the largest move first."""
        order, change = self.order, self.change
        largest = np.nan_to_num(np.abs(change), nan=np.inf, posinf=np.inf).argmax(axis=1)
        found: dict[str, object] = {"row": order}
        for name, own in (("before", self.before), ("after", self.after)):
            if own.ndim == 1:
                found[name] = own[order]
            else:
                found |= {f"{name} {o}": own[order, o] for o in range(own.shape[1])}
        found["move"] = change[order, largest[order]]
        if len(self.output_names) > 1:
            found["about"] = np.array(self.output_names, dtype=object)[largest[order]]
        found["has_moved"] = self.has_moved[order]
        return found | ({"changes_class": self.changes_class[order]} if self.are_classes else {})

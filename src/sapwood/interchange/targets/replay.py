"""An exported model predicts rows at its boundaries before it is written, and must predict what the model does.

Outputs are the same bits where the other program adds the same numbers in the same order, and otherwise as close as its
arithmetic allows.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sapwood.arrays import Array, Floats, Mask
from sapwood.atomic_file import replace_file
from sapwood.errors import ModelFileError, ParameterTypeError
from sapwood.interchange.boundary import FEWEST_ROWS, MOST_ROWS, boundary_cells
from sapwood.interchange.cells import as_table, describe_row, has_unseen
from sapwood.model import Model

SLOW_STEPS = 5e6  # from a node to its child, for programs that take about a microsecond for each
LINK = 1e-12  # exponentials of different libraries differ in their last bits


@dataclass(frozen=True, eq=False)
class Outputs:
    """Probabilities or predictions (rows, outputs), and labels (rows, outputs), if there are any."""

    numbers: Floats
    labels: Array | None = None

    def of_row(self, row: int) -> str:
        """The outputs of one row, for errors."""
        if row >= len(self.numbers):
            return "nothing"
        numbers = self.numbers[row].tolist()
        return f"{numbers}" if self.labels is None else f"{numbers} ({self.labels[row].tolist()})"


Predict = Callable[[Floats], Outputs]


@dataclass(frozen=True)
class Precision:
    """How far outputs may be apart: `relative` to the number, plus `absolute`; both 0 requires the same bits."""

    relative: float = 0.0
    absolute: float = 0.0

    @classmethod
    def double(cls, model: Model) -> Precision:
        """Of a program that adds doubles in the order of the trees."""
        return cls() if model.response.is_exact else cls(LINK, LINK)

    @classmethod
    def reordered(cls, model: Model) -> Precision:
        """Of a program that adds doubles in an order of its own: sums that cancel out keep fewer digits."""
        size = sum(float(np.abs(term.values).max(initial=0.0)) for term in model.trees) / model.trees.divisor
        return cls(LINK, LINK * max(1.0, size if math.isfinite(size) else 1.0))

    def agree(self, one: Floats, other: Floats) -> Mask:
        """Rows whose numbers are equal within this precision; NaN equals NaN."""
        if one.shape != other.shape:
            return np.zeros(len(one), dtype=np.bool_)
        with np.errstate(invalid="ignore"):
            close = np.abs(one - other) <= self.relative * np.abs(one) + self.absolute
        return np.asarray((close | (one == other) | (np.isnan(one) & np.isnan(other))).all(axis=1))


def boundary_rows(model: Model, *, is_slow: bool = False, most: int = MOST_ROWS) -> Floats:
    """Rows at the boundaries of a model; fewer for a slow program."""
    if is_slow:
        steps = sum(math.log2(term.tree.node_count + 1.0) for term in model.trees)
        most = min(most, max(int(SLOW_STEPS / max(steps, 1.0)), FEWEST_ROWS))
    return boundary_cells(model.trees, model.schema, most)


def check_outputs(model: Model, target: str, cells: Floats, predict: Predict, precision: Precision) -> None:
    """Raise `ModelFileError` with the first row that the other program predicts differently."""
    wanted, got = _model_outputs(model, cells), predict(cells)
    alike = precision.agree(wanted.numbers, got.numbers)
    if got.labels is not None and wanted.labels is not None:
        alike &= (got.labels == wanted.labels).all(axis=1) | _is_refused(model, cells)
    if alike.all():
        return
    row = int(np.argmin(alike))
    raise ModelFileError(
        f"The model for {target} was not written, since it does not predict what this {model.estimator} does. For the "
        f"row {describe_row(cells[row], model.schema)} it gives {got.of_row(row)}, the model {wanted.of_row(row)}; "
        f"{int((~alike).sum())} of {len(cells)} rows at the boundaries of the trees differ. This is a bug: please "
        "report it with the model."
    )


def write_checked(path: str | os.PathLike[str] | None, data: bytes) -> None:
    """Write the checked content atomically; nothing without a path."""
    if path is None:
        return
    if not isinstance(path, (str, os.PathLike)):
        raise ParameterTypeError(f"path={path!r} is not allowed: it must be a string or a Path, or None.")
    try:
        replace_file(path, data)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(
            f"path={os.fspath(path)!r} cannot be written: {reason}. Pass a path in a folder that you may write to."
        ) from error


def _model_outputs(model: Model, cells: Floats) -> Outputs:
    scores = model.scores(as_table(cells, model.schema))
    numbers = model.response(scores).T.copy()
    if model.response.is_identity:
        numbers = numbers[:, model.kept_scores]
    numbers[_is_refused(model, cells)] = np.nan
    return Outputs(numbers, model.predictions(scores).reshape(len(cells), -1) if model.classes else None)


def _is_refused(model: Model, cells: Floats) -> Mask:
    """Rows that the model raises an error for: other programs give NaN for them, or raise as well."""
    return has_unseen(cells, model.schema) & (model.unseen == "error")

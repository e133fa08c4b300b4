"""A model in another program is asked about rows at its boundaries before anybody gets it.

Answers must be those of the model: the same bits where the other program adds the same numbers in the same order,
and otherwise as close as its arithmetic allows.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.atomic_file import replace_file
from sapwood.data_warnings import quiet
from sapwood.errors import ModelFileError, ParameterTypeError
from sapwood.interchange.boundary import FEWEST_ROWS, MOST_ROWS, boundary_cells
from sapwood.interchange.targets.formula import Formula
from sapwood.show.names import one_line
from sapwood.table.column import UNSEEN
from sapwood.table.schema import ColumnSchema
from sapwood.table.storage import MatrixStorage
from sapwood.table.table import Table

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

SLOW_STEPS = 5e6  # from a node to its child, for programs that take about a microsecond for each
LINK = 1e-12  # exponentials of different libraries differ in their last bits


@dataclass(frozen=True, eq=False)
class Answers:
    """Numbers (rows, outputs): probabilities or predictions; and labels (rows, outputs), if there are any."""

    numbers: Floats
    labels: NDArray[Any] | None = None


@dataclass(frozen=True)
class Precision:
    """How far answers may be apart: `relative` to the number, plus `absolute`; both 0 asks for the same bits."""

    relative: float = 0.0
    absolute: float = 0.0

    @classmethod
    def double(cls, formula: Formula) -> Precision:
        """Of a program that adds doubles in the order of the trees."""
        return cls() if formula.is_exact else cls(LINK, LINK)

    def agree(self, one: Floats, other: Floats) -> Mask:
        """Rows whose numbers are alike; NaN is like NaN."""
        with np.errstate(invalid="ignore"):
            close = np.abs(one - other) <= self.relative * np.abs(one) + self.absolute
        return np.asarray((close | (one == other) | (np.isnan(one) & np.isnan(other))).all(axis=1))


def boundary_rows(formula: Formula, *, is_slow: bool = False) -> Floats:
    """Rows at the boundaries of a model; fewer for a program that takes its time."""
    most = MOST_ROWS
    if is_slow:
        steps = sum(math.log2(member.tree.node_count + 1.0) for member in formula.terms)
        most = min(most, max(int(SLOW_STEPS / max(steps, 1.0)), FEWEST_ROWS))
    return boundary_cells(formula.tree_sum, formula.schema, most)


def check_answers(
    model: Any,
    formula: Formula,
    target: str,
    cells: Floats,
    answer: Callable[[Floats], Answers],
    precision: Precision,
) -> None:
    """Raise `ModelFileError` that shows the first row of which the other program says something else."""
    wanted, got = _model_answers(model, formula, cells), answer(cells)
    alike = np.zeros(len(cells), dtype=np.bool_)
    if wanted.numbers.shape == got.numbers.shape:
        alike = precision.agree(wanted.numbers, got.numbers)
    if got.labels is not None and wanted.labels is not None:
        alike &= (got.labels == wanted.labels).all(axis=1) | _is_refused(formula, cells)
    if alike.all():
        return
    row = int(np.argmin(alike))
    shown = {one_line(c.name): _shown(c, cell) for c, cell in zip(formula.schema.columns, cells[row], strict=True)}
    raise ModelFileError(
        f"The model for {target} was not written, since it does not answer as this {formula.kind} does. Of the row "
        f"{shown} it says {_said(got, row)}, the model {_said(wanted, row)}; {int((~alike).sum())} of {len(cells)} "
        "rows at the boundaries of the trees differ. This is a bug: please report it with the model."
    )


def write_checked(path: str | os.PathLike[str] | None, data: bytes) -> None:
    """Write what was checked, whole or not at all; nothing without a path."""
    if path is None:
        return
    if not isinstance(path, (str, os.PathLike)):
        raise ParameterTypeError(f"path={path!r} is not allowed: it must be a text or a Path, or None.")
    try:
        replace_file(path, data)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(
            f"path={os.fspath(path)!r} cannot be written: {reason}. Give a path in a folder that you may write to."
        ) from error


@quiet()
def _model_answers(model: Any, formula: Formula, cells: Floats) -> Answers:
    table = Table(formula.schema, MatrixStorage(cells))
    if not formula.classes:
        numbers = np.asarray(model.predict(table), dtype=np.float64).reshape(len(cells), -1)
        answers = Answers(numbers)
    else:
        shares = model.predict_proba(table)
        together = np.concatenate(shares, axis=1) if isinstance(shares, list) else np.array(shares)
        answers = Answers(together, np.asarray(model.predict(table)).reshape(len(cells), -1))
    answers.numbers[_is_refused(formula, cells)] = np.nan
    return answers


def _is_refused(formula: Formula, cells: Floats) -> Mask:
    """Rows that the model would raise for: other programs say NaN of them, or raise as well."""
    if formula.unseen != "error":
        return np.zeros(len(cells), dtype=np.bool_)
    return has_unseen(formula, cells)


def has_unseen(formula: Formula, cells: Floats) -> Mask:
    """Rows with a level that training has not seen."""
    return np.asarray((cells[:, formula.schema.n_levels > 0] == UNSEEN).any(axis=1))


def _shown(column: ColumnSchema, cell: float) -> Any:
    if np.isnan(cell):
        return None
    if column.kind != "category":
        return float(cell)
    return column.levels[int(cell)] if cell >= 0 else "(an unseen level)"


def _said(answers: Answers, row: int) -> str:
    if row >= len(answers.numbers):
        return "nothing"
    numbers = answers.numbers[row].tolist()
    return f"{numbers}" if answers.labels is None else f"{numbers} ({answers.labels[row].tolist()})"

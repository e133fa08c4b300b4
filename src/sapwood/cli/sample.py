"""Rows to learn from: columns, target and weights, taken from a table."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.cli.data import Table, read_table, require_columns
from sapwood.cli.recipe import Recipe
from sapwood.cli.task import Choice, Task, choose_task, is_text, target_values
from sapwood.errors import DataFileError, InputError
from sapwood.table.weight import check_weight


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows with their targets."""

    X: Table
    y: NDArray[Any]
    weight: NDArray[np.float64] | None
    choice: Choice
    classes: NDArray[Any]
    """All classes of the file, of which these rows may have only some; empty for numbers."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def task(self) -> Task:
        """Classification or regression."""
        return self.choice.task

    @property
    def text_columns(self) -> list[str]:
        """Names of the columns that hold strings, which other files must be read to hold as well."""
        return [field.name for field in self.X.schema if is_text(field.type)]

    def take(self, rows: NDArray[np.intp]) -> Sample:
        """Some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, X=self.X.take(rows), y=self.y[rows], weight=weight)


def read_sample(path: Path, recipe: Recipe) -> Sample:
    """The rows of a training file."""
    return read_rows(path, recipe)[0]


def read_rows(path: Path, recipe: Recipe) -> tuple[Sample, Table]:
    """The rows of a training file, and all columns of these rows."""
    table = _usable_rows(read_table(path, recipe.delimiter), path, recipe)
    if table.num_rows < 2:
        raise DataFileError(f"The file {str(path)!r} has only one usable row. Learning needs at least two.")
    require_columns(table, recipe.drop, "--drop", path)
    require_columns(table, recipe.category, "--category", path)
    choice = choose_task(table.column(recipe.target), recipe.target, recipe.task)
    return _sample(table, path, recipe, choice), table


def read_more(path: Path, recipe: Recipe, known: Sample) -> Sample:
    """The rows of a further file, read the way of the training file."""
    text = known.text_columns
    if known.y.dtype == object:
        text.append(recipe.target)
    table = _usable_rows(read_table(path, recipe.delimiter, text), path, recipe)
    sample = _sample(table, path, recipe, known.choice)
    if sample.y.dtype.kind != known.y.dtype.kind and {sample.y.dtype.kind, known.y.dtype.kind} != {"i", "u"}:
        raise InputError(
            f"The target {recipe.target!r} holds {_said(sample.y)} in {str(path)!r}, but {_said(known.y)} in the "
            "training file. Make both the same."
        )
    return replace(sample, classes=np.union1d(known.classes, sample.classes))


def _said(y: NDArray[Any]) -> str:
    return {"O": "text", "b": "true and false", "f": "numbers with decimals"}.get(y.dtype.kind, "whole numbers")


def _usable_rows(table: Table, path: Path, recipe: Recipe) -> Table:
    """The rows whose target is known."""
    from pyarrow import compute as pc

    require_columns(table, [recipe.target], "--target", path)
    missing = pc.is_null(table.column(recipe.target), nan_is_null=True)
    n_missing = pc.sum(missing).as_py() or 0
    if n_missing == table.num_rows:
        raise DataFileError(f"The target {recipe.target!r} is missing in every row of {str(path)!r}. Choose another.")
    if n_missing and not recipe.drop_missing_target:
        raise DataFileError(
            f"The target {recipe.target!r} is missing in {n_missing} of the {table.num_rows} rows of {str(path)!r}. "
            "Use --drop-missing-target to leave these rows out."
        )
    return table.filter(pc.invert(missing)) if n_missing else table


def _sample(table: Table, path: Path, recipe: Recipe, choice: Choice) -> Sample:
    require_columns(table, [recipe.weight] if recipe.weight is not None else [], "--weight", path)
    y = target_values(table.column(recipe.target), recipe.target, choice.task)
    X = table.drop_columns(_others(table, recipe))
    if X.num_columns == 0:
        raise DataFileError(f"No column of {str(path)!r} is left to learn from. Drop fewer columns.")
    classes = np.unique(y) if choice.task is Task.CLASSIFICATION else y[:0]
    return Sample(X, y, _weight(table, recipe.weight), choice, classes)


def _others(table: Table, recipe: Recipe) -> list[str]:
    others: Collection[str | None] = {recipe.target, recipe.weight, *recipe.drop}
    return [name for name in table.column_names if name in others]


def _weight(table: Table, name: str | None) -> NDArray[np.float64] | None:
    if name is None:
        return None
    column = table.column(name)
    if is_text(column.type):
        raise InputError(f"--weight {name!r} holds text, for example {column[0].as_py()!r}. Weights must be numbers.")
    return check_weight(column.to_numpy(), table.num_rows)

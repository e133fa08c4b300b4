"""Rows to learn from: columns, target and weights, taken from a table."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.cli.data import Table, named_columns, no_rows, open_data, readable, require_columns, without_clocks
from sapwood.cli.recipe import Recipe
from sapwood.cli.task import Choice, Task, choose_task, expected_kind, is_text, target_values
from sapwood.cli.text_columns import convert, expected_reading, find_readings, levels_of, shortened
from sapwood.errors import DataFileError, InputError
from sapwood.table.reading import Reading, recognise
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
    readings: Mapping[str, Reading] = field(default_factory=dict)
    """How columns of text were read as numbers and dates, the target among them."""
    notes: tuple[str, ...] = ()
    """What is to be said of the columns."""

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
        return [each.name for each in self.X.schema if is_text(each.type)]

    @property
    def kinds(self) -> dict[str, str]:
        """Names of the columns that hold numbers or dates, and which of both."""
        kinds = {each.name: expected_kind(each.type) for each in self.X.schema}
        return {name: kind for name, kind in kinds.items() if kind is not None}

    def take(self, rows: NDArray[np.intp]) -> Sample:
        """Some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, X=self.X.take(rows), y=self.y[rows], weight=weight)


def read_sample(path: Path, recipe: Recipe) -> Sample:
    """The rows of a training file."""
    return read_rows(path, recipe)[0]


def read_rows(path: Path, recipe: Recipe) -> tuple[Sample, Table]:
    """The rows of a training file, and all columns of these rows."""
    file = open_data(path, recipe.layout)
    with readable(path):
        table = _usable_rows(file.read(), path, recipe)
    if table.num_rows < 2:
        raise DataFileError(f"The file {str(path)!r} has only one usable row. Learning needs at least two.")
    drop = named_columns(recipe.drop, table.column_names)
    require_columns(table.column_names, drop, "--drop", path)
    require_columns(table.column_names, recipe.category, "--category", path)
    as_they_are = {*drop, *recipe.category, *([recipe.target] if recipe.task is Task.CLASSIFICATION else ())}
    names = [name for name in table.column_names if name not in as_they_are]
    readings, notes = find_readings(table, names, recipe.layout, file.decimal)
    table = convert(table, readings, path)
    choice = choose_task(table.column(recipe.target), recipe.target, recipe.task)
    sample = _sample(table, path, recipe, choice)
    said = (*repeated_note(file.repeated, path), *shortened(notes))
    return replace(sample, readings=readings, notes=said), table


def repeated_note(repeated: Mapping[str, list[str]], path: Path) -> list[str]:
    """What is said of names that stand for several columns."""
    return [
        f"{str(path)!r} has more than one column {name!r}; the others are called {', '.join(map(repr, others))}."
        for name, others in repeated.items()
    ]


def read_more(path: Path, recipe: Recipe, known: Sample) -> Sample:
    """The rows of a further file, read the way of the training file."""
    text = [*known.text_columns, *known.readings]
    if known.y.dtype == object:
        text.append(recipe.target)
    file = open_data(path, recipe.layout, text)
    with readable(path):
        table = _usable_rows(file.read(), path, recipe)
    kinds = known.kinds | ({recipe.target: "number"} if known.task is Task.REGRESSION else {})
    table = convert(table, {**_more_readings(table, kinds, known, recipe, path), **known.readings}, path)
    sample = _sample(table, path, recipe, known.choice)
    if sample.y.dtype.kind != known.y.dtype.kind and {sample.y.dtype.kind, known.y.dtype.kind} != {"i", "u"}:
        raise InputError(
            f"The target {recipe.target!r} holds {_said(sample.y)} in {str(path)!r}, but {_said(known.y)} in the "
            "training file. Make both the same."
        )
    return replace(sample, classes=np.union1d(known.classes, sample.classes))


def _more_readings(
    table: Table, kinds: Mapping[str, str], known: Sample, recipe: Recipe, path: Path
) -> dict[str, Reading]:
    """Readings of text where training had numbers or dates that were no text."""
    found = {}
    for each in table.schema:
        if is_text(each.type) and each.name in kinds and each.name not in known.readings:
            recognition = recognise(levels_of(table.column(each.name)))
            found[each.name] = expected_reading(recognition, each.name, kinds[each.name], recipe.layout, path)
    return {name: reading for name, reading in found.items() if reading is not None}


def _said(y: NDArray[Any]) -> str:
    return {"O": "text", "b": "true and false", "f": "numbers with decimals"}.get(y.dtype.kind, "whole numbers")


def _usable_rows(table: Table, path: Path, recipe: Recipe) -> Table:
    """The rows whose target is known."""
    from pyarrow import compute as pc

    if table.num_rows == 0:
        raise no_rows(path)
    table = without_clocks(table)
    require_columns(table.column_names, [recipe.target], "--target", path)
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
    require_columns(table.column_names, [recipe.weight] if recipe.weight is not None else [], "--weight", path)
    y = target_values(table.column(recipe.target), recipe.target, choice.task)
    X = table.drop_columns(_others(table, recipe))
    if X.num_columns == 0:
        raise DataFileError(f"No column of {str(path)!r} is left to learn from. Drop fewer columns.")
    classes = np.unique(y) if choice.task is Task.CLASSIFICATION else y[:0]
    return Sample(X, y, _weight(table, recipe.weight), choice, classes)


def _others(table: Table, recipe: Recipe) -> list[str]:
    others: Collection[str | None] = {recipe.target, recipe.weight, *named_columns(recipe.drop, table.column_names)}
    return [name for name in table.column_names if name in others]


def _weight(table: Table, name: str | None) -> NDArray[np.float64] | None:
    if name is None:
        return None
    column = table.column(name)
    if is_text(column.type):
        raise InputError(f"--weight {name!r} holds text, for example {column[0].as_py()!r}. Weights must be numbers.")
    return check_weight(column.to_numpy(), table.num_rows)

"""Rows with a target: read from a data file, with the task that the target implies, and split into parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats
from sapwood.cli.column_types import (
    convert,
    expected_kind,
    expected_readings,
    find_readings,
    is_number,
    is_text,
    levels_of,
    shortened,
    text_columns,
)
from sapwood.cli.data_file import (
    named_columns,
    no_rows,
    open_data,
    repeated_notes,
    require_columns,
)
from sapwood.cli.options import Task, TrainingOptions
from sapwood.errors import DataFileError, InputError, ParameterError
from sapwood.table.reading import Reading, recognise
from sapwood.table.weight import check_weight

if TYPE_CHECKING:
    from pyarrow import ChunkedArray, Table

_MOST_CLASSES = 20
_ROWS_PER_CLASS = 10

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Choice:
    """A task and the reason for it."""

    task: Task
    why: str


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows with their targets."""

    X: Table
    y: Array
    weight: Floats | None
    choice: Choice
    classes: Array
    """All classes of the file, of which these rows may have only some; empty for regression."""
    readings: Mapping[str, Reading] = field(default_factory=dict)
    """How text was read as numbers and dates, by column, including the target."""
    notes: tuple[str, ...] = ()
    """Notes about the columns for the user."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def task(self) -> Task:
        """Classification or regression."""
        return self.choice.task

    @property
    def string_columns(self) -> list[str]:
        """Columns to read as strings in other files: those of strings, and those whose text is converted."""
        return [*text_columns(self.X), *self.readings]

    @property
    def kinds(self) -> dict[str, str]:
        """Kind of each column of numbers or dates."""
        kinds = {each.name: expected_kind(each.type) for each in self.X.schema}
        return {name: kind for name, kind in kinds.items() if kind is not None}

    def take(self, rows: Rows) -> Dataset:
        """Some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, X=self.X.take(rows), y=self.y[rows], weight=weight)


def read_dataset(path: Path, options: TrainingOptions) -> Dataset:
    """The rows of a training file."""
    return read_rows(path, options)[0]


def read_rows(path: Path, options: TrainingOptions) -> tuple[Dataset, Table]:
    """The rows of a training file, and all columns of these rows."""
    file = open_data(path, options.file_format)
    table = _usable_rows(file.read(), path, options)
    if table.num_rows < 2:
        raise DataFileError(f"The file {str(path)!r} has only one usable row. Training needs at least two.")
    drop = named_columns(options.drop, table.column_names)
    require_columns(table.column_names, drop, "--drop", path)
    require_columns(table.column_names, options.category, "--category", path)
    unread = {*drop, *options.category, *([options.target] if options.task is Task.CLASSIFICATION else ())}
    names = [name for name in table.column_names if name not in unread]
    readings, notes = find_readings(table, names, options.file_format, file.decimal)
    table = convert(table, readings, path)
    choice = choose_task(table.column(options.target), options.target, options.task)
    dataset = _dataset(table, path, options, choice)
    notes = [*repeated_notes(file.repeated, path), *shortened(notes)]
    return replace(dataset, readings=readings, notes=tuple(notes)), table


def read_more(path: Path, options: TrainingOptions, known: Dataset) -> Dataset:
    """The rows of another file, read as those of the training file."""
    text = [options.target] if known.y.dtype == object else []
    file = open_data(path, options.file_format, [*known.string_columns, *text])
    table = _usable_rows(file.read(), path, options)
    kinds = known.kinds | ({options.target: "number"} if known.task is Task.REGRESSION else {})
    text = [each.name for each in table.schema if is_text(each.type) and each.name in kinds]
    found = {name: recognise(levels_of(table.column(name))) for name in text if name not in known.readings}
    readings = expected_readings(found, kinds, options.file_format, path) | dict(known.readings)
    table = convert(table, readings, path)
    dataset = _dataset(table, path, options, known.choice)
    if dataset.y.dtype.kind != known.y.dtype.kind and {dataset.y.dtype.kind, known.y.dtype.kind} != {"i", "u"}:
        raise InputError(
            f"The target {options.target!r} holds {_kind_of(dataset.y)} in {str(path)!r}, but {_kind_of(known.y)} in "
            "the training file. Give both the same type."
        )
    return replace(dataset, classes=np.union1d(known.classes, dataset.classes))


def _kind_of(y: Array) -> str:
    return {"O": "text", "b": "true and false", "f": "numbers with decimals"}.get(y.dtype.kind, "whole numbers")


def _usable_rows(table: Table, path: Path, options: TrainingOptions) -> Table:
    """The rows whose target is known."""
    from pyarrow import compute as pc

    if table.num_rows == 0:
        raise no_rows(path)
    require_columns(table.column_names, [options.target], "--target", path)
    missing = pc.is_null(table.column(options.target), nan_is_null=True)
    n_missing = pc.sum(missing).as_py() or 0
    if n_missing == table.num_rows:
        raise DataFileError(
            f"The target {options.target!r} is missing in every row of {str(path)!r}. Choose another column."
        )
    if n_missing and not options.drop_missing_target:
        raise DataFileError(
            f"The target {options.target!r} is missing in {n_missing} of the {table.num_rows} rows of {str(path)!r}. "
            "Use --drop-missing-target to ignore these rows."
        )
    return table.filter(pc.invert(missing)) if n_missing else table


def _dataset(table: Table, path: Path, options: TrainingOptions, choice: Choice) -> Dataset:
    require_columns(table.column_names, [options.weight] if options.weight is not None else [], "--weight", path)
    y = target_values(table.column(options.target), options.target, choice.task)
    X = table.drop_columns(_others(table, options))
    if X.num_columns == 0:
        raise DataFileError(f"No column of {str(path)!r} is left to train on. Drop fewer columns.")
    classes = np.unique(y) if choice.task is Task.CLASSIFICATION else y[:0]
    return Dataset(X, y, _weight(table, options.weight), choice, classes)


def _others(table: Table, options: TrainingOptions) -> list[str]:
    others = {options.target, options.weight, *named_columns(options.drop, table.column_names)}
    return [name for name in table.column_names if name in others]


def _weight(table: Table, name: str | None) -> Floats | None:
    if name is None:
        return None
    column = table.column(name)
    if is_text(column.type):
        raise InputError(f"--weight {name!r} holds text, for example {column[0].as_py()!r}. Weights must be numbers.")
    return check_weight(column.to_numpy(), table.num_rows)


def choose_task(column: ChunkedArray, name: str, wanted: Task) -> Choice:
    """The task for a target column without missing values."""
    distinct = len(column.unique())
    if distinct == 1:
        raise InputError(
            f"The target {name!r} has the value {column[0].as_py()!r} in every row, so there is nothing to learn. "
            "Choose another column with --target."
        )
    if wanted is not Task.AUTO:
        return Choice(wanted, "as requested")
    return _task_of(column, name, distinct)


def target_values(column: ChunkedArray, name: str, task: Task) -> Array:
    """The target as a numpy array: labels or numbers."""
    return _labels(column) if task is Task.CLASSIFICATION else _numbers(column, name)


def _task_of(column: ChunkedArray, name: str, distinct: int) -> Choice:
    import pyarrow as pa

    if is_text(column.type):
        _refuse_many_classes(column, name, distinct)
        return Choice(Task.CLASSIFICATION, f"{name!r} holds text, {distinct} different values")
    if pa.types.is_boolean(column.type):
        return Choice(Task.CLASSIFICATION, f"{name!r} holds true and false")
    if not is_number(column.type):
        raise InputError(
            f"The target {name!r} holds {column.type}, which is neither numbers nor classes. Choose another column, "
            "or use --task classification to make each value a class."
        )
    return _task_of_numbers(column, name, distinct)


def _refuse_many_classes(column: ChunkedArray, name: str, distinct: int) -> None:
    from sapwood.table.text_warning import MANY_CLASSES

    if distinct > MANY_CLASSES:
        raise InputError(
            f"The target {name!r} holds text with {distinct} different values, such as {column[0].as_py()!r}, each of "
            "which would be a class. Choose another column, or use --task classification if that is intended."
        )


def _task_of_numbers(column: ChunkedArray, name: str, distinct: int) -> Choice:
    if not _is_whole(column):
        return Choice(Task.REGRESSION, f"{name!r} holds numbers with decimals")
    few = distinct == 2 or (distinct <= _MOST_CLASSES and len(column) >= _ROWS_PER_CLASS * distinct)
    task = Task.CLASSIFICATION if few else Task.REGRESSION
    return Choice(task, f"{name!r} holds {'only ' if few else ''}{distinct} different whole numbers")


def _is_whole(column: ChunkedArray) -> bool:
    from pyarrow import types

    if types.is_integer(column.type):
        return True
    values = column.cast("float64").to_numpy()
    return bool(np.isfinite(values).all() and (values == np.floor(values)).all())


def _labels(column: ChunkedArray) -> Array:
    from pyarrow import types

    if types.is_boolean(column.type) or types.is_integer(column.type):
        return np.asarray(column.to_numpy())
    if not is_number(column.type):
        return np.array(column.cast("string").to_pylist(), dtype=object)
    values = np.asarray(column.cast("float64").to_numpy())
    return values.astype(np.int64) if _is_whole(column) else values


def _numbers(column: ChunkedArray, name: str) -> Floats:
    from pyarrow import types

    if not is_number(column.type) and not types.is_boolean(column.type):
        raise InputError(
            f"The target {name!r} is not a number, for example {column[0].as_py()!r} in the first row, but regression "
            "needs numbers. Choose another column, or use --task classification."
        )
    numbers = column.cast("float64" if is_number(column.type) else "int8").to_numpy()
    return np.asarray(numbers, dtype=np.float64)


def split(dataset: Dataset, test_size: float, seed: int) -> tuple[Dataset, Dataset]:
    """A training and a test part, with equal shares of the classes where their sizes allow."""
    from sklearn.model_selection import train_test_split

    if not 0 < test_size < 1:
        raise ParameterError(f"--test-size {test_size} is not allowed: it must be at least 0 and below 1.")
    n_test = min(max(1, round(dataset.n_rows * test_size)), dataset.n_rows - 1)
    rows = np.arange(dataset.n_rows)
    train, test = train_test_split(rows, test_size=n_test, random_state=seed, stratify=_strata(dataset, n_test))
    return dataset.take(train), dataset.take(test)


def folds(dataset: Dataset, n_folds: int, seed: int, option: str = "--cv") -> list[tuple[Rows, Rows]]:
    """Training and test rows of every fold, stratified where every class has a row for each fold."""
    from sklearn.model_selection import KFold, StratifiedKFold

    if n_folds > dataset.n_rows:
        raise InputError(f"{option} {n_folds} is more than the {dataset.n_rows} rows of the file. Use fewer folds.")
    stratify = dataset.task is Task.CLASSIFICATION and _smallest_class(dataset) >= n_folds
    splitter = (StratifiedKFold if stratify else KFold)(n_folds, shuffle=True, random_state=seed)
    return list(splitter.split(np.zeros(dataset.n_rows), _codes(dataset) if stratify else None))


def _strata(dataset: Dataset, n_test: int) -> Rows | None:
    """The classes, if both parts can hold a row of each."""
    if dataset.task is not Task.CLASSIFICATION or _smallest_class(dataset) < 2:
        return None
    codes = _codes(dataset)
    return codes if min(n_test, dataset.n_rows - n_test) > codes.max() else None


def _codes(dataset: Dataset) -> Rows:
    codes: Rows = np.unique(dataset.y, return_inverse=True)[1]
    return codes


def _smallest_class(dataset: Dataset) -> int:
    return int(np.bincount(_codes(dataset)).min())

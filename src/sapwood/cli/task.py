"""What the target is: classes or numbers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sapwood.errors import InputError

_MOST_CLASSES = 20
_ROWS_PER_CLASS = 10


class Task(StrEnum):
    """Classes, numbers, or whichever the target looks like."""

    AUTO = "auto"
    CLASSIFICATION = "classification"
    REGRESSION = "regression"


@dataclass(frozen=True)
class Choice:
    """A task and the reason for it."""

    task: Task
    why: str


def choose_task(column: Any, name: str, wanted: Task) -> Choice:
    """The task for a target column without missing values."""
    distinct = len(column.unique())
    if distinct == 1:
        raise InputError(
            f"The target {name!r} has the value {column[0].as_py()!r} in every row, so there is nothing to learn. "
            "Choose another target."
        )
    if wanted is not Task.AUTO:
        return Choice(wanted, "as asked")
    return _look(column, name, distinct)


def target_values(column: Any, name: str, task: Task) -> Any:
    """The target as a numpy array: labels or numbers."""
    return _labels(column) if task is Task.CLASSIFICATION else _numbers(column, name)


def _look(column: Any, name: str, distinct: int) -> Choice:
    import pyarrow as pa

    if is_text(column.type):
        _refuse_many_classes(column, name, distinct)
        return Choice(Task.CLASSIFICATION, f"{name!r} holds text, {distinct} different values")
    if pa.types.is_boolean(column.type):
        return Choice(Task.CLASSIFICATION, f"{name!r} holds true and false")
    if not _is_number(column.type):
        raise InputError(
            f"The target {name!r} holds {column.type}, which is neither numbers nor classes. Choose another target, "
            "or use --task classification to take each value for a class."
        )
    return _look_at_numbers(column, name, distinct)


def _refuse_many_classes(column: Any, name: str, distinct: int) -> None:
    from sapwood.table.text_warning import MANY_CLASSES

    if distinct > MANY_CLASSES:
        raise InputError(
            f"The target {name!r} holds text with {distinct} different values, such as {column[0].as_py()!r}, each of "
            "which would be a class. Name another target, or use --task classification if classes are meant."
        )


def _look_at_numbers(column: Any, name: str, distinct: int) -> Choice:
    if not _is_whole(column):
        return Choice(Task.REGRESSION, f"{name!r} holds numbers with decimals")
    few = distinct == 2 or (distinct <= _MOST_CLASSES and len(column) >= _ROWS_PER_CLASS * distinct)
    task = Task.CLASSIFICATION if few else Task.REGRESSION
    return Choice(task, f"{name!r} holds {'only ' if few else ''}{distinct} different whole numbers")


def is_text(kind: Any) -> bool:
    """Whether a column of this type holds strings."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return is_text(kind.value_type)
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def expected_kind(kind: Any) -> str | None:
    """What text must be to stand for a column of this type: number, date, or neither."""
    from pyarrow import types

    if _is_number(kind):
        return "number"
    return "date" if types.is_date(kind) or types.is_timestamp(kind) else None


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def _is_whole(column: Any) -> bool:
    import numpy as np
    from pyarrow import types

    if types.is_integer(column.type):
        return True
    values = column.cast("float64").to_numpy()
    return bool(np.isfinite(values).all() and (values == np.floor(values)).all())


def _labels(column: Any) -> Any:
    import numpy as np
    from pyarrow import types

    if types.is_boolean(column.type) or types.is_integer(column.type):
        return column.to_numpy()
    if not _is_number(column.type):
        return np.array(column.cast("string").to_pylist(), dtype=object)
    values = column.cast("float64").to_numpy()
    return values.astype(np.int64) if _is_whole(column) else values


def _numbers(column: Any, name: str) -> Any:
    from pyarrow import types

    if not _is_number(column.type) and not types.is_boolean(column.type):
        raise InputError(
            f"The target {name!r} is not a number, for example {column[0].as_py()!r} in the first row, but regression "
            "needs numbers. Choose another target or use --task classification."
        )
    return column.cast("float64" if _is_number(column.type) else "int8").to_numpy().astype("float64")

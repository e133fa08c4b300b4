"""What is known of target and queries after some batches."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from sapwood.arrays import Array, Floats, Ints, plain
from sapwood.errors import InputError, SapwoodError
from sapwood.sources.column_facts import level_key
from sapwood.table.levels import to_level
from sapwood.table.target import ClassTarget, NumberTarget

Task = Literal["classes", "numbers", "auto"]
MOST_WHOLE_CLASSES = 20  # numbers that may be classes if nobody says so
ROWS_PER_CLASS = 10


class TargetFacts:
    """Classes with their counts, or the range of numbers. With the task "auto", the values decide which."""

    def __init__(self, task: Task) -> None:
        self.task: Task = task
        self.low, self.high = np.inf, -np.inf
        self.n_rows = 0
        self._classes: Array | None = None
        self._counts: dict[Any, int] = {}
        self._may_be = {"auto": {"classes", "numbers"}}.get(task, {task})

    def add(self, y: Array) -> None:
        """Look at some rows."""
        self.n_rows += len(y)
        if self.task == "auto" and y.dtype.kind not in "biuf":
            self._refuse_times(y)
            self._may_be.discard("numbers")
        if "numbers" in self._may_be:
            values = NumberTarget.from_any(y, len(y)).one_column()
            self.low, self.high = min(self.low, float(values.min())), max(self.high, float(values.max()))
        if "classes" in self._may_be:
            self._add_classes(y)

    def _add_classes(self, y: Array) -> None:
        try:
            target = ClassTarget.from_any(y, len(y))
        except SapwoodError:
            if self._may_be == {"classes"}:
                raise
            self._may_be.discard("classes")  # they have fractions
            return
        codes = target.one_column()
        labels = target.classes[0]
        new = [label for label in labels if plain(label) not in self._counts]
        if self._classes is None:
            self._classes = labels
        elif new or labels.dtype != self._classes.dtype:
            both = np.concatenate([self._classes, labels])
            self._classes = ClassTarget.from_any(both, len(both)).classes[0]
        for label, count in zip(labels, np.bincount(codes, minlength=len(labels)).tolist(), strict=True):
            self._counts[plain(label)] = self._counts.get(plain(label), 0) + count
        if "numbers" in self._may_be and len(self._counts) > MOST_WHOLE_CLASSES:
            self._may_be.discard("classes")

    @staticmethod
    def _refuse_times(y: Array) -> None:
        if y.dtype.kind in "mM":
            raise InputError(
                f"The target holds {y.dtype}, which is neither numbers nor classes. Choose another column, or say that "
                "each value is a class."
            )

    def decide(self) -> None:
        """Choose what the values suggest, once all rows were seen."""
        if self._may_be == {"classes", "numbers"}:
            n = len(self._counts)
            is_bool = self._classes is not None and self._classes.dtype.kind == "b"
            few = is_bool or n == 2 or (n <= MOST_WHOLE_CLASSES and self.n_rows >= ROWS_PER_CLASS * n)
            self._may_be = {"classes" if few else "numbers"}
            if self._may_be == {"classes"} and self._classes is not None and self._classes.dtype.kind == "f":
                self._classes = self._classes.astype(np.int64)
        (self.task,) = self._may_be  # type: ignore[assignment]

    @property
    def classes(self) -> Array | None:
        """Labels in order; None for numbers."""
        return self._classes if self.task == "classes" else None

    @property
    def counts(self) -> Ints | None:
        """Rows of each class."""
        if self.classes is None:
            return None
        return np.array([self._counts[plain(label)] for label in self.classes], dtype=np.int64)


def code_labels(y: Array, classes: Array | None) -> Array:
    """Numbers as float64, or the codes of classes, in the smallest type."""
    if classes is None:
        return NumberTarget.from_any(y, len(y)).one_column()
    target = ClassTarget.from_any(y, len(y))
    number = {plain(label): code for code, label in enumerate(classes)}
    found = [number.get(plain(label), -1) for label in target.classes[0]]
    if min(found) < 0:
        unknown = plain(target.classes[0][found.index(-1)])
        raise InputError(
            f"The target has the class {unknown!r}, which is not one of those known: {list(number)[:10]}. Remove such "
            "rows, or train on them."
        )
    return np.array(found, dtype=class_type(len(classes)))[target.one_column()]


def digest_values(y: Array) -> Floats:
    """Numbers that stand for the values of some rows in digests."""
    if y.dtype.kind in "biuf":
        return y.astype(np.float64)
    target = ClassTarget.from_any(y, len(y))
    keys = np.array([level_key(to_level(plain(label))) for label in target.classes[0]])
    return keys[target.one_column()]


def class_type(n_classes: int) -> type[np.uint8 | np.uint16 | np.uint32]:
    """The smallest type of codes of classes."""
    if n_classes <= 2**8:
        return np.uint8
    return np.uint16 if n_classes <= 2**16 else np.uint32


class Queries:
    """Numbers queries in the order in which they appear; rows of one must be contiguous."""

    def __init__(self) -> None:
        self._number_of: dict[Any, int] = {}
        self._last: Any = None

    @property
    def n_queries(self) -> int:
        """How many there are."""
        return len(self._number_of)

    def number(self, labels: Array, place: Any) -> Ints:
        """The number of each row's query; `place` says where a row is."""
        starts = np.flatnonzero(np.append(True, labels[1:] != labels[:-1]))
        numbers = []
        for start, label in zip(starts.tolist(), labels[starts].tolist(), strict=True):
            if label is None or label != label:  # noqa: PLR0124 - NaN
                raise InputError(f"The query is missing {place(start)}. Give every row the label of its query.")
            if self._number_of and label == self._last and start == 0:
                numbers.append(self._number_of[label])
                continue
            if label in self._number_of:
                raise InputError(
                    f"The query {label!r} returns {place(start)}, but rows of a query must be contiguous. Sort the "
                    "rows by query."
                )
            self._number_of[label] = len(self._number_of)
            numbers.append(self._number_of[label])
            self._last = label
        return np.repeat(np.array(numbers, dtype=np.int64), np.diff(np.append(starts, len(labels))))

"""What is to be predicted: classes as codes, or numbers."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array
from sapwood.errors import InputError, warn_user
from sapwood.table.column import Codes, first_row, read_only
from sapwood.table.labels import Labels, read_labels

_LOOKUP_LIMIT = 2**16  # integer labels in a range of this size are coded without sorting


@dataclass(frozen=True, eq=False)
class ClassTarget:
    """`codes[row, output]` counts in `classes[output]`, which is sorted; `single` if y was a vector or one column."""

    codes: Codes
    classes: list[Array]
    single: bool

    @classmethod
    def from_any(cls, y: object, n_rows: int) -> ClassTarget:
        """Classes from labels of any type: integers, booleans, strings, dates, or other objects that can be sorted."""
        labels = read_labels(y, n_rows)
        coded = [_encode(column) for column in labels.columns]
        codes = np.stack([codes for _, codes in coded], axis=1).astype(np.int32)
        return cls(read_only(codes), [classes for classes, _ in coded], labels.single)

    @property
    def n_outputs(self) -> int:
        """Number of targets."""
        return int(self.codes.shape[1])

    def one_column(self) -> Codes:
        """Codes of the only output, for models that predict one class."""
        _refuse_several(self.n_outputs, "class")
        return self.codes[:, 0]

    @property
    def n_classes(self) -> tuple[int, ...]:
        """Number of classes of each output."""
        return tuple(map(len, self.classes))

    @property
    def numbers(self) -> Codes:
        """The codes, by row and output."""
        return self.codes

    def labels(self, codes: Array | None = None) -> Array:
        """Labels of the rows, or of other codes: (rows,), or (rows, outputs)."""
        given = self.codes if codes is None else codes
        columns = [labels[given[:, o]] for o, labels in enumerate(self.classes)]
        return columns[0] if self.single else np.stack(columns, axis=1)

    def take(self, rows: Array) -> ClassTarget:
        """The target of some rows, with the classes that occur among them."""
        codes, classes = np.empty((len(rows), self.n_outputs), dtype=np.int32), []
        for o, labels in enumerate(self.classes):
            present, codes[:, o] = np.unique(self.codes[rows, o], return_inverse=True)
            classes.append(labels[present])
        return ClassTarget(codes, classes, self.single)


@dataclass(frozen=True, eq=False)
class NumberTarget:
    """`values[row, output]`; `single` if y was a vector or one column. A frame has names of its columns."""

    values: NDArray[np.float64]
    single: bool
    names: tuple[str, ...] = ()

    @classmethod
    def from_any(cls, y: object, n_rows: int) -> NumberTarget:
        """Numbers from anything that float() understands."""
        labels = read_labels(y, n_rows)
        return cls(read_only(_stack(labels)), labels.single, labels.names)

    @property
    def n_outputs(self) -> int:
        """Number of targets."""
        return int(self.values.shape[1])

    def one_column(self) -> NDArray[np.float64]:
        """Numbers of the only output, for models that predict one number."""
        _refuse_several(self.n_outputs, "number")
        return self.values[:, 0]

    @property
    def n_classes(self) -> tuple[int, ...]:
        """Empty: there are no classes."""
        return ()

    @property
    def numbers(self) -> NDArray[np.float64]:
        """The values, by row and output."""
        return self.values

    def labels(self) -> Array:
        """Numbers of the rows: (rows,), or (rows, outputs)."""
        return self.values[:, 0] if self.single else self.values

    def take(self, rows: Array) -> NumberTarget:
        """The target of some rows."""
        return NumberTarget(self.values[rows], self.single, self.names)


Target = ClassTarget | NumberTarget


def _stack(labels: Labels) -> Array:
    columns = []
    for k, column in enumerate(labels.columns):
        with labels.naming(k):
            columns.append(_to_numbers(column))
            _refuse_infinite(columns[-1])
    if len(columns) == 1:
        return np.ascontiguousarray(columns[0])[:, np.newaxis]
    return np.stack(columns, axis=1)


def _to_numbers(labels: Array) -> Array:
    if labels.dtype.kind in "biuf":
        return labels.astype(np.float64, copy=False)
    if labels.dtype.kind in "mM":
        raise InputError(
            f"y holds {labels.dtype}, but a regression target must be numbers, first {labels[0]} in row 0. "
            "Convert dates and durations to numbers first."
        )
    return np.array([_to_number(value, row) for row, value in enumerate(labels.tolist())], dtype=np.float64)


def _to_number(value: Any, row: int) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"y holds {value!r} in row {row}, which is not a number. A regression target must be numbers; use "
            "sapwood.parse_text(y) for text such as '$1,000', or the classifier for classes."
        ) from error


def _refuse_infinite(values: Array) -> None:
    if values.dtype.kind != "f":
        return
    if np.isnan(values).any():
        raise InputError(f"Input y contains NaN. The first is in row {first_row(np.isnan(values))}. Remove such rows.")
    if np.isinf(values).any():
        raise InputError(
            "Input y contains infinity or a value too large for dtype('float64'). "
            f"The first is in row {first_row(np.isinf(values))}. Remove such rows or clip them."
        )


def _encode(labels: Array) -> tuple[Array, Array]:
    """Sorted classes and the code of every row."""
    if labels.dtype == object:
        labels = _plain(labels)
    if labels.dtype.kind == "f":
        _refuse_infinite(labels)
        _refuse_fractions(labels)
    if labels.dtype.kind in "biu" and (coded := _encode_integers(labels)):
        return coded
    try:
        return _encode_objects(labels) if labels.dtype == object else _encode_sorted(labels)
    except TypeError as error:
        raise InputError(
            f"Unknown label type: y holds objects that cannot be sorted ({error}). Use strings or integers as classes."
        ) from error


def _encode_sorted(labels: Array) -> tuple[Array, Array]:
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes


def _encode_objects(labels: Array) -> tuple[Array, Array]:
    """Only the distinct objects are sorted: comparing Python objects is slow."""
    index: dict[object, int] = {}
    codes = np.array([index.setdefault(label, len(index)) for label in labels.tolist()])
    classes, rank = _encode_sorted(np.fromiter(index, dtype=object, count=len(index)))
    return classes, rank[codes]


def _encode_integers(labels: Array) -> tuple[Array, Array] | None:
    lowest = labels.min()
    if int(labels.max()) - int(lowest) >= _LOOKUP_LIMIT:
        return None
    wide = np.uint64 if labels.dtype.kind == "u" else np.int64
    shifted = (labels.astype(wide) - lowest.astype(wide)).astype(np.int64)
    present = np.bincount(shifted) > 0
    classes = (np.flatnonzero(present).astype(wide) + lowest.astype(wide)).astype(labels.dtype)
    return classes, (np.cumsum(present) - 1)[shifted]


def _refuse_fractions(labels: Array) -> None:
    fractions = labels != np.floor(labels)
    if fractions.any():
        row = first_row(fractions)
        raise InputError(
            f"Unknown label type: continuous. y holds {labels[row].item()} in row {row}, but classes must be whole "
            "numbers, booleans or strings. Use the regressor for numbers, or convert y to classes."
        )


def _plain(labels: Array) -> Array:
    """Objects of one type as an array of that type, so that classes print and compare as usual."""
    types = set(map(type, labels.tolist()))
    if all(issubclass(each, (bool, np.bool_)) for each in types):
        return labels.astype(bool)
    if all(issubclass(each, Integral) for each in types):
        integers = np.array(labels.tolist())
        return integers if integers.dtype.kind in "iu" else labels  # beyond 64 bits numpy would make floats of them
    if all(issubclass(each, (Real, Decimal)) for each in types):
        return labels.astype(np.float64)
    if len(types) > 1 and not all(issubclass(each, str) for each in types):
        names = sorted(each.__name__ for each in types)
        raise InputError(
            f"Unknown label type: y mixes objects of the types {names}. Convert all labels to one type, "
            "for example with y.astype(str)."
        )
    return labels


def _refuse_several(n_outputs: int, what: str) -> None:
    if n_outputs > 1:
        raise InputError(f"y has {n_outputs} columns, but boosting predicts one {what}. Fit one model for each column.")


def warn_of_column(y: Any) -> None:
    """A target of one column is taken as a vector, with scikit-learn's warning."""
    if len(getattr(y, "shape", ())) == 2 and y.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning  # models that only predict do without scikit-learn

        warn_user(
            "A column-vector y was passed when a 1d array was expected. Pass one number or label for each row, for "
            "example y.ravel().",
            DataConversionWarning,
        )

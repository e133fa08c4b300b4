"""Which columns of a source are the target, weights and queries, and the rows of a batch divided accordingly."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.errors import InputError, ParameterError, SapwoodError
from sapwood.sources.frames import column_names, pick
from sapwood.sources.read_ahead import read_ahead
from sapwood.sources.source import Batch, DataSource
from sapwood.table.column import first_row
from sapwood.table.labels import missing_labels, series_array
from sapwood.table.names import nearest_name, shorten
from sapwood.table.read_array import read_array
from sapwood.table.weight import read_weights


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Names of the columns that are not features; `drop` are those that nothing needs."""

    target: str | None = None
    weight: str | None = None
    query: str | None = None
    drop: tuple[str, ...] = ()

    def check(self, names: Collection[str]) -> None:
        """Raise for the first name that is not a column."""
        for role, name in [("target", self.target), ("weight", self.weight), ("query", self.query)]:
            if name is not None:
                _require(name, role, names)
        for name in self.drop:
            _require(name, "drop", names)

    def features(self, names: Collection[str]) -> list[str]:
        """The other columns."""
        others = {self.target, self.weight, self.query, *self.drop}
        return [name for name in names if name not in others]


class Part(NamedTuple):
    """The rows of a batch: their features, and values of the other columns if there are any."""

    batch: Batch
    X: Any
    y: Array | None
    weight: Floats | None
    query: Array | None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.batch.n_rows

    @property
    def n_used(self) -> int:
        """Rows of a weight above zero."""
        return self.n_rows if self.weight is None else int(np.count_nonzero(self.weight))

    @property
    def given(self) -> set[str]:
        """What there is beside the features."""
        others = {"y": self.y, "weight": self.weight, "query": self.query}
        return {name for name, value in others.items() if value is not None}

    @property
    def used(self) -> Array | None:
        """Rows of a weight above zero; None for all."""
        return None if self.weight is None or self.weight.all() else np.flatnonzero(self.weight)

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Errors that are raised inside begin with the place of the rows they are about."""
        first = self.batch.first_in_file
        try:
            yield
        except SapwoodError as error:
            rows = f", rows from {first} on" if first else ""
            raise type(error)(f"{self.batch.name!r}{rows}: {error}") from error


def read_parts(source: DataSource, roles: Roles, features: bool = True) -> Iterator[Part]:
    """The rows of a source, batch by batch; without the features, only what else there is."""
    roles.check(source.names)
    own = roles.features(source.names)
    others = [name for name in (roles.target, roles.weight, roles.query) if name is not None]
    if features and source.names and not own:
        raise InputError(f"{source.label!r} has no column left to train on. Leave out fewer columns.")
    wanted = [*others, *own] if features else others or source.names[:1]
    batches = source.batches(wanted) if source.names else source.batches()
    for batch in read_ahead(batches) if source.reads_ahead else batches:
        yield _divide(batch, roles, wanted, own if features else [])
    _give_memory_back()


def _give_memory_back() -> None:
    """Make pyarrow give back what it keeps of all batches, now that the threads that read them have ended."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()


def _divide(batch: Batch, roles: Roles, wanted: list[str], own: list[str]) -> Part:
    there = set(column_names(batch.frame))
    missing = [name for name in wanted if name not in there]
    if missing:
        raise InputError(f"{batch.name!r} lacks {shorten(missing)}, which the first batch has as columns.")
    X = pick(batch.frame, own) if own else batch.frame
    y = batch.y if roles.target is None else _column(batch, roles.target)
    weight = batch.weight if roles.weight is None else _column(batch, roles.weight)
    query = None if roles.query is None else _column(batch, roles.query)
    return Part(batch, X, _labels(y, batch, roles.target), _weights(weight, batch, roles.weight), query)


def _column(batch: Batch, name: str) -> Array:
    """A column as an array; missing values are None or NaN."""
    return series_array(nw.from_native(batch.frame).get_column(name).to_native())


def _labels(y: Any, batch: Batch, name: str | None) -> Array | None:
    if y is None:
        return None
    wrapped = nw.from_native(y, pass_through=True, series_only=True)
    values = series_array(wrapped.to_native()) if isinstance(wrapped, nw.Series) else read_array(y, "y")
    said = "The target" if name is None else f"The target {name!r}"
    missing = missing_labels(values)
    if missing.any():
        raise InputError(f"{said} is missing {batch.place(first_row(missing))}. Remove such rows, or fill them in.")
    if values.dtype.kind == "f" and np.isinf(values).any():
        row = first_row(np.isinf(values))
        raise InputError(f"{said} is {values[row].item()} {batch.place(row)}. Remove such rows or clip them.")
    return values


def _weights(weight: Any, batch: Batch, name: str | None) -> Floats | None:
    if weight is None:
        return None
    said = "The weight" if name is None else f"The weight {name!r}"
    found = read_weights(weight)
    bad = ~np.isfinite(found) | (found < 0)
    if bad.any():
        row = first_row(bad)
        raise InputError(
            f"{said} is {found[row].item()} {batch.place(row)}. Weights must be finite numbers of at least 0."
        )
    return found


def _require(name: str, role: str, names: Collection[str]) -> None:
    if name not in names:
        raise ParameterError(
            f"{role}={name!r} is not a column of the source.{nearest_name(name, list(names))} Its columns are "
            f"{shorten(list(names), most=20)}."
        )

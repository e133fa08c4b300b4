"""What a code file says of all its rows, and how it is written as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sapwood.arrays import Array, Ints
from sapwood.codes.bins import Bins, NumberBins, level_bins
from sapwood.errors import DataFileError, InputError
from sapwood.table.schema import ColumnSchema, Schema
from sapwood.table.statistics import ColumnStatistics

VERSION = 1
ARRAYS = ("quantiles", "upto", "codes", "counts")  # of statistics
NUMBERS = ("n_rows", "n_missing", "n_single")


@dataclass(frozen=True, eq=False)
class Contents:
    """What is known of all rows.

    | name | meaning |
    |---|---|
    | schema | the columns, with statistics |
    | bins, max_bins | bins of the columns, and how many were allowed |
    | n_given | rows of the source, of which those of weight zero are not here |
    | digests | of X, y, weight and query |
    | roles | names of the columns of target, weight and query |
    | classes, counts | labels of the target and rows of each; None for numbers |
    | source | what was read, for people |
    | notes | anything else, as JSON allows it |
    """

    schema: Schema
    bins: tuple[Bins, ...]
    max_bins: int
    n_given: int
    digests: Mapping[str, str]
    roles: Mapping[str, str | None]
    classes: Array | None = None
    counts: Ints | None = None
    source: str = ""
    notes: Mapping[str, Any] = field(default_factory=dict)


def to_json(contents: Contents) -> dict[str, Any]:
    """As plain values."""
    schema = contents.schema
    return {
        "version": VERSION,
        "named": schema.named,
        "columns": [_column_to_json(column) for column in schema.columns],
        "bins": [
            own.cuts.tolist() if isinstance(own, NumberBins) else len(column.levels)
            for own, column in zip(contents.bins, schema.columns, strict=True)
        ],
        "max_bins": contents.max_bins,
        "n_given": contents.n_given,
        "digests": dict(contents.digests),
        "roles": dict(contents.roles),
        "classes": None if contents.classes is None else _labels_to_json(contents.classes),
        "counts": None if contents.counts is None else contents.counts.tolist(),
        "source": contents.source,
        "notes": dict(contents.notes),
    }


def from_json(found: Mapping[str, Any]) -> Contents:
    """From plain values."""
    if found["version"] != VERSION:
        raise DataFileError(
            f"The code file has version {found['version']} of its format, but this version of Sapwood reads {VERSION}. "
            "Write it again."
        )
    columns = tuple(_column_from_json(one) for one in found["columns"])
    bins: tuple[Bins, ...] = tuple(
        level_bins(own) if isinstance(own, int) else NumberBins(np.array(own, dtype=np.float64))
        for own in found["bins"]
    )
    classes, counts = found["classes"], found["counts"]
    return Contents(
        Schema(columns, found["named"]),
        bins,
        found["max_bins"],
        found["n_given"],
        found["digests"],
        found["roles"],
        None if classes is None else _labels_from_json(classes),
        None if counts is None else np.array(counts, dtype=np.int64),
        found["source"],
        found["notes"],
    )


def _column_to_json(column: ColumnSchema) -> list[Any]:
    kept = column.statistics
    statistics = None
    if kept is not None:
        statistics = {name: getattr(kept, name) for name in NUMBERS}
        statistics |= {name: getattr(kept, name).tolist() for name in ARRAYS}
    return [column.name, column.kind, list(column.levels), column.low, column.high, column.has_missing, statistics]


def _column_from_json(found: list[Any]) -> ColumnSchema:
    name, kind, levels, low, high, has_missing, kept = found
    statistics = None
    if kept is not None:
        arrays: dict[str, Any] = {
            key: np.array(kept[key], dtype=np.float64 if key in ARRAYS[:2] else np.int64) for key in ARRAYS
        }
        statistics = ColumnStatistics(**{key: kept[key] for key in NUMBERS}, **arrays)
    return ColumnSchema(name, kind, tuple(levels), low, high, has_missing, statistics)


def _labels_to_json(labels: Array) -> list[Any]:
    """Type and values; dates as whole numbers."""
    kind = labels.dtype.kind
    if kind == "O" and not all(isinstance(label, str) for label in labels):
        raise InputError(
            f"The classes are objects such as {labels[0]!r}, which a code file cannot hold. Use text or whole numbers."
        )
    return [labels.dtype.str, (labels.view(np.int64) if kind in "mM" else labels).tolist()]


def _labels_from_json(found: list[Any]) -> Array:
    dtype, values = np.dtype(found[0]), found[1]
    if dtype.kind in "mM":
        return np.array(values, dtype=np.int64).view(dtype)
    return np.array(values, dtype=dtype)

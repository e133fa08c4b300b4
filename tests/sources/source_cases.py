"""Frames as sources, and what a table in memory gives for the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from sapwood.codes.binned import find_bins
from sapwood.codes.bins import NumberBins
from sapwood.sources.survey import Survey
from sapwood.table.schema import Schema
from sapwood.table.table import Table


class Chunks:
    """Frames that can be iterated over again and again."""

    def __init__(self, *frames: Any) -> None:
        self.frames = frames

    def __iter__(self) -> Iterator[Any]:
        return iter(self.frames)


def cut(frame: pd.DataFrame, ends: Sequence[int]) -> Chunks:
    """The rows of a frame, cut before these rows."""
    edges = [0, *sorted(ends), len(frame)]
    return Chunks(*(frame.iloc[a:b] for a, b in pairwise(edges)))


def messy_frame(n: int, seed: int = 0) -> pd.DataFrame:
    """Every kind of column, with missing values, and targets, weights and queries."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "number": random.normal(size=n),
            "small": random.random(n).astype(np.float32),
            "whole": random.integers(-5, 5, n),
            "bytes": random.integers(0, 9, n).astype(np.int8),
            "text": pd.Series(random.choice(["ä", "b", "c", None], n), dtype=object),
            "many": pd.Series([f"level {k}" for k in random.integers(0, 400, n)], dtype=object),
            "date": pd.to_datetime(random.integers(0, 10**9, n), unit="s"),
            "span": pd.to_timedelta(random.integers(0, 10**6, n), unit="s"),
            "flag": random.random(n) < 0.3,
            "rare": np.where(random.random(n) < 0.02, 1.5, np.nan),
        }
    )
    frame["factor"] = pd.Categorical(random.choice(["u", "v", "w"], n), categories=["w", "v", "u", "never"])
    frame.loc[random.random(n) < 0.1, ["number", "date"]] = None
    frame["price"] = random.normal(size=n)
    frame["kind"] = random.choice(["no", "yes", "perhaps"], n)
    frame["weight"] = random.integers(0, 3, n)
    frame["query"] = np.sort(random.integers(0, max(1, n // 5), n))
    return frame


OTHERS = ["price", "kind", "weight", "query"]


def assert_as_in_memory(found: Survey, table: Table, max_bins: int = 255) -> None:
    """Schema and bins are equal to those of the whole table."""
    assert found.schema == table.schema
    assert found.n_rows == table.n_rows
    assert_same_bins(found.bins(max_bins), find_bins(table, max_bins))
    for j, own in enumerate(found.columns):
        if own.kind == "category":
            counts = np.bincount(table.values(j)[table.values(j) >= 0], minlength=len(own.levels))
            assert own.counts(found.schema.columns[j].levels).tolist() == counts.tolist()
        else:
            assert own.dtype == table.values(j).dtype


def assert_same_bins(found: Any, expected: Any) -> None:
    for own, other in zip(found, expected, strict=True):
        assert type(own) is type(other)
        if isinstance(own, NumberBins):
            np.testing.assert_array_equal(own.cuts, other.cuts)
        assert own.n_codes == other.n_codes


def assert_same_statistics(found: Schema, expected: Schema) -> None:
    for own, other in zip(found.columns, expected.columns, strict=True):
        for name in ("n_rows", "n_missing", "n_single", "quantiles", "upto", "codes", "counts"):
            np.testing.assert_array_equal(getattr(own.statistics, name), getattr(other.statistics, name), own.name)

"""Rows with codes and whole gradients, as boosting's kernels want them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from sapwood.codes.bundles import spaced
from sapwood.kernels.boosting_records import NODE, RULES
from sapwood.kernels.newton import NO_GAIN
from sapwood.kernels.shard_frame import SHARD
from sapwood.kernels.used_columns import list_columns

Array = NDArray[Any]
MOST = (1 << 15) - 1  # of a packed number
HALF = np.uint64(32)


@dataclass(frozen=True)
class Rows:
    """Codes (rows, features), gradients and hessians of some rows; `order` is that of the records."""

    codes: Array
    gradient: Array
    hessian: Array
    order: Array

    @property
    def n_features(self) -> int:
        return self.codes.shape[1]

    @property
    def words(self) -> Array:
        """Codes padded to whole words of eight."""
        width = -(-self.n_features // 8) * 8
        padded = np.zeros((len(self.codes), width), dtype=np.uint8)
        padded[:, : self.n_features] = self.codes
        return padded.view(np.uint64).reshape(-1)

    @property
    def starts(self) -> Array:
        """Where the codes of each column begin in a histogram."""
        return spaced(np.full(self.n_features, 256))

    @property
    def cells(self) -> Array:
        """Of all codes of all columns."""
        return (self.starts[:-1, None] + np.arange(256)).ravel()

    def shard(
        self, packed: bool, block_rows: int, n_sums: int, mask: Array | None = None
    ) -> tuple[Array, dict[str, Array]]:
        """The frame of a shard for one thread, every column by itself; and its arrays, to be kept alive."""
        n, starts = self.n_features, self.starts
        used = mask if mask is not None else np.ones(n, dtype=np.bool_)
        arrays = {
            **{"records": np.stack([self.records(packed)] * 2), "n_codes": np.full(n, 255), "words": self.words},
            **{"sizes": np.full(n, 256), "bundle_of": np.arange(n), "table_of": np.full(n, -1)},
            **{"tables": np.empty((0, 256), np.uint8), "quantized": self.quantized},
            **{"packed": np.zeros((1, 260 * n), np.int64), "bundle_sums": np.zeros((1, 0, n_sums), np.int64)},
            **{"starts": starts, "bundle_starts": starts[:-1].astype(np.uint64), "cells": self.words.view(np.uint8)},
            **{"drawn": np.arange(n), "places": np.empty(n, np.uint64), "n_used": np.empty(2, np.int64)},
            "present": np.empty((1, 256), np.int64),
        }
        used_columns = (arrays[name] for name in ("bundle_of", "bundle_starts", "drawn", "places", "n_used"))
        list_columns(used, *used_columns)
        return SHARD.fill(**arrays, words_of_row=-(-n // 8), is_packed=packed, block_rows=block_rows), arrays

    @property
    def quantized(self) -> Array:
        return np.column_stack([self.gradient, self.hessian]).astype(np.int64)

    def records(self, packed: bool) -> Array:
        rows = self.order.astype(np.uint64) << HALF
        if not packed:
            return rows
        pairs = (self.gradient & 0xFFFF) << 16 | self.hessian
        return rows | pairs[self.order].astype(np.uint64)

    def histogram(self, first: int, last: int) -> Array:
        """The specification: (cells, gradient | hessian | rows) of records first…last-1."""
        rows, starts = self.order[first:last], self.starts
        out = np.zeros((starts[-1], 3), dtype=np.int64)
        for j in range(self.n_features):
            cells = starts[j] + self.codes[rows, j].astype(np.int64)
            for d, values in enumerate((self.gradient[rows], self.hessian[rows], 1)):
                np.add.at(out[:, d], cells, values)
        return out


def rows_of(records: Array) -> Array:
    return (records >> HALF).astype(np.int64)


@st.composite
def some_rows(draw: st.DrawFn, most_gradient: int = MOST, least_rows: int = 0) -> Rows:
    """Up to 60 rows in any order, up to 19 columns."""
    n, n_features = draw(st.integers(least_rows, 60)), draw(st.integers(1, 19))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    codes = rng.choice([0, 1, 2, 5, 254, 255], size=(n, n_features)).astype(np.uint8)
    gradient = rng.integers(-most_gradient, most_gradient, size=n, endpoint=True)
    hessian = rng.integers(0, most_gradient, size=n, endpoint=True)
    return Rows(codes, gradient, hessian, rng.permutation(n))


@st.composite
def stretches(draw: st.DrawFn, n: int, most: int = 5) -> list[tuple[int, int]]:
    """Ranges of records that do not overlap, with gaps or without."""
    cuts = sorted(draw(st.lists(st.integers(0, n), min_size=2, max_size=2 * most)))
    pairs = list(pairwise(cuts))
    return draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=most, unique=True).map(sorted))


def rules(**options: Any) -> np.void:
    """Rules that forbid nothing, with a unit of 1."""
    record = np.zeros(1, dtype=RULES)
    record["max_depth"], record["min_split_rows"] = 1 << 31, 2
    record["max_cat_to_onehot"], record["max_cat_threshold"] = 4, 64
    record["gradient_unit"] = record["hessian_unit"] = 1.0
    for name, value in options.items():
        record[name] = value
    record["lambda_units"] = record["reg_lambda"] / record["hessian_unit"]
    record["score_unit"] = record["gradient_unit"] ** 2 / record["hessian_unit"]
    plain = not any(record[name][0] for name in ("reg_alpha", "max_delta_step"))
    record["is_plain"] = options.get("is_plain", plain)
    return record[0]


def blank_nodes(n: int) -> Array:
    """Nodes that are not split, the rest of them rubbish as growth leaves it."""
    nodes = np.frombuffer(bytes([0x5A]) * (n * NODE.itemsize), dtype=NODE).copy()
    nodes["missing_left"] = False
    for name in ("left", "right", "slot", "feature"):
        nodes[name] = -1
    nodes["depth"], nodes["gain"], nodes["lower"], nodes["upper"] = 0, NO_GAIN, -np.inf, np.inf
    return nodes

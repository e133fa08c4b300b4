"""A table of codes with gradients, and a shard of it beside plain sets of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.codes.binned import BinnedTable
from sapwood.codes.bins import NumberBins
from sapwood.codes.bundles import separate
from sapwood.kernels.boosting_records import NODE
from sapwood.shard.gradient_units import GradientUnits
from sapwood.shard.shard import Shard

Array = NDArray[Any]


def coded_table(codes: Array) -> BinnedTable:
    """A table whose codes (rows, features) are given."""
    n, n_features = codes.shape
    rows = np.zeros((n, -(-n_features // 8) * 8), dtype=np.uint8)
    rows[:, :n_features] = codes
    bins = tuple(NumberBins(np.arange(254.0)) for _ in range(n_features))
    columns = np.ascontiguousarray(codes.T)
    return BinnedTable(bins, columns, rows, separate(columns, np.full(n_features, 255)), columns[:0])


@dataclass(frozen=True)
class Case:
    """Codes, gradients and the rows that take part."""

    codes: Array
    gradient: Array
    hessian: Array
    weight: Array | None
    rows: Array | None
    packed: bool

    @classmethod
    def random(cls, seed: int, n: int, packed: bool, weighted: bool, chosen: bool) -> Case:
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, 256, size=(n, 5)).astype(np.uint8)
        weight = rng.integers(0, 4, n) / 2 if weighted else None
        rows = np.flatnonzero(rng.random(n) < 0.6) if chosen else None
        return cls(codes, rng.normal(size=n), rng.random(n), weight, rows, packed)

    @property
    def members(self) -> Array:
        return np.arange(len(self.codes)) if self.rows is None else self.rows

    @property
    def weights(self) -> Array:
        return np.ones(len(self.codes)) if self.weight is None else self.weight

    @property
    def units(self) -> GradientUnits:
        g, h = np.abs(self.gradient * self.weights).max(), (self.hessian * self.weights).max()
        return GradientUnits.of(float(g), float(h), len(self.members), self.packed)

    def whole(self, gradient_unit: float, hessian_unit: float) -> Array:
        """Gradient and hessian of each row in whole numbers."""
        g, h = self.gradient * self.weights / gradient_unit, self.hessian * self.weights / hessian_unit
        return np.rint(np.column_stack([g, h])).astype(np.int64)

    def shard(self, n_jobs: int = 1) -> Shard:
        """A shard that has begun a tree."""
        shard = Shard(coded_table(self.codes), n_jobs)
        return self.begin(shard)

    def begin(self, shard: Shard) -> Shard:
        """Begin a tree on these gradients."""
        shard.gradient, shard.hessian, shard.weight = self.gradient, self.hessian, self.weight
        shard.begin(self.units, self.rows)
        return shard

    def part(self, shard: Shard) -> Case:
        """The rows of a shard."""
        of = slice(shard.offset, shard.offset + shard.n_rows)
        weight = None if self.weight is None else self.weight[of]
        rows = None if self.rows is None else self.rows[(self.rows >= of.start) & (self.rows < of.stop)] - of.start
        return Case(self.codes[of], self.gradient[of], self.hessian[of], weight, rows, self.packed)

    def slow_histogram(self, rows: Array) -> Array:
        """The specification of a node's histogram."""
        whole = self.whole(self.units.gradient_unit, self.units.hessian_unit)
        starts = coded_table(self.codes).starts
        out = np.zeros((starts[-1], 2), dtype=np.int64)
        for j in range(self.codes.shape[1]):
            np.add.at(out, starts[j] + self.codes[rows, j].astype(np.int64), whole[rows])
        return out


def split(shard: Shard, ids: Sequence[int], children: Array, features: Sequence[int], tables: Array) -> Array:
    """Split nodes by tables of codes that go left, one for each of them; returns how many rows went left."""
    nodes = np.zeros(max(ids) + 1, dtype=NODE)
    nodes["left"][ids], nodes["right"][ids] = np.transpose(children)
    nodes["feature"][ids], nodes["code"][ids] = features, -1
    nodes["subset"][ids] = np.packbits(tables, axis=1, bitorder="little").view(np.uint32)
    return shard.split(nodes, list(ids))


def histograms(shard: Shard, ids: Sequence[int]) -> Array:
    """Histograms of nodes, without the cells that no code has."""
    found = shard.histograms(list(ids), 2).copy()
    unused = np.ones(found.shape[1], np.bool_)
    for start, n in zip(shard.table.starts, shard.table.n_codes, strict=False):
        unused[start : start + n + 1] = False
    found[:, unused] = 0
    return found

"""All shards of a table together: what depends on the rows of every one of them.

A tree begins with gradients in units that suit all rows, and ends with steps of leaves, which are added to the scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sapwood.arrays import Array, Floats, Ints, Mask
from sapwood.codes.coding import Coded
from sapwood.codes.ranked import RankedTable
from sapwood.codes.sparse import SparseTable
from sapwood.kernels.newton import newton_values
from sapwood.kernels.routing import add_by_leaf
from sapwood.kernels.vector_leaves import add_all_by_leaf, largest_of_all, sum_all_by_leaf
from sapwood.shard.gradient_units import PACKED_ROWS, GradientUnits, fine_units
from sapwood.shard.ranked_shard import RankedShard
from sapwood.shard.shard import Shard, total
from sapwood.shard.sparse_shard import SparseShard

OUTLIER = 64.0  # times as large as most rows
OUTLIER_SHARE = 0.01
OUTLIER_SAMPLE = 1 << 15  # rows that are looked at, evenly spaced


def make_shards(table: Coded, n_shards: int, n_jobs: int) -> list[Shard]:
    """Rows in consecutive parts. One is enough on one machine; more of them give the same model."""
    if isinstance(table, RankedTable):
        return [RankedShard(table, n_jobs)]
    kind = SparseShard if isinstance(table, SparseTable) else Shard
    borders = [table.n_rows * s // n_shards for s in range(n_shards + 1)]
    parts = [table] if n_shards == 1 else [table.part(start, stop) for start, stop in pairwise(borders)]
    return [kind(part, n_jobs, offset) for part, offset in zip(parts, borders[:-1], strict=True)]


@dataclass(frozen=True, eq=False)
class RoundRows:
    """What the trees of a round are grown on: derivatives of all rows for each score, weights, and who takes part."""

    gradient: Array  # (n_scores, rows)
    hessian: Array
    weight: Floats | None
    rows: Array | None  # None: all
    largest: Floats | None  # (n_scores, 2) |gradient| and hessian, weights included, if known
    may_pack: bool  # whether 16 bits may hold each number

    @property
    def n_rows(self) -> int:
        """Rows that take part."""
        return self.gradient.shape[1] if self.rows is None else len(self.rows)


def begin_tree(shards: Sequence[Shard], of: RoundRows, k: int, key: int) -> GradientUnits:
    """Turn gradients of score k into whole numbers of units that suit all shards. The odd key is for halves of rows."""
    units = set_gradients(shards, of, k)
    for shard in shards:
        shard.begin(units, None if of.rows is None else shard.own(of.rows), key)
    return units


def set_gradients(shards: Sequence[Shard], of: RoundRows, k: int) -> GradientUnits:
    """Give all shards the gradients of score k; returns units that suit them."""
    for shard in shards:
        own = slice(shard.offset, shard.offset + shard.n_rows)
        shard.gradient, shard.hessian = of.gradient[k][own], of.hessian[k][own]
        shard.weight = None if of.weight is None else of.weight[own]
    most = np.max([shard.largest() for shard in shards], axis=0) if of.largest is None else of.largest[k]
    packed = of.may_pack and of.n_rows >= PACKED_ROWS and not _has_outliers(shards, most)
    return GradientUnits.of(float(most[0]), float(most[1]), of.n_rows, packed)


def _has_outliers(shards: Sequence[Shard], most: Floats) -> bool:
    """Whether so few rows come near the largest numbers that packed ones, of 15 bits, would hide the rest."""
    n_rows = sum(shard.n_rows for shard in shards)
    step = max(1, n_rows // OUTLIER_SAMPLE)
    g, h = (most / OUTLIER).tolist()
    least = OUTLIER_SHARE * -(-n_rows // step)
    return bool(total([shard.count_large(g, h, step, least) for shard in shards]).min() < least)


class NewtonStep(NamedTuple):
    """What Newton's step of a node follows from, beside the node."""

    units: GradientUnits
    sums: Ints | None  # of the leaves, if they are known
    rules: np.void
    factor: float  # of all steps


def newton_steps(shards: Sequence[Shard], nodes: Array, splits: Mask, step: NewtonStep) -> Floats:
    """Newton's step of each node: of leaves from the sums of their rows, of inner nodes too."""
    units, sums, rules, factor = step
    if sums is None:
        sums = total([shard.leaf_sums(len(nodes), units) for shard in shards])
    values = np.empty(len(nodes))
    newton_values(nodes, splits, sums, units.fine_gradient_unit, units.fine_hessian_unit, rules, factor, values)
    return values


def add_steps(
    shards: Sequence[Shard],
    nodes: Array,
    splits: Mask,
    values: Floats | NewtonStep,
    rate: float,
    score: Floats,
    has_rest: bool,
) -> Floats:
    """Add the rate times its leaf's value to the score of every row; returns that product for all nodes. OUT score.

    Values are given by node, or are Newton's steps. If there is a rest of rows that took no part, it finds its leaves
    before.
    """
    values = rate * (newton_steps(shards, nodes, splits, values) if isinstance(values, NewtonStep) else values)
    for shard in shards:
        if has_rest:
            shard.settle_rest(nodes, splits)
        own = score[shard.offset : shard.offset + shard.n_rows]
        shard.by_blocks(partial(add_by_leaf, shard.leaf_of, values, own))
    return values


def sums_of_leaves(shards: Sequence[Shard], of: RoundRows, n_nodes: int) -> tuple[Ints, Floats]:
    """Sums of the leaves (scores, nodes, 2) of all scores, as whole numbers, and their units (scores, 2)."""
    most = of.largest
    if most is None:
        most = np.empty((len(of.gradient), 2))
        largest_of_all(of.gradient, of.hessian, of.weight, most)
    units = fine_units(most, of.gradient.shape[1])

    def work(shard: Shard, first: int, last: int) -> Ints:
        own = slice(shard.offset, shard.offset + shard.n_rows)
        weight = None if of.weight is None else of.weight[own]
        sums = np.zeros((len(units), n_nodes, 2), dtype=np.int64)
        sum_all_by_leaf(shard.leaf_of, of.gradient[:, own], of.hessian[:, own], weight, units, first, last, sums)
        return sums

    return total([part for shard in shards for part in shard.by_blocks(partial(work, shard))]), units


def add_values(shards: Sequence[Shard], values: Floats, score: Floats) -> None:
    """Add its leaf's values (nodes, scores) to the scores of every row; OUT score."""
    for shard in shards:
        own = score[:, shard.offset : shard.offset + shard.n_rows]
        shard.by_blocks(partial(add_all_by_leaf, shard.leaf_of, values, own))

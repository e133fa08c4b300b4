"""A shard holds rows: their codes, their gradients, and the node each row is in.

It computes histograms of nodes, moves rows to children, and sums up leaves. All sums are whole numbers, so those of
many shards are simply added. Nodes are given by their numbers; a shard keeps the range of each one's records.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats, Ints, Mask
from sapwood.codes.bins import GroupedLevels
from sapwood.codes.ranked import RankedTable
from sapwood.codes.sparse import Binned
from sapwood.kernels.histogram import ROOM, build
from sapwood.kernels.level_groups import Moves, reroute, sum_levels, write_group_codes
from sapwood.kernels.routing import (
    add_by_leaf,
    join_pieces,
    mark_leaves,
    settle_by_code,
    split_pieces,
    sum_by_leaf,
    write_records,
)
from sapwood.kernels.shard_frame import SHARD
from sapwood.kernels.used_columns import list_columns
from sapwood.kernels.vector_leaves import add_all_by_leaf, sum_all_by_leaf
from sapwood.shard.arrays_of_rows import ArraysOfRows, InMemory
from sapwood.shard.gradient_units import GradientUnits
from sapwood.shard.pieces import deal
from sapwood.threads import run_all

T = TypeVar("T")

ROWS_PER_THREAD = 8192  # fewer rows are not worth waking another thread for


class Room(NamedTuple):
    """Scratch that shards share which take turns."""

    spare: Array  # for records of all rows of the largest
    packed: Ints  # for packed sums of all threads, zero

    @classmethod
    def of(cls, n_rows: int, n_bundles: int, n_jobs: int) -> Room:
        """Scratch for so many rows, and bytes of a row."""
        return cls(np.empty(n_rows, dtype=np.uint64), np.zeros(n_jobs * int(ROOM) * n_bundles, dtype=np.int64))


class Shard:
    """Rows of one binned table on some threads of this machine."""

    suits_team: ClassVar[bool] = True  # whether a team can grow whole trees on it

    gradient: Array  # of the rows, for the next tree
    hessian: Array
    weight: Floats | None

    def __init__(
        self,
        table: Binned | RankedTable,
        n_jobs: int = 1,
        offset: int = 0,
        arrays: ArraysOfRows | None = None,
        room: Room | None = None,
    ) -> None:
        self.table: Any = table
        self.n_rows, self.n_features = table.n_rows, table.n_features
        self.n_jobs = n_jobs
        self.offset = offset  # of its first row among all rows
        self._make = arrays or InMemory()
        self._buffers = self._make.empty((2, table.n_rows), np.uint64)  # the second takes no memory if it is not used
        self._records, self._spare = self._buffers
        self._room = room
        if room is not None:
            self._spare = room.spare[: table.n_rows]
        self._group_codes: dict[int, tuple[int, NDArray[np.uint8]]] = {}  # what was written of groups, by place
        self._wide: Ints | None = None
        self.leaf_of: Array = np.empty(0, dtype=np.uint16)  # the node that every row ends in
        self._ranges: dict[int, tuple[int, int]] = {}
        self._framed: tuple[object, ...] = (None,) * 3  # arrays of the frame that may be replaced
        self._n_levels = [own.n_levels for own in table.bins if isinstance(own, GroupedLevels)]
        self._prepare()

    def _prepare(self) -> None:
        n_cells = int(ROOM) * self.table.n_bundles
        packed = np.zeros(self.n_jobs * n_cells, dtype=np.int64) if self._room is None else self._room.packed
        self._packed = packed[: self.n_jobs * n_cells].reshape(self.n_jobs, n_cells)
        self._sums = np.zeros((self.n_jobs, 0, 2), dtype=np.int64)
        bundles = self.table.bundles
        self._used: dict[str, Array] = {
            **{"bundle_of": bundles.bundle_of, "bundle_starts": bundles.starts[:-1].astype(np.uint64)},
            **{"drawn": np.empty(self.n_features, dtype=np.int64), "places": np.empty(len(bundles.sizes), np.uint64)},
            "n_used": np.empty(2, dtype=np.int64),
        }
        self.use_columns(np.ones(self.n_features, dtype=np.bool_))

    def use_columns(self, mask: Mask) -> None:
        """Sum up only these columns from now on."""
        list_columns(mask, *self._used.values())

    def begin(self, units: GradientUnits, rows: Array | None = None, key: int = 1) -> None:
        """Start a tree on all rows, or on some; the root is node 0. The odd key decides about halves of rows."""
        self.units = units
        n = self.n_rows if rows is None else len(rows)
        if not units.packed and self._wide is None:
            self._wide = self._make.empty((self.n_rows, 2), np.int64)
        self._quantized = None if units.packed else self._wide  # None: the records hold the numbers
        self._n_inside, self._key = n, np.uint64(key)
        parts = self.by_blocks(partial(self._begin, rows), n)
        self.level_sums = [total(own) for own in zip(*parts, strict=True)]
        self._ranges = {0: (0, n)}

    def _begin(self, rows: Array | None, first: int, last: int) -> list[Ints]:
        """Write some records; returns their sums by half and level (0: missing) of each grouped column, in units."""
        of, units = (self.gradient, self.hessian, self.weight), self.units
        scales = 1.0 / units.gradient_unit, 1.0 / units.hessian_unit
        write_records(rows, *of, *scales, first, last, self._records, self._quantized)
        found = []
        for place, n in enumerate(self._n_levels):
            found.append(np.zeros((2, n + 1, 2), dtype=np.int64))
            halves = self.table.levels[place], self.offset, self._key
            sum_levels(self._records, first, last, self._quantized, *halves, found[-1].reshape(-1, 2))
        return found

    def __reduce__(self) -> tuple[object, ...]:
        """A copy starts empty: between two trees a shard holds nothing but its rows, and its frame holds addresses."""
        return type(self), (self.table, self.n_jobs, self.offset)

    def wide_frame(self, n_nodes: int, n_sums: int) -> Array:
        """The same before the first tree, for kernels that write gradients by themselves, not packed."""
        self.units, self._n_inside = GradientUnits.of(1.0, 1.0, self.n_rows, packed=False), self.n_rows
        if self._wide is None:
            self._wide = np.empty((self.n_rows, 2), dtype=np.int64)
        return self.frame(n_nodes, n_sums)

    def frame(self, n_nodes: int, n_sums: int) -> Array:
        """The rows as a team takes them, for a tree of at most so many nodes (`kernels/shard_frame.py`)."""
        self._number_leaves(n_nodes)
        self._make_frame(n_sums)
        return self._frame

    def _make_frame(self, n_sums: int) -> None:
        """Bring the frame up to date, for histograms of this many sums."""
        self._make_sums(n_sums)
        changing = self.leaf_of, self._sums, self._wide
        if any(array is not known for array, known in zip(changing, self._framed, strict=True)):
            self._framed = changing
            self._arrays = self._frame_arrays()
            self._frame: Array = SHARD.fill(**self._arrays, words_of_row=self.table.rows.shape[1] // 8)
        is_short = self.leaf_of.dtype == np.uint16
        numbers = {"block_rows": self.units.block_rows, "is_packed": self.units.packed}
        SHARD.update(self._frame[0], **numbers, is_short=is_short)

    def _frame_arrays(self) -> dict[str, Array]:
        """The arrays of a frame by name; they are kept, because a frame does not keep them alive."""
        table, bundles = self.table, self.table.bundles
        arrays = {
            **{"records": self._buffers, "columns": table.columns, "n_codes": table.n_codes},
            **{"is_category": table.is_category, "words": table.rows.view(np.uint64).reshape(-1)},
            **{"cells": table.rows.reshape(-1), "starts": table.starts, **self._used},
            **{"sizes": bundles.sizes, "table_of": bundles.meaning_of, "tables": bundles.meanings},
            **{"packed": self._packed, "bundle_sums": self._sums},
            "present": np.empty((self.n_jobs, 256), dtype=np.int64),
        }
        if len(self.leaf_of) == self.n_rows:
            arrays["short_leaf_of" if self.leaf_of.dtype == np.uint16 else "long_leaf_of"] = self.leaf_of
        return arrays if self._wide is None else {**arrays, "quantized": self._wide}

    def _number_leaves(self, n_nodes: int) -> None:
        """Room for the leaf of every row; rows outside of the tree are in none."""
        dtype = np.uint16 if n_nodes < 2**16 else np.uint32
        if self.leaf_of.dtype != dtype or len(self.leaf_of) != self.n_rows:
            self.leaf_of = self._make.empty(self.n_rows, dtype)
        if self._n_inside < self.n_rows:
            self.leaf_of.fill(np.iinfo(dtype).max)

    def _make_sums(self, n_sums: int) -> None:
        """Room for wide sums of bundles, where columns are bundled."""
        n_cells = self.table.bundles.starts[-1] if self.table.is_bundled and not self.units.packed else 0
        if self._sums.shape[1:] != (n_cells, n_sums):
            self._sums = np.zeros((self.n_jobs, n_cells, n_sums), dtype=np.int64)

    def histograms(self, ids: Sequence[int], n_sums: int) -> Ints:
        """Histograms (nodes, cells, sums) of nodes: sums of gradient, hessian and, if wanted, rows."""
        self._make_frame(n_sums)
        dealt = self._deal(ids, self.n_features) if ids else []
        pool = np.empty((len(ids) + max(0, len(dealt) - 1), int(self.table.starts[-1]), n_sums), dtype=np.int64)
        slot_of, tasks, joins = {node: slot for slot, node in enumerate(ids)}, [], []
        for p, pieces in enumerate(dealt):
            targets = [slot_of[node] for node in pieces[:, 2].tolist()]
            if p > 0 and pieces[0, 0] > self._ranges[int(pieces[0, 2])][0]:  # another thread has the node's beginning
                joins.append((targets[0], len(ids) + p - 1))
                targets[0] = len(ids) + p - 1
            pieces[:, 2] = targets
            tasks.append(partial(self._build, pieces, p, pool))
        run_all(tasks, self.n_jobs)
        for target, source in joins:
            pool[target] += pool[source]
        return pool[: len(ids)]

    def _build(self, pieces: Ints, part: int, pool: Ints) -> None:
        build(pieces, self._frame[0], part, pool)

    def split(self, nodes: Array, ids: Sequence[int]) -> Ints:
        """Move the rows of nodes to their children, by the nodes' splits; returns how many went left."""
        parts = self._deal(ids, 4)
        cuts = [np.empty(len(part), dtype=np.int64) for part in parts]
        run_all([partial(self._split, nodes, *own) for own in zip(parts, cuts, strict=True)], self.n_jobs)
        found: dict[int, list[tuple[int, int, int]]] = {node: [] for node in ids}
        for (first, last, node), cut in zip(np.concatenate(parts).tolist(), np.concatenate(cuts).tolist(), strict=True):
            found[node].append((first, cut, last))
        return np.array([self._set_children(nodes[node], node, pieces) for node, pieces in found.items()])

    def _set_children(self, node: np.void, number: int, pieces: list[tuple[int, int, int]]) -> int:
        """Join pieces (first, cut, last) that were split by several threads; returns how many rows went left."""
        (first, last), cut = self._ranges[number], pieces[0][1]
        if len(pieces) > 1:
            cut = join_pieces(self._records, self._spare, *np.array(pieces, dtype=np.int64).T.copy())
        self._ranges[int(node["left"])], self._ranges[int(node["right"])] = (first, cut), (cut, last)
        return cut - first

    def _split(self, nodes: Array, pieces: Ints, cuts: Ints) -> None:
        """Split pieces (first, last, node) of records; OUT cuts: where the records that go right begin."""
        table = np.empty(256, dtype=np.uint8)
        split_pieces(pieces, self._records, self.table.columns, nodes, table, self._spare, cuts)

    def settle(self, leaves: Sequence[int], n_nodes: int) -> None:
        """Growth is over: note the leaf of every row, as the number of its node."""
        self._number_leaves(n_nodes)
        tasks = [partial(mark_leaves, pieces, self._records, self.leaf_of) for pieces in self._deal(leaves, 4)]
        run_all(tasks, self.n_jobs)

    def take_leaves(self, leaf_of: Array, rows: Array | None, n_nodes: int) -> None:
        """The leaves of the sample, whose rows these are, as a copy of it has found them."""
        self._number_leaves(n_nodes)
        self.leaf_of[rows] = leaf_of

    def merge_leaves(self, leaf_above: Ints) -> None:
        """Rows move from nodes that were cut off to the leaves above them: leaf_above[node]."""
        if self._n_inside == self.n_rows:
            self.leaf_of[:] = leaf_above.astype(self.leaf_of.dtype)[self.leaf_of]
            return
        inside = self.leaf_of < len(leaf_above)
        self.leaf_of[inside] = leaf_above[self.leaf_of[inside]]

    def leaf_sums(self, n_nodes: int, units: GradientUnits) -> Ints:
        """Sums of gradient and hessian of the leaves, by node, in fine units."""
        return total(self.by_blocks(partial(self._sum_leaves, n_nodes, units)))

    def sums_of_leaves(
        self, gradient: Array, hessian: Array, weight: Floats | None, n_nodes: int, units: Floats
    ) -> list[Ints]:
        """The same for derivatives (scores, rows) of several scores in units (scores, 2), from each block of rows."""

        def work(first: int, last: int) -> Ints:
            sums = np.zeros((len(units), n_nodes, 2), dtype=np.int64)
            sum_all_by_leaf(self.leaf_of, gradient, hessian, weight, units, first, last, sums)
            return sums

        return self.by_blocks(work)

    def add_to(self, score: Floats, values: Floats) -> None:
        """Add its leaf's value to the score of every row, or values (nodes, scores) to (scores, rows); OUT score."""
        add = add_by_leaf if values.ndim == 1 else add_all_by_leaf
        self.by_blocks(partial(add, self.leaf_of, values, score))

    def _sum_leaves(self, n_nodes: int, units: GradientUnits, first: int, last: int) -> Ints:
        of = self.leaf_of, self.gradient, self.hessian, self.weight
        sums = np.zeros((n_nodes, 2), dtype=np.int64)
        scales = 1.0 / units.fine_gradient_unit, 1.0 / units.fine_hessian_unit
        sum_by_leaf(*of, *scales, first, last, sums)
        return sums

    def begin_groups(self, place: int, feature: int, codes: NDArray[np.uint8]) -> None:
        """Code a grouped column by half and level of the rows, for a tree to be grown; OUT table."""
        self._write_groups(place, feature, codes, self.table.rows, int(self.table.bundles.bundle_of[feature]))

    def _write_groups(
        self, place: int, feature: int, codes: NDArray[np.uint8], rows: NDArray[np.uint8] | None = None, at: int = 0
    ) -> None:
        self._group_codes[place] = feature, codes
        of, out = (self.table.levels[place], codes, self.offset, self._key), (self.table.columns[feature], rows, at)
        self.by_blocks(lambda first, last: write_group_codes(*of, first, last, *out))

    def restore_groups(self) -> None:
        """Write the codes of grouped columns again, which are lost where a table is read anew from a file."""
        for place, (feature, codes) in list(self._group_codes.items()):
            self.begin_groups(place, feature, codes)

    def reroute(self, moves: Moves) -> tuple[Ints, Ints]:
        """Find the new leaves of rows; returns the sums of the leaves, and how many rows each of them gained."""
        if self._n_inside < self.n_rows:  # the others are yet to be routed
            for place, j in enumerate(np.flatnonzero(moves.place_of >= 0)):
                self._write_groups(place, int(j), moves.codes[[place, place]])
        moves, n_nodes = moves._replace(nodes=self._for_any_row(moves.nodes, moves.splits)), len(moves.nodes)

        def move(first: int, last: int) -> tuple[Ints, Ints]:
            moved = np.zeros(n_nodes, dtype=np.int64)
            reroute(moves, self.table.columns, self.table.levels, first, last, self.leaf_of, moved)
            return self._sum_leaves(n_nodes, self.units, first, last), moved

        sums, moved = zip(*self.by_blocks(move), strict=True)
        return total(sums), total(moved)

    def _for_any_row(self, nodes: Array, splits: Mask) -> Array:  # noqa: ARG002
        """Nodes whose splits hold for rows that did not take part, too."""
        return nodes

    def settle_rest(self, nodes: Array, splits: Mask) -> None:
        """Find the leaves of the rows outside the tree too, so that leaves can be added to all scores."""
        find = self._finder(nodes, splits)
        self.by_blocks(lambda first, last: find(first, last, self.leaf_of))

    def _finder(self, nodes: Array, splits: Mask) -> Callable[..., None]:
        return partial(settle_by_code, self.table.columns, self._for_any_row(nodes, splits), splits)

    def by_blocks(self, work: Callable[[int, int], T], n: int | None = None) -> list[T]:
        """Do work on blocks (first, last) of rows, or of n records, for each thread that is worth waking."""
        n = self.n_rows if n is None else n
        n_parts = max(1, min(self.n_jobs, n // ROWS_PER_THREAD))
        borders = [n * p // n_parts for p in range(n_parts + 1)]
        return run_all([partial(work, *block) for block in pairwise(borders)], self.n_jobs)

    def _deal(self, ids: Sequence[int], work: int) -> list[Ints]:
        """The records of nodes in pieces (first, last, node), for as many threads as this work per row is worth."""
        ranges = [self._ranges[i] for i in ids]
        rows = sum(last - first for first, last in ranges)
        n_threads = max(1, min(self.n_jobs, rows * work // (4 * ROWS_PER_THREAD)))
        dealt = deal(ranges, n_threads)
        return [np.array([(first, last, ids[k]) for k, first, last in part], dtype=np.int64) for part in dealt]


def total(parts: Sequence[Ints]) -> Ints:
    """The sum of arrays of one shape; OUT the first of them."""
    for part in parts[1:]:
        np.add(parts[0], part, out=parts[0])
    return parts[0]

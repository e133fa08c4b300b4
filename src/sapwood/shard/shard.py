"""A shard owns rows: their codes, their gradients, and the node each row is in.

It answers what growth asks of rows: histograms of nodes, the moving of rows to children, sums of leaves. All of it is
in whole numbers, so the answers of many shards are simply added. Nodes are called by their numbers; a shard knows
where each one's records are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats, Ints, Mask
from sapwood.codes.bins import GroupedLevels
from sapwood.codes.ranked import RankedTable
from sapwood.codes.sparse import Binned
from sapwood.kernels.branching import write_tables
from sapwood.kernels.histogram import add_to, build
from sapwood.kernels.level_groups import Moves, reroute, sum_levels, write_group_codes
from sapwood.kernels.routing import (
    add_by_leaf,
    count_large,
    join_pieces,
    largest,
    mark_leaves,
    settle_by_code,
    split_pieces,
    sum_by_leaf,
    write_records,
)
from sapwood.kernels.shard_frame import SHARD
from sapwood.shard.dealing import Piece, deal
from sapwood.shard.gradient_units import GradientUnits
from sapwood.threads import run_all

ROWS_PER_THREAD = 8192  # fewer rows are not worth waking another thread for


class Shard:
    """Rows of one binned table on some threads of this machine."""

    suits_team: ClassVar[bool] = True  # whether a team can grow whole trees on it

    def __init__(self, table: Binned | RankedTable, n_jobs: int = 1, offset: int = 0) -> None:
        self.table: Any = table
        self.n_jobs = n_jobs
        self.offset = offset  # of its first row among all rows
        self._buffers = np.empty((2, table.n_rows), dtype=np.uint64)
        self._records, self._spare = self._buffers
        self._wide: Ints | None = None
        self._leaf_of = np.empty(0, dtype=np.uint16)
        self._ranges: dict[int, tuple[int, int]] = {}
        self._framed: tuple[Any, ...] = (None,) * 3  # arrays of the frame that may be replaced
        self._n_levels = [own.n_levels for own in table.bins if isinstance(own, GroupedLevels)]
        self._prepare()

    def _prepare(self) -> None:
        self._packed = np.zeros((self.n_jobs, 256 * self.table.n_bundles), dtype=np.int64)
        self._sums = np.zeros((self.n_jobs, 0, 2), dtype=np.int64)

    @property
    def n_rows(self) -> int:
        """Rows of the shard, in the tree or not."""
        return int(self.table.n_rows)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.table.n_features)

    def own(self, rows: Array) -> Array:
        """Those of some rows, ascending, that are the shard's, by the shard's own numbers."""
        first, last = np.searchsorted(rows, [self.offset, self.offset + self.n_rows])
        return rows[first:last] - self.offset

    def set_gradients(self, gradient: Floats, hessian: Floats, weight: Floats | None) -> None:
        """Set the gradients of the rows, for the next tree."""
        self.gradient, self.hessian, self.weight = gradient, hessian, weight

    def largest(self) -> tuple[float, float]:
        """Largest |gradient| and hessian, weights included."""
        of = self.gradient, self.hessian, self.weight
        tasks = [partial(largest, *of, *block) for block in self._shares()]
        found = np.array(run_all(tasks, self.n_jobs)).reshape(-1, 2)
        return float(found[:, 0].max(initial=0.0)), float(found[:, 1].max(initial=0.0))

    def count_large(self, gradient: float, hessian: float, step: int, enough: float) -> Ints:
        """Of every step-th row: how many have a gradient, and a hessian, of at least so much; both up to enough."""
        of = self.gradient, self.hessian, self.weight, gradient, hessian
        return np.array(count_large(*of, -self.offset % step, self.n_rows, step, enough), dtype=np.int64)

    def begin(self, units: GradientUnits, rows: Array | None = None, key: int = 1) -> None:
        """Start a tree on all rows, or on some; the root is node 0. The odd key decides about halves of rows."""
        self.units = units
        n = self.n_rows if rows is None else len(rows)
        if not units.packed and self._wide is None:
            self._wide = np.empty((self.n_rows, 2), dtype=np.int64)
        self._n_inside, self._key = n, np.uint64(key)
        parts = run_all([partial(self._begin, rows, *block) for block in self._shares(n)], self.n_jobs)
        self.level_sums = [total(own) for own in zip(*parts, strict=True)]
        self._ranges = {0: (0, n)}

    def _begin(self, rows: Array | None, first: int, last: int) -> list[Ints]:
        """Write some records; returns their sums by half and level (0: missing) of each grouped column, in units."""
        of, scales = (self.gradient, self.hessian, self.weight), self.units.scales
        write_records(rows, *of, *scales, first, last, self._records, self._quantized)
        found = []
        for place, n in enumerate(self._n_levels):
            found.append(np.zeros((2, n + 1, 2), dtype=np.int64))
            packed = np.zeros(2 * (n + 1) if self.units.packed else 0, dtype=np.int64)
            halves = self.table.levels[place], self.offset, self._key
            sum_levels(self._records, first, last, self._quantized, *halves, self.units.block_rows, packed, found[-1])
        return found

    @property
    def _quantized(self) -> Ints | None:
        """Whole numbers of the rows, unless the records hold them."""
        return None if self.units.packed else self._wide

    def frame(self, n_nodes: int, n_sums: int) -> Array:
        """What a team needs to know of the rows, for a tree of at most so many nodes (`kernels/shard_frame.py`)."""
        self._number_leaves(n_nodes)
        self._make_sums(n_sums)
        changing = self._leaf_of, self._sums, self._wide
        if any(array is not known for array, known in zip(changing, self._framed, strict=True)):
            self._framed = changing
            self._arrays = self._frame_arrays()
            self._frame: Array = SHARD.fill(**self._arrays, words_of_row=self.table.row_codes.n_words)
        is_short = self._leaf_of.dtype == np.uint16
        numbers = {"block_rows": self.units.block_rows, "is_packed": self.units.packed}
        SHARD.update(self._frame[0], **numbers, is_short=is_short)
        return self._frame

    def _frame_arrays(self) -> dict[str, Array]:
        """The arrays of a frame by name; they are kept, because a frame does not keep them alive."""
        table, codes = self.table, self.table.row_codes
        arrays = {
            **{"records": self._buffers, "columns": table.columns, "n_codes": table.n_codes},
            **{"is_category": table.is_category, "words": codes.words, "sizes": codes.sizes, "home": codes.home},
            **{"meaning_of": codes.meaning_of, "meanings": codes.meanings},
            **{"packed": self._packed, "bundle_sums": self._sums},
            "short_leaf_of" if self._leaf_of.dtype == np.uint16 else "long_leaf_of": self._leaf_of,
        }
        return arrays if self._wide is None else {**arrays, "quantized": self._wide}

    def _number_leaves(self, n_nodes: int) -> None:
        """Room for the leaf of every row; rows outside of the tree are in none."""
        dtype = np.uint16 if n_nodes < 2**16 else np.uint32
        if self._leaf_of.dtype != dtype or len(self._leaf_of) != self.n_rows:
            self._leaf_of = np.empty(self.n_rows, dtype=dtype)
        if self._n_inside < self.n_rows:
            self._leaf_of.fill(np.iinfo(dtype).max)

    def _make_sums(self, n_sums: int) -> None:
        """Room for wide sums of bundles, where columns are bundled."""
        n_codes = 256 * self.table.n_bundles if self.table.is_bundled and not self.units.packed else 0
        if self._sums.shape[1:] != (n_codes, n_sums):
            self._sums = np.zeros((self.n_jobs, n_codes, n_sums), dtype=np.int64)

    def histograms(self, ids: Sequence[int], pool: Ints, slots: Sequence[int], spare: Sequence[int]) -> None:
        """Histograms of nodes into slots of the pool; the n_jobs - 1 spare slots are for nodes cut between threads."""
        self._make_sums(pool.shape[2])
        ranges = [self._ranges[i] for i in ids]
        parts = deal(ranges, self._n_threads(ranges, self.table.n_features))
        tasks, joins = [], []
        for p, part in enumerate(parts):
            pieces = np.empty((len(part), 3), dtype=np.int64)
            for k, (node, first, last) in enumerate(part):
                is_rest = k == 0 and p > 0 and first > ranges[node][0]
                if is_rest:
                    joins.append((slots[node], spare[p - 1]))
                pieces[k] = first, last, spare[p - 1] if is_rest else slots[node]
            tasks.append(partial(self._build, pieces, p, pool))
        run_all(tasks, self.n_jobs)
        for target, source in joins:
            add_to(pool, target, source)

    def _build(self, pieces: Ints, part: int, pool: Ints) -> None:
        of = self._records, self.table.row_codes, np.uint64(self.units.block_rows), self._quantized
        build(pieces, *of, self._packed[part], self._sums[part], pool)

    def split(self, nodes: Array, ids: Sequence[int]) -> Ints:
        """Move the rows of nodes to their children, by the nodes' splits; returns how many went left."""
        ranges = [self._ranges[i] for i in ids]
        parts = deal(ranges, self._n_threads(ranges, 4))
        cuts = [np.empty(len(part), dtype=np.int64) for part in parts]
        run_all(self._split_tasks(nodes, ids, parts, cuts), self.n_jobs)
        borders = self._borders(len(ranges), parts, cuts)
        for k, (first, last) in enumerate(ranges):
            self._ranges[int(nodes["left"][ids[k]])] = first, int(borders[k])
            self._ranges[int(nodes["right"][ids[k]])] = int(borders[k]), last
        return borders - np.array([first for first, _ in ranges], dtype=np.int64)

    def _split_tasks(
        self, nodes: Array, ids: Sequence[int], parts: list[list[Piece]], cuts: list[Ints]
    ) -> list[Callable[[], None]]:
        features = nodes["feature"][ids].tolist()
        tables = np.empty((len(ids), 256), dtype=np.uint8)
        write_tables(np.array(ids, dtype=np.int64), nodes, tables)
        tasks: list[Callable[[], None]] = []
        for part, cut in zip(parts, cuts, strict=True):
            pieces = np.array([(first, last, features[node]) for node, first, last in part], dtype=np.int64)
            own = tables[[node for node, _, _ in part]]
            tasks.append(partial(self._split, pieces, own, cut))
        return tasks

    def _split(self, pieces: Ints, tables: NDArray[np.uint8], cuts: Ints) -> None:
        """Split pieces (first, last, column), each by its own table; OUT cuts: where the right ones begin."""
        split_pieces(pieces, self._records, self.table.columns, tables, self._spare, cuts)

    def _borders(self, n_nodes: int, parts: list[list[Piece]], cuts: list[Ints]) -> Ints:
        """Where the right child of every node begins; nodes that were cut between threads are joined."""
        found: list[list[tuple[int, int, int]]] = [[] for _ in range(n_nodes)]
        for part, cut in zip(parts, cuts, strict=True):
            for (node, first, last), border in zip(part, cut, strict=True):
                found[node].append((first, int(border), last))
        borders = np.empty(n_nodes, dtype=np.int64)
        for node, pieces in enumerate(found):
            borders[node] = pieces[0][1]
            if len(pieces) > 1:
                firsts, inner, lasts = np.array(pieces, dtype=np.int64).T.copy()
                borders[node] = join_pieces(self._records, self._spare, firsts, inner, lasts)
        return borders

    def settle(self, leaves: Sequence[int], n_nodes: int) -> None:
        """Growth is over: note the leaf of every row, as the number of its node."""
        self._number_leaves(n_nodes)
        ranges = [self._ranges[i] for i in leaves]
        tasks = []
        for part in deal(ranges, self._n_threads(ranges, 4)):
            pieces = np.array([(first, last, leaves[k]) for k, first, last in part], dtype=np.int64)
            tasks.append(partial(mark_leaves, pieces, self._records, self._leaf_of))
        run_all(tasks, self.n_jobs)

    def merge_leaves(self, leaf_above: Ints) -> None:
        """Rows move from nodes that were cut off to the leaves above them: leaf_above[node]."""
        if self._n_inside == self.n_rows:
            self._leaf_of[:] = leaf_above.astype(self._leaf_of.dtype)[self._leaf_of]
            return
        inside = self._leaf_of < len(leaf_above)
        self._leaf_of[inside] = leaf_above[self._leaf_of[inside]]

    def leaf_sums(self, n_nodes: int, units: GradientUnits | None = None) -> Ints:
        """Sums of gradient and hessian of the leaves, by node, in fine units: the tree's own, or others."""
        units = self.units if units is None else units
        tasks = [partial(self._sum_leaves, n_nodes, units, *block) for block in self._shares()]
        return total(run_all(tasks, self.n_jobs))

    def _sum_leaves(self, n_nodes: int, units: GradientUnits, first: int, last: int) -> Ints:
        of = self._leaf_of, self.gradient, self.hessian, self.weight
        sums = np.zeros((n_nodes, 2), dtype=np.int64)
        sum_by_leaf(*of, *units.fine_scales, first, last, sums)
        return sums

    def begin_groups(self, place: int, feature: int, codes: NDArray[np.uint8]) -> None:
        """Code a grouped column by half and level of the rows, for a tree to be grown; OUT table."""
        self._write_groups(place, feature, codes, self.table.rows, int(self.table.bundles.home[feature]))

    def _write_groups(
        self, place: int, feature: int, codes: NDArray[np.uint8], rows: NDArray[np.uint8] | None = None, at: int = 0
    ) -> None:
        of, out = (self.table.levels[place], codes, self.offset, self._key), (self.table.columns[feature], rows, at)
        run_all([partial(write_group_codes, *of, *block, *out) for block in self._shares()], self.n_jobs)

    def reroute(self, moves: Moves) -> tuple[Ints, Ints]:
        """Find the new leaves of rows; returns the sums of the leaves, and how many rows each of them gained."""
        if self._n_inside < self.n_rows:  # the others are yet to be routed
            for place, j in enumerate(np.flatnonzero(moves.place_of >= 0)):
                self._write_groups(place, int(j), moves.codes[[place, place]])
        moves, n_nodes = moves._replace(nodes=self._for_any_row(moves.nodes, moves.splits)), len(moves.nodes)

        def move(first: int, last: int) -> tuple[Ints, Ints]:
            moved = np.zeros(n_nodes, dtype=np.int64)
            reroute(moves, self.table.columns, self.table.levels, first, last, self._leaf_of, moved)
            return self._sum_leaves(n_nodes, self.units, first, last), moved

        sums, moved = zip(*run_all([partial(move, *block) for block in self._shares()], self.n_jobs), strict=True)
        return total(sums), total(moved)

    def _for_any_row(self, nodes: Array, splits: Mask) -> Array:  # noqa: ARG002
        """Nodes whose splits hold for rows that did not take part, too."""
        return nodes

    def add_leaves(self, values: Floats, score: Floats) -> None:
        """Add its leaf's value (by node) to the score of every row; all rows must be settled. OUT score."""
        tasks = [partial(add_by_leaf, self._leaf_of, values, *block, score) for block in self._shares()]
        run_all(tasks, self.n_jobs)

    def settle_rest(self, nodes: Array, splits: Mask) -> None:
        """Find the leaves of the rows outside the tree too, so that leaves can be added to all scores."""
        find = self._finder(nodes, splits)
        run_all([partial(find, *block, self._leaf_of) for block in self._shares()], self.n_jobs)

    def _finder(self, nodes: Array, splits: Mask) -> Callable[..., None]:
        return partial(settle_by_code, self.table.columns, *ways(nodes, splits))

    @property
    def leaf_of(self) -> Array:
        """The node that every row ends in."""
        return self._leaf_of

    def _shares(self, n: int | None = None) -> list[tuple[int, int]]:
        """Rows, or records, cut into as many blocks as threads are worth waking."""
        n = self.n_rows if n is None else n
        n_parts = max(1, min(self.n_jobs, n // ROWS_PER_THREAD))
        return list(pairwise([n * p // n_parts for p in range(n_parts + 1)]))

    def _n_threads(self, ranges: Sequence[tuple[int, int]], work: int) -> int:
        """Threads worth waking for so many rows of so much work each."""
        rows = sum(last - first for first, last in ranges)
        return max(1, min(self.n_jobs, rows * work // (4 * ROWS_PER_THREAD)))


def total(parts: Sequence[Ints]) -> Ints:
    """The sum of arrays of one shape; OUT the first of them."""
    for part in parts[1:]:
        np.add(parts[0], part, out=parts[0])
    return parts[0]


def ways(nodes: Array, splits: Mask) -> tuple[Array, ...]:
    """Column (negative at leaves), children and table of every node."""
    ids = np.flatnonzero(splits)
    tables = np.empty((len(nodes), 256), dtype=np.uint8)
    own = np.empty((len(ids), 256), dtype=np.uint8)
    write_tables(ids, nodes, own)
    tables[ids] = own
    return np.where(splits, nodes["feature"], -1), nodes["left"].copy(), nodes["right"].copy(), tables

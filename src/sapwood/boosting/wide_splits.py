"""Best splits of columns of many codes, which have no histograms: rows of a node are summed up when it is searched."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.kernels.newton import NO_GAIN
from sapwood.kernels.wide_columns import CodeSums, WideColumns, WideRows, new_code_sums, search_pairs, take_best
from sapwood.shard.level_sets import LevelSets
from sapwood.threads import run_all

MANY = 255  # levels of a column that has more are doubted
DOUBT = 2.0  # so that two rows that agree are not enough; measured on real tables, see `kernels/wide_columns.py`
MOST_ROOM = 1 << 24  # bytes of sets that are found at a time
ROWS_PER_THREAD = 4096

Ids = list[int]
Nodes = NDArray[Any]


def describe(
    features: NDArray[np.int64],
    places: NDArray[np.int64],
    n_codes: NDArray[np.int64],
    is_category: NDArray[np.bool_],
    signs: NDArray[np.int8],
) -> WideColumns:
    """Those of all columns that are wide, and where their codes are."""
    doubt = np.where(n_codes > MANY, DOUBT, 0.0)
    return WideColumns(features, places, *(of[features] for of in (n_codes, is_category, signs, doubt)))


class WideSplits:
    """Looks for splits of wide columns on all shards together."""

    def __init__(self, shards: Sequence[Any], columns: WideColumns, n_jobs: int) -> None:
        self._shards = shards
        self._columns = columns
        self._n_jobs = n_jobs
        most = int(columns.n_codes.max())
        self._sets = LevelSets(most)
        self._room: list[CodeSums] = [new_code_sums(most)]
        self._tell()

    @property
    def sets(self) -> NDArray[np.uint32]:
        """Levels that go left in nodes of this tree."""
        return self._sets.words

    def begin(self) -> None:
        """Another tree begins."""
        self._sets.clear()
        self._tell()

    def _tell(self) -> None:
        for shard in self._shards:
            shard.sets = self.sets

    def improve(self, nodes: Nodes, ids: Ids, usable: NDArray[np.bool_], rules: Any) -> None:
        """Give nodes the best split of a wide column where it beats the one they have; OUT nodes."""
        own = usable[:, self._columns.features]
        size = len(self._columns.features) * self._sets.n_words * 4
        step = max(1, MOST_ROOM // size)
        for first in range(0, len(ids), step):
            some = ids[first : first + step]
            self._improve_some(nodes, some, own if len(own) == 1 else own[first : first + step], rules)
        self._tell()

    def _improve_some(self, nodes: Nodes, ids: Ids, usable: NDArray[np.bool_], rules: Any) -> None:
        n_wide = len(self._columns.features)
        found = np.repeat(nodes[ids][:, None], n_wide, axis=1)
        found["gain"] = NO_GAIN
        sets = np.empty((len(ids), n_wide, self._sets.n_words), dtype=np.uint32)
        rows, quanta, shift = self._rows(ids)
        pairs = np.argwhere(np.broadcast_to(usable, (len(ids), n_wide)))
        tasks = [
            partial(search_pairs, own, rows, quanta, self._columns, shift, rules, room, found, sets)
            for own, room in zip(*self._deal(pairs, rows), strict=True)
        ]
        run_all(tasks, self._n_jobs)
        winners = np.empty(len(ids), dtype=np.int64)
        take_best(np.array(ids, dtype=np.int64), found, self._columns, rules, nodes, winners)
        won = np.flatnonzero((winners >= 0) & self._columns.is_category[winners])
        nodes["subset"][np.array(ids)[won], 0] = self._sets.add(sets[won, winners[won]])

    def _rows(self, ids: Ids) -> tuple[WideRows, tuple[NDArray[np.int64], ...] | None, int]:
        records, quanta, ranges = zip(*(shard.rows_of(ids) for shard in self._shards), strict=True)
        codes = tuple(shard.wide_codes for shard in self._shards)
        units = self._shards[0].quanta
        return WideRows(records, codes, ranges), None if units.packed else quanta, units.shift

    def _deal(self, pairs: NDArray[np.int64], rows: WideRows) -> tuple[list[NDArray[np.int64]], list[CodeSums]]:
        """Pairs for each thread, of about as many rows, and room for it."""
        sizes = sum(own[:, 1] - own[:, 0] for own in rows.ranges)[pairs[:, 0]]
        n_parts = int(max(1, min(self._n_jobs, len(pairs), sizes.sum() // ROWS_PER_THREAD)))
        while len(self._room) < n_parts:
            self._room.append(new_code_sums(len(self._room[0].order) - 1))
        largest_first = pairs[np.argsort(-sizes, kind="stable")]
        return [np.ascontiguousarray(largest_first[p::n_parts]) for p in range(n_parts)], self._room[:n_parts]

"""A shard of ranked rows, for the exact method. It searches by itself: sorted rows cannot be added like histograms."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Ints, Mask
from sapwood.codes.ranked import Ranks
from sapwood.kernels.exact import CURSOR, scan_category, scan_order, split_ranks
from sapwood.kernels.routing import mark_leaves, sum_records
from sapwood.kernels.scan import new_lanes
from sapwood.shard.shard import Shard
from sapwood.threads import run_all


class RankedShard(Shard):
    """Rows of one ranked table."""

    suits_team = False

    def _prepare(self) -> None:
        self._place = np.empty(self.n_rows, dtype=np.int32)
        self._sides = np.empty(self.n_rows, dtype=np.uint8)

    def use_columns(self, mask: Mask) -> None:
        """A search is told its columns."""

    def begin_groups(self, place: int, feature: int, codes: NDArray[np.uint8]) -> None:
        """Code a grouped column by half and level of the rows, for a tree to be grown; OUT table."""
        self._write_groups(place, feature, codes)
        self.table.sort(feature)

    def root_sums(self) -> tuple[int, int]:
        """Sums of the root, in units."""
        return sum_records(self._records, *self._ranges[0], self._quantized)  # type: ignore[no-any-return]

    def search(
        self, nodes: Array, ids: Sequence[int], usable: Mask, rules: np.void, signs: NDArray[np.int8]
    ) -> list[Array]:
        """For each column, copies of the nodes with their best split on it."""
        pieces = np.array([(*self._ranges[node], k) for k, node in enumerate(ids)], dtype=np.int64)
        self._place.fill(-1)
        mark_leaves(pieces, self._records, self._place)
        n_sums = 3 if rules["min_child_rows"] > 1 else 2

        def best(j: int) -> Array:
            found = nodes[ids]
            column = self.table.columns[j]
            if self.table.is_category[j]:
                (lanes, _arrays), hist = new_lanes(), np.empty((256, n_sums), dtype=np.int64)
                scan_category(self._records, pieces, self._wide, column, rules, j, usable, hist, lanes[0], found)
            else:
                order, cursors = self.table.orders[j], np.zeros(len(ids), dtype=CURSOR)
                scan_order(order, column, self._place, self._wide, rules, signs[j], j, usable, cursors, found)
            return found

        return run_all([partial(best, j) for j in range(self.n_features)], self.n_jobs)

    def _split(self, nodes: Array, pieces: Ints, cuts: Ints) -> None:
        split_ranks(pieces, self._records, self.table.columns, nodes, self._sides, self._spare, cuts)

    def _for_any_row(self, nodes: Array, splits: Mask) -> Array:
        """Nodes for rows that did not take part, whose values may lie between those that the split was made between."""
        nodes = nodes.copy()
        for j in np.unique(nodes["feature"][splits]):
            bins = self.table.bins[j]
            if isinstance(bins, Ranks):
                at = np.flatnonzero(splits & (nodes["feature"] == j))
                thresholds = bins.thresholds(nodes["code"][at], nodes["next_code"][at])
                nodes["code"][at] = np.searchsorted(bins.values, thresholds, side="right")
        return nodes

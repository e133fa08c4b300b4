"""A shard of rows some of whose columns have more codes than a byte holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.codes.mixed import MixedTable
from sapwood.kernels.branching import write_tables
from sapwood.kernels.wide_routing import settle_mixed, split_mixed
from sapwood.shard.dealing import Piece
from sapwood.shard.level_sets import NO_SETS
from sapwood.shard.shard import Ints, Shard


class MixedShard(Shard):
    """Rows of one mixed table. Its `table` is that of the narrow columns, which have histograms."""

    suits_team = False

    def __init__(self, table: MixedTable, n_jobs: int = 1, offset: int = 0) -> None:
        self.mixed = table
        self.sets = NO_SETS  # levels that go left, for splits of wide columns
        super().__init__(table.narrow, n_jobs, offset)

    @property
    def n_features(self) -> int:
        """Number of columns, wide ones included."""
        return self.mixed.n_features

    @property
    def wide_codes(self) -> NDArray[Any]:
        """Codes of the wide columns, (columns, rows)."""
        return self.mixed.wide

    def _split_tasks(
        self, nodes: NDArray[Any], ids: Sequence[int], parts: list[list[Piece]], cuts: list[Ints]
    ) -> list[Callable[[], None]]:
        tables = np.empty((len(ids), 256), dtype=np.uint8)
        write_tables(np.array(ids, dtype=np.int64), nodes, tables)
        tasks: list[Callable[[], None]] = []
        for part, cut in zip(parts, cuts, strict=True):
            pieces = np.array([(first, last, ids[node]) for node, first, last in part], dtype=np.int64)
            own = tables[[node for node, _, _ in part]]
            by = nodes, own, self.sets
            tasks.append(partial(split_mixed, pieces, self._records, *self._columns, *by, self._spare, cut))
        return tasks

    def _finder(self, nodes: NDArray[Any], splits: NDArray[np.bool_]) -> Callable[..., None]:
        return partial(settle_mixed, *self._columns, nodes, self.sets, splits)

    @property
    def _columns(self) -> tuple[NDArray[Any], ...]:
        """Codes of narrow and wide columns, and where each column is."""
        return self.table.columns, self.mixed.wide, self.mixed.places, self.mixed.is_wide

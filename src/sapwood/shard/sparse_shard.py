"""A shard of sparse rows: work is done for the cells that are stored, and the absent ones are what remains."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from sapwood.arrays import Array, Ints, Mask
from sapwood.kernels.entries import build_sparse, settle_by_entry, split_entries
from sapwood.shard.shard import Shard


class SparseShard(Shard):
    """Rows of one sparse table."""

    suits_team = False

    def _prepare(self) -> None:
        self._sides = np.empty(self.n_rows, dtype=np.uint8)

    def use_columns(self, mask: Mask) -> None:
        """Entries of other columns are summed up, too."""

    def _make_frame(self, n_sums: int) -> None:
        """Sums are made from the entries alone."""

    def _build(self, pieces: Ints, part: int, pool: Ints) -> None:  # noqa: ARG002 - no scratch
        build_sparse(pieces, self._records, self.table.entries, self._quantized, pool)

    def _split(self, nodes: Array, pieces: Ints, cuts: Ints) -> None:
        split_entries(pieces, self._records, self.table.entries, nodes, self._sides, self._spare, cuts)

    def _finder(self, nodes: Array, splits: Mask) -> Callable[..., None]:
        return partial(settle_by_entry, self.table.entries, nodes, splits)

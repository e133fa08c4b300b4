"""Scores of rows by all trees of a grove; which way depends on the shape of the trees, the result does not.

Whatever the way, the leaf values of the trees are added in their order, so the scores are the same bits for one row or
a million, on any number of threads, from any container.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.cached_property import cached_property
from sapwood.grove import Grove
from sapwood.kernels.traverse import score_row
from sapwood.predictor.bottom_up import BottomUp, Memory
from sapwood.predictor.reach import check_reach, check_scores
from sapwood.predictor.woods import Woods
from sapwood.table.storage import SparseStorage
from sapwood.table.table import Table
from sapwood.threads import blocks, run_all

BLOCK_ROWS = 1 << 11  # that pass all trees while their cells are in the cache; few enough to be shared out evenly
BLOCK_CELLS = 1 << 20  # of a sparse table that are filled in at a time
Floats = NDArray[np.float64]


class Scorer:
    """Scores of a grove; what it needs for a type of cells is made when first asked for."""

    def __init__(self, grove: Grove, stop_at_unseen: bool = False) -> None:
        self.grove = grove
        self._stop = stop_at_unseen
        self._woods: dict[np.dtype[Any], Woods] = {}
        self._trees: dict[np.dtype[Any], BottomUp] = {}

    def woods(self, dtype: np.dtype[Any]) -> Woods:
        """Steps of all trees for cells of a type."""
        if dtype not in self._woods:
            woods = Woods.of(self.grove, dtype, self._stop)
            check_scores(woods.column, woods.width, len(self.grove.base))
            self._woods[dtype] = woods
        return self._woods[dtype]

    def trees(self, dtype: np.dtype[Any]) -> BottomUp:
        """The trees for many rows with cells of a type."""
        if dtype not in self._trees:
            woods = self.woods(dtype)
            self._trees[dtype] = BottomUp.of(woods, self._stop and woods.levels is not None)
        return self._trees[dtype]

    def scores(
        self, table: Table, *, n_trees: int | None = None, begin: Floats | None = None, n_jobs: int = 1
    ) -> Floats:
        """Scores (columns, rows) by all trees, or by the first ones; `begin` gives each row its own start."""
        out = np.repeat(self.grove.base[:, None], table.n_rows, axis=1)
        if begin is not None:
            out += begin
        n = len(self.grove) if n_trees is None else n_trees
        if n:
            self._add(table, out, n, n_jobs)
        return out if self.grove.divisor == 1.0 else out / self.grove.divisor

    def _add(self, table: Table, out: Floats, n_trees: int, n_jobs: int) -> None:
        woods, trees = self.woods(table.dtype), self.trees(table.dtype)
        storage, size, narrow = table.storage, BLOCK_ROWS, False
        if isinstance(storage, SparseStorage):  # trees ask for few of its columns
            narrow = True
            check_reach(woods.n_columns, storage.n_columns)
            asked = woods.features or [0]
            storage, size = storage.arrange(asked), max(1, BLOCK_CELLS // len(asked))
        n_columns = (woods.narrow if narrow else woods).n_columns
        spare: list[Memory] = []  # memory of threads that are done with a block

        def add(start: int, stop: int) -> None:
            cells = storage.block(start, stop)
            check_reach(n_columns, cells.shape[1])
            try:
                memory = spare.pop()
            except IndexError:
                memory = trees.memory(cells.dtype, min(size, table.n_rows), len(out), narrow)
            trees.add(cells, out, start, n_trees, memory)
            spare.append(memory)

        run_all([partial(add, *block) for block in blocks(table.n_rows, size)], n_jobs)

    def score_row(self, cells: Floats, n_trees: int | None = None) -> Floats:
        """Scores of one row by all trees, or by the first ones; cells are float64, categories numbers of levels."""
        out = self.grove.base.copy()
        if not len(self.grove):
            return out
        steps, levels, roots, leaf_values, width, column, n_columns = self._one_row
        if len(cells) < n_columns:
            check_reach(n_columns, len(cells))
        score_row(steps, levels, roots[:n_trees], leaf_values, width, column, cells, self._stop, out)
        if self.grove.divisor != 1.0:
            out /= self.grove.divisor
        return out

    @cached_property
    def _one_row(self) -> tuple[Any, ...]:
        woods = self.woods(np.dtype(np.float64))
        return woods.steps, woods.levels, woods.roots, woods.leaf_values, woods.width, woods.column, woods.n_columns

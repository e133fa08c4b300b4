"""Scores of rows by all trees of a sum of trees; the method depends on the shape of the trees, the result does not.

Leaf values are always added in the order of the trees, so the scores are the same bits for one row or
a million, on any number of threads, from any container.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.cached_property import cached_property
from sapwood.kernels.traverse import score_rows
from sapwood.predictor.bottom_up import BottomUp
from sapwood.predictor.code_descent import CodeDescent
from sapwood.predictor.descent import Descent, find
from sapwood.predictor.reach import check_reach, check_scores
from sapwood.predictor.tree_steps import TreeSteps
from sapwood.table.storage import SparseStorage
from sapwood.table.table import Table
from sapwood.threads import blocks, run_all
from sapwood.tree_sum import TreeSum

BLOCK_CELLS = 1 << 20  # of a sparse table that are filled in at a time
FEW = 8  # rows that pass the trees one by one: for these, codes and threads cost more than they save
Floats = NDArray[np.float64]


class Scorer:
    """Scores of a sum of trees; what it needs for a type of cells is made on first use."""

    def __init__(self, tree_sum: TreeSum, stop_at_unseen: bool = False) -> None:
        self.tree_sum = tree_sum
        self._stop = stop_at_unseen
        self._tree_steps: dict[np.dtype, TreeSteps] = {}
        self._trees: dict[np.dtype, BottomUp | CodeDescent] = {}
        self._descents: dict[np.dtype, Descent] = {}  # of a single tree

    def packed(self, dtype: np.dtype) -> TreeSteps:
        """Steps of all trees for cells of a type."""
        found = self._tree_steps.get(dtype)
        if found is None:
            found = TreeSteps.of(self.tree_sum, dtype, self._stop)
            check_scores(found.column, found.width, len(self.tree_sum.base))
            self._tree_steps[dtype] = found
        return found

    def trees(self, dtype: np.dtype) -> BottomUp | CodeDescent:
        """The trees for many rows with cells of a type."""
        if dtype not in self._trees:
            packed = self.packed(dtype)
            by_codes = CodeDescent.suits(packed)
            stops = self._stop and packed.levels is not None
            self._trees[dtype] = CodeDescent.of(packed) if by_codes else BottomUp.of(packed, stops)
            if by_codes:
                self._tree_steps.pop(dtype, None)  # which take as much memory, and are needed no more
        return self._trees[dtype]

    def scores(
        self, table: Table, *, n_trees: int | None = None, begin: Floats | None = None, n_jobs: int = 1
    ) -> Floats:
        """Scores (columns, rows) by all trees, or by the first ones; `begin` gives each row its own start."""
        out = np.repeat(self.tree_sum.base[:, None], table.n_rows, axis=1)
        if begin is not None:
            out += begin
        n = len(self.tree_sum) if n_trees is None else n_trees
        if n and len(self.tree_sum) == 1 and not self.tree_sum.is_linear:
            self._add_one(table, out, n_jobs)
        elif n and table.n_rows <= FEW and not isinstance(table.storage, SparseStorage):
            self._add_rows(table.storage.block(0, table.n_rows).astype(np.float64), out, n)
        elif n:
            self._add(table, out, n, n_jobs)
        return out if self.tree_sum.divisor == 1.0 else out / self.tree_sum.divisor

    def _add_one(self, table: Table, out: Floats, n_jobs: int) -> None:
        """A single tree needs only its leaves: steps for many trees would take longer to make."""
        term = self.tree_sum.term(0)
        check_scores(np.array([term.column]), term.values.shape[1], len(out))
        leaves = self.leaves(table, n_jobs)
        for column, values in enumerate(term.values.T, start=term.column):
            out[column] += values[leaves]

    def leaves(self, table: Table, n_jobs: int = 1) -> NDArray[np.int32]:
        """Leaf of every row in a single tree, or the node where it stops."""
        if table.dtype not in self._descents:
            self._descents[table.dtype] = Descent.of(self.tree_sum.term(0).tree, table.dtype)
        return find(self._descents[table.dtype], table, stop_at_unseen=self._stop, n_jobs=n_jobs)

    def _add(self, table: Table, out: Floats, n_trees: int, n_jobs: int) -> None:
        trees: Any = self.trees(table.dtype)
        storage, size, narrow = table.storage, trees.block_rows(table.n_rows, n_jobs), False
        if isinstance(storage, SparseStorage):  # trees use few of its columns
            narrow = True
            check_reach(trees.columns_needed(False), storage.n_columns)
            used = trees.features or [0]
            storage, size = storage.arrange(used), max(1, BLOCK_CELLS // len(used))
        n_columns = trees.columns_needed(narrow)
        spare: list[Any] = []  # memory of threads that are done with a block

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
        out = self.tree_sum.base.copy()
        if len(self.tree_sum):
            self._add_rows(cells[None], out[:, None], n_trees)
        if self.tree_sum.divisor != 1.0:
            out /= self.tree_sum.divisor
        return out

    def _add_rows(self, cells: Floats, out: Floats, n_trees: int | None) -> None:
        """A few rows one by one, without a thread."""
        steps, levels, roots, leaf_values, lines, width, column, n_columns = self._row_by_row
        if cells.shape[1] < n_columns:
            check_reach(n_columns, cells.shape[1])
        score_rows(steps, levels, roots[:n_trees], leaf_values, lines, width, column, cells, self._stop, out)

    @cached_property
    def _row_by_row(self) -> tuple[Any, ...]:
        packed = self.packed(np.dtype(np.float64))
        return (
            packed.steps,
            packed.levels,
            packed.roots,
            packed.leaf_values,
            packed.lines,
            packed.width,
            packed.column,
            packed.n_columns,
        )

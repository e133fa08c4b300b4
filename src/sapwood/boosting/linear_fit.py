"""Linear leaves in training: after a tree has grown, every leaf gets a ridge regression on the columns of its path."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from sapwood.arrays import Array, Floats, Ints, Mask
from sapwood.boosting.grown import GrownTree
from sapwood.kernels.linear_leaves import (
    MOST_COLUMNS,
    LeafRows,
    Scratch,
    add_lines,
    fit_leaves,
    group_rows,
    write_path_columns,
)
from sapwood.linear_leaves import LinearLeaves, empty_lines
from sapwood.threads import blocks, run_all

BLOCK = 1 << 14  # rows whose scores change at a time


class Derivatives(NamedTuple):
    """Derivatives of one score, weights, and the rows that set leaves (None: all)."""

    gradient: Array
    hessian: Array
    weight: Floats | None
    rows: Array | None


@dataclass(frozen=True, eq=False)
class LinearFit:
    """What regressions in leaves need beside derivatives: the cells (rows, columns) of all training rows."""

    cells: Array
    is_number: Mask
    ridge: float
    n_jobs: int

    def fit(self, grown: GrownTree, leaf_of: Array, of: Derivatives, factor: float) -> LinearLeaves | None:
        """Lines of the leaves, their slopes times a factor; None if no leaf has any."""
        near = np.empty((len(grown.nodes), MOST_COLUMNS), dtype=np.int32)
        write_path_columns(grown.nodes, grown.splits, grown.order, self.is_number, near)
        starts, grouped = np.zeros(len(near) + 2, dtype=np.int64), np.empty(len(leaf_of), dtype=np.int64)
        group_rows(of.rows, leaf_of, of.weight, starts, grouped)
        sizes, rows = np.diff(starts), LeafRows(starts, grouped)
        lines, counts = empty_lines(near.size).reshape(near.shape), np.zeros(len(near), dtype=np.int64)
        derivatives = of.gradient, of.hessian, of.weight

        def work(leaves: Ints) -> None:
            scratch = _scratch(int(sizes[leaves].max()))
            fit_leaves(self.cells, rows, near, *derivatives, self.ridge, leaves, scratch, (lines, counts))

        run_all([partial(work, leaves) for leaves in _parts(np.array(grown.leaves), sizes, self.n_jobs)], self.n_jobs)
        own = counts[grown.order]
        found = lines[grown.order][np.arange(MOST_COLUMNS) < own[:, None]]
        found["slope"] *= factor
        return LinearLeaves.of(own, found) if len(found) else None

    def add(
        self, grown: GrownTree, leaf_of: Array, of: Derivatives, factor: float, score: Floats
    ) -> LinearLeaves | None:
        """Fit lines, and add those of its leaf to the score of every row; OUT score."""
        lines = self.fit(grown, leaf_of, of, factor)
        if lines is None:
            return None
        leaves = grown.position[leaf_of]
        add = partial(add_lines, lines.starts, lines.lines, leaves, self.cells, score)
        run_all([partial(add, *block) for block in blocks(len(score), BLOCK)], self.n_jobs)
        return lines


def _scratch(n_rows: int) -> Scratch:
    gradient, hessian = np.empty((2, n_rows))
    system, solution = np.empty((MOST_COLUMNS, MOST_COLUMNS)), np.empty(MOST_COLUMNS)
    return Scratch(gradient, hessian, np.empty((MOST_COLUMNS, n_rows)), system, solution)


def _parts(leaves: Ints, sizes: Ints, n_parts: int) -> list[Ints]:
    """Leaves for each thread, with about as many rows each."""
    before = np.cumsum(sizes[leaves]) - sizes[leaves]
    part = before * n_parts // max(1, int(sizes[leaves].sum()))
    return [leaves[part == p] for p in range(n_parts) if (part == p).any()]

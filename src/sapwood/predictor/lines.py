"""Lines of linear leaves, for rows whose leaves in one tree are known."""

from __future__ import annotations

from functools import partial

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.predictor.descent import BLOCK_CELLS, BLOCK_ROWS
from sapwood.predictor.reach import check_reach
from sapwood.table.storage import SparseStorage
from sapwood.table.table import Table
from sapwood.threads import blocks, run_all
from sapwood.tree import Tree


def add_lines_of(tree: Tree, leaves: Array, table: Table, score: Floats, n_jobs: int = 1) -> None:
    """Add the lines of their leaves to the scores of the rows of a table, if leaves are linear; OUT score."""
    linear, storage, size = tree.linear, table.storage, BLOCK_ROWS
    if linear is None:
        return
    check_reach(linear.n_columns, table.n_features)
    if isinstance(storage, SparseStorage):
        used = np.unique(linear.lines["column"])
        linear, storage, size = linear.on(used), storage.arrange(used.tolist()), max(1, BLOCK_CELLS // len(used))

    def some(start: int, stop: int) -> None:
        linear.add(leaves[start:stop], storage.block(start, stop), score[start:stop])

    run_all([partial(some, *block) for block in blocks(table.n_rows, size)], n_jobs)

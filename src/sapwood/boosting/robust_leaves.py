"""Leaves of robust losses: their steps are asked of the rows, since the sums of growth do not tell them."""

from __future__ import annotations

import numpy as np

from sapwood.arrays import Floats
from sapwood.boosting.grown import GrownTree
from sapwood.losses.loss import Loss
from sapwood.row_parts.rows import RowParts


def set_leaf_steps(loss: Loss, rows: RowParts, grown: GrownTree, k: int, of_inner_nodes: bool, values: Floats) -> None:
    """Steps of least loss for the leaves that rows are grouped by, and maybe for inner nodes; OUT values."""
    found = loss.leaf_steps(rows, k)
    values[grown.leaves] = found[grown.leaves]
    for groups in grown.levels() if of_inner_nodes else ():
        inside = np.unique(groups[:-1][groups[:-1] < len(grown.nodes)])
        values[inside] = loss.leaf_steps(rows.regrouped(groups), k)[inside]

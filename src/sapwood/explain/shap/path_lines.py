"""Lines of linear leaves, with what Shapley kernels need of the paths to them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats
from sapwood.kernels.path_lines import LeafLines, PairedLines, find_line_values
from sapwood.linear_leaves import LinearLeaves


@dataclass(frozen=True, eq=False)
class PathLines:
    """Lines of the leaves of a tree, in the order of its paths."""

    linear: LinearLeaves
    starts: NDArray[np.int64]  # by node of the paths
    column: NDArray[np.int64]
    depth: NDArray[np.int64]  # of the last edge on the line's column, 0 if there is none
    share: Floats  # of that edge

    @classmethod
    def of(cls, linear: LinearLeaves | None, nodes: Array) -> PathLines | None:
        """The lines at the ends of paths (PATH_NODE)."""
        if linear is None:
            return None
        counts = np.where(nodes["is_leaf"] == 1, linear.counts[nodes["node"]], 0)
        at, column = np.repeat(np.arange(len(nodes)), counts), np.array(linear.lines["column"])
        while (up := (nodes["feature"][at] != column) & (at > 0)).any():
            at[up] = nodes["parent"][at[up]]
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return cls(linear, starts, column, nodes["depth"][at].astype(np.int64), np.array(nodes["share"][at]))

    @property
    def is_off_path(self) -> bool:
        """Whether the column of some line is not on its path."""
        return bool((self.depth == 0).any())

    def values(self, columns: Array) -> Floats:
        """What each line adds to rows in its leaf, (lines, rows), from cells as (columns, rows)."""
        out = np.empty((len(self.column), columns.shape[1]))
        find_line_values(self.linear.lines, columns, out)
        return out

    def along(self, coefficients: Floats, values: Floats) -> LeafLines:
        """For the kernels of values along the trees."""
        return LeafLines(self.starts, self.column, self.depth, coefficients, values)

    def against(self, own: Floats, others: Floats) -> PairedLines:
        """For the kernel of a background, whose values are (rows, lines)."""
        return PairedLines(self.starts, self.column, own, others)

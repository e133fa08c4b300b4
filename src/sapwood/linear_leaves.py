"""Linear leaves of a tree: lines that its leaves add to their values.

A line adds slope * (x - centre), where x is the row's cell in a column, clipped to the range that the leaf's training
rows have there; nothing if the cell is missing. A leaf has up to five lines, and many have none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats
from sapwood.kernels.linear_leaves import LINE, add_lines


@dataclass(frozen=True, eq=False)
class LinearLeaves:
    """The lines of node i are lines[starts[i] : starts[i + 1]]; inner nodes have none."""

    starts: NDArray[np.int64]
    lines: NDArray[np.void]

    def __post_init__(self) -> None:
        self.starts.setflags(write=False)
        self.lines.setflags(write=False)

    @classmethod
    def of(cls, counts: Array, lines: NDArray[np.void]) -> LinearLeaves:
        """From the number of lines of each node, and the lines of one node after the other."""
        return cls(np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64), lines)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Number of lines of each node."""
        return np.diff(self.starts)

    @property
    def n_columns(self) -> int:
        """Minimum number of columns of a table."""
        return int(self.lines["column"].max(initial=-1)) + 1

    def of_node(self, node: int) -> NDArray[np.void]:
        """The lines of a node."""
        return self.lines[self.starts[node] : self.starts[node + 1]]

    def divided_by(self, divisor: float) -> LinearLeaves:
        """The same with flatter lines."""
        lines = self.lines.copy()
        lines["slope"] /= divisor
        return LinearLeaves(self.starts, lines)

    def on(self, columns: Array) -> LinearLeaves:
        """The same for a table of these columns alone, ascending, which are those that the lines use."""
        lines = self.lines.copy()
        lines["column"] = np.searchsorted(columns, lines["column"])
        return LinearLeaves(self.starts, lines)

    def of_row(self, node: int, row: Array) -> float:
        """What the lines of a node add to a row."""
        total = np.zeros(1)
        self.add(np.array([node]), np.ascontiguousarray(row[None], dtype=np.float64), total)
        return float(total[0])

    def add(self, leaves: Array, cells: Array, score: Floats) -> None:
        """Add the lines of their leaves to the scores of rows, of which these are the cells; OUT score."""
        add_lines(self.starts, self.lines, leaves, cells, score, 0, len(score))


def empty_lines(n: int) -> NDArray[np.void]:
    """Room for n lines."""
    return np.zeros(n, dtype=LINE)

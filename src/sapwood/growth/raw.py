"""What the growth kernel leaves behind, in preorder; the grower makes a `Tree` of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class RawTree:
    """Node records as the kernel numbered them, the same numbers in preorder, and sums, medians, bounds in preorder."""

    nodes: NDArray[Any]  # kernels.records.NODE
    sums: NDArray[np.float64]  # (nodes, sums)
    middle: NDArray[np.float64] | None  # (nodes, outputs) medians, for the absolute error
    bounds: NDArray[np.float64] | None  # (nodes, 2) least and largest value under monotonic constraints
    order: NDArray[np.int64]
    subsets: NDArray[np.uint32]

    def field(self, name: str) -> NDArray[Any]:
        """One field of the nodes, in preorder. The records are never copied whole: they are the largest part."""
        return self.nodes[name][self.order]

    def links(self, name: str) -> NDArray[np.int32]:
        """Links to nodes, in preorder numbers; -1 stays."""
        links = self.field(name)
        position = np.empty(len(self.order), dtype=np.int32)
        position[self.order] = np.arange(len(self.order), dtype=np.int32)
        return np.where(links < 0, np.int32(-1), position[links])

"""What the growth kernel leaves behind, in preorder; the grower makes a `Tree` of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.kernels.nodes import preorder, read_nodes

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RawTree:
    """Fields of the nodes, and their sums, medians and bounds, all in preorder."""

    left: Ints
    right: Ints
    feature: Ints
    at_left: Ints  # rows or codes on either side of the split
    at_right: Ints
    subset_start: Ints
    n_rows: Ints
    first_row: Ints
    threshold: Floats  # drawn, or NaN
    weight: Floats
    mass: Floats
    missing_left: NDArray[np.bool_]
    sums: Floats  # (nodes, sums)
    middle: Floats | None  # (nodes, outputs) medians, for the absolute error
    bounds: Floats | None  # (nodes, 2) least and largest value under monotonic constraints
    subsets: NDArray[np.uint32]

    @classmethod
    def read(cls, arrays: dict[str, NDArray[Any]], n_nodes: int, subsets: NDArray[np.uint32]) -> RawTree:
        """From the arrays of a frame, as the kernel numbered the nodes."""
        nodes = arrays["nodes"]
        order = preorder(nodes["left"], nodes["right"], n_nodes)
        position = np.empty(len(order), dtype=np.int32)
        position[order] = np.arange(len(order), dtype=np.int32)
        ints, floats = np.empty((8, len(order)), dtype=np.int32), np.empty((3, len(order)))
        missing_left = np.empty(len(order), dtype=np.bool_)
        read_nodes(nodes, order, position, ints, floats, missing_left)
        medians, bounds = (arrays[name][order] if name in arrays else None for name in ("medians", "bounds"))
        return cls(*ints, *floats, missing_left, arrays["sums"][order], medians, bounds, subsets)  # type: ignore[call-arg]

    def __len__(self) -> int:
        """Number of nodes."""
        return len(self.left)

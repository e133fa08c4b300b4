"""By how much the lines of matching leaves differ."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats
from sapwood.tree import Tree

Leaves = NDArray[np.intp]
Places = tuple[NDArray[np.intp], NDArray[np.intp]]


def line_steps(old: Tree, at: Leaves, new: Tree, opposite: Leaves, places: Places) -> Floats:
    """The largest change of what the lines of each leaf add to rows, over all columns; these are paired by places."""
    steps = np.zeros(len(at))
    if old.linear is None and new.linear is None:
        return steps
    for k, nodes in enumerate(zip(at.tolist(), opposite.tolist(), strict=True)):
        before, after = (
            {} if tree.linear is None else {int(own[line["column"]]): line for line in tree.linear.of_node(node)}
            for tree, node, own in zip((old, new), nodes, places, strict=True)
        )
        steps[k] = sum(_step(before.get(j), after.get(j)) for j in before.keys() | after.keys())
    return steps


def _step(before: Array | None, after: Array | None) -> float:
    """The largest difference of two lines on a column: it is at an end of one of them."""
    ends = np.array([line[end] for line in (before, after) if line is not None for end in ("low", "high")])
    values = [
        0.0 if line is None else line["slope"] * (np.clip(ends, line["low"], line["high"]) - line["centre"])
        for line in (before, after)
    ]
    return float(np.abs(values[1] - values[0]).max())

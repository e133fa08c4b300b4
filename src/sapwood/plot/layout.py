"""Where the boxes of a tree go: tidy rows, no overlap, as narrow as the boxes allow.

Every depth has two rows. Boxes stand in the first; of two sibling leaves the right one may hang in the second, so that
a row of many leaves takes half the width. What passes a row without standing in it, an edge, keeps a gap as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapwood.tree import LEAF, Tree

Lengths = NDArray[np.float64]

_MANY_PAIRS = 3  # pairs of sibling leaves of one depth from which on they hang at two heights


@dataclass(frozen=True)
class Shape:
    """The part of a tree that is drawn, its nodes renumbered in preorder."""

    nodes: tuple[int, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    depth: tuple[int, ...]
    cut: tuple[bool, ...]
    """Whether a node stands for a branch that is not drawn."""


@dataclass(frozen=True)
class Spacing:
    """Least distances between boxes, in the unit of their sizes."""

    beside: float
    below: float
    hanging: float


@dataclass(frozen=True)
class Layout:
    """Centres of the boxes, y growing downwards, and the height at which the edges to each node's children turn."""

    x: Lengths
    y: Lengths
    turn: Lengths
    width: float
    height: float


@dataclass(frozen=True)
class _Outline:
    """Left and right ends of a branch, row by row from its own top row, relative to its root's centre."""

    low: list[float]
    high: list[float]


def drawn_shape(tree: Tree, max_depth: int | None) -> Shape:
    """Nodes down to `max_depth`, and one more level that stands for what is cut off."""
    depths = tree.compute_node_depths() - 1
    limit = tree.node_count if max_depth is None else max_depth
    kept = np.flatnonzero(depths <= limit + 1).tolist()
    number = {node: index for index, node in enumerate(kept)}
    number[LEAF] = LEAF

    def children(array: NDArray[np.int32]) -> tuple[int, ...]:
        return tuple(number[int(array[node])] if depths[node] <= limit else LEAF for node in kept)

    return Shape(
        nodes=tuple(kept),
        left=children(tree.children_left),
        right=children(tree.children_right),
        depth=tuple(int(depths[node]) for node in kept),
        cut=tuple(bool(depths[node] > limit) for node in kept),
    )


def tidy_layout(shape: Shape, widths: Sequence[float], heights: Sequence[float], space: Spacing) -> Layout:
    """Place every box."""
    hangs = _hanging(shape)
    x = _columns(shape, hangs, widths, space.beside)
    rows = [2 * depth + hang for depth, hang in zip(shape.depth, hangs, strict=True)]
    tops, bottom = _row_tops(rows, heights, space)
    low = min(place - width / 2 for place, width in zip(x, widths, strict=True))
    high = max(place + width / 2 for place, width in zip(x, widths, strict=True))
    y = np.array([tops[row] + height / 2 for row, height in zip(rows, heights, strict=True)])
    turn = np.array([tops.get(2 * depth + 2, bottom) - space.below / 2 for depth in shape.depth])
    return Layout(x - low, y, turn, high - low, bottom)


def _hanging(shape: Shape) -> list[bool]:
    """Choose the right ones of sibling leaves where there are many at one depth."""
    pairs = zip(shape.left, shape.right, strict=True)
    hanging = [right for left, right in pairs if left != LEAF and _is_leaf(shape, left) and _is_leaf(shape, right)]
    pairs_at = Counter(shape.depth[node] for node in hanging)
    chosen = {node for node in hanging if pairs_at[shape.depth[node]] >= _MANY_PAIRS}
    return [node in chosen for node in range(len(shape.nodes))]


def _is_leaf(shape: Shape, node: int) -> bool:
    return shape.left[node] == LEAF and not shape.cut[node]


def _columns(shape: Shape, hangs: Sequence[bool], widths: Sequence[float], gap: float) -> Lengths:
    count = len(shape.nodes)
    outlines: dict[int, _Outline] = {}
    offset = np.zeros(count)
    for node in range(count - 1, -1, -1):  # preorder: children come before their parents here
        half = widths[node] / 2
        if shape.left[node] == LEAF:
            outlines[node] = _Outline([0.0] * hangs[node] + [-half], [0.0] * hangs[node] + [half])
            continue
        left, right = outlines.pop(shape.left[node]), outlines.pop(shape.right[node])
        apart = _distance(left, right, gap)
        offset[shape.left[node]], offset[shape.right[node]] = -apart / 2, apart / 2
        outlines[node] = _joined(left, right, apart, half)
    for node in range(count):
        for child in (shape.left[node], shape.right[node]):
            if child != LEAF:
                offset[child] += offset[node]
    return offset


def _distance(left: _Outline, right: _Outline, gap: float) -> float:
    """Least distance of two branches side by side; rows only one of them reaches do not matter."""
    return max(high - low for high, low in zip(left.high, right.low, strict=False)) + gap


def _joined(left: _Outline, right: _Outline, apart: float, half: float) -> _Outline:
    low = [end - apart / 2 for end in left.low] + [end + apart / 2 for end in right.low[len(left.low) :]]
    high = [end + apart / 2 for end in right.high] + [end - apart / 2 for end in left.high[len(right.high) :]]
    # The parent's own row, and the one below, which its edge passes
    return _Outline([-half, 0.0, *low], [half, 0.0, *high])


def _row_tops(rows: Sequence[int], heights: Sequence[float], space: Spacing) -> tuple[dict[int, float], float]:
    tallest: dict[int, float] = {}
    for row, height in zip(rows, heights, strict=True):
        tallest[row] = max(height, tallest.get(row, 0.0))
    tops: dict[int, float] = {}
    bottom = 0.0
    for row in sorted(tallest):
        if tops:
            bottom += space.hanging if row % 2 else space.below
        tops[row] = bottom
        bottom += tallest[row]
    return tops, bottom

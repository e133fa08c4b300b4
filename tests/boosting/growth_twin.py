"""The specification of growth: plain sets of rows, float64 sums, and every split tried."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.scan_twin import Column, Node, Split, leaf
from sapwood.boosting.options import TreeOptions
from sapwood.shard.gradient_units import GradientUnits

Array = NDArray[Any]


class Ambiguous(Exception):  # noqa: N818 - not an error
    """Different splits are equally good, so rounding decides."""


@dataclass(eq=False)
class Branch:
    """A node: its rows, its bounds, the columns above it, its best split, and its children once it is split."""

    rows: Array
    depth: int
    lower: float
    upper: float
    path: frozenset[int]
    split: Split | None = None
    children: tuple[Branch, Branch] | None = None
    may_split: bool = False

    def leaves(self) -> Iterator[Branch]:
        if self.children is None:
            yield self
        else:
            for child in self.children:
                yield from child.leaves()


@dataclass
class Twin:
    """Grows a tree on codes (rows, features), whole gradients and hessians."""

    codes: Array
    n_codes: Array
    is_category: Array
    gradient: Array
    hessian: Array
    options: TreeOptions
    together: tuple[frozenset[int], ...] | None = None
    rules: Any = field(init=False)

    def __post_init__(self) -> None:
        self.rules = self.options.rules(GradientUnits(False, 1.0, 1.0, 1.0, 1.0, 1))[0]

    def grow(self) -> Branch:
        root = self.branch(np.arange(len(self.codes)), 0, -np.inf, np.inf, frozenset())
        if self.options.symmetric:
            self._by_shared_splits(root)
        elif self.options.leaf_wise:
            self._by_leaf(root)
        else:
            self._by_level(root)
        self._prune(root)
        return root

    def _by_level(self, root: Branch) -> None:
        level, n_leaves = [root], 1
        while level:
            following = []
            for node in level:
                if node.split is not None and n_leaves < (self.options.max_leaves or np.inf):
                    self.expand(node)
                    n_leaves += 1
                    following += node.children
            level = following

    def _by_shared_splits(self, root: Branch) -> None:
        level, n_leaves, depth = [root] if root.may_split else [], 1, 0
        while level and depth < (self.options.max_depth or np.inf):
            splits = self._best_shared(level)
            taking = [node for node, split in zip(level, splits, strict=True) if split is not None]
            if not taking or n_leaves + len(taking) > (self.options.max_leaves or np.inf):
                return
            for node, split in zip(level, splits, strict=True):
                node.split = split
            for node in taking:
                self.expand(node)
            children = [child for node in taking for child in node.children if child.may_split]
            level = [node for node in level if node.split is None] + children
            n_leaves, depth = n_leaves + len(taking), depth + 1

    def _best_shared(self, level: list[Branch]) -> list[Split | None]:
        """The split of each node, if it gains, by the candidate that gains most in all of them together."""
        features = range(self.codes.shape[1])
        nodes = [
            Node(tuple(self._column(node.rows, j) for j in features), self.rules, node.lower, node.upper)
            for node in level
        ]
        together = Node(
            tuple(self._column(np.concatenate([node.rows for node in level]), j) for j in features), self.rules
        )
        usable = np.all([self._usable(node.path) for node in level], axis=0)
        found = [
            [node.split(feature, left) for node in nodes]
            for feature in features
            if usable[feature]
            for left in together.candidates(feature)
        ]
        gains = [sum(split.gain for split in splits if split is not None) for splits in found]
        if not gains or max(gains) <= 0.0:
            return [None] * len(level)
        sides = [
            tuple(None if split is None else frozenset([split.sums, node.other_side(split)]) for split, node in pairs)
            for pairs in (list(zip(splits, nodes, strict=True)) for splits in found)
        ]
        _refuse_ties(list(zip(gains, sides, strict=True)))
        return next(splits for splits, gain in zip(found, gains, strict=True) if gain >= max(gains) * (1 - 1e-9))

    def _by_leaf(self, root: Branch) -> None:
        waiting, n_leaves = [root], 1
        while (waiting := [node for node in waiting if node.split is not None]) and n_leaves < (
            self.options.max_leaves or np.inf
        ):
            gains = [node.split.gain for node in waiting]
            _refuse_ties([(gain, at) for at, gain in enumerate(gains)])
            best = waiting.pop(int(np.argmax(gains)))
            self.expand(best)
            waiting += best.children
            n_leaves += 1

    def _prune(self, node: Branch) -> None:
        """From the leaves upwards, so that a poor split with a good one below it stays."""
        if node.children is not None:
            for child in node.children:
                self._prune(child)
            if all(child.children is None for child in node.children) and node.split.gain < self.options.gamma:
                node.children = None

    def branch(self, rows: Array, depth: int, lower: float, upper: float, path: frozenset[int]) -> Branch:
        """A node with its best split, if it may be split."""
        node = Branch(rows, depth, lower, upper, path)
        options = self.options
        deep = options.max_depth and depth >= options.max_depth
        heavy = self.hessian[rows].sum() >= 2 * options.min_child_weight
        many = len(rows) >= max(options.min_split_rows, 2 * options.min_child_rows)
        node.may_split = bool(not deep and heavy and many)
        if node.may_split and not options.symmetric:
            node.split = self._best(node)
        return node

    def _best(self, node: Branch) -> Split | None:
        n_features = self.codes.shape[1]
        columns = tuple(self._column(node.rows, j) for j in range(n_features))
        scan = Node(columns, self.rules, node.lower, node.upper)
        splits = list(scan.splits(self._usable(node.path)))
        if not splits:
            return None
        sides = [frozenset([split.sums, scan.other_side(split)]) for split in splits]
        _refuse_ties([(split.gain, side) for split, side in zip(splits, sides, strict=True)])
        best = max(split.gain for split in splits)
        return next(split for split in splits if split.gain >= best * (1 - 1e-9))

    def _column(self, rows: Array, j: int) -> Column:
        sums = np.zeros((256, 3), dtype=np.int64)
        ones = np.ones(len(rows), dtype=np.int64)
        np.add.at(sums, self.codes[rows, j], np.column_stack([self.gradient[rows], self.hessian[rows], ones]))
        sign = 0 if self.options.signs is None else int(self.options.signs[j])
        return Column(sums, int(self.n_codes[j]), bool(self.is_category[j]), sign)

    def _usable(self, path: frozenset[int]) -> Array:
        """Columns that may follow those of the path."""
        everything = set(range(self.codes.shape[1]))
        allowed = everything
        if self.together is not None and path:
            allowed = set().union(*(group for group in self.together if path <= group))
            allowed |= path if len(path) == 1 else set()
        return np.array([j in allowed for j in sorted(everything)])

    def expand(self, node: Branch) -> None:
        split = node.split
        goes_left = np.isin(self.codes[node.rows, split.feature], split.left)
        path = node.path | {split.feature}
        bounds = self._bounds(node, goes_left)
        parts = node.rows[goes_left], node.rows[~goes_left]
        node.children = tuple(
            self.branch(rows, node.depth + 1, *bound, path) for rows, bound in zip(parts, bounds, strict=True)
        )

    def _bounds(self, node: Branch, goes_left: Array) -> tuple[tuple[float, float], tuple[float, float]]:
        """Leaves below a constrained split stay on their side of the middle of the two leaves."""
        sign = 0 if self.options.signs is None else self.options.signs[node.split.feature]
        left, right = self.weight(node, node.rows[goes_left]), self.weight(node, node.rows[~goes_left])
        middle = 0.5 * (left + right)
        below, above = (node.lower, middle), (middle, node.upper)
        if sign == 0:
            return (node.lower, node.upper), (node.lower, node.upper)
        return (below, above) if sign > 0 else (above, below)

    def weight(self, node: Branch, rows: Array | None = None) -> float:
        """The leaf of the node's rows, or of some of them, within its bounds."""
        rows = node.rows if rows is None else rows
        G, H = float(self.gradient[rows].sum()), float(self.hessian[rows].sum())
        return leaf(G, H, self.rules, node.lower, node.upper)


def _refuse_ties(gains: list[tuple[float, Any]]) -> None:
    """The best gain must belong to one thing only."""
    best = max(gain for gain, _ in gains)
    if len({thing for gain, thing in gains if gain >= best * (1 - 1e-9)}) > 1:
        raise Ambiguous

"""Which columns a node may use: draws by tree, level and node, and interaction constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sapwood.arrays import Array, Floats, Ints, Mask
from sapwood.elementary import log
from sapwood.kernels.draws import mix

BY_TREE, BY_LEVEL, BY_NODE = 1, 2, 3  # keep the draws apart


@dataclass(frozen=True, eq=False)
class ColumnOptions:
    """Shares of the columns drawn for a tree, of those for a level, of those for a node; interaction constraints."""

    n_features: int
    by_tree: float = 1.0
    by_level: float = 1.0
    by_node: float = 1.0
    weights: Floats | None = None
    together: tuple[frozenset[int], ...] | None = None  # columns of one path must lie in one of these sets
    origins: Ints | None = None  # of columns, if some are derived from others, which they come along with

    def choice(self, key: int) -> ColumnChoice:
        """The choice for the tree of this key."""
        everything = np.ones(self.n_features, dtype=np.bool_)
        return ColumnChoice(self, key, self.draw(everything, self.by_tree, _hash(key, BY_TREE)))

    def with_derived(self, mask: Mask) -> Mask:
        """A mask (…, columns) with the columns that are derived from these."""
        return mask if self.origins is None else np.ascontiguousarray(mask[..., self.origins])

    def draw(self, mask: Mask, share: float, key: int) -> Mask:
        """A share of the columns in the mask, at least one; heavier ones are likelier."""
        if share >= 1.0:
            return mask
        columns = np.flatnonzero(mask)
        wanted = max(1, round(share * len(columns)))
        uniform = np.random.Generator(np.random.Philox(key)).random(self.n_features)[columns]
        # The smallest of exponential variates with rates `weights` are a weighted draw without replacement.
        with np.errstate(divide="ignore"):
            variate = -log(1.0 - uniform) / (1.0 if self.weights is None else self.weights[columns])
        chosen = np.zeros_like(mask)
        chosen[columns[np.argsort(variate, kind="stable")[:wanted]]] = True
        return chosen


@dataclass(eq=False)
class ColumnChoice:
    """Columns of one tree, level by level and node by node."""

    options: ColumnOptions
    key: int
    of_tree: Mask
    _levels: dict[int, Mask] = field(default_factory=dict)
    _paths: dict[int, frozenset[int]] = field(default_factory=lambda: {0: frozenset()})

    @property
    def is_plain(self) -> bool:
        """Whether all nodes of the tree have the same columns."""
        options = self.options
        return options.by_level >= 1.0 and options.by_node >= 1.0 and options.together is None

    @property
    def used(self) -> Mask:
        """The columns of the tree, with derived ones."""
        return self.options.with_derived(self.of_tree)

    def usable(self, nodes: Array, ids: Sequence[int]) -> Mask:
        """(nodes, columns), or one row for all nodes; with derived columns."""
        if self.is_plain:
            return self.used[None, :]
        return self.options.with_derived(np.stack([self._of_node(nodes[i], i) for i in ids]))

    def shared(self, ids: Sequence[int], depth: int) -> Mask:
        """Those of a level that all of these nodes may use, some of which may be above it; with derived columns."""
        mask = self._of_level(depth)
        if self.options.together is not None:
            mask = mask & np.all([self._allowed(i) for i in ids], axis=0)
        return self.options.with_derived(mask)

    def _of_node(self, node: np.void, i: int) -> Mask:
        mask, options = self._of_level(int(node["depth"])), self.options
        mask = mask if options.together is None else mask & self._allowed(i)
        return options.draw(mask, options.by_node, _hash(int(node["key"]), BY_NODE))

    def _of_level(self, depth: int) -> Mask:
        options = self.options
        if depth not in self._levels:
            self._levels[depth] = options.draw(self.of_tree, options.by_level, _hash(self.key, BY_LEVEL, depth))
        return self._levels[depth]

    def follow(self, nodes: Array, ids: Sequence[int]) -> None:
        """Record the columns on the paths to the children of nodes that are being split."""
        if self.options.together is None:
            return
        origins = self.options.origins
        for i in ids:
            feature = int(nodes["feature"][i])
            path = self._paths[i] | {feature if origins is None else int(origins[feature])}
            self._paths[int(nodes["left"][i])] = self._paths[int(nodes["right"][i])] = path

    def _allowed(self, i: int) -> Mask:
        """Columns of all sets that hold the columns on the path to a node; any column at the root."""
        path = self._paths[i]
        if not path:
            return np.ones_like(self.of_tree)
        allowed = np.zeros_like(self.of_tree)
        for group in self.options.together or ():
            if path <= group:
                allowed[list(group)] = True
        if len(path) == 1:
            allowed[list(path)] = True  # a column in no set may be split again
        return allowed


def _hash(key: int, *parts: int) -> int:
    found = np.uint64(key)
    for part in parts:
        found = np.uint64(mix(found, np.int64(part)))  # a kernel returns a plain integer
    return int(found)

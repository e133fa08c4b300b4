"""The fitted forest: trees, and their votes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Floats
from sapwood.packed_tree import PackedTree
from sapwood.predictor import Descent, find
from sapwood.result import Part, Result
from sapwood.table.table import Table
from sapwood.threads import run_all
from sapwood.tree import Tree
from sapwood.tree_sum import Term, TreeSum


@dataclass(frozen=True)
class Vote:
    """The vote of a tree at a node.

    Soft: the shares of the classes, or the mean. Hard: 1 for the most probable class of each output, the first of
    equals, and 0 for the others; `n_classes` are those of the outputs.
    """

    hard: bool = False
    n_classes: tuple[int, ...] = ()

    def __call__(self, values: Floats) -> Floats:
        """From the values of nodes (node, output, class or 1) to their votes."""
        if not self.hard:
            return values
        out = np.zeros_like(values)
        for o, size in enumerate(self.n_classes):
            out[np.arange(len(values)), o, values[:, o, :size].argmax(axis=1)] = 1.0
        return out


@dataclass(eq=False, repr=False)
class Forest(Result):
    """Trees in the order of growth, packed; what prediction needs of them is unpacked when it is first needed."""

    trees: list[PackedTree]
    vote: Vote = Vote()
    _descents: dict[tuple[int, np.dtype[Any]], Descent] = field(default_factory=dict, repr=False)
    _votes: dict[int, Floats] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """What is unpacked is not pickled."""
        return {"trees": self.trees, "vote": self.vote, "_descents": {}, "_votes": {}}

    def _parts(self) -> Iterator[Part]:
        yield f"Forest({len(self)} trees, {'hard' if self.vote.hard else 'soft'} votes)"

    def __len__(self) -> int:
        """Number of trees."""
        return len(self.trees)

    def tree(self, t: int) -> Tree:
        """Tree t, unpacked."""
        return self.trees[t].unpack()

    def unpacked(self) -> Iterator[Tree]:
        """All trees, one at a time."""
        return (tree.unpack() for tree in self.trees)

    def descent(self, t: int, dtype: np.dtype[Any]) -> Descent:
        """What finds leaves of tree t for cells of a type."""
        if (t, dtype) not in self._descents:
            tree = self.tree(t)
            self._descents[t, dtype] = Descent.of(tree, dtype)
            self._votes.setdefault(t, np.ascontiguousarray(self.vote(tree.value)))
        return self._descents[t, dtype]

    def votes(self, t: int) -> Floats:
        """Votes of the nodes of tree t, (node, output, class or 1)."""
        if t not in self._votes:
            self._votes[t] = np.ascontiguousarray(self.vote(self.tree(t).value))
        return self._votes[t]

    def tree_sum(self, criterion: str = "", prior_weight: float = 0.0) -> TreeSum:
        """The trees and their votes; scores are means.

        The mean of the roots counts as so many trees; not among hard votes, which are counted.
        """
        weight = 0.0 if self.vote.hard else float(prior_weight)
        base = weight * self._mean_root() if weight else np.zeros(self._term(0).values.shape[1])
        return TreeSum(base, len(self), self._term, len(self) + weight, criterion=criterion)

    def _mean_root(self) -> Floats:
        """What the trees predict before their first split; one after the other, so that the sum is always the same."""
        roots = [tree.root_value for tree in self.trees]
        return np.asarray(sum(roots[1:], start=roots[0]) / len(roots))

    def _term(self, t: int) -> Term:
        tree = self.tree(t)
        return Term(tree, self.vote(tree.value).reshape(tree.node_count, -1))

    def leaves(self, table: Table, *, stop_at_unseen: bool = False, n_jobs: int = 1) -> NDArray[np.int32]:
        """Leaf of every row in every tree, (trees, rows)."""
        out = np.empty((len(self), table.n_rows), dtype=np.int32)

        def fill(t: int) -> None:
            out[t] = find(self.descent(t, table.dtype), table, stop_at_unseen=stop_at_unseen)

        run_all([partial(fill, t) for t in range(len(self))], n_jobs)
        return out

    def importances(self) -> Floats:
        """Mean share of each column in the total decrease of impurity, over the trees that have any split."""
        found = [tree.compute_feature_importances() for tree in self.unpacked() if tree.node_count > 1]
        if not found:
            return np.zeros(len(self.trees[0].n_levels))
        total: Floats = np.mean(found, axis=0)
        return total / total.sum() if total.sum() > 0 else total

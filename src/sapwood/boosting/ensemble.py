"""The fitted ensemble: scores are a constant plus the leaf values of all trees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Floats
from sapwood.cached_property import cached_property
from sapwood.predictor import BLOCK_ROWS, Predictor, Scorer
from sapwood.predictor.lines import add_lines_of
from sapwood.result import Part, Result
from sapwood.table.table import Table
from sapwood.threads import blocks, run_all
from sapwood.tree import Tree
from sapwood.tree_sum import Term, TreeSum


@dataclass(frozen=True, eq=False, repr=False)
class Ensemble(Result):
    """`base` are the scores before the first round. `rounds[t][k]` is the tree of round t for score k.

    If one tree of a round is for all scores, `rounds[t]` has only this one, whose nodes have a value for each score.
    """

    base: Floats
    rounds: tuple[tuple[Tree, ...], ...] = ()

    def __getstate__(self) -> dict[str, object]:
        """Packed trees are made again when they are needed."""
        return {"base": self.base, "rounds": self.rounds}

    def _parts(self) -> Iterator[Part]:
        leaves = sum(tree.n_leaves for trees in self.rounds for tree in trees)
        yield f"Ensemble({self.n_rounds} rounds, {self.round_size} trees in a round, {leaves} leaves)"

    @property
    def n_rounds(self) -> int:
        """Number of rounds."""
        return len(self.rounds)

    @property
    def n_scores(self) -> int:
        """Scores of a row."""
        return len(self.base)

    @property
    def round_size(self) -> int:
        """Trees in a round."""
        return len(self.rounds[0]) if self.rounds else self.n_scores

    def upto(self, n_rounds: int) -> Ensemble:
        """The first rounds only."""
        return Ensemble(self.base, self.rounds[:n_rounds])

    def tree_sum(self, n_rounds: int | None = None) -> TreeSum:
        """The trees of all rounds, or of some; tree k of a round adds to score k, a tree of all scores to each."""
        n_trees = len(self.rounds[:n_rounds]) * self.round_size
        is_linear = any(tree.linear is not None for trees in self.rounds[:n_rounds] for tree in trees)
        return TreeSum(self.base, n_trees, self._term, round_size=self.round_size, is_linear=is_linear)

    def _term(self, t: int) -> Term:
        number, k = divmod(t, self.round_size)
        tree = self.rounds[number][k]
        return Term(tree, tree.value[:, :, 0], k)

    def scores(
        self, table: Table, n_rounds: int | None = None, n_jobs: int = 1, offset: Floats | None = None
    ) -> Floats:
        """Scores (n_scores, rows) after all rounds, or after some; an offset gives each row its own start."""
        n_trees = len(self.rounds[:n_rounds]) * self.round_size
        return self.scorer.scores(table, n_trees=n_trees, begin=offset, n_jobs=n_jobs)

    @cached_property
    def scorer(self) -> Scorer:
        """What turns rows into scores."""
        return Scorer(self.tree_sum())

    @cached_property
    def _predictors(self) -> list[list[Predictor]]:
        """What finds leaves in the trees of each round."""
        return [[Predictor(tree) for tree in trees] for trees in self.rounds]

    def staged_scores(self, table: Table, n_jobs: int = 1, offset: Floats | None = None) -> Iterator[Floats]:
        """Scores after each round, added up in the order of training: the sums are the same to the last bit."""
        out = self.scores(table, 0, n_jobs, offset)
        for predictors in self._predictors:
            for k, predictor in enumerate(predictors):
                leaves = predictor.leaves(table, n_jobs=n_jobs)
                for at, values in enumerate(predictor.tree.value[:, :, 0].T, start=k):
                    add = partial(_add_values, values, leaves, out[at])
                    run_all([partial(add, *block) for block in blocks(table.n_rows, BLOCK_ROWS)], n_jobs)
                add_lines_of(predictor.tree, leaves, table, out[k], n_jobs)
            yield out.copy()

    def leaves(self, table: Table, n_rounds: int | None = None, n_jobs: int = 1) -> NDArray[np.int32]:
        """Leaf of every row in every tree, (rows, rounds, trees in a round)."""
        rounds = self._predictors[:n_rounds]
        found = [predictor.leaves(table, n_jobs=n_jobs) for predictors in rounds for predictor in predictors]
        return np.stack(found, axis=1).reshape(table.n_rows, len(rounds), self.round_size)

    def gains(self, n_features: int, n_rounds: int | None = None) -> Floats:
        """Total gain of the splits on each column."""
        total = np.zeros(n_features)
        for trees in self.rounds[:n_rounds]:
            for tree in trees:
                if tree.node_count > 1:
                    total += tree.compute_feature_importances(normalize=False) * tree.weighted_n_node_samples[0]
        return total


def _add_values(values: Floats, leaves: NDArray[np.int32], out: Floats, start: int, stop: int) -> None:
    out[start:stop] += values[leaves[start:stop]]

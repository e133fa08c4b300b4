"""Partial dependence by recursion: scores averaged over the training rows by the weights of the nodes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from sapwood.arrays import Floats
from sapwood.explain.shap.tree_paths import cover_ratios
from sapwood.kernels.marginal import KnownLines, Splits, add_marginals
from sapwood.threads import run_all
from sapwood.tree import Tree
from sapwood.tree_sum import Term, TreeSum

BATCH = 64  # trees whose values are in memory at a time


def marginal_scores(tree_sum: TreeSum, columns: Sequence[int], points: Floats, n_jobs: int = 1) -> Floats:
    """Scores (score columns, points): these columns are known, the others are averaged over by weight."""
    out = np.repeat(tree_sum.base[None], len(points), axis=0)
    for first in range(0, len(tree_sum), BATCH):
        terms = [tree_sum.term(t) for t in range(first, min(first + BATCH, len(tree_sum)))]
        marginals = run_all([partial(_marginals, term, columns, points) for term in terms], n_jobs)
        for term, own in zip(terms, marginals, strict=True):
            out[:, term.column : term.column + own.shape[1]] += own
    return np.asarray(out.T / tree_sum.divisor)


def _marginals(term: Term, columns: Sequence[int], points: Floats) -> Floats:
    out = np.zeros((len(points), term.values.shape[1]))
    values = np.array(term.values, order="C")  # a copy: read-only arrays would need a second kernel
    reach, lines = np.empty(term.tree.node_count), _known_lines(term.tree, columns)
    add_marginals(splits_of(term.tree, columns), values, lines, points, reach, out)
    return out


def _known_lines(tree: Tree, columns: Sequence[int]) -> KnownLines | None:
    """Lines of leaves, whose mean is 0 where their column is not known."""
    if tree.linear is None:
        return None
    known = np.full(tree.n_features, -1, dtype=np.int64)
    known[list(columns)] = np.arange(len(columns))
    return KnownLines(tree.linear.starts, tree.linear.lines, known[tree.linear.lines["column"]])


def splits_of(tree: Tree, columns: Sequence[int]) -> Splits:
    """The tree as the kernel takes it."""
    known = np.full(tree.n_features + 2, -1, dtype=np.int32)  # leaves have feature -2
    known[list(columns)] = np.arange(len(columns))
    n_levels = np.append(tree.n_levels, np.zeros(2, dtype=np.int32))
    left_shares = np.where(tree.is_leaf, 0.0, cover_ratios(tree)[tree.children_left])
    return Splits(
        tree.children_left,
        tree.children_right,
        tree.threshold,
        tree.missing_go_to_left,
        tree.subset_start,
        tree.subsets,
        n_levels[tree.feature],
        known[tree.feature],
        left_shares,
    )

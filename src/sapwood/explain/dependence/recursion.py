"""Partial dependence by recursion: scores averaged over the training rows as the trees remember them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sapwood.kernels.marginal import Splits, add_marginals
from sapwood.threads import run_all
from sapwood.tree import Tree
from sapwood.tree_sum import Term, TreeSum

Floats = NDArray[np.float64]
BATCH = 64  # trees whose answers are held at a time


def marginal_scores(tree_sum: TreeSum, columns: Sequence[int], points: Floats, n_jobs: int = 1) -> Floats:
    """Scores (score columns, points), the named columns known and the others averaged over by cover."""
    out = np.repeat(tree_sum.base[None], len(points), axis=0)
    for first in range(0, len(tree_sum), BATCH):
        terms = [tree_sum.term(t) for t in range(first, min(first + BATCH, len(tree_sum)))]
        said = run_all([partial(_marginals, term, columns, points) for term in terms], n_jobs)
        for term, own in zip(terms, said, strict=True):
            out[:, term.column : term.column + own.shape[1]] += own
    return np.asarray(out.T / tree_sum.divisor)


def _marginals(term: Term, columns: Sequence[int], points: Floats) -> Floats:
    out = np.zeros((len(points), term.values.shape[1]))
    reach, words = (
        np.empty(term.tree.node_count),
        np.array(term.values, order="C"),
    )  # a copy: one type for the kernel
    add_marginals(splits_of(term.tree, columns), words, points, reach, out)
    return out


def splits_of(tree: Tree, columns: Sequence[int]) -> Splits:
    """The tree as the kernel takes it."""
    known = np.full(tree.n_features + 2, -1, dtype=np.int32)  # leaves have feature -2
    known[list(columns)] = np.arange(len(columns))
    n_levels = np.append(tree.n_levels, np.zeros(2, dtype=np.int32))
    return Splits(
        tree.children_left,
        tree.children_right,
        tree.threshold,
        tree.missing_go_to_left,
        tree.subset_start,
        tree.subsets,
        n_levels[tree.feature],
        known[tree.feature],
        left_shares(tree),
    )


def left_shares(tree: Tree) -> Floats:
    """Share of the weight at each split that went left; of the rows, where nothing there has weight."""
    shares = np.zeros(tree.node_count)
    inner = np.flatnonzero(~tree.is_leaf)
    left, right = tree.children_left[inner], tree.children_right[inner]
    weight, rows = tree.weighted_n_node_samples, tree.n_node_samples
    total = weight[left] + weight[right]
    by_rows = rows[left] / np.maximum(rows[left] + rows[right], 1)
    shares[inner] = np.divide(weight[left], total, out=by_rows, where=total > 0)
    return shares

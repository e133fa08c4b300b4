"""Shapley values by their definition, over all subsets of the features: any prediction function, few features.

Models that predict the weighted median of their trees need this, since no sum over trees gives a median.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from sapwood.adaboost.r2 import weighted_median
from sapwood.arrays import Array, Floats
from sapwood.errors import ParameterError
from sapwood.explain.shap.games import Explained, match_background
from sapwood.model import Model
from sapwood.predictor import Descent
from sapwood.table.column import read_only
from sapwood.table.table import Table
from sapwood.threads import blocks

Predict = Callable[[Array], Floats]
"""From cells (rows, columns) to predictions (rows)."""

MOST_PLAYERS = 12
MOST_PREDICTED = 1 << 16  # rows at a time
_DOUBLE = np.dtype(np.float64)


def explain_median(model: Model, table: Table, background: object) -> Explained:
    """Shapley values of a weighted median, with the features that the trees use as players."""
    trees = model.require_trees()
    if background is None:
        raise ParameterError(
            f"background=None is not allowed for {model.estimator}: it predicts the median of its learners, which is "
            "not a sum over trees, so there is nothing to average along them. Pass rows, for example "
            "background=X[:100]."
        )
    players = sorted({int(j) for term in trees for j in np.unique(term.tree.feature) if j >= 0})
    if len(players) > MOST_PLAYERS:
        raise ParameterError(
            f"model={model.estimator} uses {len(players)} features; its values are found by trying all subsets, of at "
            f"most {MOST_PLAYERS} features. Use smaller or fewer trees, or a model that adds up trees, such as "
            "GradientBoostingRegressor."
        )
    learners = [(Descent.of(term.tree, _DOUBLE), term.values[:, 0]) for term in trees]
    weights = model.response.weights
    assert weights is not None

    def predict(cells: Array) -> Floats:
        rows = read_only(cells)
        return weighted_median(np.array([values[descent.leaves(rows)] for descent, values in learners]), weights)

    cells, others = (_cells(part) for part in (table, match_background(model, background)))
    values = enumerate_values(predict, cells, others, players)
    return Explained(values[:, :, None], np.array([predict(others).mean()]), predict(cells)[:, None])


def _cells(table: Table) -> Floats:
    return np.ascontiguousarray(table.block(0, table.n_rows), dtype=_DOUBLE)


def enumerate_values(predict: Predict, cells: Array, background: Array, players: Sequence[int]) -> Floats:
    """Values (rows, columns) of a prediction function that uses no other columns than the players."""
    values = np.zeros(cells.shape)
    for start, stop in blocks(len(cells), max(1, MOST_PREDICTED // len(background))):
        worth = worth_of_subsets(predict, cells[start:stop], background, players)
        values[start:stop, players] = shapley_of_game(worth).T
    return values


def worth_of_subsets(predict: Predict, cells: Array, background: Array, players: Sequence[int]) -> Floats:
    """For each subset of the players (columns), the mean prediction of every row, (subsets, rows).

    Columns in the subset are the row's own; all others are those of each row of the background.
    """
    n_rows, n_others = len(cells), len(background)
    worth = np.empty((1 << len(players), n_rows))
    own, others = np.repeat(cells, n_others, axis=0), np.tile(background, (n_rows, 1))
    for subset in range(len(worth)):
        mixed = others.copy()
        present = [j for i, j in enumerate(players) if subset >> i & 1]
        mixed[:, present] = own[:, present]
        worth[subset] = predict(mixed).reshape(n_rows, n_others).mean(axis=1)
    return worth


def shapley_of_game(worth: Floats) -> Floats:
    """Shapley values (players, …) of a game.

    `worth[S]` is what the players in S get together; bit i of the number S is 1 if player i is in it.
    """
    n = len(worth).bit_length() - 1
    sets = np.arange(len(worth))
    size = np.array([each.bit_count() for each in range(len(worth))])
    weight = np.array([1.0 / (n * math.comb(n - 1, k)) for k in range(n)])
    values = np.zeros((n, *worth.shape[1:]))
    for i in range(n):
        without = sets[sets >> i & 1 == 0]
        gain = worth[without | 1 << i] - worth[without]
        values[i] = np.tensordot(weight[size[without]], gain, axes=1)
    return values

"""Shapley values of a model that predicts the weighted median of its trees, which no sum over trees gives."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.adaboost.r2 import weighted_median
from sapwood.errors import ParameterError
from sapwood.explain.shap.enumeration import MOST_PLAYERS, enumerate_values
from sapwood.explain.column_numbers import Model, match_background
from sapwood.explain.shap.games import Explained
from sapwood.predictor import Descent
from sapwood.table.column import read_only
from sapwood.table.table import Table
from sapwood.tree_sum import TreeSum

Floats = NDArray[np.float64]
_DOUBLE = np.dtype(np.float64)


def explain_median(model: Model, table: Table, background: Any) -> Explained:
    """Values by enumeration of the subsets of the features that the trees use."""
    name, tree_sum, weights = type(model).__name__, model._tree_sum(), model._median_weights()
    if background is None:
        raise ParameterError(
            f"background=None is not allowed for {name}: it predicts the median of its learners, which is not a sum "
            "over trees, so there is nothing to average along them. Pass rows, for example background=X[:100]."
        )
    assert weights is not None
    players = _used_features(tree_sum)
    if len(players) > MOST_PLAYERS:
        raise ParameterError(
            f"model={name} uses {len(players)} features; its values are found by trying all subsets, of at most "
            f"{MOST_PLAYERS} features. Use smaller or fewer trees, or a model that adds up trees, such as "
            "GradientBoostingRegressor."
        )
    ways = [(Descent.of(member.tree, _DOUBLE), member.values[:, 0]) for member in tree_sum]
    predict = partial(_predict, ways, weights)
    cells, others = (_cells(part) for part in (table, match_background(model, background)))
    values = enumerate_values(predict, cells, others, players)
    return Explained(values[:, :, None], np.array([predict(others).mean()]), predict(cells)[:, None])


def _used_features(tree_sum: TreeSum) -> list[int]:
    """Features that any tree splits."""
    return sorted({int(j) for member in tree_sum for j in np.unique(member.tree.feature) if j >= 0})


def _predict(ways: list[tuple[Descent, Floats]], weights: Floats, cells: NDArray[Any]) -> Floats:
    cells = read_only(cells)
    return weighted_median(np.array([words[descent.leaves(cells)] for descent, words in ways]), weights)


def _cells(table: Table) -> Floats:
    return np.ascontiguousarray(table.block(0, table.n_rows), dtype=_DOUBLE)

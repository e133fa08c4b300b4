"""Small fits: data with ties, missing values and categories, a loss for every kind of target, and how to train."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from sapwood.boosting.columns import ColumnOptions
from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.fitting import place_rows
from sapwood.boosting.options import RoundOptions, TreeOptions
from sapwood.boosting.rounds import Rounds
from sapwood.codes.binned import BinnedTable, find_bins
from sapwood.codes.coding import with_bins
from sapwood.losses import (
    Absolute,
    CustomLoss,
    Exponential,
    Huber,
    Logistic,
    Loss,
    Multinomial,
    Poisson,
    Quantile,
    Squared,
)
from sapwood.row_parts.rows import LocalRows
from sapwood.table import Table
from sapwood.tree import Tree

Array = NDArray[Any]

LOSSES: dict[str, Callable[[], Loss]] = {
    "squared": Squared,
    "logistic": Logistic,
    "multinomial": lambda: Multinomial(3),
    "absolute": Absolute,
    "huber": lambda: Huber(quantile=0.8),
    "quantiles": lambda: Quantile((0.2, 0.8)),
    "poisson": Poisson,
    "exponential": Exponential,
}
POLICIES = {
    "depthwise": TreeOptions(max_depth=4, min_child_weight=0.0),
    "leafwise": TreeOptions(max_depth=0, max_leaves=9, leaf_wise=True, min_child_weight=0.0, gamma=1e-3),
}


def mixed_frame(n: int, seed: int = 0) -> pd.DataFrame:
    """Numbers with ties and gaps, and a category."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    frame["b"] = frame["b"].round(1)
    frame.loc[rng.random(n) < 0.2, "c"] = np.nan
    frame["level"] = pd.Categorical(rng.choice([None, *"stuvwxyz"], n))
    return frame


def target(loss: str, frame: pd.DataFrame) -> Array:
    """A target in the loss's domain that depends on the columns."""
    rng = np.random.default_rng(len(frame))
    level = frame["level"].cat.codes.to_numpy() if "level" in frame else 0.0
    signal = frame["a"] + np.abs(frame["b"]) + frame["c"].fillna(1.5) * (frame["d"] > 0) + 0.3 * (np.asarray(level) % 3)
    signal = (signal + 0.5 * rng.normal(size=len(frame))).to_numpy()
    if loss in ("logistic", "exponential"):
        return (signal > 1.0).astype(np.float64)
    if loss == "multinomial":
        return np.digitize(signal, [0.5, 1.5]).astype(np.float64)
    return rng.poisson(np.exp(0.5 * signal)).astype(np.float64) if loss == "poisson" else signal


@dataclass(frozen=True)
class Data:
    """What is fitted."""

    table: Table
    coded: BinnedTable
    y: Array
    weight: Array | None = None

    @classmethod
    def of(cls, X: Any, y: Array, weight: Array | None = None, max_bins: int = 255, **options: Any) -> Data:
        table = Table.from_any(X, **options)
        return cls(table, with_bins(table, find_bins(table, max_bins), 1), y, weight)  # type: ignore[arg-type]

    def take(self, rows: Array) -> Data:
        """Some rows, any of them many times, in the bins of all."""
        coded = BinnedTable(
            self.coded.bins,
            np.ascontiguousarray(self.coded.columns[:, rows]),
            np.ascontiguousarray(self.coded.rows[rows]),
            self.coded.bundles,
            np.ascontiguousarray(self.coded.levels[:, rows]),
        )
        weight = None if self.weight is None else self.weight[rows]
        return Data(self.table, coded, self.y[rows], weight)


def begin(
    data: Data,
    loss: Loss,
    tree: TreeOptions,
    *,
    start: Ensemble | None = None,
    columns: ColumnOptions | None = None,
    rows: Array | None = None,
    **options: Any,
) -> Rounds:
    """Rounds that have not begun; they start from a model or from the best constants."""
    start = start or Ensemble(loss.start(LocalRows.of(data.y, data.weight)))
    scores = start.scores(data.table) if start.rounds else np.repeat(start.base[:, None], len(data.y), axis=1)
    settings = RoundOptions(tree, columns or ColumnOptions(data.coded.n_features), **options)
    shards = place_rows(data.coded, data.y, data.weight, scores, rows, loss, settings)
    return Rounds(data.coded, data.table.schema.n_levels, loss, settings, start, shards)


def fit(data: Data, loss: Loss, tree: TreeOptions, n_rounds: int, rate: float = 0.3, **options: Any) -> Rounds:
    rounds = begin(data, loss, tree, **options)
    for _ in range(n_rounds):
        rounds.advance(rate)
    return rounds


def one_tree(data: Data, gradient: Array, hessian: Array, tree: TreeOptions, **options: Any) -> Tree:
    """The tree of one round on given gradients, with leaves as they are."""
    loss = CustomLoss(lambda _y, _score: (gradient, hessian))
    return fit(data, loss, tree, 1, 1.0, **options).trees[0][0]


def trees_of(ensemble: Ensemble) -> list[Tree]:
    return [tree for trees in ensemble.rounds for tree in trees]


def all_bytes(ensemble: Ensemble) -> bytes:
    """Every array of every tree, and the base."""
    arrays = [array for tree in trees_of(ensemble) for array in tree.arrays().values()]
    return b"".join(array.tobytes() for array in (ensemble.base, *arrays))


def structure(tree: Tree) -> list[Array]:
    return [tree.children_left, tree.children_right, tree.feature, tree.threshold, tree.subsets]


def assert_same_model(first: Ensemble, second: Ensemble, tolerance: float = 1e-9) -> None:
    """Equal splits, and leaves that are equal but for rounding."""
    assert first.n_rounds == second.n_rounds
    np.testing.assert_allclose(first.base, second.base, rtol=tolerance)
    for one, other in zip(trees_of(first), trees_of(second), strict=True):
        for array, twin in zip(structure(one), structure(other), strict=True):
            np.testing.assert_array_equal(array, twin)
        np.testing.assert_allclose(one.value, other.value, rtol=tolerance, atol=tolerance)


def lower(monkeypatch: pytest.MonkeyPatch, **constants: int) -> None:
    """Set constants of the engine, in whichever of its modules they are."""
    engine = [module for name, module in sys.modules.items() if name.startswith(("sapwood.boosting", "sapwood.shard"))]
    for name, value in constants.items():
        holders = [module for module in engine if hasattr(module, name)]
        assert holders, name
        for module in holders:
            monkeypatch.setattr(module, name, value)


def with_signs(tree: TreeOptions, *signs: int) -> TreeOptions:
    return replace(tree, signs=np.array(signs, dtype=np.int8))

"""Tuning by the out-of-bag error: features per split, leaf size and number of trees, without cross-validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import clone

from sapwood.data_warnings import quiet
from sapwood.errors import ParameterError
from sapwood.estimators.forests import RandomizedForest
from sapwood.forest.out_of_bag import first_flat
from sapwood.keywords import answering
from sapwood.parameters import check_parameters
from sapwood.result import Part, Result, TextTable


@dataclass(frozen=True)
class Trial:
    """One setting and its out-of-bag error."""

    max_features: Any
    min_samples_leaf: int
    n_trees: int
    error: float


@dataclass(frozen=True, eq=False, repr=False)
class OobChoice(Result):
    """What was tried, and the forest with the least error, fitted to all rows."""

    best: Trial
    trials: tuple[Trial, ...]
    forest: Any

    def _parts(self) -> Iterator[Part]:
        """A table, the best first."""
        trials = sorted(self.trials, key=lambda one: one.error)
        heads = ("max_features", "min_samples_leaf", "trees", "OOB error", "")
        marks = ["<- chosen" if one is self.best else "" for one in trials]
        rows = [
            (str(one.max_features), str(one.min_samples_leaf), str(one.n_trees), f"{one.error:.6g}", mark)
            for one, mark in zip(trials, marks, strict=True)
        ]
        yield TextTable(heads, rows, sides="rrrrl")


@answering
def tune_by_oob(
    forest: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    max_features: Sequence[Any] | None = None,
    min_samples_leaf: Sequence[int] = (1, 2, 5, 10),
    oob_tol: float = 0.005,
) -> OobChoice:
    """Choose by the out-of-bag error; `forest` gives everything else, and n_estimators at most; bootstrap is set.

    Every setting is grown until its error is flat (see `oob_stop`). The number of trees is where the curve of the best
    setting first was. By default half, once and twice the root of the number of columns, a third, and all of them are
    tried.
    """
    if not isinstance(forest, RandomizedForest):
        raise ParameterError(
            f"tune_by_oob takes a random forest or extra trees of this library, but got {type(forest).__name__}."
        )
    sizes = _sizes(np.shape(X)[1]) if max_features is None else list(max_features)
    rules = {name: forest.rules[name] for name in ("max_features", "min_samples_leaf", "oob_tol")}
    trials: list[Trial] = []
    best = chosen = None
    for size, leaf in product(sizes, min_samples_leaf):
        given = {"max_features": size, "min_samples_leaf": leaf, "oob_tol": oob_tol}
        check_parameters("tune_by_oob", rules, given)
        candidate = clone(forest).set_params(**given, bootstrap=True, oob_stop=True)
        with quiet(len(trials) > 0):
            candidate.fit(X, y, sample_weight)
        curve = candidate.oob_curve_
        n_trees = first_flat(curve.tolist(), oob_tol) or len(curve)
        trial = Trial(size, leaf, n_trees, float(curve[n_trees - 1]))
        trials.append(trial)
        if best is None or trial.error < best.error:
            best, chosen = trial, candidate
    assert best is not None
    return OobChoice(best, tuple(trials), chosen)


def _sizes(n_features: int) -> list[int]:
    """Numbers of columns to try."""
    root = np.sqrt(n_features)
    wanted = {round(root / 2), round(root), round(2 * root), n_features // 3, n_features}
    return sorted({min(max(1, int(size)), n_features) for size in wanted})

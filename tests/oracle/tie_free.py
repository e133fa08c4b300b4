"""Random samples in which no two splits of a node with a few rows are equally good."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from oracle import brute_force as bf

CLASSIFIERS = ["gini", "entropy"]  # the criteria scikit-learn has as well
REGRESSORS = ["squared_error", "absolute_error", "poisson"]


@dataclass(frozen=True)
class Sample:
    """Numeric training data."""

    X: NDArray
    y: NDArray
    weight: NDArray | None

    def columns(self) -> list[bf.Column]:
        """The features as the specification takes them."""
        return [bf.Column(np.asarray(x, dtype=np.float64)) for x in self.X.T]


def draw_sample(
    criterion: str,
    seed: int,
    *,
    n_rows: int = 120,
    missing: bool = False,
    n_outputs: int = 1,
    n_classes: int = 3,
) -> Sample:
    """Normal float32 features, a target that depends on them, and uneven weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)).astype(np.float32)
    signal = X[:, :1] + np.where(X[:, 1:2] > 0, X[:, 2:3], -X[:, 3:]) + rng.normal(size=(n_rows, n_outputs))
    if criterion in ("gini", "entropy", "error"):
        cuts = np.quantile(signal, np.arange(1, n_classes) / n_classes)
        y = np.searchsorted(cuts, signal)
    elif criterion == "poisson":
        y = rng.poisson(np.exp(signal / 2)).astype(np.float64)
        y += rng.random(y.shape)  # deviance is defined for every y >= 0
    else:
        y = signal.astype(np.float64)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
        X[y[:, 0] > np.quantile(y[:, 0], 0.8), 3] = np.nan  # missing by target: one direction clearly wins
    weight = rng.integers(512, 2048, n_rows) / 1024  # exact sums, else scikit-learn takes pure nodes for impure ones
    return Sample(X, y[:, 0] if n_outputs == 1 else y, weight)

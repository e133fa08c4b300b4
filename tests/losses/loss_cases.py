"""Losses with rows of their domain; numbers are such that no row lies on a kink of its loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from sapwood.losses import (
    Absolute,
    Exponential,
    Gamma,
    Huber,
    Logistic,
    Loss,
    Multinomial,
    Poisson,
    Quantile,
    Squared,
    Tweedie,
)

Array = NDArray[Any]

# Targets are quarters and scores odd eighths, so that residuals are odd eighths: never 0, never a delta
QUARTERS = st.integers(-20, 20).map(lambda i: i / 4)
ABOVE_ZERO = st.integers(1, 40).map(lambda i: i / 4)
COUNTS = st.integers(0, 12).map(float)
TWO = st.integers(0, 1).map(float)
SCORES = st.integers(-16, 15).map(lambda i: i / 4 + 1 / 8)
WEIGHTS = st.integers(0, 16).map(lambda i: i / 8)

ROBUST: dict[str, tuple[Loss, Any]] = {
    "absolute": (Absolute(), QUARTERS),
    "huber": (Huber(), QUARTERS),
    "narrow huber": (Huber(delta=0.25), QUARTERS),
    "median": (Quantile(), QUARTERS),
    "quantile": (Quantile(0.8), QUARTERS),
}
SMOOTH: dict[str, tuple[Loss, Any]] = {
    "squared": (Squared(), QUARTERS),
    "logistic": (Logistic(), TWO),
    "exponential": (Exponential(), TWO),
    "poisson": (Poisson(), COUNTS),
    "gamma": (Gamma(), ABOVE_ZERO),
    "tweedie": (Tweedie(), COUNTS),
    "tweedie near 1": (Tweedie(1.1), COUNTS),
    "tweedie near 2": (Tweedie(1.9), COUNTS),
    "multinomial": (Multinomial(3), st.integers(0, 2).map(float)),
    "multinomial of two": (Multinomial(2), TWO),
    "multinomial of many": (Multinomial(12, friedman=True), st.integers(0, 11).map(float)),
}
SEVERAL: dict[str, tuple[Loss, Any]] = {
    "quantiles": (Quantile((0.1, 0.5, 0.9)), QUARTERS),
    "quantiles in disorder": (Quantile((0.9, 0.25)), QUARTERS),
}
ALL = ROBUST | SMOOTH | SEVERAL


@dataclass(frozen=True)
class Rows:
    """Targets, weights and scores of a few rows."""

    loss: Loss
    y: Array
    weight: Array | None
    score: Array

    def total(self, constant: float) -> float:
        """The weighted loss of one constant score."""
        return self.total_at(np.full(self.score.shape, constant))

    def total_at(self, score: Array) -> float:
        losses = self.loss.losses(self.y, score)
        return float(losses.sum() if self.weight is None else (self.weight * losses).sum())

    def derivatives(self, score: Array | None = None) -> tuple[Array, Array]:
        score = self.score if score is None else score
        gradient, hessian = np.full(score.shape, np.nan), np.full(score.shape, np.nan)
        self.loss.derivatives(self.y, score, gradient, hessian)
        return gradient, hessian


@st.composite
def rows(draw: st.DrawFn, case: tuple[Loss, Any], least_rows: int = 1) -> Rows:
    """One to twelve rows, with or without weights."""
    loss, target = case
    n = draw(st.integers(least_rows, 12))
    y = np.array(draw(st.lists(target, min_size=n, max_size=n)))
    if isinstance(loss, (Poisson, Tweedie)) and not y.any():
        y[0] = 1.0
    weight = np.array(draw(st.lists(WEIGHTS, min_size=n, max_size=n)))
    weight[np.argmax(y)] += 0.5  # the total is positive, and so is a weighted mean of counts
    size = loss.n_scores * n
    score = np.array(draw(st.lists(SCORES, min_size=size, max_size=size))).reshape(loss.n_scores, n)
    return Rows(loss, y, draw(st.sampled_from([None, weight])), score)

"""Multinomial loss: K classes, K scores and K trees in a round."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array
from sapwood.elementary import exp, log, sum_of_rows
from sapwood.kernels.exponential import add_exponential, class_derivatives
from sapwood.losses.class_shares import class_shares
from sapwood.losses.loss import LEAST_HESSIAN, LEAST_SHARE, Floats, Loss, Target
from sapwood.parameters import Flag, Interval, Rule, check_parameters
from sapwood.row_parts.rows import RowParts

_RULES: dict[str, tuple[Rule, ...]] = {
    "n_classes": (Interval(int, low=2),),
    "prior_start": (Flag(),),
    "friedman": (Flag(),),
}


class Multinomial(Loss):
    """L = log Σ_j e^F_j - F_y, with p_k = e^F_k / Σ_j e^F_j, g_k = p_k - 1(y = k) and h_k = p_k (1 - p_k).

    This is the Kullback-Leibler divergence from p to the class of the row. Steps of K
    independent trees differ by a factor between libraries:

    * here a step is Newton's, -G / (H + lambda);
    * Friedman multiplies it by (K - 1) / K: `friedman=True` sets `step_factor` so. His divisor Σ |r| (1 - |r|), with
      the pseudo-response r = -g, is H, because |r| is p or 1 - p;
    * XGBoost takes `xgboost_factor` h, so that its steps are half of those with lambda / 2.

    F_0 is the logarithm of the classes' shares, or 0 with `prior_start=False`.
    """

    name: ClassVar[str] = "multinomial"
    metric: str = "mlogloss"
    bounded: ClassVar[bool] = True
    sums_to_zero: ClassVar[bool] = True
    xgboost_factor: ClassVar[float] = 2.0
    _remedy = "Use the codes of the classes, or a larger n_classes."

    def __init__(self, n_classes: int, prior_start: bool = True, friedman: bool = False) -> None:
        options = {"n_classes": n_classes, "prior_start": prior_start, "friedman": friedman}
        check_parameters("the loss 'multinomial'", _RULES, options)
        self.n_scores = int(n_classes)
        self.prior_start = prior_start
        self._domain = f"the classes 0 to {n_classes - 1}"
        self.step_factor = (n_classes - 1) / n_classes if friedman else 1.0

    def options(self) -> dict[str, object]:
        """Number of classes, start, and whose steps."""
        return {"n_classes": self.n_scores, "prior_start": self.prior_start, "friedman": self.step_factor != 1.0}

    def admits(self, y: Target) -> NDArray[np.bool_]:
        """Accept the whole numbers 0 … K - 1."""
        legal: Array = (y >= 0) & (y < self.n_scores) & (y == np.floor(y))
        return legal

    def start(self, rows: RowParts) -> Floats:
        """The log-priors, or zeros."""
        if not self.prior_start:
            return np.zeros(self.n_scores)
        return log(class_shares(rows, self.n_scores))

    def derivatives(self, y: Target, score: Floats, gradient: Floats, hessian: Floats) -> None:
        """The differences p_k - 1(y = k) and the products p_k (1 - p_k); OUT gradient, hessian."""
        most, total = score.max(axis=0), np.zeros(score.shape[1])
        for own, part in zip(score, gradient, strict=True):
            add_exponential(own, most, part, total)
        for k in range(self.n_scores):
            class_derivatives(y, float(k), total, LEAST_HESSIAN, gradient[k], hessian[k])

    def losses(self, y: Target, score: Floats) -> Floats:
        """Log Σ_j e^F_j - F_y."""
        centred = score - score.max(axis=0)
        own = centred[y.astype(np.int64), np.arange(len(y))]
        return np.asarray(log(sum_of_rows(exp(centred))) - own)

    def response(self, score: Floats) -> Floats:
        """Probabilities of the classes, the softmax."""
        return softmax(score)

    def link(self, response: Floats) -> Floats:
        """Logarithms of the probabilities, less their mean: of all scores that mean the same, those of sum 0."""
        logs = log(np.clip(response, LEAST_SHARE, 1.0 - LEAST_SHARE))
        return np.asarray(logs - sum_of_rows(logs) / len(logs))


def softmax(score: Floats) -> Floats:
    """Shares e^F_k / Σ_j e^F_j, (n_scores, n)."""
    parts = exp(score - score.max(axis=0))
    return np.asarray(parts / sum_of_rows(parts))

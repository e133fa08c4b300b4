"""How numbers (predictions or probabilities) follow from scores.

| response | numbers |
|---|---|
| same | the scores |
| logistic | 1 - p and p, with p = 1 / (1 + e^-s) and s = scale * score |
| softmax | e^s / sum of e^s |
| exponential | e^score |
| sorted | the scores in the order of their quantiles, so that a higher one is never below a lower one |
| median | the weighted median of the scores |

Class weights shift the base rates; `factors`, one for each class, undo this: probabilities are divided by them, and
then by their sum. The class of a row is the first of largest score; class weights stay in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sapwood.adaboost.r2 import weighted_median
from sapwood.arrays import Floats
from sapwood.elementary import logistic_shares
from sapwood.losses.exponent import exp_response
from sapwood.losses.multinomial import softmax

Kind = Literal["same", "logistic", "softmax", "exponential", "sorted", "median"]
EXACT: tuple[Kind, ...] = ("same", "sorted", "median")  # additions and divisions in a known order


@dataclass(frozen=True, eq=False)
class Response:
    """A function of scores (columns, rows)."""

    kind: Kind = "same"
    scale: float = 1.0
    ranks: tuple[int, ...] = ()  # of the quantiles, for "sorted"
    weights: Floats | None = None  # of the learners, for "median"
    factors: Floats | None = None  # of the classes
    margin: float = 0.0  # scores that differ by no more are equal when a class is chosen
    second_of_equals: bool = False  # of two classes with one score, a score of zero means the second

    def __call__(self, scores: Floats) -> Floats:
        """Numbers (classes, quantiles, outputs or 1, rows)."""
        numbers = FORMULAS[self.kind](self, scores)
        return numbers if self.factors is None else without_factors(numbers, self.factors)

    def choose(self, scores: Floats) -> NDArray[np.intp]:
        """Number of the class of each row; one score is that of the second of two classes."""
        if len(scores) == 1:
            is_second = scores[0] >= 0.0 if self.second_of_equals else scores[0] > self.margin
            return np.asarray(is_second, dtype=np.intp)
        equal = scores if self.margin == 0.0 else scores >= scores.max(axis=0) - self.margin
        return np.asarray(equal.argmax(axis=0))

    @property
    def is_identity(self) -> bool:
        """Whether numbers are the scores themselves."""
        return self.kind == "same"

    @property
    def is_exact(self) -> bool:
        """Whether another program that adds in the same order gets the same bits."""
        return self.kind in EXACT and self.factors is None


def without_factors(shares: Floats, factors: Floats) -> Floats:
    """Probabilities (classes, rows) without the weights of the classes; a weight of zero cannot be undone."""
    true = shares / np.where(factors > 0, factors, 1.0)[:, None]
    return np.asarray(true / true.sum(axis=0))


def _median(own: Response, scores: Floats) -> Floats:
    assert own.weights is not None
    return weighted_median(scores, own.weights)[None]


FORMULAS: dict[Kind, Callable[[Response, Floats], Floats]] = {
    "same": lambda _, scores: scores,
    "logistic": lambda own, scores: logistic_shares(scores[0], own.scale),
    "softmax": lambda own, scores: softmax(own.scale * scores),
    "exponential": lambda _, scores: exp_response(scores),
    "sorted": lambda own, scores: np.sort(scores, axis=0)[list(own.ranks)],
    "median": _median,
}

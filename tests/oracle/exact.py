"""Stumps in exact arithmetic: fractions, so that no size of numbers can hide a wrong answer."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def fractions(values: Floats) -> list[Fraction]:
    return [Fraction(value) for value in values.tolist()]


def squared_error(y: Sequence[Fraction], weight: Sequence[Fraction]) -> Fraction:
    """Sum of weighted squared distances from the weighted mean."""
    mean = weighted_mean(y, weight)
    return sum((w * (value - mean) ** 2 for value, w in zip(y, weight, strict=True)), Fraction(0))


def weighted_mean(y: Sequence[Fraction], weight: Sequence[Fraction]) -> Fraction:
    return sum((w * value for value, w in zip(y, weight, strict=True)), Fraction(0)) / sum(weight)


def least_error_of_a_stump(x: Floats, y: Floats, weight: Floats) -> Fraction:
    """The squared error of the best split of one column, or of no split."""
    order = np.argsort(x, kind="stable")
    cuts = [k for k in range(1, len(x)) if x[order[k]] > x[order[k - 1]]]
    return min([error_of_groups([order], y, weight), *(error_of_groups(np.split(order, [k]), y, weight) for k in cuts)])


def error_of_groups(groups: Sequence[NDArray[np.intp]], y: Floats, weight: Floats) -> Fraction:
    """The squared error of rows that were put into groups."""
    return sum(
        (squared_error(fractions(y[rows]), fractions(weight[rows])) for rows in groups),
        Fraction(0),
    )

"""Areas under the curves of a two-class score: ROC, and precision over recall.

Weights are whole numbers of a unit, so that sums of rows of the same prediction do not depend on their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sapwood.arrays import Array, Ints
from sapwood.elementary import log
from sapwood.errors import InputError
from sapwood.metrics.metric import Floats, Groups, MetricFunction, Target, single
from sapwood.row_parts.exact_sum import ExactSum
from sapwood.row_parts.selection import SUM_BITS, UNIT_BITS


class ClassRows(NamedTuple):
    """Rows of a part: predictions, whether they are of class 1, and weights."""

    prediction: Floats
    is_positive: Array
    weight: Floats


@dataclass(frozen=True)
class AreaUnderCurve(MetricFunction):
    """The area under a curve of the weights of both classes from the highest prediction down to each distinct one."""

    name: str
    area: Callable[[Floats, Floats], float]

    def part(self, y: Target, prediction: Floats, weight: Floats | None, groups: Groups | None) -> ClassRows:
        """The rows of a part."""
        del groups  # all rows are compared with each other
        other = (y != 0) & (y != 1)
        if other.any():
            row = int(np.argmax(other))
            raise InputError(
                f"y holds {y[row].item()} in row {row}, but the metric {self.name!r} compares rows of 0 and of 1. Use "
                "'rmse' or 'mae' for numbers."
            )
        predicted, is_positive = single(self.name, prediction) + 0.0, np.asarray(y == 1)  # one zero, not two
        return ClassRows(predicted, is_positive, np.ones(len(predicted)) if weight is None else weight)

    def merged(self, parts: Sequence[ClassRows]) -> float:
        """The area of all rows."""
        prediction, is_positive, weight = (np.concatenate(own) for own in zip(*parts, strict=True))
        order, units = np.argsort(-prediction, kind="stable"), _whole_weights(weight)
        last_of_ties = np.append(np.flatnonzero(np.diff(prediction[order])), len(order) - 1)
        sides = []
        for label in (False, True):
            total = np.cumsum(units[order] * (is_positive[order] == label))[last_of_ties].astype(np.float64)
            if not len(total) or total[-1] <= 0:
                raise InputError(
                    f"The metric {self.name!r} needs rows of the classes 0 and 1, but there are none of class "
                    f"{int(label)}. Use 'logloss' or 'error', or choose other rows to evaluate on."
                )
            sides.append(np.concatenate(([0.0], total)))
        return self.area(*sides)


def _whole_weights(weight: Floats) -> Ints:
    """Weights in units of a power of two by which the sum of all has at most 62 bits; at least 1 if above 0."""
    bits = min(UNIT_BITS, SUM_BITS - len(weight).bit_length())
    scaled = np.ldexp(weight, bits - np.frexp(weight.max(initial=0.0))[1])
    return np.where(weight > 0, np.maximum(np.rint(scaled), 1.0), 0.0).astype(np.int64)


def area_under_roc(negative: Floats, positive: Floats) -> float:
    """The probability that a row of class 1 is above a row of class 0, where ties count half.

    With N and P the weights of both classes from the highest prediction on, this is Σ ΔN (P + P_before) / 2, as a share
    of all pairs.
    """
    pairs = ExactSum.of(np.diff(negative), positive[1:] + positive[:-1])
    return pairs.over(ExactSum.of(np.array([2.0 * negative[-1] * positive[-1]])))


def area_under_precision(negative: Floats, positive: Floats) -> float:
    """The area under the precision as a function of the recall x = P / P_all.

    Between two distinct predictions both classes come in at constant rates, so N = h P + c, the precision is
    P / (P + N) = x / (a x + b) with a = 1 + h, b = c / P_all, and its integral is x / a - b / a² log(a x + b)
    (Keilwagen, Grosse and Grau 2014).
    """
    steps = np.flatnonzero(np.diff(positive) > 0)  # elsewhere the recall stands still
    before, after = positive[steps], positive[steps + 1]
    rate = (negative[steps + 1] - negative[steps]) / (after - before)
    a, c = 1.0 + rate, negative[steps] - rate * before
    seen_before, seen_after = before + negative[steps], after + negative[steps + 1]
    growth = log(seen_after / np.where(c == 0, seen_after, seen_before))  # from 0 rows on, c is 0
    return ExactSum.of((after - before) / a - c / a**2 * growth).over(ExactSum.of(positive[-1:]))

"""Areas under the curves of a two-class score: ROC, and precision over recall."""

from __future__ import annotations

import numpy as np

from sapwood.elementary import log
from sapwood.errors import InputError
from sapwood.metrics.metric import Floats, Groups, Target, single


def auc(y: Target, prediction: Floats, weight: Floats | None, groups: Groups | None) -> float:
    """The probability that a row of class 1 is above a row of class 0, where ties count half.

    With N and P the weights of both classes from the highest prediction down to each distinct one, this is
    Σ ΔN (P + P_before) / 2, as a share of all pairs.
    """
    del groups  # all rows are compared with each other
    negative, positive = _cumulated("auc", y, prediction, weight)
    return float((np.diff(negative) * (positive[1:] + positive[:-1])).sum() / (2.0 * negative[-1] * positive[-1]))


def aucpr(y: Target, prediction: Floats, weight: Floats | None, groups: Groups | None) -> float:
    """The area under the precision as a function of the recall x = P / P_all.

    Between two distinct predictions both classes come in at constant rates, so N = h P + c, the precision is
    P / (P + N) = x / (a x + b) with a = 1 + h, b = c / P_all, and its integral is x / a - b / a² log(a x + b)
    (Keilwagen, Grosse and Grau 2014).
    """
    del groups
    negative, positive = _cumulated("aucpr", y, prediction, weight)
    steps = np.flatnonzero(np.diff(positive) > 0)  # elsewhere the recall stands still
    before, after = positive[steps], positive[steps + 1]
    rate = (negative[steps + 1] - negative[steps]) / (after - before)
    a, c = 1.0 + rate, negative[steps] - rate * before
    seen_before, seen_after = before + negative[steps], after + negative[steps + 1]
    growth = log(seen_after / np.where(c == 0, seen_after, seen_before))  # from 0 rows on, c is 0
    return float(((after - before) / a - c / a**2 * growth).sum() / positive[-1])


def _cumulated(name: str, y: Target, prediction: Floats, weight: Floats | None) -> tuple[Floats, Floats]:
    """Weight of class 0 and of class 1 in the rows of the highest predictions, after each distinct one, from 0 on."""
    predicted = single(name, prediction)
    other = (y != 0) & (y != 1)
    if other.any():
        row = int(np.argmax(other))
        raise InputError(
            f"y holds {y[row].item()} in row {row}, but the metric {name!r} compares rows of 0 and of 1. Use 'rmse' or "
            "'mae' for numbers."
        )
    order = np.argsort(-predicted, kind="stable")
    mass = np.ones(len(order)) if weight is None else weight[order]
    last_of_ties = np.append(np.flatnonzero(np.diff(predicted[order])), len(order) - 1)
    sides = []
    for label in (0, 1):
        total = np.cumsum(mass * (y[order] == label))[last_of_ties]
        if total[-1] <= 0:
            raise InputError(
                f"The metric {name!r} needs rows of the classes 0 and 1, but there are none of class {label}. "
                "Use 'logloss' or 'error', or choose other rows to evaluate on."
            )
        sides.append(np.concatenate(([0.0], total)))
    return sides[0], sides[1]

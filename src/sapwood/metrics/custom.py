"""User-defined metrics."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

import numpy as np

from sapwood.errors import ParameterError
from sapwood.metrics.metric import Floats, Groups, Metric, OfAllRows, Target
from sapwood.parameters import CallableRule, check_parameters
from sapwood.signature import n_needed, positional_arguments

MOST_ARGUMENTS = 4  # y_true, y_pred, weight, group


@dataclass(frozen=True)
class _Checked(OfAllRows):
    """A function of (y_true, y_pred), which must return a finite number; it may take weights and groups too."""

    name: str
    function: Callable[..., object]
    n_arguments: int

    def value(self, y: Target, prediction: Floats, weight: Floats | None, groups: Groups | None) -> float:
        """The function's number."""
        more = (weight, groups)[: self.n_arguments - 2]
        return finite_number(self.name, self.function(y, prediction.T, *more))


def custom_metric(function: Callable[..., object]) -> Metric:
    """The metric `function(y_true, y_pred) -> float`; y_pred has shape (n,), or (n, K) if rows have K predictions.

    A function that needs a third argument is given the weights of the rows, or None, and one that needs a fourth the
    numbers of rows of the queries. A function with a true attribute `greater_is_better` is maximised, any other
    minimised.
    """
    check_parameters("gradient boosting", {"eval_metric": (CallableRule(),)}, {"eval_metric": function})
    name = str(getattr(function, "__name__", type(function).__name__))
    larger = getattr(function, "greater_is_better", None)
    checked = _Checked(name, function, _count_arguments(name, function))
    return Metric(name, bool(larger), checked, knows_direction=larger is not None)


def _count_arguments(name: str, function: Callable[..., object]) -> int:
    """How many arguments the function needs, at least 2; those with a default stay as they are."""
    given = positional_arguments(function)
    if given is None:
        return 2
    needed = n_needed(given)
    if [argument.name for argument in given[:2]] == ["estimator", "X"] or needed > MOST_ARGUMENTS:
        names = ", ".join(argument.name for argument in given)
        raise ParameterError(
            f"eval_metric={name} takes ({names}), but a metric is given (y_true, y_pred). Write such a function, or "
            "pass one of scikit-learn's metrics, or a scorer made by make_scorer."
        )
    return max(2, needed)


def finite_number(name: str, answer: object) -> float:
    """The result of a metric as a number; anything else is refused."""
    value = answer.item() if isinstance(answer, (np.generic, np.ndarray)) and answer.size == 1 else answer
    if isinstance(value, Real) and math.isfinite(value):
        return float(value)
    remedy = "Return the metric's value only, without its name."
    if isinstance(value, tuple) and len(value) == 3 and isinstance(value[0], str):
        remedy = (
            f"This is LightGBM's form: return the number alone, and set {name}.greater_is_better = {bool(value[2])} "
            "after the function."
        )
    raise ParameterError(f"The metric {name!r} returned {value!r}: it must return a finite number. {remedy}")

"""Metrics of the user's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from sapwood.errors import ParameterError
from sapwood.metrics.metric import Floats, Groups, Metric, Target
from sapwood.parameters import CallableRule, check_parameters


@dataclass(frozen=True)
class _Checked:
    """A function of (y_true, y_pred), whose answer must be a finite number."""

    name: str
    function: Callable[[Any, Any], Any]

    def __call__(self, y: Target, prediction: Floats, weight: Floats | None, groups: Groups | None) -> float:
        del weight, groups  # the function does not know of them
        answer = self.function(y, prediction.T)
        value = answer.item() if isinstance(answer, (np.generic, np.ndarray)) and answer.size == 1 else answer
        if not isinstance(value, Real) or not math.isfinite(value):
            raise ParameterError(
                f"The metric {self.name!r} returned {value!r}: it must return a finite number. "
                "Return the metric's value only, without its name."
            )
        return float(value)


def custom_metric(function: Callable[[Any, Any], Any]) -> Metric:
    """The metric `function(y_true, y_pred) -> float`; y_pred has shape (n,), or (n, K) if rows have K predictions.

    A function with a true attribute `greater_is_better` is maximised, any other minimised.
    """
    check_parameters("gradient boosting", {"eval_metric": (CallableRule(),)}, {"eval_metric": function})
    name = str(getattr(function, "__name__", type(function).__name__))
    return Metric(name, bool(getattr(function, "greater_is_better", False)), _Checked(name, function))

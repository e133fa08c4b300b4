"""scikit-learn's metrics: its functions, its scorers, and the names of its scorers.

The direction of a function and what it takes are read from its scorer, if there is one, else from scikit-learn's
conventions: a value of `…_score` is to be large, one of `…_loss`, `…_error` and `…_deviance` small, and the second
argument is called y_pred (classes or numbers), y_score, y_proba or pred_decision.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from sapwood.errors import ParameterError
from sapwood.metrics.custom import finite_number
from sapwood.metrics.metric import CLASSES, NUMBERS, TARGETS, TWO_CLASSES, Floats, Groups, Metric, OfAllRows, Target

Takes = Literal["numbers", "classes", "scores", "probabilities", "decisions"]
LARGE_ENDINGS, SMALL_ENDINGS = ("_score", "_ratio", "_corrcoef"), ("_loss", "_error", "_deviance")
BY_ARGUMENT: dict[str, Takes] = {"y_score": "scores", "y_proba": "probabilities", "y_prob": "probabilities"}
KINDS = {
    "numbers": frozenset({NUMBERS, TARGETS}),
    "scores": frozenset({NUMBERS, TWO_CLASSES, CLASSES}),  # the function itself checks the number of classes
    "classes": frozenset({TWO_CLASSES, CLASSES}),
    "probabilities": frozenset({TWO_CLASSES, CLASSES}),
    "decisions": frozenset({TWO_CLASSES, CLASSES}),
}


def scorer_names() -> list[str]:
    """Names that scikit-learn's `get_scorer` accepts."""
    from sklearn.metrics import get_scorer_names

    return list(get_scorer_names())


def is_scikit(item: object) -> bool:
    """Whether this is a metric function of scikit-learn, maybe with options set by `partial`, or a scorer."""
    function = item.func if isinstance(item, partial) else item
    return _is_scorer(item) or str(getattr(function, "__module__", "")).startswith("sklearn.metrics")


def scikit_metric(item: str | Callable[..., object], kind: str) -> Metric:
    """The metric of a function, a scorer or a scorer's name, for models that predict the kind."""
    if isinstance(item, str):
        from sklearn.metrics import get_scorer

        return replace(_scorer_metric(get_scorer(item), kind), name=item)
    return _scorer_metric(item, kind) if _is_scorer(item) else _function_metric(item)


def _is_scorer(item: object) -> bool:
    return hasattr(item, "_score_func") and hasattr(item, "_sign")


def _scorer_metric(scorer: Any, kind: str) -> Metric:
    """A scorer's value is to be large: that of a loss is negative."""
    function = scorer._score_func
    takes = _from_response(function, scorer._response_method, kind)
    name = ("neg_" if scorer._sign < 0 else "") + str(getattr(function, "__name__", type(function).__name__))
    return _metric(name, True, takes, _Scikit(name, function, dict(scorer._kwargs), scorer._sign, takes))


def _function_metric(item: Callable[..., object]) -> Metric:
    function, options = (item.func, dict(item.keywords)) if isinstance(item, partial) else (item, {})
    name = str(getattr(function, "__name__", type(function).__name__))
    if isinstance(item, partial) and item.args:
        raise ParameterError(f"eval_metric=partial({name}, …) sets arguments by position. Set them by name.")
    known = _known_scorer(function)
    if known is not None:
        takes = _from_response(function, known._response_method, TWO_CLASSES)
        return _metric(name, known._sign > 0, takes, _Scikit(name, function, options, 1, takes))
    if not name.endswith((*LARGE_ENDINGS, *SMALL_ENDINGS)):
        raise ParameterError(
            f"eval_metric={name} of {function.__module__} is not a metric of predictions with a known direction. Pass "
            "one of scikit-learn's metrics, a scorer made by make_scorer, or a function of (y_true, y_pred)."
        )
    takes = _from_signature(function)
    return _metric(name, name.endswith(LARGE_ENDINGS), takes, _Scikit(name, function, options, 1, takes))


def _metric(name: str, larger: bool, takes: Takes, function: _Scikit) -> Metric:
    return Metric(
        name,
        larger,
        function,
        uses_score=takes == "decisions",
        decides=takes == "classes",
        kinds=KINDS[takes],
    )


def _known_scorer(function: object) -> Any:
    """One of the scorers that scikit-learn names, of this very function."""
    from sklearn.metrics import get_scorer

    found = [scorer for scorer in map(get_scorer, scorer_names()) if scorer._score_func is function]
    return found[0] if found else None


def _from_response(function: object, method: object, kind: str) -> Takes:
    """What a scorer's function takes, from the method of the estimator that the scorer would call."""
    if str(getattr(function, "__module__", "")).endswith("._regression"):
        return "numbers"
    if method in ("predict", ["predict"], ("predict",)):
        return "numbers" if kind == NUMBERS and not _is_scikit_function(function) else "classes"
    if method == "decision_function":
        return "decisions"
    return "probabilities" if method == "predict_proba" else "scores"


def _is_scikit_function(function: object) -> bool:
    return str(getattr(function, "__module__", "")).startswith("sklearn.metrics")


def _from_signature(function: Callable[..., object]) -> Takes:
    if function.__module__.endswith("._regression"):
        return "numbers"
    second = list(inspect.signature(function).parameters)[1]
    return "decisions" if second == "pred_decision" else BY_ARGUMENT.get(second, "classes")


@dataclass(frozen=True)
class _Scikit(OfAllRows):
    """A function of scikit-learn, given what it takes; its errors become errors of `eval_metric`."""

    name: str
    function: Callable[..., object]
    options: Mapping[str, object]
    sign: int
    takes: Takes

    def value(self, y: Target, prediction: Floats, weight: Floats | None, groups: Groups | None) -> float:
        """The function's number."""
        del groups  # scikit-learn's metrics do not take them
        predicted = np.atleast_2d(prediction)
        options = self._options(len(predicted), weight)
        target = y if self.takes in ("numbers", "scores") else y.astype(np.int64)
        try:
            value = self.function(target, self._given(predicted), **options)
        except (ValueError, TypeError) as error:
            raise ParameterError(
                f"The metric {self.name!r} cannot be computed: {error} Choose another metric, or set its options, for "
                f"example with functools.partial; classes are numbered 0, 1, 2, … in the order of classes_."
            ) from error
        return finite_number(self.name, value) * self.sign

    def _given(self, predicted: Floats) -> object:
        """Numbers; classes; probabilities, or scores in their order, of the second class or of all."""
        if self.takes == "classes":
            return (predicted[0] > 0.5).astype(np.int64) if len(predicted) == 1 else predicted.argmax(axis=0)
        return predicted[0] if len(predicted) == 1 else predicted.T

    def _options(self, n_scores: int, weight: Floats | None) -> dict[str, object]:
        """Weights, and all classes where rows may lack some, for functions that take them."""
        options = dict(self.options)
        known = inspect.signature(self.function).parameters
        if weight is not None and "sample_weight" in known:
            options.setdefault("sample_weight", weight)
        of_classes = self.takes == "probabilities" or (self.takes == "scores" and n_scores > 1)
        if of_classes and "labels" in known:
            options.setdefault("labels", np.arange(max(2, n_scores)))
        return options

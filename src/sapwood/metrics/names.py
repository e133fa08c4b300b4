"""Metrics by XGBoost's names; some take a number after an @, such as "ndcg@10"."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.errors import ParameterError
from sapwood.metrics import classification, curve, ranking, regression
from sapwood.metrics.custom import custom_metric
from sapwood.metrics.metric import (
    CLASSES,
    NUMBERS,
    QUANTILES,
    RANKINGS,
    TARGETS,
    TWO_CLASSES,
    MeanOfRows,
    Metric,
    RowLosses,
)
from sapwood.metrics.ranking import MeanOfQueries
from sapwood.metrics.scikit import is_scikit, scikit_metric, scorer_names
from sapwood.parameters import Interval, OneOf, check_parameters

__all__ = ["METRICS", "custom_metric", "find_metric", "metric_for"]


@dataclass(frozen=True)
class _Option:
    """What may follow the @."""

    name: str
    rule: Interval
    example: str
    several: bool = False

    def read(self, metric: str, text: str) -> object:
        """The number or numbers that the text stands for."""
        values = [_number(part, self.rule) for part in (text.split(",") if self.several else [text])]
        if not all(map(self.rule.accepts, values)):
            raise ParameterError(
                f"eval_metric={metric!r} is not allowed: what follows the @ must be {self.rule.describe()}. "
                f"Use for example {self.example!r}."
            )
        return tuple(values) if self.several else values[0]


_SHARE = Interval(float, 0, 1, closed="neither")
_OPTIONS = {
    "error": _Option("threshold", _SHARE, "error@0.7"),
    "mphe": _Option("slope", Interval(float, low=0, closed="neither"), "mphe@2"),
    "quantile": _Option("quantiles", _SHARE, "quantile@0.1,0.9", several=True),
    "tweedie-nloglik": _Option("power", Interval(float, 1, 2, closed="neither"), "tweedie-nloglik@1.5"),
    "ndcg": _Option("k", Interval(int, low=1), "ndcg@10"),
    "map": _Option("k", Interval(int, low=1), "map@10"),
}


_OF_NUMBERS = frozenset({NUMBERS, TARGETS})
_OF_PROBABILITIES = frozenset({NUMBERS, TARGETS, TWO_CLASSES})  # those of two classes are numbers, too
_OF_ONE_NUMBER = frozenset({NUMBERS, TWO_CLASSES})
_OF_TWO = frozenset({TWO_CLASSES})
_OF_CLASSES = frozenset({TWO_CLASSES, CLASSES})
_OF_RANKINGS = frozenset({RANKINGS})


def _rows(
    name: str,
    rows: RowLosses,
    kinds: frozenset[str],
    finish: Callable[[float], float] = float,
    many: bool = False,
    decides: bool = False,
) -> Metric:
    return Metric(name, False, MeanOfRows(name, rows, finish, many), kinds=kinds, decides=decides)


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        _rows("rmse", regression.squares, _OF_PROBABILITIES, finish=math.sqrt),
        _rows("mae", regression.distances, _OF_PROBABILITIES),
        _rows("mape", regression.shares, _OF_NUMBERS),
        _rows("rmsle", regression.squared_log_differences, _OF_NUMBERS, finish=math.sqrt),
        _rows("mphe", regression.pseudo_huber, _OF_NUMBERS),
        _rows("quantile", regression.pinball, frozenset({NUMBERS, QUANTILES, TARGETS}), many=True),
        _rows("poisson-nloglik", regression.poisson_likelihood, _OF_NUMBERS),
        _rows("gamma-nloglik", regression.gamma_likelihood, _OF_NUMBERS),
        _rows("gamma-deviance", regression.gamma_deviance, _OF_NUMBERS),
        _rows("tweedie-nloglik", regression.tweedie_likelihood, _OF_NUMBERS),
        _rows("logloss", classification.log_losses, _OF_TWO),
        _rows("error", classification.mistakes, _OF_TWO, decides=True),
        _rows("mlogloss", classification.class_log_losses, _OF_CLASSES, many=True),
        _rows("merror", classification.class_mistakes, _OF_CLASSES, many=True, decides=True),
        Metric("auc", True, curve.AreaUnderCurve("auc", curve.area_under_roc), kinds=_OF_ONE_NUMBER),
        Metric("aucpr", True, curve.AreaUnderCurve("aucpr", curve.area_under_precision), kinds=_OF_ONE_NUMBER),
        Metric("ndcg", True, ranking.MeanOfQueries("ndcg", ranking.ndcg), kinds=_OF_RANKINGS),
        Metric("map", True, ranking.MeanOfQueries("map", ranking.average_precision), kinds=_OF_RANKINGS),
    )
}


def metric_for(item: object, kind: str, owner: str, losses: RowLosses | None = None) -> Metric:
    """The metric of a name or a function for models that predict the kind; others are refused."""
    metric = _metric_of(item, kind, losses)
    if kind not in metric.kinds:
        fitting = [name for name, known in METRICS.items() if kind in known.kinds]
        kinds = " or ".join(sorted(metric.kinds))
        raise ParameterError(
            f"eval_metric={metric.name!r} is for {kinds}, but {owner} predicts {kind}. "
            f"Use {', '.join(map(repr, fitting))}{', ' if fitting else ''}'loss', or a function of (y_true, y_pred)."
        )
    if kind == TARGETS and isinstance(metric.function, MeanOfRows) and not metric.uses_score:
        return replace(metric, function=metric.function.of_targets())
    return metric


def _metric_of(item: Any, kind: str, losses: RowLosses | None) -> Metric:
    if callable(item):
        return scikit_metric(item, kind) if is_scikit(item) else custom_metric(item)
    is_ours = isinstance(item, str) and item.partition("@")[0] in (*METRICS, "loss")
    if isinstance(item, str) and not is_ours and item in scorer_names():
        return scikit_metric(item, kind)
    return find_metric(item, losses)


def larger_is_better(name: str) -> bool | None:
    """Whether larger values of the metric of that name are better; None if unknown, as for a user's function."""
    if name == "loss":
        return False
    known = METRICS.get(name.partition("@")[0])
    if known is not None:
        return known.larger_is_better
    return True if name in scorer_names() else None


def find_metric(name: str, losses: RowLosses | None = None) -> Metric:
    """The metric of that name; "loss" is the mean of the model's own `losses(y, score)`, and needs scores."""
    check_parameters("gradient boosting", {"eval_metric": (_Known(*METRICS, "loss"),)}, {"eval_metric": name})
    if name == "loss":
        return _loss_metric(losses)
    base, _, text = name.partition("@")
    return _with_option(METRICS[base], _OPTIONS[base], name, text) if text else METRICS[base]


_MEANT = {
    "mse": "rmse",
    "l2": "rmse",
    "root_mean_squared_error": "rmse",
    "l1": "mae",
    "mean_absolute_error": "mae",
    "log_loss": "logloss",
    "cross_entropy": "logloss",
    "binary_logloss": "logloss",
    "binary_error": "error",
    "multi_logloss": "mlogloss",
    "multiclass": "mlogloss",
    "multi_error": "merror",
    "prauc": "aucpr",
}
"""Names of other packages, in lower case."""


class _Known(OneOf):
    """A name, alone or with what follows an @ where there is such an option."""

    def accepts(self, value: object) -> bool:
        """Accept "ndcg" and "ndcg@…", but neither "rmse@…" nor "ndcg@"."""
        if not isinstance(value, str):
            return False
        base, at, text = value.partition("@")
        return base in self.choices and (not at or (base in _OPTIONS and bool(text)))

    def describe(self) -> str:
        """List the names, and those that may be followed by a number."""
        return (
            f"{super().describe()}, where {', '.join(_OPTIONS)} may be followed by @ and a number, or the name of one "
            "of scikit-learn's scorers"
        )

    def nearest(self, value: object) -> object | None:
        """Return the name that was probably mistyped, or that is meant by one of another package."""
        if not isinstance(value, str):
            return None
        base = value.partition("@")[0]
        if base.lower() in _MEANT:
            return _MEANT[base.lower()]
        scorer = base.removesuffix("_score")
        return scorer if scorer in scorer_names() else super().nearest(base)


def _with_option(metric: Metric, option: _Option, name: str, text: str) -> Metric:
    chosen: dict[str, object] = {option.name: option.read(name, text)}
    function = metric.function
    if isinstance(function, MeanOfRows):
        return replace(metric, name=name, function=replace(function, name=name, rows=partial(function.rows, **chosen)))
    assert isinstance(function, MeanOfQueries)
    return replace(metric, name=name, function=replace(function, quality=partial(function.quality, **chosen)))


def _loss_metric(losses: RowLosses | None) -> Metric:
    if losses is None:
        raise ParameterError(
            "eval_metric='loss' needs the model's own loss. Pass losses=loss.losses, or name a metric."
        )
    mean_loss = MeanOfRows("loss", _TwoDimensional(losses), many=True)
    return Metric("loss", larger_is_better=False, function=mean_loss, uses_score=True)


@dataclass(frozen=True)
class _TwoDimensional:
    """Losses take scores of shape (n_scores, n) only."""

    losses: RowLosses

    def __call__(self, y: Array, score: Floats) -> Floats:
        return self.losses(y, np.atleast_2d(score))


def _number(text: str, rule: Interval) -> object:
    """The value of a part after the @; the text itself if it is not a number, which no rule accepts."""
    try:
        return rule.kind(text)
    except ValueError:
        return text

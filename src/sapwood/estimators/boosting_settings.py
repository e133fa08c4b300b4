"""Settings of boosting that depend on the loss or on another model: starts, metrics, models to continue from."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.boosting.fitting import score_of
from sapwood.errors import InputError, MetricDirectionWarning, NoSplitWarning, ParameterError, warn_user
from sapwood.estimators.boosting_rows import naming
from sapwood.losses.custom import CustomLoss
from sapwood.losses.huber import Huber
from sapwood.losses.loss import Loss
from sapwood.losses.quantile import Quantile
from sapwood.metrics.metric import Metric
from sapwood.metrics.names import metric_for
from sapwood.tree import Tree

Floats = NDArray[np.float64]

MOST = 1e150  # gains hold squares of sums of gradients
LEAST = 1e-100


def bins_of(max_bin: int) -> int:
    """Bins of a column. XGBoost's 256 means as many as a byte holds, which here has a code for missing values too."""
    return 255 if max_bin == 256 else int(max_bin)


def start_scores(base_score: float | None, loss: Loss) -> Floats | None:
    """Scores whose prediction is the base score, or None for the best constants."""
    if base_score is None:
        return None
    most = float(loss.response(np.full((loss.n_scores, 1), 9.0)).max())
    try:
        if most <= 1.0 and not 0.0 < base_score < 1.0:
            raise ValueError("no probability")
        return score_of(loss, float(base_score))
    except ValueError as error:
        raise ParameterError(
            f"base_score={base_score} is not allowed for the loss {loss.name!r}, whose predictions are "
            f"{'between 0 and 1' if most <= 1.0 else 'above 0'}. Use base_score=None for the best constant."
        ) from error


def find_metrics(setting: Any, default: str, loss: Loss, kind: str, owner: str) -> list[Metric]:
    """Metrics from names and functions, one or several, for models that predict the kind."""
    if setting is None:
        setting = "loss" if isinstance(loss, CustomLoss) else default
    several = [setting] if isinstance(setting, str) or callable(setting) else list(setting)
    found = [_find_metric(item, loss, kind, owner) for item in several]
    names = [metric.name for metric in found]
    for name in names:
        if names.count(name) > 1:
            raise ParameterError(
                f"eval_metric has more than one metric of the name {name!r}. Remove one, or give functions different "
                "names."
            )
    return found


def _find_metric(item: Any, loss: Loss, kind: str, owner: str) -> Metric:
    if isinstance(loss, Quantile) and isinstance(item, str) and item == "quantile":  # those of the model
        own = f"quantile@{','.join(map(repr, loss.quantiles))}"
        return replace(metric_for(own, kind, owner), name=item)
    if isinstance(loss, Huber) and loss.quantile is not None and isinstance(item, str) and item == "loss":
        raise ParameterError(
            "eval_metric='loss' is not allowed for the Huber loss of a quantile: it is another loss in each round. Use "
            "'mae'."
        )
    return metric_for(item, kind, owner, loss.losses)


def warn_of_direction(metric: Metric, argument: str = "eval_metric") -> None:
    """Say so if a metric decides how many rounds are best, and nobody said whether more of it is better."""
    if not metric.knows_direction:
        warn_user(
            f"{argument}={metric.name} decides which round is best, and is minimised, because it does not say whether "
            f"more is better. Set {metric.name}.greater_is_better = False (or True) on the function.",
            MetricDirectionWarning,
        )


def warn_of_no_split(rounds: Sequence[Sequence[Tree]], least: float, y: Floats) -> None:
    """Say so if no tree has a split because min_child_weight, the least hessian of a child, allows none."""
    if (y == y[0]).all():  # there is nothing to split
        return
    trees = [tree for own in rounds for tree in own]
    most = max((float(tree.weighted_n_node_samples[0]) for tree in trees), default=np.inf)
    if most < 2 * least and all(tree.node_count == 1 for tree in trees):
        warn_user(
            f"No tree has a split, so the model is a constant: min_child_weight={least} is the least sum of hessians "
            f"in a leaf, and all rows together have {most:.4g}. Use a smaller min_child_weight, such as "
            f"{_power_below(most / 100)}, or larger sample weights.",
            NoSplitWarning,
        )


def _power_below(number: float) -> str:
    """1e-3 for 0.0042."""
    return "0" if number <= 0 else f"1e{math.floor(math.log10(number))}"


def continued(init_model: Any, owner: Any) -> Any:
    """The model to continue from, checked."""
    if init_model is None:
        return None
    if isinstance(init_model, (str, os.PathLike)):
        from sapwood.estimators.model_file import load  # which knows all estimators

        with naming("init_model"):
            init_model = load(init_model)
    if not isinstance(init_model, type(owner)):
        raise ParameterError(
            f"init_model is a {type(init_model).__name__}, but only a fitted {type(owner).__name__} can be continued. "
            "Pass the fitted estimator itself, or the path of its file."
        )
    with naming("init_model"):
        init_model._check_fitted()
    return init_model


def check_continued(start: Any, loss: Loss) -> None:
    """A model continues with the loss it was trained with."""
    if start is None:
        return
    if start.loss_.name != loss.name or start.ensemble_.n_scores != loss.n_scores:
        raise ParameterError(
            f"init_model was trained with the loss {start.loss_!r}, but the parameters ask for {loss!r}. Use the same "
            "objective with as many classes or quantiles, or leave out init_model."
        )


def check_size(y: Floats, weight: Floats | None, weight_name: str) -> None:
    """Refuse numbers whose squares, summed up, no float can hold: trees could not be grown any more."""
    heaviest = 1.0 if weight is None else float(weight.max())
    size = float(np.abs(y).max())
    if max(1.0, size) * heaviest * len(y) > MOST:
        raise InputError(
            f"y reaches {size:.3g} and {weight_name} {heaviest:.3g}: squares of their sums are larger than "
            "a 64-bit float can be. Divide them by a constant."
        )
    if 0.0 < size < LEAST:
        raise InputError(
            f"y is at most {size:.3g} in size, whose square is smaller than a 64-bit float can be. Multiply y by a "
            "constant."
        )
    if heaviest < LEAST:
        raise InputError(
            f"{weight_name} is at most {heaviest:.3g}, whose squares are smaller than a 64-bit float can be. Make it "
            "larger by a constant factor."
        )


def refuse_divergence(progress: Any) -> None:
    """A callback that ends training before leaves, which grow from round to round, overflow."""
    of_folds = [fold.rounds for fold in getattr(progress, "folds", ())]
    for rounds in of_folds or [progress.rounds]:
        largest = max(float(np.abs(tree.value).max()) for tree in rounds.trees[-1])
        if not largest < MOST:
            raise ParameterError(
                f"Training diverges: leaves reached {largest:.3g} in round {progress.round}. Use a smaller "
                "learning_rate (above 1, each round overshoots), or a larger reg_lambda or min_child_weight."
            )

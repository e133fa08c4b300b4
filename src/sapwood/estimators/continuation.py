"""Models that training continues from."""

from __future__ import annotations

import os
from typing import Any

from sapwood.boosting.ensemble import Ensemble
from sapwood.errors import ParameterError, naming
from sapwood.losses.loss import Loss
from sapwood.losses.per_target import PerTarget


def model_to_continue(init_model: Any, owner: Any) -> Any:
    """The fitted estimator that `init_model` is, or the one in its file."""
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
        init_model.model_  # noqa: B018 - which only a fitted one has
    return init_model


def rounds_to_continue(model: Any, strategy: str) -> Ensemble:
    """The rounds that the model predicts by; all rounds are of one kind: a tree for each score, or one for all."""
    start: Ensemble = model.ensemble_.upto(model.best_n_rounds_)
    found = "one_output_per_tree" if start.round_size == start.n_scores else "multi_output_tree"
    if start.n_scores > 1 and start.rounds and found != strategy:
        raise ParameterError(
            f"multi_strategy={strategy!r} does not match init_model, which was trained with multi_strategy={found!r}: "
            f"all rounds of a model must be of one kind. Use multi_strategy={found!r}, or leave out init_model."
        )
    return start


def check_same_loss(start: Any, loss: Loss) -> None:
    """A model continues with the loss it was trained with."""
    names = ("name", "n_scores", "quantiles", "power")
    pairs = [(start.loss_, loss)]
    if isinstance(start.loss_, PerTarget) and isinstance(loss, PerTarget):
        pairs.append((start.loss_.each, loss.each))
    if any(getattr(one, name, None) != getattr(other, name, None) for one, other in pairs for name in names):
        raise ParameterError(
            f"init_model was trained with the loss {start.loss_!r}, but the parameters ask for {loss!r}. Use the same "
            "objective with the same options, classes, quantiles or targets, or leave out init_model."
        )

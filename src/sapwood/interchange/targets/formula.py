"""What a model computes, as data that other languages can be written from.

    scores   = (base + what the trees say, tree by tree) / divisor          the tree_sum
    numbers  = response(scale * scores)                                     probabilities or predictions
    label    = the first class of largest score                             classifiers only

| response | numbers |
|---|---|
| same | the scores |
| logistic | 1 - p and p, with p = 1 / (1 + e^-score) |
| softmax | e^score / sum of e^score |
| exponential | e^score |
| sorted | the scores in the order of their quantiles |
| median | the weighted median of the scores |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sapwood.cached_property import cached_property
from sapwood.errors import InputTypeError, ParameterError
from sapwood.estimators.adaboost import AdaBoost
from sapwood.estimators.boosting import Boosting
from sapwood.estimators.estimator import Estimator
from sapwood.estimators.gradient import GradientBoostingClassifier
from sapwood.losses.counts import Gamma, Poisson, Tweedie
from sapwood.losses.custom import CustomLoss
from sapwood.losses.exponential import Exponential
from sapwood.losses.logistic import Logistic
from sapwood.losses.loss import Loss
from sapwood.losses.multinomial import Multinomial
from sapwood.losses.quantile import Quantile
from sapwood.model.methods import TIE
from sapwood.show.fitted import classes_by_output
from sapwood.table.schema import Schema, Unseen
from sapwood.tree_sum import Term, TreeSum

Floats = NDArray[np.float64]
Response = Literal["same", "logistic", "softmax", "exponential", "sorted", "median"]

MOST_EXPONENT = 709.0  # just below the logarithm of the largest float64, as in the losses
EXACT: tuple[Response, ...] = ("same", "sorted", "median")  # made of additions and divisions in a known order


@dataclass(frozen=True, eq=False)
class Formula:
    """A fitted model without its library."""

    kind: str  # name of the estimator's class
    schema: Schema
    unseen: Unseen
    tree_sum: TreeSum
    response: Response
    names: tuple[str, ...]  # of the numbers
    kept: tuple[int, ...]  # scores that are not there just to fill up a row
    classes: tuple[tuple[Any, ...], ...] = ()  # labels of each output; none for models of numbers
    scale: float = 1.0
    factors: Floats | None = None  # weights of classes, by which probabilities are divided before they are shared out
    weights: Floats | None = None  # of the learners, for the median
    ranks: tuple[int, ...] = ()  # places of the quantiles among the sorted scores
    margin: float = 0.0  # scores that differ by no more are equal when a class is chosen
    second_of_equals: bool = False  # of two classes with one score

    @cached_property
    def terms(self) -> list[Term]:
        """The trees, unpacked once."""
        return list(self.tree_sum)

    @property
    def n_scores(self) -> int:
        """Columns of the scores."""
        return self.tree_sum.n_columns

    @property
    def is_exact(self) -> bool:
        """Whether another program that adds in the same order gets the same bits."""
        return self.response in EXACT and self.factors is None

    @property
    def stops_at_unseen(self) -> bool:
        """Whether a row with an unseen level may end at an inner node."""
        return self.unseen == "node" and bool(self.schema.n_levels.any())

    @property
    def groups(self) -> list[tuple[int, ...]]:
        """For each output of a classifier the scores of its classes."""
        if len(self.classes) == 1:
            return [tuple(range(self.n_scores))]
        width = self.n_scores // max(len(self.classes), 1)
        return [tuple(range(o * width, o * width + len(labels))) for o, labels in enumerate(self.classes)]


def formula_of(model: Any, target: str) -> Formula:
    """What a fitted model computes; models with estimators of other libraries inside are refused."""
    if not isinstance(model, Estimator):
        raise InputTypeError(
            f"The model to write for {target} is a {type(model).__name__}. Pass a fitted estimator of Sapwood."
        )
    model._check_fitted()
    if not model._is_all_trees:
        raise InputTypeError(
            f"This {type(model).__name__} holds estimators of another library, which cannot be written for {target}. "
            "Use trees of Sapwood, and init=None."
        )
    classes = tuple(tuple(labels.tolist()) for labels in classes_by_output(model))
    return Formula(
        kind=type(model).__name__,
        schema=model.schema_,
        unseen=model._unseen_policy,
        tree_sum=model._tree_sum(),
        classes=classes,
        **_meaning(model, classes),
    )


def _meaning(model: Any, classes: tuple[tuple[Any, ...], ...]) -> dict[str, Any]:
    """How numbers and labels follow from scores."""
    if isinstance(model, AdaBoost):
        return _adaboost_meaning(model, classes)
    if isinstance(model, Boosting):
        return _boosting_meaning(model, classes)
    titles = model._score_names()
    kept = tuple(k for k, name in enumerate(titles) if name is not None)
    return {"response": "same", "names": tuple(str(titles[k]) for k in kept), "kept": kept}


def _adaboost_meaning(model: Any, classes: tuple[tuple[Any, ...], ...]) -> dict[str, Any]:
    weights = model._median_weights()
    if weights is not None:
        return {"response": "median", "names": ("prediction",), "kept": tuple(range(len(weights))), "weights": weights}
    names = tuple(map(str, classes[0]))
    if len(names) == 2:
        return {"response": "logistic", "names": names, "kept": (0,)}
    scale = 1.0 / max(len(names) - 1, 1)
    return {"response": "softmax", "names": names, "kept": tuple(range(len(names))), "scale": scale}


def _boosting_meaning(model: Any, classes: tuple[tuple[Any, ...], ...]) -> dict[str, Any]:
    loss, n_scores = model.loss_, model.ensemble_.n_scores
    found: dict[str, Any] = {"kept": tuple(range(n_scores)), **_response(loss, bool(classes))}
    if not classes:
        names = ("prediction",) if n_scores == 1 else tuple(model._score_names())
        return {"names": names, **found}
    if model._undoes_weights:
        found["factors"] = np.where(model._factors > 0, model._factors, 1.0)
    if isinstance(model, GradientBoostingClassifier):
        choice: dict[str, Any] = {"second_of_equals": True}
    else:
        choice = {"margin": TIE}
    return {"names": tuple(map(str, classes[0])), **found, **choice}


def _response(loss: Loss, of_classes: bool) -> dict[str, Any]:
    """The inverse link of a loss; scores of a user's own objective are log-odds, or the prediction itself."""
    if isinstance(loss, CustomLoss) and of_classes:
        loss = Logistic() if loss.n_scores == 1 else Multinomial(loss.n_scores)
    if isinstance(loss, Logistic):
        return {"response": "logistic"}
    if isinstance(loss, Exponential):
        return {"response": "logistic", "scale": 2.0}
    if isinstance(loss, Multinomial):
        return {"response": "softmax"}
    if isinstance(loss, (Poisson, Gamma, Tweedie)):
        return {"response": "exponential"}
    if isinstance(loss, Quantile) and loss.n_scores > 1:
        order = np.argsort(np.argsort(loss.quantiles, kind="stable"), kind="stable")
        return {"response": "sorted", "ranks": tuple(order.tolist())}
    if type(loss).response is not Loss.response and not isinstance(loss, Quantile):
        raise ParameterError(f"The loss {loss!r} has a link of its own, which cannot be written for other programs.")
    return {"response": "same"}

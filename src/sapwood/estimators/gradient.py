"""Gradient boosting, with scikit-learn's names of parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from sklearn.base import ClassifierMixin, RegressorMixin

from sapwood.arrays import Array, Floats
from sapwood.declaration import declared, fitted, parameter
from sapwood.estimators import shared_parameters as shared
from sapwood.estimators.boosting_task import BoostingClasses, BoostingNumbers
from sapwood.estimators.gradient_boosting import GradientBoosting
from sapwood.parameters import Beginner, Interval, Nothing, OneOf
from sapwood.threads import resolve_jobs


@declared
class GradientBoostingClassifier(ClassifierMixin, GradientBoosting):
    """Gradient boosting for classes, with scikit-learn's parameters and more.

    Each stage fits a tree to the negative gradient by least squares, then sets its leaves by Newton's step of the loss.
    """

    task: ClassVar = BoostingClasses
    second_of_equals: ClassVar = True

    loss: str = parameter(
        OneOf("log_loss", "exponential"),
        default="log_loss",
        doc='"log_loss" is the binomial deviance of two classes and the multinomial deviance of more, with a tree for '
        'each class in a stage. "exponential" is AdaBoost\'s loss, for two classes.',
    )
    init: Any = parameter(
        OneOf("zero"),
        Beginner(("fit", "predict_proba")),
        Nothing(),
        default=None,
        doc='Scores to start from: None for the best constants, "zero", or an estimator, of which a clone is fitted and'
        " gets X as it was given to fit and predict.",
    )
    class_weight: Any = parameter(shared.CLASS_WEIGHT, default=None)
    undo_class_weight: bool = parameter(shared.UNDO_CLASS_WEIGHT, default=True)

    classes_: Array = fitted("The classes, in order.")
    n_classes_: int = fitted("Number of classes.")

    def staged_decision_function(self, X: Any, *, n_rounds: int | None = None) -> Iterator[Floats]:
        """Scores (rows, 1) of two classes, (rows, classes) of more, after each stage."""
        return (score.T for score in self._staged(X, n_rounds))

    def apply(self, X: Any, *, n_rounds: int | None = None) -> Array:
        """Leaf of every row in every tree, (rows, stages, classes); of two classes there is one tree in a stage."""
        return self.ensemble_.leaves(self.model_.new_rows(X), self._n_rounds(n_rounds), resolve_jobs(self.n_jobs))


@declared
class GradientBoostingRegressor(RegressorMixin, GradientBoosting):
    """Gradient boosting for numbers, with scikit-learn's parameters and more.

    Each stage fits a tree to the negative gradient by least squares, then sets its leaves by the loss: means, medians,
    quantiles, Huber's step from the median, or Newton's step.
    """

    task: ClassVar = BoostingNumbers

    loss: str = parameter(
        OneOf("squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"),
        default="squared_error",
        doc="The loss to minimise. The last three have a logarithmic link: predictions are above 0.",
    )
    alpha: float = parameter(
        Interval(float, 0, 1, closed="neither"),
        default=0.9,
        doc='The quantile of loss="quantile", or of the absolute residuals beyond which loss="huber" is linear.',
    )
    tweedie_variance_power: float = parameter(shared.TWEEDIE_POWER, default=1.5)

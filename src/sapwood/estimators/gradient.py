"""Gradient boosting, with scikit-learn's names of parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sapwood.boosting.fitting import Rows
from sapwood.declaration import declared, parameter
from sapwood.errors import InputError, ParameterError
from sapwood.estimators import shared_parameters as shared
from sapwood.estimators.boosting_kinds import ClassBoosting, NumberBoosting
from sapwood.estimators.gradient_base import GradientBoosting
from sapwood.estimators.rules import Beginner
from sapwood.losses.loss import Loss
from sapwood.losses.names import make_loss
from sapwood.parameters import Interval, Nothing, OneOf
from sapwood.table.schema import Schema
from sapwood.threads import resolve_jobs

Floats = NDArray[np.float64]


@declared
class GradientBoostingClassifier(ClassBoosting, GradientBoosting):
    """Gradient boosting for classes, with scikit-learn's parameters and more.

    Each stage fits a tree to the negative gradient by least squares, then sets its leaves by Newton's step of the loss.
    """

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

    def _make_loss(self, rows: Rows) -> Loss:
        present = self.classes_[np.unique(rows.y).astype(np.intp)].tolist()
        if len(present) < 2:
            raise InputError(
                f"y contains 1 class after rows of weight zero are left out: {present[0]!r}. A classifier needs two, "
                "so give rows of another class a weight above zero."
            )
        if self.loss == "log_loss":
            return make_loss("log_loss", n_classes=self.n_classes_, friedman=True)
        if self.n_classes_ > 2:
            raise ParameterError(
                f"loss={self.loss!r} is only suitable for a binary classification problem, but y has n_classes="
                f"{self.n_classes_}. Use loss='log_loss'."
            )
        return make_loss(self.loss)

    def _signs(self, schema: Schema) -> NDArray[np.int8] | None:
        signs = super()._signs(schema)
        if signs is not None and self.n_classes_ > 2:
            raise ParameterError(
                f"monotonic_cst={self.monotonic_cst!r} is for two classes, but y has {self.n_classes_}: the scores of "
                "several classes can all rise and a probability still fall. Use monotonic_cst=None."
            )
        return signs

    def staged_decision_function(self, X: Any, *, n_rounds: int | None = None) -> Iterator[Floats]:
        """Scores (rows, 1) of two classes, (rows, classes) of more, after each stage."""
        return (score.T for score in self._staged(X, n_rounds))

    def apply(self, X: Any, *, n_rounds: int | None = None) -> NDArray[np.int32]:
        """Leaf of every row in every tree, (rows, stages, classes); of two classes there is one tree in a stage."""
        return self.ensemble_.leaves(self._new_rows(X), self._n_rounds(n_rounds), resolve_jobs(self.n_jobs))


@declared
class GradientBoostingRegressor(NumberBoosting, GradientBoosting):
    """Gradient boosting for numbers, with scikit-learn's parameters and more.

    Each stage fits a tree to the negative gradient by least squares, then sets its leaves by the loss: means, medians,
    quantiles, Huber's step from the median, or Newton's step.
    """

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

    def _make_loss(self, rows: Rows) -> Loss:  # noqa: ARG002
        options = {
            "huber": {"quantile": float(self.alpha)},
            "quantile": {"quantile": float(self.alpha)},
            "tweedie": {"power": float(self.tweedie_variance_power)},
        }
        return make_loss(self.loss, **options.get(self.loss, {}))

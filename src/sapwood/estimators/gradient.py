"""Gradient boosting, with scikit-learn's names of parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sapwood.boosting.fitting import Rows
from sapwood.errors import InputError, ParameterError
from sapwood.estimators.boosting_kinds import ClassBoosting, NumberBoosting
from sapwood.estimators.gradient_base import GradientBoosting
from sapwood.estimators.gradient_rules import CLASSIFIER_RULES, REGRESSOR_RULES
from sapwood.losses.loss import Loss
from sapwood.losses.names import make_loss
from sapwood.table.schema import Schema
from sapwood.threads import resolve_jobs

Floats = NDArray[np.float64]

SHARED = """Parameters are scikit-learn's. Each stage fits a tree to the negative gradient by least squares, then sets
    its leaves by the loss: means, medians, quantiles, Huber's step from the median, or Newton's step. Differences:

    learning_rate : float, list or function
        A number; one for each stage (the last holds on); or a function of the stage, or of the stage and the root mean
        square of the gradient. The rates that were used are in `learning_rates_`.
    criterion : {"squared_error", "friedman_mse"}
        Both are the squared error of the gradient; the parameter is there for scikit-learn's sake and has no effect.
    init : None, "zero" or an estimator
        Scores to start from: the best constants, zeros, or the predictions of a clone of the estimator, which is given
        X as `fit` and `predict` are. For losses of numbers above 0, predictions that are not count as a hundredth of
        the mean of y, and a warning says so.
    validation_fraction : float or None
        Share of the rows that only watch, if n_iter_no_change is set; their losses are in `validation_score_`.

    Beyond scikit-learn, missing values, categories and every core are used, and there are:

    max_bins : int
        Bins of a column of numbers, from 2 to 65535; a column with no more distinct values is split exactly. More than
        256 take more time and memory. Levels of categories are not limited by it.
    line_search : bool
        After its leaves, each tree gets one more step length, the best for all training rows.
    monotonic_cst : list, mapping or None
        1 for a column along which predictions must rise, -1 for fall, 0 for neither.
    interaction_cst : "pairwise", "no_interactions", list of lists or None
        Columns that may meet on a path of a tree.
    categorical_features : "from_dtype", None, or names, indices or a mask
        Columns to split as categories in addition to strings and categoricals.
    unseen : {"missing", "error"}
        What an unknown category does at prediction.
    n_jobs : int or None
        Threads; -1 uses every core. The model does not depend on it.
    drift_warning : bool
        Warn (`DataDriftWarning`) when rows to predict are not like the training data; see `schema_.compare`.
    callbacks : list of functions or None
        Each is called after every stage with a `Progress`; training stops when one returns True.
    max_seconds : float or None
        End training after this time. This, Ctrl-C and SIGTERM leave a usable model and say so in `stopped_reason_`.

    `estimators_` holds the trees (stages, scores) as `DecisionTreeRegressor`, with values before the learning rate.
    `train_score_` is the mean loss of the rows that each stage drew; with subsample < 1, `oob_scores_` is that of
    the others and `oob_improvement_` how much lower it is than at the stage before.
    """


class GradientBoostingClassifier(ClassBoosting, GradientBoosting):
    """Gradient boosting for classes.

    loss : {"log_loss", "exponential"}
        "log_loss" is the binomial deviance of two classes, the multinomial deviance of more, with a tree for each class
        in a stage. "exponential" is AdaBoost's loss, for two classes.
    class_weight : "balanced", mapping or None
        Weights of classes. They shift the base rate, which `predict_proba` undoes unless undo_class_weight=False;
        `predict` decides by the weighted scores.

    """

    __doc__ += SHARED
    rules: ClassVar = CLASSIFIER_RULES

    def __init__(
        self,
        *,
        loss: str = "log_loss",
        learning_rate: Any = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        criterion: str = "squared_error",
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = 3,
        min_impurity_decrease: float = 0.0,
        init: Any = None,
        random_state: Any = None,
        max_features: int | float | str | None = None,
        verbose: bool | int = 0,
        max_leaf_nodes: int | None = None,
        warm_start: bool = False,
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        ccp_alpha: float = 0.0,
        class_weight: Any = None,
        undo_class_weight: bool = True,
        max_bins: int = 255,
        line_search: bool = False,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        categorical_features: Any = "from_dtype",
        unseen: Literal["missing", "error"] = "missing",
        callbacks: Any = None,
        max_seconds: float | None = None,
        n_jobs: int | None = -1,
        drift_warning: bool = True,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha
        self.class_weight = class_weight
        self.undo_class_weight = undo_class_weight
        self.max_bins = max_bins
        self.line_search = line_search
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.categorical_features = categorical_features
        self.unseen = unseen
        self.callbacks = callbacks
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.drift_warning = drift_warning

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

    def _decide(self, score: Floats) -> NDArray[Any]:
        likely = (score[0] >= 0).astype(np.intp) if len(score) == 1 else score.argmax(axis=0)
        return np.asarray(self.classes_[likely])


class GradientBoostingRegressor(NumberBoosting, GradientBoosting):
    """Gradient boosting for numbers.

    loss : {"squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"}
        The last three have a logarithmic link: predictions are above 0.
    alpha : float
        The quantile of loss="quantile", and that of the absolute residuals beyond which loss="huber" is linear.
    tweedie_variance_power : float
        Between 1 (Poisson) and 2 (gamma), for loss="tweedie".

    """

    __doc__ += SHARED
    rules: ClassVar = REGRESSOR_RULES

    def __init__(
        self,
        *,
        loss: str = "squared_error",
        learning_rate: Any = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        criterion: str = "squared_error",
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = 3,
        min_impurity_decrease: float = 0.0,
        init: Any = None,
        random_state: Any = None,
        max_features: int | float | str | None = None,
        alpha: float = 0.9,
        verbose: bool | int = 0,
        max_leaf_nodes: int | None = None,
        warm_start: bool = False,
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        ccp_alpha: float = 0.0,
        tweedie_variance_power: float = 1.5,
        max_bins: int = 255,
        line_search: bool = False,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        categorical_features: Any = "from_dtype",
        unseen: Literal["missing", "error"] = "missing",
        callbacks: Any = None,
        max_seconds: float | None = None,
        n_jobs: int | None = -1,
        drift_warning: bool = True,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.criterion = criterion
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.alpha = alpha
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha
        self.tweedie_variance_power = tweedie_variance_power
        self.max_bins = max_bins
        self.line_search = line_search
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.categorical_features = categorical_features
        self.unseen = unseen
        self.callbacks = callbacks
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.drift_warning = drift_warning

    def _make_loss(self, rows: Rows) -> Loss:  # noqa: ARG002
        options = {
            "huber": {"quantile": float(self.alpha)},
            "quantile": {"quantile": float(self.alpha)},
            "tweedie": {"power": float(self.tweedie_variance_power)},
        }
        return make_loss(self.loss, **options.get(self.loss, {}))

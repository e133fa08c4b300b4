"""Parameters of gradient boosting."""

from __future__ import annotations

from typing import Any, Literal

from sapwood.declaration import declared, parameter
from sapwood.estimators import shared_parameters as shared
from sapwood.estimators.boosting import Boosting
from sapwood.estimators.rules import Beginner, RatesByRound
from sapwood.parameters import ArrayLike, CallableRule, Flag, Interval, Nothing, OneOf, Text


@declared
class GradientParameters(Boosting):
    """Parameters of the classifier and the regressor."""

    loss: str = parameter(Text(), default="squared_error", doc="The loss to minimise.")
    learning_rate: Any = parameter(
        Interval(float, low=0),
        RatesByRound(),
        CallableRule(),
        default=0.1,
        doc="Factor of the leaf values: a number; a list with one number per stage, whose last value is reused; or a "
        "function of the stage, or of the stage and the root mean square of the gradient. learning_rates_ has the "
        "rates that were used.",
    )
    n_estimators: int = parameter(
        Interval(int, low=1), default=100, doc="Stages. Each adds a tree, or one tree for each class."
    )
    subsample: float = parameter(
        Interval(float, 0, 1, closed="right"), default=1.0, doc="Fraction of the rows drawn for each stage."
    )
    criterion: str = parameter(
        OneOf("friedman_mse", "squared_error", "deprecated"),
        default="squared_error",
        doc="Accepted for scikit-learn's sake, without effect: both names mean the squared error of the gradient.",
    )
    min_samples_split: int | float = parameter(shared.MIN_SAMPLES_SPLIT, default=2)
    min_samples_leaf: int | float = parameter(shared.MIN_SAMPLES_LEAF, default=1)
    min_weight_fraction_leaf: float = parameter(shared.MIN_WEIGHT_FRACTION_LEAF, default=0.0)
    max_depth: int | None = parameter(shared.MAX_DEPTH, default=3)
    min_impurity_decrease: float = parameter(shared.MIN_IMPURITY_DECREASE, default=0.0)
    init: Any = parameter(
        OneOf("zero"),
        Beginner(),
        Nothing(),
        default=None,
        doc='Scores to start from: None for the best constants, "zero", or an estimator, of which a clone is fitted and'
        " gets X as it was given to fit and predict. For losses of numbers above 0, predictions that are not count as "
        "a hundredth of the mean of y, and a warning says so.",
    )
    random_state: Any = parameter(shared.RANDOM_STATE, default=None)
    max_features: int | float | str | None = parameter(shared.MAX_FEATURES, default=None)
    verbose: bool | int = parameter(
        Flag(), Interval(int, low=0), default=0, doc="Print scikit-learn's table of stages, or more of it above 1."
    )
    max_leaf_nodes: int | None = parameter(shared.MAX_LEAF_NODES, default=None)
    warm_start: bool = parameter(shared.WARM_START, default=False)
    validation_fraction: float | None = parameter(
        Interval(float, 0, 1, closed="neither"),
        Nothing(),
        default=0.1,
        doc="Fraction of the rows to hold out for validation if n_iter_no_change is set; validation_score_ has their "
        "losses.",
    )
    n_iter_no_change: int | None = parameter(
        Interval(int, low=1),
        Nothing(),
        default=None,
        doc="Stop if the validation loss has not improved by tol for so many stages; None trains all stages.",
    )
    tol: float = parameter(Interval(float, low=0), default=1e-4, doc="Improvement that n_iter_no_change asks for.")
    ccp_alpha: float = parameter(shared.CCP_ALPHA, default=0.0)
    max_bins: int = parameter(
        Interval(int, 2, 65535),
        default=255,
        doc="Bins of a numeric column; a column with no more distinct values is split exactly. More than 256 take more "
        "time and memory. Category levels are not limited by it.",
    )
    line_search: bool = parameter(
        Flag(), default=False, doc="Multiply each tree by the step length that is best for all training rows."
    )
    monotonic_cst: Any = parameter(shared.MONOTONIC, default=None)
    interaction_cst: Any = parameter(
        OneOf("pairwise", "no_interactions"),
        ArrayLike(),
        Nothing(),
        default=None,
        doc="Columns that may occur together on a path of a tree: lists of columns, all pairs, or none.",
    )
    categorical_features: Any = parameter(shared.CATEGORICAL_FEATURES, default="from_dtype")
    unseen: Literal["missing", "error"] = parameter(shared.UNSEEN, default="missing")
    callbacks: Any = parameter(shared.CALLBACKS, default=None)
    max_seconds: float | None = parameter(shared.MAX_SECONDS, default=None)
    n_jobs: int | None = -1

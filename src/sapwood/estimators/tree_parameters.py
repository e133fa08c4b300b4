"""Parameters that decision trees and forests share."""

from __future__ import annotations

from typing import Any, Literal

from sapwood.declaration import Meaning, declared, parameter
from sapwood.estimators import shared_parameters as shared
from sapwood.estimators.estimator import Estimator
from sapwood.parameters import ArrayLike, Interval, MappingLike, Nothing, OneOf

Unseen = Literal["missing", "error", "node"]

CLASS_CRITERION = Meaning(
    (OneOf("gini", "entropy", "log_loss", "error"),),
    'What a split decreases: the Gini impurity, the entropy ("log_loss" is another name for it), or the '
    'misclassification error 1 - max p_k ("error").',
)
NUMBER_CRITERION = Meaning(
    (OneOf("squared_error", "friedman_mse", "absolute_error", "poisson"),),
    'What a split decreases: the squared error ("friedman_mse" is another name for it), the absolute error, or the '
    "Poisson deviance.",
)
CLASS_LEAF = Meaning(
    (OneOf("auto", "share", "softmax"),),
    'Probabilities of a leaf: the class shares of its weight ("auto", "share"), or the softmax of the class weights.',
)
NUMBER_LEAF = Meaning(
    (OneOf("auto", "mean", "median"),),
    'Value of a leaf; "auto" is the median for the absolute error, and the mean otherwise.',
)
CLASS_WEIGHT = Meaning(
    (OneOf("balanced"), MappingLike(), ArrayLike(), Nothing()),
    'Weights of the classes: a dictionary from classes to weights, "balanced" for the same total weight for every '
    "class, or a list with one of these for each output.",
)


@declared
class TreeParameters(Estimator):
    """Parameters of the growth of a tree."""

    criterion: str = parameter(CLASS_CRITERION, default="gini")
    max_depth: int | None = parameter(shared.MAX_DEPTH, default=None)
    min_samples_split: int | float = parameter(shared.MIN_SAMPLES_SPLIT, default=2)
    min_samples_leaf: int | float = parameter(shared.MIN_SAMPLES_LEAF, default=1)
    min_weight_fraction_leaf: float = parameter(shared.MIN_WEIGHT_FRACTION_LEAF, default=0.0)
    max_features: int | float | str | None = parameter(shared.MAX_FEATURES, default=None)
    random_state: Any = parameter(shared.RANDOM_STATE, default=None)
    max_leaf_nodes: int | None = parameter(shared.MAX_LEAF_NODES, default=None)
    min_impurity_decrease: float = parameter(shared.MIN_IMPURITY_DECREASE, default=0.0)
    ccp_alpha: float = parameter(shared.CCP_ALPHA, default=0.0)
    monotonic_cst: Any = parameter(shared.MONOTONIC, default=None)
    impurity_threshold: float = parameter(
        Interval(float, low=0), default=0.0, doc="A node is split only if its impurity is above this."
    )
    significance: float | None = parameter(
        Interval(float, 0, 1, closed="neither"),
        Nothing(remedy="Use significance=None for no test."),
        default=None,
        doc="Significance level of a test of every split: chi-squared of side and class, or F between the means of "
        "both sides. A split whose p-value is above the level is dropped; None means no test.",
    )
    leaf: str = parameter(CLASS_LEAF, default="auto")
    max_bins: int | None = parameter(
        Interval(int, 2, 2**31 - 2),
        Nothing(remedy="Use max_bins=None to look at every distinct value."),
        default=None,
        doc="Number of quantile bins of a column, whose borders are the candidate thresholds. A column with no more "
        "distinct values is split exactly; None splits every column exactly.",
    )
    categorical_features: Any = parameter(shared.CATEGORICAL_FEATURES, default="from_dtype")
    unseen: Unseen = parameter(
        OneOf("missing", "error", "node"),
        default="missing",
        doc='What a category level that was not in the training data does at prediction: "missing" goes where missing '
        'values go, "error" raises an error, "node" predicts the value of the node that it reached.',
    )

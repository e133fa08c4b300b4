"""Which values the parameters of the decision trees may take."""

from __future__ import annotations

from sapwood.parameters import ArrayLike, Flag, Interval, MappingLike, Nothing, OneOf, RandomState, Rule
from sapwood.threads import JOBS

Rules = dict[str, tuple[Rule, ...]]

SHARED_RULES: Rules = {
    "splitter": (OneOf("best", "random"),),
    "max_depth": (Interval(int, low=1), Nothing(remedy="Use max_depth=None for no limit.")),
    "min_samples_split": (Interval(int, low=2), Interval(float, 0, 1, closed="right", integers=False)),
    "min_samples_leaf": (Interval(int, low=1), Interval(float, 0, 1, closed="neither", integers=False)),
    "min_weight_fraction_leaf": (Interval(float, 0, 0.5),),
    "max_features": (
        Interval(int, low=1),
        Interval(float, 0, 1, closed="right", integers=False),
        OneOf("sqrt", "log2"),
        Nothing(remedy="Use max_features=None for all columns."),
    ),
    "random_state": (RandomState(),),
    "max_leaf_nodes": (Interval(int, low=2), Nothing(remedy="Use max_leaf_nodes=None for no limit.")),
    "min_impurity_decrease": (Interval(float, low=0),),
    "ccp_alpha": (Interval(float, low=0),),
    "monotonic_cst": (ArrayLike(), MappingLike(), Nothing()),
    "impurity_threshold": (Interval(float, low=0),),
    "significance": (Interval(float, 0, 1, closed="neither"), Nothing(remedy="Use significance=None for no test.")),
    "max_bins": (Interval(int, 2, 2**31 - 2), Nothing(remedy="Use max_bins=None to look at every distinct value.")),
    "categorical_features": (OneOf("from_dtype"), ArrayLike(), Nothing()),
    "unseen": (OneOf("missing", "error", "node"),),
    "n_jobs": JOBS,
    "drift_warning": (Flag(),),
}

CLASSIFIER_RULES: Rules = {
    **SHARED_RULES,
    "criterion": (OneOf("gini", "entropy", "log_loss", "error"),),
    "class_weight": (OneOf("balanced"), MappingLike(), ArrayLike(), Nothing()),
    "leaf": (OneOf("auto", "share", "softmax"),),
}

REGRESSOR_RULES: Rules = {
    **SHARED_RULES,
    "criterion": (OneOf("squared_error", "friedman_mse", "absolute_error", "poisson"),),
    "leaf": (OneOf("auto", "mean", "median"),),
}

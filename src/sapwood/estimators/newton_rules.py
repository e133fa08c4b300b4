"""Which values the parameters of Newton boosting may take."""

from __future__ import annotations

from sapwood.parameters import (
    ArrayLike,
    CallableRule,
    Flag,
    Interval,
    MappingLike,
    Nothing,
    OneOf,
    RandomState,
    Rule,
    Text,
)
from sapwood.threads import JOBS

Rules = dict[str, tuple[Rule, ...]]

SHARE = (Interval(float, 0, 1, closed="right"),)
AT_LEAST_ZERO = (Interval(float, low=0),)

NEWTON_RULES: Rules = {
    "n_estimators": (Interval(int, low=1),),
    "learning_rate": (Interval(float, low=0, closed="neither"), ArrayLike(), CallableRule()),
    "max_depth": (Interval(int, low=0), Nothing(remedy="Use max_depth=0 for no limit.")),
    "max_leaves": (Interval(int, low=0), Nothing(remedy="Use max_leaves=0 for no limit.")),
    "max_bin": (Interval(int, 2, 255),),
    "grow_policy": (OneOf("depthwise", "lossguide"),),
    "tree_method": (OneOf("hist", "approx", "exact", "auto"),),
    "gamma": AT_LEAST_ZERO,
    "min_child_weight": AT_LEAST_ZERO,
    "min_child_samples": (Interval(int, low=1),),
    "max_delta_step": AT_LEAST_ZERO,
    "subsample": SHARE,
    "sampling_method": (OneOf("uniform", "gradient_based"),),
    "colsample_bytree": SHARE,
    "colsample_bylevel": SHARE,
    "colsample_bynode": SHARE,
    "feature_weights": (ArrayLike(), Nothing()),
    "reg_alpha": AT_LEAST_ZERO,
    "reg_lambda": AT_LEAST_ZERO,
    "base_score": (Interval(float), Nothing()),
    "monotone_constraints": (ArrayLike(), MappingLike(), Nothing()),
    "interaction_constraints": (ArrayLike(), Nothing()),
    "max_cat_to_onehot": (Interval(int, low=1),),
    "max_cat_threshold": (Interval(int, low=1),),
    "cat_smooth": AT_LEAST_ZERO,
    "categorical_features": (OneOf("from_dtype"), ArrayLike(), Nothing()),
    "unseen": (OneOf("missing", "error"),),
    "objective": (Text(), CallableRule(), Nothing()),
    "quantile_alpha": (Interval(float, 0, 1, closed="neither"), ArrayLike()),
    "huber_delta": (Interval(float, low=0, closed="neither"),),
    "tweedie_variance_power": (Interval(float, 1, 2, closed="neither"),),
    "class_weight": (OneOf("balanced"), MappingLike(), Nothing()),
    "scale_pos_weight": (Interval(float, low=0, closed="neither"),),
    "undo_class_weight": (Flag(),),
    "eval_metric": (Text(), CallableRule(), ArrayLike(), Nothing()),
    "early_stopping_rounds": (Interval(int, low=1), Nothing()),
    "validation_fraction": (Interval(float, 0, 1, closed="neither"), Nothing()),
    "callbacks": (ArrayLike(), Nothing()),
    "max_seconds": (Interval(float, low=0, closed="neither"), Nothing()),
    "verbose": (Flag(), Interval(int, low=0)),
    "random_state": (RandomState(),),
    "n_jobs": JOBS,
}

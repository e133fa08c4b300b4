"""Which values the parameters of forests may take."""

from __future__ import annotations

from sapwood.estimators.tree_rules import CLASSIFIER_RULES, REGRESSOR_RULES, Rules
from sapwood.parameters import ArrayLike as Arrays
from sapwood.parameters import CallableRule, Flag, Interval, MappingLike, Nothing, OneOf

MAX_FEATURES = (
    Interval(int, low=1),
    Interval(float, 0, 1, closed="right", integers=False),
    OneOf("sqrt", "log2", "third"),
    Nothing(remedy="Use max_features=None for all columns."),
)

FOREST_RULES: Rules = {
    "n_estimators": (Interval(int, low=1),),
    "max_features": MAX_FEATURES,
    "bootstrap": (Flag(),),
    "oob_score": (Flag(), CallableRule()),
    "verbose": (Interval(int, low=0), Flag()),
    "warm_start": (Flag(),),
    "max_samples": (
        Interval(int, low=1),
        Interval(float, low=0, closed="neither", integers=False),
        Nothing(remedy="Use max_samples=None for as many draws as there are rows."),
    ),
    "feature_sampling": (OneOf("split", "tree"),),
    "oob_stop": (Flag(),),
    "oob_tol": (Interval(float, low=0),),
    "keep_targets": (Flag(),),
}

FOREST_CLASSIFIER_RULES: Rules = {
    **{name: rule for name, rule in CLASSIFIER_RULES.items() if name != "splitter"},
    **FOREST_RULES,
    "class_weight": (OneOf("balanced", "balanced_subsample"), MappingLike(), Arrays(), Nothing()),
    "voting": (OneOf("soft", "hard"),),
}

FOREST_REGRESSOR_RULES: Rules = {
    **{name: rule for name, rule in REGRESSOR_RULES.items() if name != "splitter"},
    **FOREST_RULES,
}

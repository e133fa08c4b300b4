"""Which values the parameters of Newton boosting may take."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

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


@dataclass(frozen=True)
class Each(Rule):
    """A list or array of at least one item, each of which one of some rules accepts."""

    items: tuple[Rule, ...]
    plural: str
    may_be_empty: bool = False

    def accepts(self, value: object) -> bool:
        """Accept a sequence whose items are all legal."""
        if not ArrayLike().accepts(value) or not isinstance(value, (Collection, np.ndarray)):
            return False
        items = list(value)
        return (self.may_be_empty or bool(items)) and all(any(r.accepts(item) for r in self.items) for item in items)

    def describe(self) -> str:
        """Say what is in the list."""
        return f"a list of {self.plural}"


class Objective(OneOf):
    """The name of an objective."""

    meant: ClassVar[dict[str, str]] = {
        "reg:linear": "squared_error",
        "ls": "squared_error",
        "mse": "squared_error",
        "regression": "squared_error",
        "lad": "absolute_error",
        "mae": "absolute_error",
        "reg:pseudohubererror": "huber",
        "deviance": "log_loss",
        "binary": "log_loss",
        "multiclass": "log_loss",
        "binary:logitraw": "log_loss",
        "reg:logistic": "log_loss",
        "rank:pairwise": "rank:ndcg",
        "rank:map": "rank:ndcg",
        "ndcg": "rank:ndcg",
    }

    def nearest(self, value: object) -> object | None:
        """Return what other libraries' name stands for, or the name that was probably mistyped."""
        known = self.meant.get(value) if isinstance(value, str) else None
        return known if known in self.choices else super().nearest(value)


def objective_rule(*names: str, remedy: str) -> tuple[Rule, ...]:
    """One of some names, a function, or nothing."""
    return (Objective(*names, remedy=remedy), CallableRule(), Nothing())


POSITIVE = Interval(float, low=0, closed="neither")
QUANTILE = Interval(float, 0, 1, closed="neither")

NEWTON_RULES: Rules = {
    "n_estimators": (Interval(int, low=1),),
    "learning_rate": (POSITIVE, Each((POSITIVE,), "such numbers, one for each round"), CallableRule()),
    "max_depth": (Interval(int, low=0), Nothing(remedy="Use max_depth=0 for no limit.")),
    "max_leaves": (Interval(int, low=0), Nothing(remedy="Use max_leaves=0 for no limit.")),
    "max_bin": (Interval(int, 2, 65535),),
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
    "feature_weights": (ArrayLike(), MappingLike(), Nothing()),
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
    "sparse_absent": (OneOf("zero", "missing"),),
    "objective": (Text(), CallableRule(), Nothing()),
    "quantile_alpha": (QUANTILE, Each((QUANTILE,), "such numbers")),
    "huber_delta": (POSITIVE,),
    "tweedie_variance_power": (Interval(float, 1, 2, closed="neither"),),
    "class_weight": (OneOf("balanced"), MappingLike(), Nothing()),
    "scale_pos_weight": (POSITIVE,),
    "undo_class_weight": (Flag(),),
    "eval_metric": (Text(), CallableRule(), Each((Text(), CallableRule()), "names and functions"), Nothing()),
    "early_stopping_rounds": (Interval(int, low=1), Nothing()),
    "validation_fraction": (QUANTILE, Nothing()),
    "callbacks": (Each((CallableRule(),), "functions of a Progress", may_be_empty=True), Nothing()),
    "max_seconds": (POSITIVE, Nothing()),
    "verbose": (Flag(), Interval(int, low=0)),
    "random_state": (RandomState(),),
    "n_jobs": JOBS,
}

REGRESSOR_RULES: Rules = {
    **NEWTON_RULES,
    "objective": objective_rule(
        "squared_error",
        "absolute_error",
        "huber",
        "quantile",
        "poisson",
        "gamma",
        "tweedie",
        "reg:squarederror",
        "reg:absoluteerror",
        "reg:quantileerror",
        "count:poisson",
        "reg:gamma",
        "reg:tweedie",
        remedy="Use a classifier for classes, or a function of (y_true, scores).",
    ),
}

CLASSIFIER_RULES: Rules = {
    **NEWTON_RULES,
    "objective": objective_rule(
        "log_loss",
        "exponential",
        "logistic",
        "multinomial",
        "binary:logistic",
        "multi:softprob",
        "multi:softmax",
        remedy="Use a regressor for numbers, or a function of (y_true, scores).",
    ),
}

RANKER_RULES: Rules = {
    **NEWTON_RULES,
    "objective": objective_rule(
        "rank:ndcg", "lambdarank", remedy="Use objective='rank:ndcg', or a function of (y_true, scores)."
    ),
}

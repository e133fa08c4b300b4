"""Which values the parameters of Newton boosting may take."""

from __future__ import annotations

import ast
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
        try:
            items = list(value)
        except Exception:  # a container may raise anything
            return False
        return (self.may_be_empty or bool(items)) and all(any(r.accepts(item) for r in self.items) for item in items)

    def describe(self) -> str:
        """Say what is in the list."""
        return f"a list of {self.plural}"


@dataclass(frozen=True)
class NotANumber(Rule):
    """NaN."""

    words: ClassVar[str] = "NaN"

    def accepts(self, value: object) -> bool:
        """Accept NaN only."""
        return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


@dataclass(frozen=True)
class Written(Rule):
    """A list or mapping as text, as XGBoost takes constraints."""

    example: str

    def accepts(self, value: object) -> bool:
        """Accept text that is a Python literal of a list, tuple or dictionary."""
        if not isinstance(value, str):
            return False
        try:
            return isinstance(ast.literal_eval(value), (list, tuple, dict))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return False

    def describe(self) -> str:
        """Show an example."""
        return f"text such as {self.example!r}"


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

WITHOUT_EFFECT: Rules = {
    "booster": (OneOf("gbtree", remedy="Leave out booster: the boosters are trees."), Nothing()),
    "device": (OneOf("cpu", remedy="Leave out device: everything runs on the processor."), Nothing()),
    "enable_categorical": (Flag(), Nothing()),
    "missing": (NotANumber(remedy="Replace other markers of missing values by NaN first."), Nothing()),
    "multi_strategy": (
        OneOf("one_output_per_tree", remedy="Leave out multi_strategy: fit one model for each target."),
        Nothing(),
    ),
    "num_parallel_tree": (Interval(int, 1, 1), Nothing(remedy="For forests, use RandomForestClassifier and others.")),
    "use_label_encoder": (Flag(), Nothing()),
    "validate_parameters": (Flag(), Nothing()),
    "verbosity": (Interval(int, 0, 3), Nothing()),
}
"""XGBoost's parameters that are taken and dropped: their other values have no counterpart."""

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
    "monotone_constraints": (ArrayLike(), MappingLike(), Written("(1, 0, -1)"), Nothing()),
    "interaction_constraints": (ArrayLike(), Written("[[0, 1], [2, 3]]"), Nothing()),
    "max_cat_to_onehot": (Interval(int, low=1),),
    "max_cat_threshold": (Interval(int, low=1),),
    "cat_smooth": AT_LEAST_ZERO,
    "categorical_features": (OneOf("from_dtype"), ArrayLike(), Nothing()),
    "unseen": (OneOf("missing", "error"),),
    "sparse_absent": (OneOf("zero", "missing"),),
    "objective": (Text(), CallableRule(), Nothing()),
    "quantile_alpha": (QUANTILE, Each((QUANTILE,), "such numbers")),
    "huber_delta": (POSITIVE, Nothing()),
    "tweedie_variance_power": (Interval(float, 1, 2, closed="neither"),),
    "class_weight": (OneOf("balanced"), MappingLike(), Nothing()),
    "scale_pos_weight": (POSITIVE,),
    "undo_class_weight": (Flag(),),
    "eval_metric": (Text(), CallableRule(), Each((Text(), CallableRule()), "names and functions"), Nothing()),
    "early_stopping_rounds": (
        Interval(int, low=1),
        Nothing(remedy="Use early_stopping_rounds=None to train all rounds."),
    ),
    "validation_fraction": (QUANTILE, Nothing()),
    "callbacks": (Each((CallableRule(),), "functions of a Progress", may_be_empty=True), Nothing()),
    "max_seconds": (POSITIVE, Nothing()),
    "verbose": (Flag(), Interval(int, low=0)),
    "random_state": (RandomState(),),
    "n_jobs": JOBS,
    "drift_warning": (Flag(),),
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

"""Which values the parameters of gradient boosting may take."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from sapwood.estimators.newton_rules import Each
from sapwood.estimators.tree_rules import SHARED_RULES
from sapwood.parameters import ArrayLike, CallableRule, Flag, Interval, MappingLike, Nothing, OneOf, Rule

Rules = dict[str, tuple[Rule, ...]]

_RATE = Interval(float, low=0)


@dataclass(frozen=True)
class RatesByRound(ArrayLike):
    """Learning rates, one for each round."""

    words: ClassVar[str] = "a list of such numbers"

    def accepts(self, value: object) -> bool:
        """Accept a sequence that is not empty, of finite numbers of at least 0."""
        return super().accepts(value) and isinstance(value, Collection) and len(value) > 0 and all(map(_is_rate, value))


def _is_rate(value: object) -> bool:
    return _RATE.accepts(value)


@dataclass(frozen=True)
class Beginner(Rule):
    """An estimator whose predictions the first stage starts from."""

    methods: tuple[str, ...] = ("fit", "predict")

    def accepts(self, value: object) -> bool:
        """Accept instances that have the methods."""
        return not isinstance(value, type) and all(callable(getattr(value, name, None)) for name in self.methods)

    def describe(self) -> str:
        """Name the methods."""
        return f"an estimator with {' and '.join(self.methods)}"


_TAKEN = (
    "max_depth",
    "min_samples_split",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_features",
    "random_state",
    "max_leaf_nodes",
    "min_impurity_decrease",
    "ccp_alpha",
    "monotonic_cst",
    "categorical_features",
    "n_jobs",
    "drift_warning",
)

GRADIENT_RULES: Rules = {
    **{name: SHARED_RULES[name] for name in _TAKEN},
    "learning_rate": (_RATE, RatesByRound(), CallableRule()),
    "n_estimators": (Interval(int, low=1),),
    "subsample": (Interval(float, 0, 1, closed="right"),),
    "criterion": (OneOf("friedman_mse", "squared_error", "deprecated"),),
    "verbose": (Flag(), Interval(int, low=0)),
    "warm_start": (Flag(),),
    "validation_fraction": (Interval(float, 0, 1, closed="neither"), Nothing()),
    "n_iter_no_change": (Interval(int, low=1), Nothing()),
    "tol": (Interval(float, low=0),),
    "max_bins": (Interval(int, 2, 65535),),
    "line_search": (Flag(),),
    "interaction_cst": (OneOf("pairwise", "no_interactions"), ArrayLike(), Nothing()),
    "unseen": (OneOf("missing", "error"),),
    "callbacks": (Each((CallableRule(),), "functions of a Progress", may_be_empty=True), Nothing()),
    "max_seconds": (Interval(float, low=0, closed="neither"), Nothing()),
}

CLASSIFIER_RULES: Rules = {
    **GRADIENT_RULES,
    "loss": (OneOf("log_loss", "exponential"),),
    "init": (OneOf("zero"), Beginner(("fit", "predict_proba")), Nothing()),
    "class_weight": (OneOf("balanced"), MappingLike(), Nothing()),
    "undo_class_weight": (Flag(),),
}

REGRESSOR_RULES: Rules = {
    **GRADIENT_RULES,
    "loss": (OneOf("squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"),),
    "init": (OneOf("zero"), Beginner(), Nothing()),
    "alpha": (Interval(float, 0, 1, closed="neither"),),
    "tweedie_variance_power": (Interval(float, 1, 2, closed="neither"),),
}

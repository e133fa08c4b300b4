"""The fits whose fingerprints are recorded: every estimator, criterion and objective, and each option with several."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from fingerprint_data import DEEP_ROWS, MANY_ROWS, ROWS, TEAM_ROWS, queries, table, target, weights

import sapwood as sw


@dataclass(frozen=True)
class Case:
    """One fit. The name says all of it, so that equal names are equal fits."""

    estimator: str
    table: str
    target: str
    weights: str = ""
    rows: int = ROWS
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        parts = [self.estimator, self.table, self.target]
        parts += [f"{self.weights} weights"] * bool(self.weights) + [f"{self.rows} rows"] * (self.rows != ROWS)
        return " | ".join(parts + [f"{key}={_told(value)}" for key, value in self.parameters.items()])

    def fit(self, n_jobs: int = 2) -> Any:
        """The fitted model."""
        recipe = {"recipe": "xgboost"} if self.estimator.startswith("Newton") else {}
        model = getattr(sw, self.estimator)(n_jobs=n_jobs, random_state=0, **recipe, **self.parameters)
        X, y = table(self.table, self.rows), target(self.target, self.table, self.rows)
        given = {"sample_weight": weights(self.weights, self.rows)} if self.weights else {}
        if self.estimator == "NewtonBoostingRanker":
            given = {"qid": queries(self.rows)}
        return model.fit(X, y, **given)


def _told(value: Any) -> str:
    return value.__name__ if callable(value) and hasattr(value, "__name__") else str(value)


def squares(y: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Squared error, as a user writes it."""
    return scores - y, np.ones_like(y)


TWO_SIGNS = [1, 0, -1, 0, 0, 0]
TREE_OPTIONS: list[dict[str, Any]] = [
    {"max_bins": 16},
    {"max_features": 2},
    {"splitter": "random"},
    {"max_leaf_nodes": 20},
    {"significance": 0.05},
    {"ccp_alpha": 0.01},
    {"min_samples_leaf": 7, "min_impurity_decrease": 0.001},
    {"min_weight_fraction_leaf": 0.02, "max_depth": 6},
]
NEWTON_OPTIONS: list[dict[str, Any]] = [
    {"grow_policy": "lossguide", "max_leaves": 12, "max_depth": 0},
    {"max_leaves": 9},
    {"subsample": 0.5},
    {"subsample": 0.5, "sampling_method": "gradient_based"},
    {"colsample_bytree": 0.5, "colsample_bylevel": 0.5, "colsample_bynode": 0.5},
    {"min_child_samples": 20, "gamma": 0.5},
    {"reg_alpha": 0.5, "max_delta_step": 0.25},
    {"monotone_constraints": TWO_SIGNS},
    {"interaction_constraints": [[0, 1], [2, 3, 4]]},
]


def _all() -> Iterator[Case]:
    yield from _trees()
    yield from _forests()
    yield from _ensembles()
    yield from _gradient()
    yield from _newton()
    yield from _newton_tables()
    yield from _newton_leaves()


def _trees() -> Iterator[Case]:
    classifier, regressor = "DecisionTreeClassifier", "DecisionTreeRegressor"
    for criterion in ("gini", "entropy", "log_loss", "error"):
        yield _case(classifier, "fine", "three", criterion=criterion)
    for criterion in ("squared_error", "friedman_mse", "absolute_error", "poisson"):
        goal = "counts" if criterion == "poisson" else "tenths"
        yield _case(regressor, "fine", goal, criterion=criterion)
        yield _case(regressor, "levels, missing", goal, "thirds", criterion=criterion, max_depth=6)
    for options in TREE_OPTIONS:
        yield _case(classifier, "missing", "two", **options)
        yield _case(regressor, "missing", "eighths", **options)
    for columns in ("coarse", "tied", "few levels", "levels", "many levels", "thin"):
        yield _case(classifier, columns, "three", "whole", max_leaf_nodes=30)
        yield _case(regressor, columns, "tenths", max_depth=7)
    for columns in ("few levels", "levels"):
        yield _case(classifier, columns, "two", "thirds", criterion="entropy", splitter="random")
        yield _case(regressor, columns, "tenths", "whole", max_features=1)
        yield _case(regressor, columns, "eighths", criterion="absolute_error", max_depth=4)
        yield _case(regressor, columns, "tenths", significance=0.01)
    yield _case(classifier, "fine", "two", monotonic_cst=TWO_SIGNS)
    yield _case(regressor, "missing", "tenths", "thirds", monotonic_cst=TWO_SIGNS, max_leaf_nodes=25)
    yield _case(regressor, "few levels", "tenths", monotonic_cst=[1, -1, 0, 0, 0], max_depth=5)
    yield _case(regressor, "fine", "eighths", criterion="absolute_error", monotonic_cst=TWO_SIGNS, max_depth=4)
    yield _case(regressor, "fine", "tenths", leaf="median", max_depth=5)
    yield _case(classifier, "fine", "three", leaf="softmax", max_depth=5)
    for columns in ("missing", "few levels"):
        yield _case(classifier, columns, "class outputs", max_depth=6)
        yield _case(regressor, columns, "number outputs", "thirds", max_depth=6)
    yield _case(regressor, "fine", "number outputs", criterion="absolute_error", max_depth=4)
    yield _case(classifier, "coarse", "three", class_weight="balanced", impurity_threshold=0.1)


def _forests() -> Iterator[Case]:
    few: dict[str, Any] = {"n_estimators": 4}
    alone: dict[str, Any] = {"prior_weight": 0.0}
    root, third = alone | {"max_features": "sqrt"}, {"max_features": "third"}
    for criterion in ("gini", "entropy", "error"):
        yield _case("RandomForestClassifier", "missing", "three", criterion=criterion, **few, **root)
    for criterion, goal in (("squared_error", "tenths"), ("absolute_error", "eighths"), ("poisson", "counts")):
        yield _case("RandomForestRegressor", "missing", goal, criterion=criterion, max_depth=7, **few, **third)
    for columns in ("few levels", "many levels", "tied", "thin"):
        yield _case("RandomForestClassifier", columns, "two", max_features=1, max_bins=None, **few, **alone)
        yield _case("RandomForestRegressor", columns, "tenths", "whole", max_samples=0.5, **few, **third)
    yield _case("RandomForestRegressor", "fine", "tenths", rows=DEEP_ROWS, max_bins=None, n_estimators=1, **third)
    yield _case(
        "RandomForestRegressor", "fine", "tenths", rows=DEEP_ROWS, max_bins=None, max_features=1, n_estimators=1
    )
    yield _case("RandomForestRegressor", "fine", "tenths", max_features="third", max_bins=None, **few)
    yield _case("RandomForestRegressor", "fine", "tenths", "thirds", max_features=1, max_leaf_nodes=25, **few)
    yield _case("RandomForestRegressor", "missing", "tenths", bootstrap=False, feature_sampling="tree", **few, **third)
    yield _case(
        "RandomForestClassifier", "coarse", "three", class_weight="balanced_subsample", voting="hard", **few, **root
    )
    yield _case("RandomForestRegressor", "fine", "number outputs", keep_targets=True, max_depth=6, **few, **third)
    yield _case("RandomForestClassifier", "fine", "class outputs", max_depth=6, **few, **root)
    yield _case("RandomForestRegressor", "fine", "tenths", monotonic_cst=TWO_SIGNS, max_depth=6, **few, **third)
    yield _case("RandomForestClassifier", "levels", "two", ccp_alpha=0.004, min_samples_leaf=3, **few, **root)
    for columns in ("missing", "levels", "thin"):
        yield _case("ExtraTreesClassifier", columns, "three", **few, **root)
        yield _case("ExtraTreesRegressor", columns, "tenths", "thirds", max_features=0.4, **few)


def _ensembles() -> Iterator[Case]:
    few: dict[str, Any] = {"n_estimators": 5}
    deep, stump = sw.DecisionTreeClassifier(max_depth=4), sw.DecisionTreeClassifier(max_depth=1, criterion="entropy")
    yield _case("BaggingClassifier", "few levels", "three", max_features=0.6, **few)
    yield _case("BaggingClassifier", "fine", "two", "whole", estimator=deep, bootstrap_features=True, **few)
    yield _case("BaggingRegressor", "missing", "tenths", max_samples=0.5, **few)
    yield _case("AdaBoostClassifier", "fine", "two", estimator=stump, **few)
    yield _case("AdaBoostClassifier", "levels, missing", "three", "thirds", estimator=deep, **few)
    yield _case("AdaBoostClassifier", "coarse", "three", estimator=deep, resample=True, **few)
    for loss in ("linear", "square", "exponential"):
        yield _case("AdaBoostRegressor", "missing", "tenths", loss=loss, **few)


def _gradient() -> Iterator[Case]:
    classifier, regressor, few = "GradientBoostingClassifier", "GradientBoostingRegressor", {"n_estimators": 6}
    goals = {"poisson": "counts", "gamma": "positive", "tweedie": "counts"}
    for loss in ("squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"):
        yield _case(regressor, "missing", goals.get(loss, "tenths"), loss=loss, **few)
    yield _case(classifier, "missing", "two", loss="exponential", **few)
    yield _case(classifier, "few levels", "three", "thirds", subsample=0.5, **few)
    yield _case(classifier, "levels", "two", class_weight="balanced", max_features=2, **few)
    yield _case(regressor, "fine", "tenths", criterion="friedman_mse", max_leaf_nodes=8, max_depth=None, **few)
    yield _case(regressor, "fine", "tenths", "whole", line_search=True, ccp_alpha=0.02, **few)
    yield _case(regressor, "fine", "tenths", learning_rate=[0.5, 0.25, 0.125], n_estimators=3)
    yield _case(regressor, "fine", "tenths", n_iter_no_change=2, init="zero", min_samples_leaf=5, **few)
    yield _case(regressor, "fine", "tenths", monotonic_cst=TWO_SIGNS, interaction_cst=[[0, 1], [2, 3]], **few)


def _newton() -> Iterator[Case]:
    classifier, regressor, few = "NewtonBoostingClassifier", "NewtonBoostingRegressor", {"n_estimators": 6}
    goals = {"poisson": "counts", "gamma": "positive", "tweedie": "counts"}
    for loss in ("squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie", squares):
        goal = goals.get(loss, "tenths") if isinstance(loss, str) else "tenths"
        yield _case(regressor, "missing", goal, objective=loss, **few)
    yield _case(regressor, "fine", "tenths", objective="quantile", quantile_alpha=[0.1, 0.5, 0.9], **few)
    yield _case(classifier, "missing", "two", objective="exponential", **few)
    for method in ("hist", "approx", "exact"):
        for goal, given in (("two", ""), ("three", "whole")):
            yield _case(classifier, "missing", goal, given, tree_method=method, **few)
        for columns in ("few levels", "levels", "many levels", "tied"):
            yield _case(regressor, columns, "tenths", tree_method=method, **few)
        for options in NEWTON_OPTIONS if method != "approx" else NEWTON_OPTIONS[::4]:
            yield _case(classifier, "fine", "two", "thirds", tree_method=method, **options, **few)


def _newton_tables() -> Iterator[Case]:
    classifier, regressor, few = "NewtonBoostingClassifier", "NewtonBoostingRegressor", {"n_estimators": 6}
    yield _case("NewtonBoostingRanker", "missing", "grades", **few)
    yield _case("NewtonBoostingRanker", "few levels", "grades", tree_method="exact", subsample=0.5, **few)
    yield _case(classifier, "fine", "three", learning_rate=[0.5, 0.25, 0.125], n_estimators=3)
    yield _case(classifier, "fine", "two", validation_fraction=0.25, early_stopping_rounds=3, **few)
    yield _case(regressor, "few levels", "tenths", max_cat_to_onehot=9, cat_smooth=2.0, max_cat_threshold=2, **few)
    yield _case(regressor, "coarse", "tenths", feature_weights=[1, 2, 3, 4, 5, 6], colsample_bynode=0.4, **few)
    for columns in ("thin", "exclusive", "wide"):
        yield _case(classifier, columns, "two", rows=TEAM_ROWS, **few)
        yield _case(regressor, columns, "tenths", "thirds", rows=TEAM_ROWS, subsample=0.5, **few)
    yield _case(classifier, "thin", "two", rows=TEAM_ROWS, sparse_absent="missing", **few)
    yield _case(classifier, "wide", "three", rows=TEAM_ROWS, grow_policy="lossguide", max_leaves=20, **few)
    yield _case(classifier, "wide", "two", rows=TEAM_ROWS, max_bin=1000, **few)
    for method in ("approx", "exact"):
        yield _case(regressor, "wide", "eighths", rows=TEAM_ROWS, tree_method=method, max_depth=4, **few)
    yield _case(regressor, "few levels", "tenths", monotone_constraints=[1, -1, 0, 0, 0], max_leaves=9, **few)
    yield _case(
        classifier, "fine", "two", rows=MANY_ROWS, subsample=0.3, sampling_method="gradient_based", n_estimators=2
    )
    yield _case(classifier, "levels, missing", "two", rows=MANY_ROWS, n_estimators=3)
    yield _case(classifier, "missing", "three", "thirds", rows=MANY_ROWS, subsample=0.5, n_estimators=2)
    yield _case(regressor, "many levels", "tenths", rows=MANY_ROWS, n_estimators=3)


def _newton_leaves() -> Iterator[Case]:
    """One tree for all scores of a round; leaves that all rows set."""
    classifier, regressor, few = "NewtonBoostingClassifier", "NewtonBoostingRegressor", {"n_estimators": 6}
    one: dict[str, Any] = {"multi_strategy": "multi_output_tree"}
    drawn: dict[str, Any] = {"subsample": 0.5, "leaf_rows": "all"}
    for method in ("hist", "approx", "exact"):
        yield _case(classifier, "levels, missing", "three", "thirds", tree_method=method, **one, **few)
        yield _case(regressor, "missing", "tenths", "whole", tree_method=method, **drawn, **few)
    for columns in ("many levels", "thin"):
        yield _case(classifier, columns, "three", **one, **few)
    yield _case(classifier, "fine", "three", subsample=0.5, colsample_bytree=0.5, **one, **few)
    yield _case(classifier, "missing", "three", grow_policy="lossguide", max_leaves=9, **one, **drawn, **few)
    yield _case(regressor, "fine", "tenths", objective="quantile", quantile_alpha=[0.1, 0.5, 0.9], **one, **few)
    yield _case(regressor, "fine", "tenths", objective="quantile", quantile_alpha=[0.1, 0.9], **one, **drawn, **few)
    yield _case(classifier, "few levels", "two", "thirds", sampling_method="gradient_based", **drawn, **few)
    yield _case(regressor, "missing", "tenths", monotone_constraints=TWO_SIGNS, **drawn, **few)
    yield _case(regressor, "fine", "tenths", objective="absolute_error", monotone_constraints=TWO_SIGNS, **drawn, **few)
    yield _case(classifier, "missing", "three", "thirds", rows=MANY_ROWS, **one, **drawn, n_estimators=2)


def _case(kind: str, columns: str, goal: str, given: str = "", /, *, rows: int = ROWS, **parameters: Any) -> Case:
    return Case(kind, columns, goal, given, rows, parameters)


CASES = {case.name: case for case in _all()}

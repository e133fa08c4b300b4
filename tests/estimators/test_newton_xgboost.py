"""The same trees as XGBoost's exact method, where both mean the same.

Bins are compared on few rows, where every distinct value has its own and nothing is approximated. Rows have random
weights, because the gradients of classes would be tied otherwise. XGBoost compares gamma with twice the gain, and keeps
leaves as float32.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sapwood import NewtonBoostingClassifier, NewtonBoostingRegressor

xgboost = pytest.importorskip("xgboost")

TOLERANCE = 1e-5
ROUNDS = 6
Data = tuple[NDArray[np.float32], NDArray[Any], NDArray[Any]]


def table(seed: int, missing: float = 0.0, n_rows: int = 200) -> Data:
    """Float32 columns without ties, a target, and weights."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, 4)).astype(np.float32)
    y = x[:, 0] + np.sin(3 * x[:, 1]) * x[:, 2] + 0.5 * rng.normal(size=n_rows)
    x[rng.random(x.shape) < missing] = np.nan
    return x, y.astype(np.float32).astype(float), rng.uniform(0.5, 2.0, size=n_rows).astype(np.float32).astype(float)


def theirs(x: Any, y: Any, weight: Any, objective: str, rounds: int = ROUNDS, **parameters: Any) -> Any:
    given = {"tree_method": "exact", "eta": 0.3, "base_score": 0.5, "nthread": 1, "objective": objective, **parameters}
    return xgboost.train(given, xgboost.DMatrix(x, label=y, weight=weight), num_boost_round=rounds)


def compare(node: dict[str, Any], tree: Any, at: int, x: NDArray[Any], exact: bool) -> None:
    """Node by node: columns, sides of the rows, gains, hessians and leaves.

    Thresholds lie between the same two rows of the node: in their middle by the exact method, and in the middle of
    neighbouring values of all rows by bins.
    """
    assert tree.n_node_samples[at] == len(x)
    assert tree.weighted_n_node_samples[at] == pytest.approx(node["cover"], rel=TOLERANCE)
    if "leaf" in node:
        assert tree.is_leaf[at]
        assert tree.value[at, 0, 0] == pytest.approx(node["leaf"], rel=TOLERANCE, abs=TOLERANCE)
        return
    assert not tree.is_leaf[at]
    assert f"f{tree.feature[at]}" == node["split"]
    values = x[:, tree.feature[at]]
    goes_left = np.where(np.isnan(values), tree.missing_go_to_left[at], values <= tree.threshold[at])
    expected = np.where(np.isnan(values), node["missing"] == node["yes"], values < np.float32(node["split_condition"]))
    np.testing.assert_array_equal(goes_left, expected)
    if exact and 0 < np.isfinite(values[goes_left]).sum() < np.isfinite(values).sum():
        assert tree.threshold[at] == pytest.approx(node["split_condition"], rel=TOLERANCE, abs=TOLERANCE)
    mass = tree.weighted_n_node_samples * tree.impurity
    left, right = int(tree.children_left[at]), int(tree.children_right[at])
    assert 2 * (mass[at] - mass[left] - mass[right]) == pytest.approx(node["gain"], rel=1e-4, abs=1e-4)
    children = {child["nodeid"]: child for child in node["children"]}
    compare(children[node["yes"]], tree, left, x[goes_left], exact)
    compare(children[node["no"]], tree, right, x[~goes_left], exact)


def check(model: Any, booster: Any, x: Any, rounds: int = ROUNDS) -> None:
    dumped = booster.get_dump(dump_format="json", with_stats=True)
    assert len(dumped) == len(model.ensemble_.rounds) == rounds
    for (tree,), text in zip(model.ensemble_.rounds, dumped, strict=True):
        compare(json.loads(text), tree, 0, x, model.tree_method == "exact")
    margin = booster.predict(xgboost.DMatrix(x), output_margin=True)
    np.testing.assert_allclose(model.predict(x, output_margin=True), margin, atol=TOLERANCE, rtol=TOLERANCE)


SETTINGS: dict[str, dict[str, float]] = {
    "plain": {},
    "lambda 0": {"reg_lambda": 0.0, "gamma": 5e-5},  # a pure node gains nothing, but XGBoost's rounding 1e-5
    "alpha": {"reg_alpha": 1.5},
    "alpha and lambda": {"reg_alpha": 0.7, "reg_lambda": 3.0},
    "min_child_weight 0": {"min_child_weight": 0.0, "reg_lambda": 0.5},
    "min_child_weight 10": {"min_child_weight": 10.0},
    "max_delta_step": {"max_delta_step": 0.4},
    "gamma": {"gamma": 0.8},
    "depth 3": {"max_depth": 3},
    "depth 4": {"max_depth": 4, "learning_rate": 0.7},
    "depth 1": {"max_depth": 1},
}


def both(kind: Any, data: Data, settings: dict[str, float], method: str) -> tuple[Any, Any]:
    x, y, weight = data
    given = {"max_depth": 6, "min_child_weight": 1.0, "learning_rate": 0.3, **settings}
    ours = kind(recipe="xgboost", n_estimators=ROUNDS, base_score=0.5, tree_method=method, n_jobs=1, **given).fit(
        x, y, weight
    )
    objective = "binary:logistic" if kind is NewtonBoostingClassifier else "reg:squarederror"
    names = {"learning_rate": "eta"}
    renamed = {names.get(name, name): value for name, value in given.items()}
    return ours, theirs(x, y, weight, objective, **{**renamed, "gamma": 2 * given.get("gamma", 0.0)})


@pytest.mark.parametrize("missing", [0.0, 0.2], ids=["complete", "missing"])
@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize(("method", "n_rows"), [("hist", 200), ("exact", 200), ("exact", 600)])
class TestExact:
    def test_squares(self, method, n_rows, settings, missing):
        data = table(n_rows, missing, n_rows)
        check(*both(NewtonBoostingRegressor, data, settings, method), data[0])

    def test_logistic(self, method, n_rows, settings, missing):
        x, y, weight = table(n_rows + 1, missing, n_rows)
        data = (x, (y > 0).astype(int), weight)
        check(*both(NewtonBoostingClassifier, data, settings, method), x)


@pytest.mark.parametrize("seed", range(3))
def test_leaf_by_leaf(seed: int) -> None:
    """Only XGBoost's histograms grow so; their thresholds are values, so training rows are compared."""
    x, y, weight = table(seed)
    ours = NewtonBoostingRegressor(
        recipe="xgboost",
        n_estimators=ROUNDS,
        base_score=0.5,
        grow_policy="lossguide",
        max_leaves=9,
        max_depth=0,
        n_jobs=1,
    ).fit(x, y, weight)
    given = {"tree_method": "hist", "max_bin": 1024, "grow_policy": "lossguide", "max_leaves": 9, "max_depth": 0}
    booster = theirs(x, y, weight, "reg:squarederror", **given)
    np.testing.assert_allclose(ours.predict(x), booster.predict(xgboost.DMatrix(x)), atol=TOLERANCE)


@pytest.mark.parametrize(
    ("objective", "name"), [("poisson", "count:poisson"), ("gamma", "reg:gamma"), ("tweedie", "reg:tweedie")]
)
def test_other_losses_are_close(objective: str, name: str) -> None:
    """Definitions differ in details (steps of Poisson are limited, float32 exponentials): predictions agree."""
    x, y, weight = table(3)
    amounts = np.exp(y / 2)
    ours = NewtonBoostingRegressor(
        recipe="xgboost", n_estimators=20, objective=objective, base_score=0.5, max_depth=3, n_jobs=1
    )
    booster = theirs(x, amounts, weight, name, rounds=20, max_delta_step=0.0, max_depth=3)
    said = ours.fit(x, amounts, weight).predict(x)
    assert np.corrcoef(np.log(said), np.log(booster.predict(xgboost.DMatrix(x))))[0, 1] > 0.97
    assert np.mean(said) == pytest.approx(np.mean(booster.predict(xgboost.DMatrix(x))), rel=0.05)


def test_monotone_constraints_are_as_good() -> None:
    x, y, weight = table(4)
    ours = NewtonBoostingRegressor(
        recipe="xgboost", n_estimators=30, base_score=0.5, monotone_constraints=[1, 0, -1, 0], n_jobs=1
    )
    booster = theirs(x, y, weight, "reg:squarederror", rounds=30, monotone_constraints="(1,0,-1,0)", max_depth=6)
    error, other = (
        np.average((said - y) ** 2, weights=weight)
        for said in (ours.fit(x, y, weight).predict(x), booster.predict(xgboost.DMatrix(x)))
    )
    assert error < 1.05 * other

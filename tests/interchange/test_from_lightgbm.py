"""Models of LightGBM come over with every prediction."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from import_cases import COLOURS, assert_lives, frame, numbers_only, positive, signal, three_classes, two_classes

import sapwood as sw
from sapwood.errors import InputTypeError, ModelFileError
from sapwood.interchange import from_lightgbm
from sapwood.interchange.sources.lightgbm import zeros as lightgbm_zeros

lgb = pytest.importorskip("lightgbm")

BASE = {
    "verbose": -1,
    "num_threads": 1,
    "min_data_in_leaf": 3,
    "min_data_per_group": 2,
    "max_cat_to_onehot": 1,
    "cat_smooth": 1.0,
    "num_leaves": 8,
}
NUMBERS: list[dict[str, Any]] = [
    {"objective": "regression"},
    {"objective": "regression_l1"},
    {"objective": "huber", "alpha": 0.7},
    {"objective": "quantile", "alpha": 0.3},
    {"objective": "poisson"},
    {"objective": "gamma"},
    {"objective": "tweedie", "tweedie_variance_power": 1.3},
    {"objective": "regression", "boosting": "dart", "drop_rate": 0.5},
    {"objective": "regression", "boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.6},
    {"objective": "regression", "use_missing": False},
    {"objective": "regression", "zero_as_missing": True},
    {"objective": "regression", "max_cat_to_onehot": 9},
    {"objective": "regression", "extra_trees": True},
]


def train(X: Any, y: Any, rounds: int = 6, **parameters: Any) -> Any:
    return lgb.train(BASE | parameters, lgb.Dataset(X, y, free_raw_data=False), rounds)


def new_rows() -> pd.DataFrame:
    """With tiny numbers, which LightGBM takes for zero."""
    X = frame(400, seed=9)
    X.loc[::9, "height"] = 1e-36
    X.loc[::11, "height"] = -1e-36
    X.loc[::13, "height"] = np.nan
    return X


@pytest.mark.parametrize("parameters", NUMBERS, ids=lambda p: "-".join(map(str, p.values())))
def test_numbers(parameters: dict[str, Any], tmp_path: Path) -> None:
    X = frame()
    booster = train(X, positive(X), **parameters)
    ours = from_lightgbm(booster)
    assert isinstance(ours, sw.NewtonBoostingRegressor)
    np.testing.assert_allclose(ours.predict(new_rows()), booster.predict(new_rows()), rtol=1e-12)
    assert_lives(ours, X, tmp_path)


@pytest.mark.parametrize("parameters", NUMBERS, ids=lambda p: "-".join(map(str, p.values())))
def test_files_say_the_same(parameters: dict[str, Any], tmp_path: Path) -> None:
    X = frame()
    booster = train(X, positive(X), rounds=3, **parameters)
    path = tmp_path / "model.txt"
    booster.save_model(path)
    for source in (path, str(path), path.read_bytes(), path.read_text()):
        np.testing.assert_array_equal(from_lightgbm(source).predict(X), from_lightgbm(booster).predict(X))


@pytest.mark.parametrize("target", [two_classes, three_classes])
def test_classes(target: Any, tmp_path: Path) -> None:
    X, labels = frame(), np.array(["no", "yes", "maybe"])
    model = lgb.LGBMClassifier(n_estimators=5, num_leaves=7, n_jobs=1, verbose=-1, reg_lambda=2.0)
    model.fit(X, labels[target(X)])
    ours = from_lightgbm(model)
    assert isinstance(ours, sw.NewtonBoostingClassifier)
    np.testing.assert_allclose(ours.predict_proba(new_rows()), model.predict_proba(new_rows()), rtol=1e-12)
    np.testing.assert_array_equal(ours.predict(new_rows()), model.predict(new_rows()))
    assert (ours.reg_lambda, ours.max_leaves, ours.learning_rate, ours.max_depth) == (2.0, 7, 0.1, 0)
    assert_lives(ours, X, tmp_path)


def test_the_sigmoid_makes_scores_log_odds() -> None:
    X = frame()
    booster = train(X, two_classes(X), objective="binary", sigmoid=2.5)
    ours = from_lightgbm(booster)
    np.testing.assert_allclose(ours.predict_proba(X)[:, 1], booster.predict(X), rtol=1e-12)
    np.testing.assert_allclose(ours.decision_function(X), 2.5 * booster.predict(X, raw_score=True), rtol=1e-12)


def test_forests_of_classes() -> None:
    X = frame()
    booster = train(X, three_classes(X), num_class=3, **NUMBERS[8] | {"objective": "multiclass"})
    np.testing.assert_allclose(from_lightgbm(booster).predict_proba(X), booster.predict(X), rtol=1e-12)


def test_rankings(tmp_path: Path) -> None:
    X = frame()
    model = lgb.LGBMRanker(n_estimators=4, n_jobs=1, verbose=-1, min_child_samples=3)
    model.fit(X, three_classes(X), group=[120, 120])
    ours = from_lightgbm(model)
    assert isinstance(ours, sw.NewtonBoostingRanker)
    np.testing.assert_allclose(ours.predict(X), model.predict(X), rtol=1e-12, atol=1e-15)
    assert_lives(ours, X, tmp_path)


@pytest.mark.parametrize("boosting", ["gbdt", "rf"])
def test_early_stopping_predicts_with_the_best_round(boosting: str) -> None:
    X, rows = frame(), frame(seed=5)
    noise = np.random.default_rng(0).normal(size=len(rows))
    data = lgb.Dataset(X, signal(X), free_raw_data=False)
    watched = data.create_valid(rows, 0.1 * signal(rows) + noise)
    options = BASE | {"objective": "regression", "boosting": boosting, "bagging_freq": 1, "bagging_fraction": 0.6}
    stop = lgb.early_stopping(3, verbose=False)
    booster = lgb.train(options, data, 60, valid_sets=[watched], callbacks=[stop], keep_training_booster=True)
    assert 0 < booster.best_iteration < booster.current_iteration()
    ours = from_lightgbm(booster)
    np.testing.assert_allclose(ours.predict(rows), booster.predict(rows), rtol=1e-12)
    assert ours.best_n_rounds_ == booster.best_iteration
    if boosting == "gbdt":
        assert ours.best_score_ == booster.best_score["valid_0"]["l2"]
        everything = ours.predict(rows, n_rounds=ours.n_estimators_)
        np.testing.assert_allclose(everything, booster.predict(rows, num_iteration=-1), rtol=1e-12)


def test_gains_counts_and_ranges_are_lightgbms() -> None:
    X = frame()
    booster = train(X, signal(X))
    ours = from_lightgbm(booster)
    np.testing.assert_allclose(ours.ensemble_.gains(5), booster.feature_importance("gain"), rtol=1e-5)
    assert ours.ensemble_.rounds[0][0].n_node_samples[0] == len(X)
    assert (ours.schema_.columns[0].low, ours.schema_.columns[0].high) == (X["width"].min(), X["width"].max())


def test_names_of_categories_are_those_of_pandas() -> None:
    X = frame()
    ours = from_lightgbm(train(X, signal(X)).model_to_string())
    assert ours.schema_.columns[2].levels == tuple(COLOURS)
    assert ours.schema_.columns[3].levels == (10, 20, 30)


def test_unknown_categories_go_right() -> None:
    X = frame()
    booster = train(X, signal(X))
    rows = X.head(30).assign(colour=pd.Categorical(["pink"] * 30))
    np.testing.assert_allclose(from_lightgbm(booster).predict(rows), booster.predict(rows), rtol=1e-12)


def test_categories_that_are_numbers() -> None:
    X = numbers_only(frame()).assign(code=frame()["size"].astype(float)).to_numpy()
    booster = lgb.train(BASE, lgb.Dataset(X, signal(frame()), categorical_feature=[3]), 6)
    ours = from_lightgbm(booster)
    assert ours.schema_.columns[3].levels == (10, 20, 30)
    np.testing.assert_allclose(ours.predict(X), booster.predict(X), rtol=1e-12)
    assert not ours.schema_.named
    codes = np.column_stack([X[:, :3], X[:, 3] / 10 - 1])
    other = lgb.train(BASE, lgb.Dataset(codes, signal(frame()), categorical_feature=[3]), 6)
    named = from_lightgbm(other, levels={"x3": ["small", "medium", "large"]})
    texts = np.array(["small", "medium", "large"], dtype=object)[codes[:, 3].astype(int)]
    rows = pd.DataFrame(X[:, :3]).assign(size=texts)
    rows.columns = list("abcd")
    np.testing.assert_allclose(named.predict(rows), other.predict(codes), rtol=1e-12)


def test_many_categories_take_several_words() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 300, 2000), rng.normal(size=2000)]).astype(float)
    y = np.sin(X[:, 0]) + X[:, 1]
    booster = lgb.train(BASE, lgb.Dataset(X, y, categorical_feature=[0]), 5)
    np.testing.assert_allclose(from_lightgbm(booster).predict(X), booster.predict(X), rtol=1e-12)


def test_zeros_that_go_against_their_side_of_the_threshold_split_a_node_into_three() -> None:
    rng = np.random.default_rng(2)
    X = rng.choice([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, np.nan], size=(400, 2))
    y = np.where(X[:, 0] == 0, -5.0, np.where(X[:, 0] < 0, X[:, 0], 3.0)) + np.abs(np.nan_to_num(X[:, 1]))
    booster = lgb.train(BASE | {"zero_as_missing": True}, lgb.Dataset(X, y), 5)
    ours = from_lightgbm(booster)
    rows = rng.choice([-2.0, -1e-36, -0.0, 1e-36, 1e-34, 2.0, np.nan, -1e-34], size=(200, 2))
    np.testing.assert_allclose(ours.predict(rows), booster.predict(rows), rtol=1e-12)
    n_leaves = sum(text.count(" ") + 1 for text in re.findall("leaf_value=(.*)", booster.model_to_string()))
    assert sum(member.tree.n_leaves for member in ours.model_.trees) > n_leaves
    np.testing.assert_allclose(ours.ensemble_.gains(2), booster.feature_importance("gain"), rtol=1e-5)


def test_trees_that_zeros_make_too_large_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lightgbm_zeros, "MOST_NODES", 3)
    booster = train(frame(), signal(frame()), zero_as_missing=True)
    with pytest.raises(ModelFileError, match="zero_as_missing=False"):
        from_lightgbm(booster)


def test_trees_without_splits() -> None:
    X = numbers_only(frame())
    booster = train(X, np.ones(len(X)), rounds=2)
    np.testing.assert_allclose(from_lightgbm(booster).predict(X), booster.predict(X), rtol=1e-12)


def test_without_lightgbm_files_are_checked_by_an_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    X = frame()
    booster = train(X, signal(X), zero_as_missing=True)
    text = booster.model_to_string()
    monkeypatch.setattr("sapwood.interchange.optional.find_spec", lambda name: None)
    np.testing.assert_allclose(from_lightgbm(text).predict(X), booster.predict(X), rtol=1e-12)
    monkeypatch.setattr(lightgbm_zeros, "BEFORE_ZERO", 0.0)
    with pytest.raises(ModelFileError, match="does not agree with LightGBM"):
        from_lightgbm(text)


def test_a_model_that_answers_differently_is_not_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    booster = train(frame(), signal(frame()))
    cuts = lightgbm_zeros._cuts
    monkeypatch.setattr(lightgbm_zeros, "_cuts", lambda tree, node: (cuts(tree, node)[0], [True]))
    with pytest.raises(ModelFileError, match=r"does not agree with LightGBM.*For the row \{'\w+': .*the scores of"):
        from_lightgbm(booster)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"objective": "fair"}, "'fair', for which there is no loss here"),
        ({"objective": "mape"}, "'mape'"),
        ({"objective": "cross_entropy"}, "'cross_entropy'"),
        ({"objective": "regression", "reg_sqrt": True}, "'regression sqrt'"),
        ({"objective": "multiclassova", "num_class": 2}, "'multiclassova'"),
        ({"objective": "regression", "linear_tree": True}, "linear models in its leaves"),
    ],
    ids=str,
)
def test_models_without_an_equivalent_are_refused(parameters: dict[str, Any], message: str) -> None:
    X = numbers_only(frame()).fillna(0.0)
    with pytest.raises(ModelFileError, match=message):
        from_lightgbm(train(X, two_classes(frame()), **parameters))


def test_objectives_of_the_user_are_refused() -> None:
    def objective(scores: Any, data: Any) -> Any:
        return scores - data.get_label(), np.ones(len(scores))

    with pytest.raises(ModelFileError, match="objective"):
        from_lightgbm(train(numbers_only(frame()), signal(frame()), objective=objective))


def test_columns_of_categories_that_no_tree_can_split_keep_their_names() -> None:
    X = frame().assign(lonely=pd.Categorical(["one"] * 239 + ["two"]))
    booster = train(X[["width", "lonely", "colour", "height", "depth", "size"]], signal(frame()))
    ours = from_lightgbm(booster)
    assert next(column.levels for column in ours.schema_.columns if column.levels) == ("one", "two")
    np.testing.assert_allclose(ours.predict(X), booster.predict(X[list(ours.schema_.names)]), rtol=1e-12)


def test_names_of_categories_that_belong_to_nobody_are_refused() -> None:
    X = frame().assign(code=np.arange(240) % 4)
    data = lgb.Dataset(X, signal(frame()), categorical_feature=["colour", "size", "code"])
    with pytest.raises(ModelFileError, match="it is unclear which these are"):
        from_lightgbm(lgb.train(BASE, data, 3))


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputTypeError, match="from_lightgbm got a list"):
        from_lightgbm([1, 2])
    with pytest.raises(ModelFileError, match="cannot be read"):
        from_lightgbm(tmp_path / "absent.txt")
    with pytest.raises(ModelFileError, match="which is UTF-8 text"):
        from_lightgbm(b"\xff\xfe")

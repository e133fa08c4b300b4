"""Models of XGBoost come over with every prediction, to the precision of its sums."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from import_cases import COLOURS, assert_lives, frame, numbers_only, positive, signal, three_classes, two_classes

import sapwood as sw
from sapwood.errors import InputError, InputTypeError, ModelFileError, SchemaError
from sapwood.explain import shap_values, trees_as_rules
from sapwood.interchange import from_xgboost
from sapwood.interchange.sources.xgboost import tree as xgboost_tree

xgb = pytest.importorskip("xgboost")

BASE = {"max_depth": 4, "nthread": 1, "max_cat_to_onehot": 1, "eta": 0.4, "verbosity": 0}
NUMBERS: list[dict[str, Any]] = [
    {"objective": "reg:squarederror"},
    {"objective": "reg:absoluteerror"},
    {"objective": "reg:quantileerror", "quantile_alpha": 0.3},
    {"objective": "count:poisson"},
    {"objective": "reg:gamma"},
    {"objective": "reg:tweedie", "tweedie_variance_power": 1.3},
    {"objective": "reg:squarederror", "booster": "dart", "rate_drop": 0.5, "seed": 3},
    {"objective": "reg:squarederror", "num_parallel_tree": 3, "subsample": 0.6, "colsample_bynode": 0.6},
    {"objective": "reg:squarederror", "tree_method": "exact", "gamma": 2.0},
    {"objective": "reg:squarederror", "base_score": 3.5},
]
CLOSE: dict[str, float] = {"rtol": 2e-6, "atol": 2e-6}


def matrix(X: Any, y: Any = None, **kwargs: Any) -> Any:
    return xgb.DMatrix(X, y, enable_categorical=True, nthread=1, **kwargs)


def train(X: pd.DataFrame, y: Any, rounds: int = 5, **parameters: Any) -> Any:
    return xgb.train(BASE | parameters, matrix(X, y), rounds)


def data_for(parameters: dict[str, Any]) -> pd.DataFrame:
    exact = parameters.get("tree_method") == "exact"  # which knows no categories
    return numbers_only(frame()) if exact else frame()


@pytest.mark.parametrize("parameters", NUMBERS, ids=lambda p: "-".join(map(str, p.values())))
def test_numbers(parameters: dict[str, Any], tmp_path: Path) -> None:
    X = data_for(parameters)
    booster = train(X, positive(frame()), **parameters)
    ours = from_xgboost(booster)
    assert isinstance(ours, sw.NewtonBoostingRegressor)
    rows = frame(400, seed=9)[list(X.columns)]
    margins = booster.predict(matrix(rows), output_margin=True)
    np.testing.assert_allclose(ours.predict(rows, output_margin=True), margins, **CLOSE)
    np.testing.assert_allclose(ours.predict(rows), booster.predict(matrix(rows)), **CLOSE)
    assert_lives(ours, X, tmp_path)


@pytest.mark.parametrize("form", ["json", "ubj"])
@pytest.mark.parametrize("parameters", [*NUMBERS, {"objective": "binary:logistic"}], ids=str)
def test_files_say_the_same(parameters: dict[str, Any], form: str, tmp_path: Path) -> None:
    X = data_for(parameters)
    y = two_classes(frame()) if "binary" in parameters["objective"] else positive(frame())
    booster = train(X, y, rounds=3, **parameters)
    path = tmp_path / f"model.{form}"
    booster.save_model(path)
    ours = from_xgboost(booster)
    for source in (path, str(path), path.read_bytes()):
        np.testing.assert_array_equal(from_xgboost(source).predict(X), ours.predict(X))


@pytest.mark.parametrize(("target", "objective"), [(two_classes, "binary:logistic"), (three_classes, "multi:softprob")])
def test_classes(target: Any, objective: str, tmp_path: Path) -> None:
    X = frame()
    model = xgb.XGBClassifier(n_estimators=5, max_depth=3, n_jobs=1, enable_categorical=True, reg_lambda=2.0, gamma=0.5)
    model.fit(X, target(X))
    ours = from_xgboost(model)
    assert isinstance(ours, sw.NewtonBoostingClassifier)
    rows = frame(400, seed=9)
    np.testing.assert_allclose(ours.predict_proba(rows), model.predict_proba(rows), **CLOSE)
    np.testing.assert_array_equal(ours.predict(rows), model.predict(rows))
    assert (ours.max_depth, ours.reg_lambda, ours.gamma, ours.learning_rate) == (3, 2.0, 0.25, 0.3)
    booster = train(X, target(X), objective=objective, num_class=3 if objective.startswith("multi") else 0)
    output = from_xgboost(booster).predict_proba(rows)
    expected = booster.predict(matrix(rows))
    np.testing.assert_allclose(output if expected.ndim == 2 else output[:, 1], expected, **CLOSE)
    assert_lives(ours, X, tmp_path)


def test_softmax_and_its_classes() -> None:
    X = frame()
    booster = train(X, three_classes(X), objective="multi:softmax", num_class=3, num_parallel_tree=2)
    ours = from_xgboost(booster)
    np.testing.assert_array_equal(ours.predict(X), booster.predict(matrix(X)))
    margins = booster.predict(matrix(X), output_margin=True)
    np.testing.assert_allclose(ours.decision_function(X), margins, **CLOSE)
    assert ours.n_estimators_ == 10


def test_rankings(tmp_path: Path) -> None:
    X = frame()
    model = xgb.XGBRanker(n_estimators=4, enable_categorical=True, n_jobs=1).fit(X, three_classes(X), group=[120, 120])
    ours = from_xgboost(model)
    assert isinstance(ours, sw.NewtonBoostingRanker)
    np.testing.assert_allclose(ours.predict(X), model.predict(X), **CLOSE)
    assert_lives(ours, X, tmp_path)


def test_several_quantiles_are_sorted_and_their_scores_are_xgboosts() -> None:
    X = frame()
    booster = train(X, positive(X), objective="reg:quantileerror", quantile_alpha=[0.2, 0.5, 0.9])
    ours = from_xgboost(booster)
    assert ours.quantile_alpha == [0.2, 0.5, 0.9]
    output = booster.predict(matrix(X))
    np.testing.assert_allclose(ours.predict(X, output_margin=True), output, **CLOSE)
    np.testing.assert_allclose(ours.predict(X), np.sort(output, axis=1), **CLOSE)


def test_early_stopping_predicts_with_the_best_round_as_xgboosts_estimators_do() -> None:
    X, rows = frame(), frame(seed=5)
    noise = np.random.default_rng(0).normal(size=len(rows))
    model = xgb.XGBRegressor(n_estimators=30, early_stopping_rounds=3, n_jobs=1, enable_categorical=True, max_depth=6)
    model.fit(X, signal(X), eval_set=[(rows, noise)], verbose=False)
    assert model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    for source in (model, model.get_booster(), bytes(model.get_booster().save_raw("ubj"))):
        ours = from_xgboost(source)
        np.testing.assert_allclose(ours.predict(rows), model.predict(rows), **CLOSE)
        assert ours.best_iteration_ == model.best_iteration
        assert ours.best_score_ == pytest.approx(model.best_score)
        everything = ours.predict(rows, n_rounds=ours.n_estimators_)
        np.testing.assert_allclose(everything, model.get_booster().predict(matrix(rows)), **CLOSE)


def test_gains_and_covers_are_xgboosts() -> None:
    X = frame()
    booster = train(X, two_classes(X), objective="binary:logistic")
    ours = from_xgboost(booster)
    gains = booster.get_score(importance_type="total_gain")
    expected = np.array([gains.get(name, 0.0) for name in X.columns])
    np.testing.assert_allclose(ours.ensemble_.gains(5), expected, rtol=1e-6)
    first = booster.trees_to_dataframe().query("Tree == 0")
    assert ours.ensemble_.rounds[0][0].weighted_n_node_samples[0] == pytest.approx(first["Cover"].iloc[0], rel=1e-6)


def test_inner_nodes_say_xgboosts_weights_times_the_learning_rate() -> None:
    X = numbers_only(frame())
    booster = train(X, signal(frame()), reg_lambda=0.0)
    live, file = from_xgboost(booster), from_xgboost(bytes(booster.save_raw("json")))
    for own, mean in zip(live.model_.trees, file.model_.trees, strict=True):  # without a penalty both are the mean
        np.testing.assert_allclose(own.values, mean.values, rtol=1e-4, atol=1e-6)


def test_shapley_values_are_xgboosts() -> None:
    X = frame()
    booster = train(X, two_classes(X), objective="binary:logistic")
    theirs = booster.predict(matrix(X), pred_contribs=True)
    np.testing.assert_allclose(shap_values(from_xgboost(booster), X).values, theirs[:, :-1], rtol=1e-4, atol=2e-6)


def test_trees_can_be_drawn_and_told() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    X = frame()
    ours = from_xgboost(train(X, signal(X)))
    sw.plot_tree(ours, 1)
    assert "colour" in str(trees_as_rules(ours))


def test_names_of_categories_come_from_the_file() -> None:
    X = frame()
    ours = from_xgboost(bytes(train(X, signal(X)).save_raw("ubj")))
    assert ours.schema_.columns[2].levels == tuple(COLOURS)
    assert ours.schema_.columns[3].levels == (10, 20, 30)
    rows = X.copy()
    rows["colour"] = rows["colour"].astype(object).fillna("pink")
    with pytest.raises(SchemaError, match="pink"):  # XGBoost refuses it, too
        ours.predict(rows)


def coded(seed: int = 0) -> np.ndarray:
    X = frame(seed=seed)
    cells = [X["width"], X["colour"].cat.codes.replace(-1, np.nan), X["height"]]
    return np.column_stack(cells).astype(float)


def test_categories_without_names_are_whole_numbers() -> None:
    X = coded()
    rows = xgb.DMatrix(X, signal(frame()), feature_types=["q", "c", "q"])
    booster = xgb.train(BASE, rows, 5)
    ours = from_xgboost(booster)
    np.testing.assert_allclose(ours.predict(X), booster.predict(rows), **CLOSE)
    assert ours.schema_.columns[1].levels == tuple(range(len(ours.schema_.columns[1].levels)))
    named = from_xgboost(booster, levels={"x1": COLOURS})
    texts = np.array([*COLOURS, None], dtype=object)[np.nan_to_num(X[:, 1], nan=5).astype(int)]
    frame_of_texts = pd.DataFrame({"a": X[:, 0], "b": texts, "c": X[:, 2]})
    np.testing.assert_array_equal(named.predict(frame_of_texts), ours.predict(X))


def test_unknown_categories_are_refused_unless_they_go_with_missing_values() -> None:
    X, types = coded(), ["q", "c", "q"]
    booster = xgb.train(BASE, xgb.DMatrix(X, signal(frame()), feature_types=types), 5)
    refusing = from_xgboost(booster)
    X[:, 1] = 77.0
    assert refusing.unseen == "error"
    with pytest.raises(SchemaError, match="77"):
        refusing.predict(X)
    model = json.loads(bytes(booster.save_raw("json")))
    for tree in model["learner"]["gradient_booster"]["model"]["trees"]:
        tree["default_left"] = [1] * len(tree["default_left"])  # where XGBoost sends categories that it does not know
    data = json.dumps(model).encode()
    changed = xgb.Booster(model_file=bytearray(data))
    ours = from_xgboost(data)
    assert ours.unseen == "missing"
    np.testing.assert_allclose(ours.predict(X), changed.predict(xgb.DMatrix(X, feature_types=types)), **CLOSE)


def test_levels_must_fit_the_model() -> None:
    booster = xgb.train(BASE, xgb.DMatrix(coded(), signal(frame()), feature_types=["q", "c", "q"]), 3)
    with pytest.raises(InputError, match="'x9', which the model does not have"):
        from_xgboost(booster, levels={"x9": COLOURS})
    with pytest.raises(InputError, match="does not split as categories"):
        from_xgboost(booster, levels={"x0": COLOURS})
    with pytest.raises(InputError, match="has 1 categories, but the model has"):
        from_xgboost(booster, levels={"x1": ["red"]})


def test_doubles_next_to_thresholds_are_rounded_as_xgboost_rounds_them() -> None:
    rng = np.random.default_rng(1)
    X = (rng.normal(size=(300, 1)) * 1e3).astype(np.float32)
    booster = xgb.train(BASE | {"max_depth": 8}, xgb.DMatrix(X, rng.normal(size=300)), 1)
    ours = from_xgboost(booster)
    cuts = ours.ensemble_.rounds[0][0].threshold[~ours.ensemble_.rounds[0][0].is_leaf]
    rows = np.concatenate([cuts, np.nextafter(cuts, -np.inf), np.nextafter(cuts, np.inf)])[:, None]
    np.testing.assert_allclose(ours.predict(rows), booster.predict(xgb.DMatrix(rows)), **CLOSE)
    assert not np.array_equal(cuts, cuts.astype(np.float32))


def test_base_scores_of_old_files() -> None:
    X = frame()
    booster = train(X, two_classes(X), objective="binary:logistic", base_score=0.3)
    data = json.loads(bytes(booster.save_raw("json")))
    data["learner"]["learner_model_param"]["base_score"] = "3E-1"
    old = from_xgboost(json.dumps(data).encode())
    np.testing.assert_allclose(old.predict_proba(X)[:, 1], booster.predict(matrix(X)), **CLOSE)


def test_without_xgboost_files_are_checked_by_an_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    X = frame()
    booster = train(X, three_classes(X), objective="multi:softprob", num_class=3, booster="dart", rate_drop=0.5)
    data = bytes(booster.save_raw("ubj"))
    monkeypatch.setattr("sapwood.interchange.optional.find_spec", lambda name: None)
    ours = from_xgboost(data)
    np.testing.assert_allclose(ours.predict_proba(X), booster.predict(matrix(X)), **CLOSE)
    monkeypatch.setattr(xgboost_tree, "double_below", lambda t: t.astype(np.float64))
    with pytest.raises(ModelFileError, match="does not agree with XGBoost"):
        from_xgboost(data)


def test_a_model_that_answers_differently_is_not_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    booster = train(frame(), signal(frame()))
    monkeypatch.setattr(xgboost_tree, "double_below", lambda t: t.astype(np.float64))
    with pytest.raises(ModelFileError, match=r"does not agree with XGBoost.*For the row \{'\w+': .*the scores of"):
        from_xgboost(booster)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"objective": "reg:logistic"}, "'reg:logistic', for which there is no loss here"),
        ({"objective": "survival:cox"}, "'survival:cox'"),
        ({"objective": "reg:pseudohubererror"}, "'reg:pseudohubererror'"),
        ({"objective": "rank:pairwise"}, "'rank:pairwise'"),
        ({"objective": "binary:logitraw"}, "'binary:logitraw'"),
        ({"booster": "gblinear", "updater": "coord_descent"}, "'gblinear', which has no trees"),
    ],
    ids=str,
)
def test_models_without_an_equivalent_are_refused(parameters: dict[str, Any], message: str) -> None:
    X = numbers_only(frame())
    own = {name: value for name, value in BASE.items() if "linear" not in str(parameters) or name in ("nthread",)}
    booster = xgb.train(own | {"verbosity": 0} | parameters, matrix(X, two_classes(frame())), 2)
    with pytest.raises(ModelFileError, match=message):
        from_xgboost(booster)


@pytest.mark.parametrize("objective", ["reg:squarederror", "count:poisson", "reg:absoluteerror"])
def test_several_targets(objective: str) -> None:
    X = numbers_only(frame())
    y = np.column_stack([100.0 * positive(frame()), positive(frame())])
    booster = xgb.train(BASE | {"objective": objective}, matrix(X, y), 3)
    model = from_xgboost(booster)
    np.testing.assert_allclose(model.predict(X), booster.predict(matrix(X)), **CLOSE)
    assert model.target_names_ == ("target 0", "target 1")
    longer = sw.NewtonBoostingRegressor(**model.get_params() | {"n_estimators": 2}).fit(X, y, init_model=model)
    assert longer.ensemble_.n_rounds == 5


def test_leaves_of_several_targets_are_refused() -> None:
    X = numbers_only(frame())
    y = np.column_stack([signal(frame()), positive(frame())])
    booster = xgb.train(BASE | {"multi_strategy": "multi_output_tree", "tree_method": "hist"}, matrix(X, y), 2)
    with pytest.raises(ModelFileError, match="leaves of several values"):
        from_xgboost(booster)


def test_other_values_for_missing_ones_are_refused() -> None:
    X = numbers_only(frame()).fillna(-999.0)
    model = xgb.XGBRegressor(n_estimators=2, missing=-999.0, n_jobs=1).fit(X, signal(frame()))
    with pytest.raises(InputTypeError, match=r"missing=-999\.0"):
        from_xgboost(model)
    ours = from_xgboost(model.get_booster())
    np.testing.assert_allclose(ours.predict(numbers_only(frame())), model.predict(X), **CLOSE)


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputTypeError, match="from_xgboost got a list"):
        from_xgboost([1, 2])
    with pytest.raises(ModelFileError, match="cannot be read"):
        from_xgboost(tmp_path / "absent.json")


def test_the_model_that_is_imported_stays_as_it_is() -> None:
    X = frame()
    booster = train(X, signal(X))
    before = bytes(booster.save_raw("json"))
    from_xgboost(booster)
    assert bytes(booster.save_raw("json")) == before

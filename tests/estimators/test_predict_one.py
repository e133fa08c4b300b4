"""One row, in any form, gets what a table of this row gets, bit for bit."""

from __future__ import annotations

import copy
import datetime as dt
import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression, LogisticRegression

import sapwood as sw
from sapwood.errors import DataDriftWarning, InputError, NotFittedError, SapwoodError
from sapwood.predictor.scorer import FEW

RNG = np.random.default_rng(0)
N = 150
X = RNG.normal(size=(N, 3)).round(1)
X[RNG.random(X.shape) < 0.1] = np.nan
SCORE = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) + RNG.normal(size=N) / 3
TWO = np.where(SCORE > 0, "yes", "no")
THREE = np.digitize(SCORE, [-0.5, 0.5])

CLASSIFIERS = {
    "tree": sw.DecisionTreeClassifier(max_depth=3),
    "forest": sw.RandomForestClassifier(5, random_state=0),
    "hard votes": sw.RandomForestClassifier(5, random_state=0, voting="hard"),
    "extra trees": sw.ExtraTreesClassifier(5, random_state=0),
    "bagging": sw.BaggingClassifier(n_estimators=4, max_features=2, random_state=0),
    "AdaBoost": sw.AdaBoostClassifier(n_estimators=5),
    "gradient": sw.GradientBoostingClassifier(n_estimators=5),
    "Newton": sw.NewtonBoostingClassifier(n_estimators=5),
    "Newton, weights": sw.NewtonBoostingClassifier(n_estimators=5, class_weight="balanced"),
}
REGRESSORS = {
    "tree": sw.DecisionTreeRegressor(max_depth=3),
    "forest": sw.RandomForestRegressor(5, random_state=0),
    "bagging": sw.BaggingRegressor(n_estimators=4, random_state=0),
    "AdaBoost": sw.AdaBoostRegressor(n_estimators=5, random_state=0),
    "gradient": sw.GradientBoostingRegressor(n_estimators=5),
    "Newton": sw.NewtonBoostingRegressor(n_estimators=5),
    "quantiles": sw.NewtonBoostingRegressor(n_estimators=5, objective="quantile", quantile_alpha=[0.1, 0.9]),
    "early stopping": sw.NewtonBoostingRegressor(
        n_estimators=60, early_stopping_rounds=2, validation_fraction=0.3, random_state=0, learning_rate=1.0
    ),
    "poisson": sw.NewtonBoostingRegressor(n_estimators=5, objective="poisson"),
}


def forms(row: np.ndarray) -> list[Any]:
    values = row.tolist()
    holes = [None if np.isnan(value) else value for value in values]
    return [row, row.astype(np.float64), values, tuple(values), holes]


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two classes", "three classes"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_classes_of_one_row(name: str, y: np.ndarray, dtype: type) -> None:
    rows = X.astype(dtype)
    model = sw_clone(CLASSIFIERS[name]).fit(rows, y)
    labels, shares = model.predict(rows), model.predict_proba(rows)
    for i in range(0, N, 10):
        for row in forms(rows[i]):
            assert model.predict_one(row) == labels[i]
            np.testing.assert_array_equal(model.predict_proba_one(row), shares[i])
        assert model.predict(rows[i : i + 1]) == labels[i : i + 1]
        np.testing.assert_array_equal(model.predict_proba(rows[i : i + 1]), shares[i : i + 1])


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numbers_of_one_row(name: str, dtype: type) -> None:
    rows = X.astype(dtype)
    model = sw_clone(REGRESSORS[name]).fit(rows, np.abs(SCORE))
    predicted = model.predict(rows)
    for i in range(0, N, 10):
        for row in forms(rows[i]):
            np.testing.assert_array_equal(model.predict_one(row), predicted[i])
        np.testing.assert_array_equal(model.predict(rows[i : i + 1]), predicted[i : i + 1])


WIDE = np.random.default_rng(1).integers(0, 9, size=(N, 3))
MODELS = {
    f"{name}, {kind}": model
    for kind, models in (("classes", CLASSIFIERS), ("numbers", REGRESSORS))
    for name, model in models.items()
}


@pytest.mark.parametrize("name", MODELS)
def test_a_few_rows_of_any_type_get_what_many_get(name: str) -> None:
    y = TWO if "classes" in name else np.abs(SCORE)
    model = sw_clone(MODELS[name]).fit(WIDE.astype(np.float64), y)
    for method in ("predict", "predict_proba") if "classes" in name else ("predict",):
        ask = getattr(model, method)
        expected = ask(WIDE.astype(np.float64))
        for dtype in (np.float64, np.float32, np.float16, np.longdouble, np.int64, np.uint8, ">f8", ">i4"):
            rows = WIDE.astype(dtype)
            for n in (1, 2, FEW, FEW + 1):
                for few in (rows[:n], rows[::-1][-n:][::-1], np.asfortranarray(rows[:n])):
                    found = ask(few)
                    assert found.dtype == expected.dtype
                    assert found.shape == expected[:n].shape
                    np.testing.assert_array_equal(found, expected[:n])


@pytest.mark.parametrize("n", [1, 2, FEW, FEW + 1])
def test_a_few_rows_are_checked_as_many_are(n: int) -> None:
    model = sw.NewtonBoostingClassifier(n_estimators=3).fit(pd.DataFrame(X, columns=["a", "b", "c"]), TWO)
    with pytest.raises(InputError, match="has 2 features, but NewtonBoostingClassifier is expecting 3"):
        model.predict_proba(np.zeros((n, 2)))
    with pytest.raises(InputError, match="Complex data not supported"):
        model.predict_proba(np.zeros((n, 3), dtype=complex))
    with pytest.raises(InputError, match="X lacks 1 of the 3 columns"):
        model.predict(pd.DataFrame(np.zeros((n, 3)), columns=["a", "b", "d"]))
    ends = np.array([[np.inf, -np.inf, np.nan]] * n)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = model.predict_proba(ends)
    assert [one.category for one in caught] == [DataDriftWarning] * (n > 2), "two rows may be chance"
    with pytest.warns(DataDriftWarning):
        np.testing.assert_array_equal(found, model.predict_proba(np.repeat(ends, 30, axis=0))[:n])


def sw_clone(model: Any) -> Any:
    return copy.deepcopy(model)


def test_several_outputs() -> None:
    y = np.stack([TWO, THREE.astype(str)], axis=1)
    for model in (sw.DecisionTreeClassifier(max_depth=3), sw.RandomForestClassifier(3, random_state=0)):
        model.fit(X, y)
        assert model.predict_one(X[3]).tolist() == model.predict(X)[3].tolist()
        for one, all_rows in zip(model.predict_proba_one(X[3]), model.predict_proba(X), strict=True):
            np.testing.assert_array_equal(one, all_rows[3])
    numbers = sw.RandomForestRegressor(3, random_state=0).fit(X, np.stack([SCORE, -SCORE], axis=1))
    np.testing.assert_array_equal(numbers.predict_one(X[3].tolist()), numbers.predict(X)[3])


def test_a_ranker_scores_one_row() -> None:
    model = sw.NewtonBoostingRanker(n_estimators=3).fit(X, THREE, group=[50, 100])
    assert model.predict_one(X[7]) == model.predict(X)[7]


def mixed_frame() -> pd.DataFrame:
    colours = RNG.choice(["red", "blue", "green"], N).astype(object)
    colours[::9] = None
    days = pd.date_range("2024-01-01", periods=N, freq="h")
    return pd.DataFrame(
        {"size": X[:, 0], "colour": colours, "when": days, "flag": SCORE > 0.2, "code": pd.Categorical(THREE)}
    )


@pytest.mark.parametrize("unseen", ["missing", "node", "error"])
def test_rows_with_categories_dates_and_holes(unseen: str) -> None:
    frame = mixed_frame()
    model = sw.RandomForestClassifier(5, random_state=0, unseen=unseen).fit(frame, TWO)
    shares = model.predict_proba(frame)
    for i in (0, 1, 9, 33):
        row = frame.iloc[i].to_dict()
        same_rows = [row, list(row.values()), frame.iloc[[i]], frame.iloc[i], pl.from_pandas(frame.iloc[[i]])]
        for same in same_rows:
            np.testing.assert_array_equal(model.predict_proba_one(same), shares[i])
    strange = frame.iloc[[5]].assign(colour="violet")
    if unseen == "error":
        with pytest.raises(SapwoodError, match="violet"):
            model.predict_one(strange.iloc[0].to_dict())
    else:
        expected = model.predict_proba(strange)[0]
        np.testing.assert_array_equal(model.predict_proba_one(strange.iloc[0].to_dict()), expected)


def test_dictionaries_of_plain_columns_and_text() -> None:
    frame = mixed_frame()[["size", "colour"]]
    for unseen in ("missing", "error"):
        model = sw.NewtonBoostingClassifier(n_estimators=5, unseen=unseen).fit(frame, TWO)
        shares = model.predict_proba(frame)
        for i in range(0, N, 7):
            np.testing.assert_array_equal(model.predict_proba_one(frame.iloc[i].to_dict()), shares[i])
    with pytest.raises(SapwoodError, match="violet"):
        model.predict_one({"size": 1.0, "colour": "violet"})
    assert model.set_params(unseen="missing").predict_one({"size": 1.0, "colour": "violet"}) in ("yes", "no")


def test_other_keys_are_ignored_as_other_columns_are() -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = sw.DecisionTreeRegressor(max_depth=3).fit(frame, SCORE)
    for values in (X[3].tolist(), [np.float32(1.5), 2, None], [np.bool_(True), np.int64(3), 0.25]):
        row = dict(zip("abc", values, strict=True))
        assert model.predict_one({**row, "target": 9.0}) == model.predict(pd.DataFrame([row]).astype(float))[0]


@pytest.mark.parametrize("absent", ["zero", "missing"])
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix])
def test_a_sparse_row_is_what_it_is_in_a_table(absent: str, kind: Any) -> None:
    table = sparse.random(200, 10, 0.3, format="csr", random_state=0)
    y = np.asarray(table[:, [0]].todense()).ravel() * 3 - np.asarray((table[:, [1]] != 0).todense()).ravel()
    model = sw.NewtonBoostingRegressor(n_estimators=5, sparse_absent=absent).fit(table, y)
    expected = model.predict(table)
    for i in range(0, 200, 20):
        assert model.predict_one(kind(table[[i]])) == expected[i]
    with pytest.raises(InputError, match="2 rows"):
        model.predict_one(kind(table[:2]))


def test_members_of_other_kinds() -> None:
    full = np.nan_to_num(X)
    bagging = sw.BaggingClassifier(LogisticRegression(), n_estimators=3, random_state=0).fit(full, TWO)
    assert bagging.predict_one(full[4]) == bagging.predict(full)[4]
    np.testing.assert_allclose(bagging.predict_proba_one(full[4].tolist()), bagging.predict_proba(full)[4])
    ada = sw.AdaBoostRegressor(LinearRegression(), n_estimators=3, random_state=0).fit(full, SCORE)
    assert ada.predict_one(full[4]) == pytest.approx(ada.predict(full)[4])
    started = sw.GradientBoostingRegressor(n_estimators=3, init=LinearRegression()).fit(full, SCORE)
    assert started.predict_one(full[4]) == pytest.approx(started.predict(full)[4], rel=1e-12)
    np.testing.assert_allclose(started.predict(full[4:5]), started.predict(full)[4:5], rtol=1e-12)


def test_a_refitted_model_answers_anew() -> None:
    for model in (sw.DecisionTreeRegressor(), sw.AdaBoostRegressor(n_estimators=3), sw.RandomForestRegressor(3)):
        before = model.fit(X, SCORE).predict_one(X[0])
        after = model.fit(X, SCORE + 100.0).predict_one(X[0])
        assert after > before + 50.0
        assert after == model.predict(X)[0]


def test_copies_answer_alike() -> None:
    pairs = [(model, TWO) for model in CLASSIFIERS.values()] + [(model, np.abs(SCORE)) for model in REGRESSORS.values()]
    for model, y in pairs:
        own = sw_clone(model).fit(X, y)
        answer = own.predict_one(X[2])
        for other in (pickle.loads(pickle.dumps(own)), copy.deepcopy(own), copy.copy(own)):
            np.testing.assert_array_equal(other.predict_one(X[2]), answer)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ([1.0, 2.0], "2 values"),
        ({"x0": 1.0, "x1": 2.0}, "x2"),
        ({"x0": 1.0, "x1": 2.0, "x_2": 3.0}, "x2.*x_2"),
        (["a", 1.0, 2.0], "x0"),
        (5.0, "not a row"),
        ("abc", "not a row"),
        (np.zeros((2, 3)), "2 rows"),
        ([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]], "2 rows"),
        ([1.0, 1j, 2.0], "[Cc]omplex"),
        ([1.0, object(), 2.0], "x1|object"),
        ([1.0, dt.date(2024, 1, 1), 2.0], "x1"),
    ],
)
def test_rows_that_cannot_be_read_are_refused_in_words(row: Any, words: str) -> None:
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    model = sw.DecisionTreeRegressor(max_depth=2).fit(frame, SCORE)
    with pytest.raises(SapwoodError, match=words):
        model.predict_one(row)


def test_an_unfitted_model_says_so() -> None:
    for model in (sw.DecisionTreeRegressor(), sw.RandomForestClassifier(), sw.NewtonBoostingClassifier()):
        with pytest.raises(NotFittedError, match="not fitted"):
            model.predict_one([1.0])
        with pytest.raises(NotFittedError, match="not fitted"):
            model.predict(np.zeros((1, 2)))


def test_one_row_of_the_wrong_width_is_refused_as_in_tables() -> None:
    model = sw.NewtonBoostingClassifier(n_estimators=2).fit(X, TWO)
    with pytest.raises(InputError, match="4 features"):
        model.predict(np.zeros((1, 4)))


def test_the_row_is_left_alone() -> None:
    model = sw.RandomForestRegressor(3).fit(X, SCORE)
    for row in (X[0].copy(), X[0].tolist(), dict(enumerate(X[0].tolist()))):
        before = copy.deepcopy(row)
        if not isinstance(row, dict):
            model.predict_one(row)
        np.testing.assert_equal(row, before)

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import sapwood as sw
from model_cases import fitted, foreign, frame, two_classes
from sapwood.errors import InputError
from sapwood.explain.column_values import to_code, to_native
from sapwood.explain.editable_rows import EditableRows


def test_a_table_is_matched_once_and_predicted_as_it_is():
    model, X = fitted("forest classes"), frame()
    rows = EditableRows.of(model.model_, X)
    np.testing.assert_array_equal(model.predict_proba(rows.unchanged), model.predict_proba(X))
    reds = X.assign(colour="red")
    red = np.zeros(len(X), dtype=np.int32) + model.schema_.columns[2].code_of["red"]
    np.testing.assert_array_equal(model.predict_proba(rows.replace({2: red})), model.predict_proba(reds))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, list])
def test_rows_of_estimators_of_other_kinds_stay_in_their_container(make):
    model, X, _ = foreign("bagging")
    given = make(X)
    rows = EditableRows.of(model.model_, given)
    changed = X.copy()
    changed[:, 1] = 0.25
    found = rows.replace({1: np.full(len(X), 0.25)})
    np.testing.assert_allclose(model.predict_proba(found), model.predict_proba(changed))
    plain = X if not sparse.issparse(given) else given.toarray()
    np.testing.assert_array_equal(plain, X)


@pytest.mark.parametrize("categorical", [True, False])
def test_frames_with_categories(categorical):
    X = frame()[["age", "colour"]]
    X["colour"] = X["colour"].astype(object).where(X["colour"].notna(), "none")
    X.index = np.arange(len(X)) + 1000
    if categorical:
        X["colour"] = pd.Categorical(X["colour"])
    inner = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["colour"]), remainder="passthrough"), LogisticRegression()
    )
    model = sw.BaggingClassifier(inner, n_estimators=2, random_state=0).fit(X, two_classes(frame()))
    order = np.random.default_rng(0).permutation(len(X))
    shuffled = X.copy()
    for name in X.columns:
        shuffled[name] = X[name].iloc[order].array
    found = EditableRows.of(model.model_, X[["colour", "age"]][["age", "colour"]]).shuffle([0, 1], order)
    np.testing.assert_allclose(model.predict_proba(found), model.predict_proba(shuffled))


def test_frames_of_polars():
    model, X, _ = foreign("bagging")
    rows = EditableRows.of(model.model_, pl.DataFrame(X, schema=list("abc")))
    found = rows.replace({2: np.zeros(len(X))})
    assert isinstance(found, pl.DataFrame)
    assert found.columns == ["a", "b", "c"]
    assert found["c"].to_list() == [0.0] * len(X)
    assert found["a"].to_list() == X[:, 0].tolist()


def test_values_and_codes():
    age, _, colour, member, since = fitted("tree classes").schema_.columns
    assert to_native(np.array([2, -1, -2, 0]), colour).tolist() == ["red", None, None, "blue"]
    assert to_native(np.array([2.0, np.nan]), colour).tolist() == ["red", None]
    assert to_native(np.array([1.0, 0.0, np.nan]), member).tolist() == [True, False, None]
    days = np.array(["2020-01-02", "NaT"], dtype="M8[us]")
    np.testing.assert_array_equal(to_native(np.array([18263 * 86400.0, np.nan]), since), days)
    assert to_native(np.array([1.5]), age).tolist() == [1.5]
    assert to_code("green", colour, "values") == 1.0
    assert to_code(True, member, "values") == 1.0
    for day in ("2020-01-02", np.datetime64("2020-01-02"), pd.Timestamp("2020-01-02")):
        assert to_code(day, since, "values") == 18263 * 86400.0
    assert np.isnan(to_code(None, colour, "values"))
    assert np.isnan(to_code(pd.NaT, since, "values"))
    with pytest.raises(InputError, match=r"values holds 'gren', which is not a level .* Did you mean 'green'\?"):
        to_code("gren", colour, "values")
    with pytest.raises(InputError, match="values holds 'old', but column 'age' is a number"):
        to_code("old", age, "values")

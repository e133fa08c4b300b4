"""Rows that are not what a model was trained on are named in one warning; ordinary rows never are."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from drifted import CLASSIFIERS, DRIFTED, METHODS, N, asked, churn, customers, drifted
from scipy import sparse
from sklearn import datasets
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

import sapwood as sw
from sapwood.data_warnings import quiet
from sapwood.errors import DataDriftWarning
from sapwood.explain import counterfactual, importance, partial_dependence
from sapwood.interchange import to_python
from sapwood.plot import plot_decision_regions

pytestmark = pytest.mark.filterwarnings("ignore::sapwood.errors.IdentifierWarning")

TRAINED, NEW = customers(), customers(80, seed=1)
with quiet():  # one of the columns is an identifier
    FITTED = {name: make().fit(TRAINED, churn(TRAINED)) for name, make in CLASSIFIERS.items()}


def warned(call: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(one.message) for one in caught if issubclass(one.category, DataDriftWarning)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", FITTED)
def test_every_method_warns_once_and_names_the_columns(name: str, method: str) -> None:
    model = FITTED[name]
    if not hasattr(model, method):
        pytest.skip(f"{name} has no {method}")
    told = warned(lambda: asked(model, method, drifted(NEW)))
    assert len(told) == 1
    assert all(repr(column) in told[0] for column in DRIFTED)
    assert "'customer'" not in told[0], "identifiers are new in every table"
    assert "0 … 72" in told[0]
    assert "compare" in told[0]
    assert not warned(lambda: asked(model, method, NEW))
    assert not warned(lambda: asked(model, method, TRAINED))


@pytest.mark.parametrize("name", FITTED)
def test_the_warning_points_at_the_call(name: str) -> None:
    with pytest.warns(DataDriftWarning) as caught:
        FITTED[name].predict(drifted(NEW))
    assert caught[0].filename == __file__


@pytest.mark.parametrize("name", FITTED)
def test_a_parameter_turns_it_off(name: str) -> None:
    model = clone(CLASSIFIERS[name](drift_warning=False)).fit(TRAINED, churn(TRAINED))
    assert model.get_params()["drift_warning"] is False
    assert not warned(lambda: model.predict(drifted(NEW)))
    assert warned(lambda: model.set_params(drift_warning=True).predict(drifted(NEW)))
    assert sw.fingerprint(model) == sw.fingerprint(FITTED[name])


def test_the_parameter_is_true_or_false() -> None:
    with pytest.raises(sw.SapwoodError, match="drift_warning"):
        sw.DecisionTreeClassifier(drift_warning="yes").fit(TRAINED, churn(TRAINED))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"contract": "weekly"}, "'contract' has levels not seen in training in 100 %"),
        ({"tenure": 9999}, "'tenure' is far outside of the trained range 0 … 72 in 100 %"),
        ({"tenure": -500.0}, "'tenure' is far outside"),
        ({"tenure": np.inf}, "'tenure' is far outside"),
        ({"charges": np.nan}, "'charges' is missing in 100 % of the rows, and never was in training"),
        ({"since": pd.Timestamp("2035-01-01")}, "'since' is far outside of the trained range 2020-01-03 …"),
        ({"total": np.nan}, "'total' is missing in 100 % of the rows, and was in 10.8 % in training"),
        ({"tenure": 100}, None),  # a little beyond the range
        ({"since": pd.Timestamp("2022-12-01")}, None),  # later, as new rows are
        ({"customer": "someone"}, None),
    ],
)
def test_what_is_conspicuous(change: dict[str, Any], words: str | None) -> None:
    told = warned(lambda: FITTED["tree"].predict(NEW.assign(**change)))
    assert len(told) == (words is not None)
    assert words is None or words in told[0]


def test_some_rows_far_outside_are_enough_but_a_few_are_not() -> None:
    many, few = NEW.assign(tenure=NEW["tenure"].where(np.arange(80) % 5 > 0, 9999)), NEW.copy()
    few.loc[3, "tenure"] = 9999
    assert "in 20 % of the rows" in warned(lambda: FITTED["tree"].predict(many))[0]
    assert not warned(lambda: FITTED["tree"].predict(few))


def test_one_row_is_never_compared() -> None:
    row = drifted(NEW[:1])
    for model in FITTED.values():
        assert not warned(lambda model=model: model.predict(row))
        assert not warned(lambda model=model: model.predict_one(row.iloc[0].to_dict()))


CONTAINERS = {
    "numpy": np.asarray,
    "float32": lambda X: X.astype(np.float32),
    "Fortran": np.asfortranarray,
    "pandas": pd.DataFrame,
    "polars": lambda X: pl.DataFrame(X, schema=[f"x{j}" for j in range(X.shape[1])]),
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "lists": lambda X: X.tolist(),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container(container: str) -> None:
    random, held = np.random.default_rng(0), CONTAINERS[container]
    X = random.integers(0, 5, (300, 4)).astype(float)
    model = sw.NewtonBoostingRegressor(n_estimators=2).fit(held(X), X[:, 0])
    far, gone = X[:50].copy(), X[:50].copy()
    far[:, 1] = 1e6
    gone[:, 2] = np.nan
    assert not warned(lambda: model.predict(held(X[:50])))
    assert "far outside of the trained range 0 … 4" in warned(lambda: model.predict(held(far)))[0]
    assert "is missing in 100 %" in warned(lambda: model.predict(held(gone)))[0]


def test_absent_cells_that_are_missing_values() -> None:
    X = sparse.csr_array(np.arange(1.0, 201).reshape(100, 2))
    model = sw.NewtonBoostingRegressor(n_estimators=2, sparse_absent="missing").fit(X, np.arange(100.0))
    new = X.toarray()
    new[:, 1] = 0
    assert "is missing in 100 %" in warned(lambda: model.predict(sparse.csr_array(new)))[0]


SETS = ("iris", "wine", "breast_cancer", "diabetes", "digits", "linnerud")


@pytest.mark.parametrize("name", SETS)
def test_ordinary_splits_are_not_conspicuous(name: str) -> None:
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True, as_frame=True)
    y = np.asarray(y).reshape(len(X), -1)[:, 0]
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(X))
        for share in (0.2, 0.5, 0.9):
            k = int(share * len(X))
            model = sw.DecisionTreeRegressor(max_depth=2).fit(X.iloc[order[k:]], y[order[k:]])
            assert not warned(lambda model=model, rows=order[:k]: model.predict(X.iloc[rows]))
            assert not model.schema_.compare(X.iloc[order[:k]]).conspicuous


def test_nothing_of_the_library_itself_warns() -> None:
    """Rows that are made inside, or were compared already, give no further warning; pytest makes any an error."""
    X, y = TRAINED[["tenure", "charges", "contract"]], churn(TRAINED)
    forest = sw.RandomForestClassifier(n_estimators=30, oob_score=True, random_state=0).fit(X, y)
    importance(forest, X, y)
    partial_dependence(forest, X, features=["tenure"])
    counterfactual(forest, X.iloc[0])
    forest.permutation_importance(X, y)
    cross_val_score(forest, X[:40], y[:40], cv=5)
    plot_decision_regions(forest, X, y, features=["tenure", "charges"])
    to_python(forest)
    sw.diff(forest, forest, X)


def test_members_and_beginners_add_nothing() -> None:
    X, y = TRAINED[["tenure", "charges"]], churn(TRAINED)
    far = X[:50].assign(tenure=9999)
    inner = sw.NewtonBoostingClassifier(n_estimators=2)
    for model in (
        sw.BaggingClassifier(inner, n_estimators=3),
        sw.AdaBoostClassifier(inner, n_estimators=3),
        sw.GradientBoostingClassifier(init=inner, n_estimators=2),
        sw.BaggingClassifier(LogisticRegression(), n_estimators=2),
    ):
        rows = X if "Logistic" not in repr(model) else X / 100
        model.fit(rows, y)
        assert len(warned(lambda model=model: model.predict(far))) == 1


def test_evaluation_sets_do_not_warn() -> None:
    X, y = TRAINED[["tenure"]], churn(TRAINED)
    sw.NewtonBoostingClassifier(n_estimators=2).fit(X, y, eval_set=[(X.assign(tenure=9999), y)])


def test_a_pickle_warns_as_before_and_is_no_larger() -> None:
    model = sw.DecisionTreeClassifier(max_depth=2).fit(TRAINED, churn(TRAINED))
    before = len(pickle.dumps(model.schema_))
    model.predict(TRAINED)
    data = pickle.dumps(model)
    assert len(pickle.dumps(model.schema_)) < before + 20_000  # levels by name, once they were looked up
    assert warned(lambda: pickle.loads(data).predict(drifted(NEW)))


def test_rows_are_looked_at_evenly() -> None:
    X = np.tile(np.arange(100.0), 60)[:, None]
    model = sw.DecisionTreeRegressor(max_depth=2).fit(X, X[:, 0])
    X[-1000:] = 1e6  # the last sixth
    assert "in 16" in warned(lambda: model.predict(X))[0]


def test_the_caller_may_make_it_an_error_and_keep_the_model() -> None:
    model = FITTED["newton boosting"]
    before = sw.fingerprint(model)
    with pytest.raises(DataDriftWarning):
        model.predict(drifted(NEW))
    assert sw.fingerprint(model) == before
    assert len(model.predict(NEW)) == len(NEW) < N

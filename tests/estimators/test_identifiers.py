"""Columns that name their rows: every fit names them in one warning."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import sapwood
from sapwood.data_warnings import quiet
from sapwood.errors import IdentifierWarning, SapwoodWarning, TextColumnWarning
from sapwood.table.identifiers import identifier_columns
from sapwood.table.table import Table

N = 60
ENSEMBLE = {"n_estimators": 2, "random_state": 0}
ESTIMATORS = {
    "tree": sapwood.DecisionTreeClassifier(max_depth=2),
    "tree of numbers": sapwood.DecisionTreeRegressor(max_depth=2),
    "forest": sapwood.RandomForestClassifier(**ENSEMBLE, n_jobs=2),
    "extra trees": sapwood.ExtraTreesRegressor(**ENSEMBLE),
    "bagging": sapwood.BaggingClassifier(**ENSEMBLE),
    "bagging of pipelines": sapwood.BaggingClassifier(
        make_pipeline(FunctionTransformer(), sapwood.DecisionTreeClassifier(max_depth=1)), **ENSEMBLE, n_jobs=2
    ),
    "bagging of boosting": sapwood.BaggingRegressor(sapwood.NewtonBoostingRegressor(n_estimators=2), **ENSEMBLE),
    "adaboost": sapwood.AdaBoostClassifier(**ENSEMBLE),
    "adaboost of boosting": sapwood.AdaBoostRegressor(sapwood.GradientBoostingRegressor(n_estimators=2), **ENSEMBLE),
    "gradient boosting": sapwood.GradientBoostingClassifier(n_estimators=2),
    "gradient boosting from a tree": sapwood.GradientBoostingRegressor(
        n_estimators=2, init=sapwood.DecisionTreeRegressor(max_depth=1)
    ),
    "newton boosting": sapwood.NewtonBoostingClassifier(n_estimators=2),
}


def frame(n: int = N) -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(0)
    x = random.normal(size=n)
    X = pd.DataFrame({"customerID": [f"id-{i}" for i in range(n)], "x": x, "colour": random.choice(["r", "g"], n)})
    return X, (x + random.normal(size=n) / 3 > 0).astype(int)


def warned(act: Any) -> list[str]:
    """Texts of the warnings about identifiers; there are no others."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    assert all(issubclass(one.category, IdentifierWarning) for one in caught), [str(one.message) for one in caught]
    assert all(one.filename == __file__ for one in caught)
    return [str(one.message) for one in caught]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_fit_warns_once(name: str) -> None:
    X, y = frame()
    (text,) = warned(lambda: ESTIMATORS[name].fit(X, y))
    assert text.startswith("'customerID' has 60 different values in 60 rows")
    assert "X.drop(columns=['customerID'])" in text
    assert not warned(lambda: ESTIMATORS[name].predict(X))
    assert not warned(lambda: ESTIMATORS[name].fit(X.drop(columns="customerID"), y))


def test_searches_warn_once() -> None:
    X, y = frame()
    tree, boosting = sapwood.DecisionTreeClassifier(), sapwood.NewtonBoostingClassifier(n_estimators=3)
    forest = sapwood.RandomForestClassifier(60, random_state=0, oob_tol=0.5)
    assert len(warned(lambda: sapwood.prune_by_cv(tree, X, y, cv=3))) == 1
    assert len(warned(lambda: sapwood.cross_validate_boosting(boosting, X, y, cv=3, refit=True))) == 1
    assert len(warned(lambda: sapwood.tune_by_oob(forest, X, y, max_features=[1, 2]))) == 1


def test_one_warning_names_all_columns() -> None:
    X, y = frame()
    X = X.assign(**{f"note{i}": [f"text {i} {j}" for j in range(N)] for i in range(6)})
    (text,) = warned(lambda: sapwood.DecisionTreeClassifier(max_depth=1).fit(X, y))
    assert "'customerID' has" in text
    assert "'note3' has 60 different values" in text
    assert "2 more columns" in text
    assert "Drop them" in text


def test_what_is_no_identifier() -> None:
    random = np.random.default_rng(1)
    columns = {
        "few rows": [f"{i}" for i in range(19)] + [None] * 41,
        "levels": [f"{i // 2}" for i in range(60)],
        "most differ": [f"{max(i, 8)}" for i in range(60)],
        "numbers": np.arange(60),
        "dates": pd.date_range("2020-01-01", periods=60),
        "states": random.integers(0, 50, 60).astype(str),
    }
    assert not identifier_columns(Table.from_any(pd.DataFrame(columns)))
    columns = {
        "all": [f"{i}" for i in range(60)],
        "nearly all": [f"{max(i, 5)}" for i in range(60)],
        "where known": [f"{i}" for i in range(20)] + [None] * 40,
    }
    found = identifier_columns(Table.from_any(pd.DataFrame(columns)))
    assert found == {"all": (60, 60), "nearly all": (55, 60), "where known": (20, 20)}


def test_numbers_are_identifiers_if_they_are_called_categories() -> None:
    X, y = np.arange(60.0)[:, None], np.arange(60) % 2
    assert not warned(lambda: sapwood.DecisionTreeClassifier().fit(X, y))
    assert len(warned(lambda: sapwood.DecisionTreeClassifier(categorical_features=[0]).fit(X, y))) == 1


def test_quiet_is_for_one_thread_and_ends() -> None:
    X, y = frame()
    tree = sapwood.DecisionTreeClassifier(max_depth=1)
    with quiet(), quiet():
        assert not warned(lambda: tree.fit(X, y))
    assert len(warned(lambda: tree.fit(X, y))) == 1
    assert issubclass(IdentifierWarning, SapwoodWarning)


def test_text_that_is_to_be_converted_is_not_to_be_dropped() -> None:
    X = pd.DataFrame({"price": [f"${1000 + i:,}" for i in range(60)]})
    with pytest.warns(TextColumnWarning, match="parse_text") as told:
        sapwood.DecisionTreeClassifier().fit(X, np.arange(60) % 2)
    assert [one.category for one in told] == [TextColumnWarning]


def test_the_warning_points_at_the_users_line_through_scikit_learn() -> None:
    X, y = frame()
    with pytest.warns(IdentifierWarning) as told:
        cross_val_score(sapwood.DecisionTreeClassifier(max_depth=1), X, y, cv=2)
    assert {one.filename for one in told} == {__file__}

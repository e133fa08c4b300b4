"""Labels, levels, names and parameters of every kind come back as they were."""

from __future__ import annotations

import datetime
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from file_cases import FORMS, assert_same_model, trip
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from saved_models import classes, matrix

import sapwood as sw
from sapwood.errors import ModelFileError, ParameterTypeError

LABELS = {
    "strings": np.array(["no", "yes", "perhaps"]),
    "objects": np.array(["no", "yes", "perhaps"], dtype=object),
    "unicode": np.array(["", "ß€𝄞", "a'b\"c\n\x00d", "\ud800"]),
    "integers": np.array([-(2**60), 7, 2**62]),
    "small integers": np.array([3, 200], dtype=np.uint8),
    "large integers": np.array([2**63, 2**64 - 1], dtype=np.uint64),
    "booleans": np.array([False, True]),
    "floats": np.array([-1.0, 0.0, 1e300]),
    "single floats": np.array([1.0, 2.0], dtype=np.float32),
    "big-endian numbers": np.array([1, 2], dtype=">i4"),
    "days": np.array(["2020-02-29", "1969-12-31"], dtype="M8[D]"),
    "moments": np.array(["2020-02-29T12:00:00.000000001", "1677-12-31"], dtype="M8[ns]"),
    "durations": np.array([1, 5], dtype="m8[s]"),
    "one long text": np.array([*(f"{i:03}" for i in range(40)), "x" * 3000]),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_kind_come_back(kind: str, form: str, tmp_path: Path) -> None:
    X, labels = matrix(82), LABELS[kind]
    y = labels[np.arange(len(X)) % len(labels)]
    model = sw.DecisionTreeClassifier(max_depth=3).fit(X, y)
    loaded = trip(model, tmp_path, form)
    assert np.array_equal(model.predict(X), loaded.predict(X))
    if kind not in ("big-endian numbers", "one long text"):
        assert_same_model(model, loaded, X)


def test_labels_that_no_file_can_hold_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    y = np.array([datetime.date(2020, 1, 1 + i % 2) for i in range(80)], dtype=object)
    model = sw.DecisionTreeClassifier(max_depth=3).fit(matrix(), y)
    with pytest.raises(ModelFileError, match=r"fitted.classes_.*pickle"):
        sw.save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


LEVELS = {
    "numbers": [3, 10**15, -1],
    "fractions": [0.5, -0.25, 1e-300],
    "booleans": [True, False],
    "unicode": ["", "ß€𝄞", "a'b\"c\n", "\udcff", "x" * 10_000],
    "mixture": [1, "1", 2.5, "true"],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", LEVELS)
def test_levels_of_every_kind_come_back(kind: str, form: str, tmp_path: Path) -> None:
    levels = LEVELS[kind]
    column = pd.Series([levels[i % len(levels)] for i in range(60)] + [None], dtype=object)
    X = pd.DataFrame({"level": pd.Categorical(column) if kind == "numbers" else column, "x": np.arange(61.0)})
    y = np.arange(61) % len(levels) % 2 + 0.01 * np.arange(61)
    model = sw.RandomForestRegressor(n_estimators=2, random_state=0, categorical_features=["level"]).fit(X, y)
    loaded = trip(model, tmp_path, form)
    assert_same_model(model, loaded, X)
    assert loaded.schema_.columns[0].levels == model.schema_.columns[0].levels


NAMES = [
    "",
    " ",
    "a b",
    "'\"`",
    "new\nline",
    "\x00",
    "ß€𝄞",
    "\ud800",
    "x" * 10_000,
    "fitted.tree_",
    "__metadata__",
    "0",
]


@pytest.mark.parametrize("form", FORMS)
def test_names_of_columns_may_be_anything(form: str, tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=(50, len(NAMES)))
    X = pd.DataFrame(values, columns=pd.Index(NAMES, dtype=object))
    model = sw.NewtonBoostingRegressor(
        n_estimators=2, monotone_constraints={"\ud800": 1, "'\"`": -1}, interaction_constraints=[["", "new\nline"]]
    ).fit(X, values.sum(axis=1))
    loaded = trip(model, tmp_path, form)
    assert list(loaded.feature_names_in_) == NAMES
    assert_same_model(model, loaded, X)


def test_numbers_of_numpy_become_those_of_python(tmp_path: Path) -> None:
    model = sw.NewtonBoostingClassifier(
        n_estimators=np.int64(2),
        learning_rate=np.float64(0.5),
        undo_class_weight=np.bool_(True),
        grow_policy=np.str_("lossguide"),
        class_weight={np.int64(0): np.float32(1.5), 1: 2},
    ).fit(matrix(), classes(matrix()))
    loaded = trip(model, tmp_path)
    assert loaded.get_params() == model.get_params()
    assert type(loaded.n_estimators) is int
    assert type(loaded.learning_rate) is float
    assert type(loaded.undo_class_weight) is bool
    assert type(loaded.grow_policy) is str
    assert loaded.class_weight == {0: 1.5, 1: 2}


@pytest.mark.parametrize("weights", [{0: 1, 1: 2.5}, {False: 1, True: 2}, {0.0: 2, 1.0: 1}])
def test_keys_of_dictionaries_keep_their_type(weights: dict[Any, Any], tmp_path: Path) -> None:
    model = sw.DecisionTreeClassifier(max_depth=2, class_weight=weights).fit(matrix(), classes(matrix()))
    loaded = trip(model, tmp_path, "json").class_weight
    assert loaded == weights
    assert list(map(type, loaded)) == list(map(type, weights))


def test_parameters_may_be_made_of_other_containers(tmp_path: Path) -> None:
    X = pd.DataFrame({"colour": ["red", "blue", "green", None] * 20, "x": np.arange(80.0)})
    model = sw.RandomForestClassifier(
        n_estimators=2,
        random_state=0,
        class_weight=OrderedDict([("no", 1.0), ("yes", 2.0)]),
        categorical_features=X.select_dtypes("object" if X["colour"].dtype == object else "str").columns,
        monotonic_cst=pd.Series([0, 1]),
    ).fit(X, np.where(np.arange(80) % 3, "yes", "no"))
    loaded = trip(model, tmp_path)
    assert loaded.class_weight == {"no": 1.0, "yes": 2.0}
    assert list(loaded.categorical_features) == ["colour"]
    assert loaded.monotonic_cst.tolist() == [0, 1]
    refitted = loaded.fit(X, np.where(np.arange(80) % 3, "yes", "no"))
    assert np.array_equal(refitted.predict_proba(X), model.predict_proba(X))
    model.set_params(categorical_features=range(1), monotonic_cst=None)
    assert trip(model, tmp_path).categorical_features == [0]


def test_numbers_of_more_than_64_bits_are_refused_when_saving(tmp_path: Path) -> None:
    y = np.array([2**70 + i % 2 for i in range(80)], dtype=object)
    model = sw.DecisionTreeClassifier(max_depth=2).fit(matrix(), y)
    with pytest.raises(ModelFileError, match=r"fitted\.classes_"):
        sw.save(model, tmp_path / "model")


def test_only_fitted_estimators_of_the_library_are_saved(tmp_path: Path) -> None:
    with pytest.raises(sw.SapwoodError, match="not fitted yet"):
        sw.save(sw.DecisionTreeClassifier(), tmp_path / "model")
    with pytest.raises(ParameterTypeError, match="fitted estimator of Sapwood"):
        sw.save({"a": 1}, tmp_path / "model")

    class Mine(sw.DecisionTreeClassifier):
        pass

    with pytest.raises(ParameterTypeError, match="not a Mine"):
        sw.save(Mine().fit(matrix(), classes(matrix())), tmp_path / "model")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    names=st.lists(st.text(st.characters(exclude_categories=()), max_size=4), min_size=1, max_size=4, unique=True),
    form=st.sampled_from(FORMS),
)
def test_any_names_come_back(names: list[str], form: str, tmp_path: Path) -> None:
    X = pd.DataFrame(np.arange(12.0 * len(names)).reshape(12, -1), columns=pd.Index(names, dtype=object))
    loaded = trip(sw.DecisionTreeRegressor(max_depth=2).fit(X, np.arange(12)), tmp_path, form)
    assert list(loaded.feature_names_in_) == names

"""Refit: the same splits, and leaf values that have learned from other rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import sapwood as sw
from sapwood.boosting.refit import places_of

CANCER, DIABETES, IRIS = (load(return_X_y=True) for load in (load_breast_cancer, load_diabetes, load_iris))
FIXED: dict[str, Any] = {"n_estimators": 12, "learning_rate": 0.2, "random_state": 0, "leaf_rows": "all"}


def predictions(model: Any, X: Any) -> Any:
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


def test_places_of_members_by_hand() -> None:
    assert [own.tolist() for own in places_of([2, 1, 3])] == [[0, 3], [1], [2, 4, 5]]


CASES: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "numbers": (sw.NewtonBoostingRegressor, DIABETES, FIXED),
    "members": (sw.NewtonBoostingRegressor, DIABETES, {"learning_rate": 0.3, "random_state": 0}),
    "absolute": (sw.NewtonBoostingRegressor, DIABETES, FIXED | {"objective": "absolute_error"}),
    "quantiles": (
        sw.NewtonBoostingRegressor,
        DIABETES,
        FIXED | {"objective": "quantile", "quantile_alpha": [0.2, 0.8]},
    ),
    "monotone": (sw.NewtonBoostingRegressor, DIABETES, FIXED | {"monotone_constraints": [0, 0, 1] + [0] * 7}),
    "penalties": (sw.NewtonBoostingRegressor, DIABETES, FIXED | {"reg_alpha": 5.0, "max_delta_step": 30.0}),
    "two classes": (sw.NewtonBoostingClassifier, CANCER, FIXED),
    "one tree of all classes": (sw.NewtonBoostingClassifier, IRIS, FIXED),
    "a tree for each class": (sw.NewtonBoostingClassifier, IRIS, FIXED | {"multi_strategy": "one_output_per_tree"}),
}


@pytest.mark.parametrize("case", CASES)
def test_the_rows_of_training_give_the_same_model(case: str) -> None:
    kind, (X, y), parameters = CASES[case]
    model = kind(**parameters).fit(X, y)
    before = predictions(model, X)
    np.testing.assert_allclose(predictions(model.refit(X, y, decay=0.0), X), before, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(predictions(model.refit(X, y, decay=0.4), X), before, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(predictions(model, X), before)


def test_first_leaves_by_hand() -> None:
    """Squared error, one round: the new value is the base and the learning rate times the mean residual of its rows."""
    X, y = DIABETES
    model = sw.NewtonBoostingRegressor(**(FIXED | {"n_estimators": 1, "reg_lambda": 0.0})).fit(X[:300], y[:300])
    base, tree, leaves = model.ensemble_.base[0], model.ensemble_.rounds[0][0], model.apply(X[300:])[:, 0]
    found = model.refit(X[300:], y[300:], decay=0.25).predict(X[300:]) - base
    for leaf in np.unique(leaves):
        of = leaves == leaf
        expected = 0.25 * tree.value[leaf, 0, 0] + 0.75 * 0.2 * (y[300:][of].mean() - base)
        assert np.allclose(found[of], expected, rtol=1e-12)


def test_leaves_without_new_rows_keep_their_values_and_decay_of_one_changes_nothing() -> None:
    X, y = DIABETES
    model = sw.NewtonBoostingRegressor(**FIXED).fit(X, y)
    new = model.refit(X[:5], y[:5], decay=0.0)
    reached = model.apply(X[:5])[:, 0]
    before, after = (one.ensemble_.rounds[0][0] for one in (model, new))
    others = np.setdiff1d(np.flatnonzero(before.is_leaf), reached)
    assert np.array_equal(after.value[others], before.value[others])
    assert np.array_equal(model.refit(X[:5], y[:5], decay=1.0).predict(X), model.predict(X))


def test_weights_of_rows_are_copies() -> None:
    X, y = DIABETES
    model = sw.NewtonBoostingRegressor(**FIXED).fit(X, y)
    weight = np.arange(100) % 3
    one = model.refit(X[:100], y[:100], weight, decay=0.0)
    other = model.refit(np.repeat(X[:100], weight, axis=0), np.repeat(y[:100], weight), decay=0.0)
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-12)


def test_monotone_constraints_still_hold() -> None:
    kind, (X, y), parameters = CASES["monotone"]
    model = kind(**parameters).fit(X[:200], y[:200]).refit(X[200:], -y[200:], decay=0.1)
    assert model.certify()


def test_drifted_targets_are_followed(tmp_path: Path) -> None:
    X, y = DIABETES
    model = sw.NewtonBoostingRegressor(learning_rate=0.3, random_state=0).fit(X[:300], y[:300])
    new = model.refit(X[300:], y[300:] + 100.0, decay=0.5)
    shift = (new.predict(X) - model.predict(X)).mean()
    assert 20.0 < shift < 80.0
    sw.save(new, tmp_path / "new.sapwood")
    loaded = sw.load(tmp_path / "new.sapwood")
    again = loaded.refit(X[300:], y[300:], decay=0.5)
    assert np.array_equal(again.predict(X), new.refit(X[300:], y[300:], decay=0.5).predict(X))


def test_bad_arguments_are_refused() -> None:
    X, y = DIABETES
    model = sw.NewtonBoostingRegressor(**FIXED)
    with pytest.raises(sw.errors.NotFittedError):
        model.refit(X, y)
    model.fit(X, y)
    with pytest.raises(sw.errors.ParameterError, match=r"decay=1\.5"):
        model.refit(X, y, decay=1.5)
    with pytest.raises(sw.errors.InputError):
        model.refit(X[:, :3], y)
    classes = sw.NewtonBoostingClassifier(**FIXED).fit(*CANCER)
    with pytest.raises(sw.errors.InputError):
        classes.refit(CANCER[0], np.full(len(CANCER[1]), 7))
    ranker = sw.NewtonBoostingRanker(n_estimators=3).fit(X, (y > 100).astype(int))
    with pytest.raises(sw.errors.ParameterError, match="rankings"):
        ranker.refit(X, (y > 100).astype(int))


def test_auto_stands_for_what_it_stood_for_in_training() -> None:
    X, y = np.tile(DIABETES[0], (3, 1)), np.tile(DIABETES[1], 3)
    model = sw.NewtonBoostingRegressor(n_estimators=20, random_state=0).fit(X, y)
    written = sw.NewtonBoostingRegressor(**(model.params_ | {"recipe": "2026.1"})).fit(X, y)
    one, other = (each.refit(X[:150], y[:150], decay=0.0).predict(X) for each in (model, written))
    np.testing.assert_array_equal(one, other)
    assert model.refit(X[:150], y[:150]).recipe_[-1] == "Leaf values: refitted to 150 rows, decay 0.9."

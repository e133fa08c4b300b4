"""Models of scikit-learn come over with every prediction."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from import_cases import assert_lives, frame, numbers_only, positive, signal, three_classes, two_classes
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier, ExtraTreeRegressor
from threadpoolctl import threadpool_limits

import sapwood as sw
from sapwood.errors import InputError, InputTypeError, ModelFileError, NotFittedError, ParameterError
from sapwood.interchange import from_sklearn
from sapwood.interchange.sources.sklearn import tree as sklearn_tree

FEW = {"n_estimators": 5, "random_state": 0}
CLASSES = [
    DecisionTreeClassifier(max_depth=4, random_state=0),
    DecisionTreeClassifier(max_leaf_nodes=9, class_weight="balanced", random_state=0),
    DecisionTreeClassifier(ccp_alpha=0.01, criterion="entropy", random_state=0),
    ExtraTreeClassifier(max_depth=4, random_state=0),
    RandomForestClassifier(**FEW, oob_score=False),
    ExtraTreesClassifier(**FEW, max_depth=5),
]
NUMBERS = [
    DecisionTreeRegressor(max_depth=4, random_state=0),
    DecisionTreeRegressor(max_depth=3, criterion="absolute_error", random_state=0),
    ExtraTreeRegressor(max_depth=4, random_state=0),
    RandomForestRegressor(**FEW, max_depth=6, max_features=2),
    ExtraTreesRegressor(**FEW, bootstrap=True),
]
STAGES = [
    GradientBoostingRegressor(**FEW),
    GradientBoostingRegressor(**FEW, loss="absolute_error", learning_rate=0.3),
    GradientBoostingRegressor(**FEW, loss="huber", subsample=0.7),
    GradientBoostingRegressor(**FEW, loss="quantile", alpha=0.3, init="zero"),
]
HISTOGRAMS = [
    HistGradientBoostingRegressor(max_iter=5, loss=loss, quantile=0.3 if loss == "quantile" else None)
    for loss in ("squared_error", "absolute_error", "poisson", "gamma", "quantile")
]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Threads that wait for each other take longer than these rows do."""
    with threadpool_limits(1):
        yield


def train(model: Any, X: Any, y: Any) -> tuple[Any, Any]:
    fitted = model.fit(X, y)
    return fitted, from_sklearn(fitted)


def new_rows(X: pd.DataFrame) -> pd.DataFrame:
    """Rows that were not trained on, with numbers that float32 does not hold."""
    return numbers_only(frame(400, seed=9)) if "colour" not in X else frame(400, seed=9)


@pytest.mark.parametrize("model", CLASSES, ids=repr)
@pytest.mark.parametrize("target", [two_classes, three_classes])
def test_trees_of_classes(model: Any, target: Any, tmp_path: Path) -> None:
    X, labels = numbers_only(frame()), np.array(["no", "yes", "maybe"])
    theirs, ours = train(model, X, labels[target(frame())])
    np.testing.assert_allclose(ours.predict_proba(new_rows(X)), theirs.predict_proba(new_rows(X)), rtol=1e-12)
    np.testing.assert_array_equal(ours.predict(new_rows(X)), theirs.predict(new_rows(X)))
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-9)
    assert_lives(ours, X, tmp_path)


@pytest.mark.parametrize("model", NUMBERS, ids=repr)
def test_trees_of_numbers(model: Any, tmp_path: Path) -> None:
    X = numbers_only(frame())
    if model.criterion == "absolute_error":
        X = X.fillna(0.0)  # scikit-learn has missing values for other criteria only
    theirs, ours = train(model, X, signal(frame()))
    rows = new_rows(X) if X.isna().any(axis=None) else new_rows(X).fillna(0.0)
    np.testing.assert_allclose(ours.predict(rows), theirs.predict(rows), rtol=1e-12)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-9)
    assert_lives(ours, X, tmp_path)


@pytest.mark.parametrize(
    "model",
    [DecisionTreeClassifier(max_depth=4), RandomForestClassifier(**FEW), ExtraTreesRegressor(**FEW, max_depth=4)],
    ids=repr,
)
def test_several_outputs(model: Any) -> None:
    X = numbers_only(frame())
    theirs, ours = train(model, X, np.column_stack([two_classes(frame()), three_classes(frame())]))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    if hasattr(model, "predict_proba"):
        for own, other in zip(ours.predict_proba(X), theirs.predict_proba(X), strict=True):
            np.testing.assert_allclose(own, other, rtol=1e-12)


@pytest.mark.parametrize("model", STAGES, ids=repr)
def test_stages_of_numbers(model: Any, tmp_path: Path) -> None:
    X = numbers_only(frame()).fillna(0.0)
    theirs, ours = train(model, X, signal(frame()))
    rows = new_rows(X).fillna(0.0)
    np.testing.assert_allclose(ours.predict(rows), theirs.predict(rows), rtol=1e-12)
    for own, other in zip(ours.staged_predict(rows), theirs.staged_predict(rows), strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-12)
    np.testing.assert_array_equal(ours.train_score_, theirs.train_score_)
    assert_lives(ours, X, tmp_path)


@pytest.mark.parametrize(
    ("loss", "target"), [("log_loss", two_classes), ("log_loss", three_classes), ("exponential", two_classes)]
)
def test_stages_of_classes(loss: str, target: Any, tmp_path: Path) -> None:
    X = numbers_only(frame()).fillna(0.0)
    theirs, ours = train(GradientBoostingClassifier(**FEW, loss=loss), X, target(frame()))
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-12)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert_lives(ours, X, tmp_path)


@pytest.mark.parametrize("model", HISTOGRAMS, ids=lambda model: model.loss)
def test_histograms_of_numbers(model: Any, tmp_path: Path) -> None:
    X = frame()
    theirs, ours = train(model, X, positive(X))
    np.testing.assert_allclose(ours.predict(new_rows(X)), theirs.predict(new_rows(X)), rtol=1e-12)
    assert_lives(ours, X, tmp_path)


@pytest.mark.parametrize("target", [two_classes, three_classes])
def test_histograms_of_classes(target: Any, tmp_path: Path) -> None:
    X = frame()
    theirs, ours = train(HistGradientBoostingClassifier(max_iter=5, class_weight="balanced"), X, target(X))
    np.testing.assert_allclose(ours.predict_proba(new_rows(X)), theirs.predict_proba(new_rows(X)), rtol=1e-12)
    np.testing.assert_array_equal(ours.predict(new_rows(X)), theirs.predict(new_rows(X)))
    assert [column.name for column in ours.schema_.columns if column.kind == "category"] == ["colour", "size"]
    assert ours.schema_.columns[2].levels == tuple(sorted(set(X["colour"].dropna())))
    assert_lives(ours, X, tmp_path)


def test_categories_that_histograms_do_not_know_go_with_missing_values() -> None:
    X = frame()
    rows = X.head(20).assign(colour="pink")
    rows["colour"] = rows["colour"].astype("category")
    theirs, ours = train(HistGradientBoostingRegressor(max_iter=5), X, signal(X))
    np.testing.assert_allclose(ours.predict(rows), theirs.predict(rows), rtol=1e-12)


def test_categories_that_only_rows_held_out_have_go_with_missing_values() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 30, 400), rng.normal(size=400)]).astype(float)
    model = HistGradientBoostingRegressor(
        max_iter=8, categorical_features=[0], early_stopping=True, validation_fraction=0.5, random_state=0
    )
    X[:, 0] = np.where(np.arange(400) < 396, X[:, 0] % 6, X[:, 0] + 40)  # some categories have one row each
    theirs, ours = train(model, X, np.sin(X[:, 0]) + X[:, 1])
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)


def test_categories_that_are_numbers_in_an_array() -> None:
    X = np.column_stack([frame()["size"].astype(float), frame()["height"]])
    theirs, ours = train(HistGradientBoostingRegressor(max_iter=5, categorical_features=[0]), X, signal(frame()))
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
    assert ours.schema_.columns[0].levels == (10, 20, 30)


def test_doubles_next_to_thresholds_are_rounded_as_scikit_learn_rounds_them() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 1)) * 1e3
    theirs, ours = train(DecisionTreeRegressor(random_state=0), X, rng.normal(size=300))
    cuts = theirs.tree_.threshold[theirs.tree_.children_left >= 0]
    near = np.concatenate([np.nextafter(cuts.astype(np.float32), side).astype(float) for side in (-np.inf, np.inf)])
    halves = np.concatenate([(near[: len(cuts)] + cuts) / 2, cuts.astype(np.float32), near])
    rows = np.concatenate([np.nextafter(halves, side) for side in (-np.inf, np.inf)] + [halves])[:, None]
    np.testing.assert_array_equal(ours.predict(rows), theirs.predict(rows))


def test_parameters_are_taken_over_where_they_mean_the_same() -> None:
    X = numbers_only(frame())
    forest = from_sklearn(
        RandomForestClassifier(**FEW, max_features=2, min_samples_leaf=3).fit(X, two_classes(frame()))
    )
    assert (forest.n_estimators, forest.max_features, forest.min_samples_leaf) == (5, 2, 3)
    assert isinstance(forest, sw.RandomForestClassifier)
    lone = from_sklearn(ExtraTreeRegressor(max_depth=3).fit(X, signal(frame())))
    assert (lone.splitter, lone.max_depth) == ("random", 3)
    hist = from_sklearn(HistGradientBoostingRegressor(max_iter=3, l2_regularization=2.0).fit(X, signal(frame())))
    assert (hist.n_estimators, hist.reg_lambda, hist.max_leaves) == (3, 2.0, 31)


def test_forests_do_not_know_their_bags() -> None:
    X = numbers_only(frame())
    forest = from_sklearn(RandomForestRegressor(**FEW).fit(X, signal(frame())))
    with pytest.raises(InputError, match="out-of-bag rows cannot be determined"):
        forest.permutation_importance(X, signal(frame()))
    with pytest.raises(ParameterError, match="keep_targets"):
        forest.predict_quantiles(X)
    assert len(forest.estimators_) == 5
    np.testing.assert_allclose(np.mean([tree.predict(X) for tree in forest], axis=0), forest.predict(X))


def test_out_of_bag_scores_come_along() -> None:
    X = numbers_only(frame())
    theirs = RandomForestRegressor(60, oob_score=True, random_state=0).fit(X, signal(frame()))
    ours = from_sklearn(theirs)
    assert ours.oob_score_ == theirs.oob_score_
    np.testing.assert_array_equal(ours.oob_prediction_, theirs.oob_prediction_)


def test_models_from_arrays_have_no_names() -> None:
    X = numbers_only(frame()).to_numpy()
    ours = from_sklearn(DecisionTreeRegressor(max_depth=2).fit(X, signal(frame())))
    assert not ours.schema_.named
    assert not hasattr(ours, "feature_names_in_")


@pytest.mark.parametrize("model", [DecisionTreeRegressor(max_depth=3), HistGradientBoostingRegressor(max_iter=3)])
def test_models_with_names_come_over_without_pandas(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X = frame() if isinstance(model, HistGradientBoostingRegressor) else numbers_only(frame())
    theirs = model.fit(X, signal(frame()))
    monkeypatch.setattr("sapwood.interchange.optional.find_spec", lambda name: None)
    np.testing.assert_allclose(from_sklearn(theirs).predict(X), theirs.predict(X), rtol=1e-12)


def test_an_own_init_is_refused() -> None:
    X = numbers_only(frame()).fillna(0.0)
    for init in (LinearRegression(), DummyRegressor()):
        model = GradientBoostingRegressor(**FEW, init=init).fit(X, signal(frame()))
        with pytest.raises(ModelFileError, match=f"init={type(init).__name__}"):
            from_sklearn(model)


def test_what_is_no_model_of_trees_is_refused() -> None:
    with pytest.raises(InputTypeError, match="got a LinearRegression"):
        from_sklearn(LinearRegression())
    with pytest.raises(NotFittedError, match="not fitted yet"):
        from_sklearn(DecisionTreeClassifier())


def test_a_model_that_answers_differently_is_not_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    X = numbers_only(frame())
    model = DecisionTreeRegressor(max_depth=3).fit(X, signal(frame()))
    monkeypatch.setattr(sklearn_tree, "double_at_most", np.asarray)  # as if cells were compared as they are
    with pytest.raises(ModelFileError, match=r"does not agree with scikit-learn.*For the row \{'\w+': .*the scores of"):
        from_sklearn(model)

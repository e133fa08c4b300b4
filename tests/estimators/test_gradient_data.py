"""Any table, constraints, threads, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from gradient_cases import make_data
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from sapwood import GradientBoostingClassifier, GradientBoostingRegressor, export_text
from sapwood.boosting.fitting import Rows, Setup, fit_ensemble
from sapwood.errors import InputError, NotFittedError, ParameterError, SapwoodError
from sapwood.losses.names import make_loss
from sapwood.table.table import Table

DATA = make_data(n=400)


def make_frame(seed: int = 0) -> tuple[pd.DataFrame, Any, Any]:
    rng = np.random.default_rng(seed)
    city = rng.choice(["Bern", "Basel", "Chur", "Genf", "Zug"], size=600)
    size = np.where(rng.random(600) < 0.2, np.nan, rng.normal(size=600))
    X = pd.DataFrame({"city": city, "size": size, "noise": rng.normal(size=600)})
    good = np.isin(city, ["Basel", "Zug"])
    number = 3.0 * good + np.where(np.isnan(size), 2.0, size) + 0.1 * rng.normal(size=600)
    return X, number, np.where(number > 2, "yes", "no")


def test_missing_values_categories_and_frames() -> None:
    X, number, label = make_frame()
    model = GradientBoostingRegressor(n_estimators=60).fit(X, number)
    assert model.score(X, number) > 0.97
    assert list(model.feature_names_in_) == ["city", "size", "noise"]
    first = model.estimators_[0, 0].tree_
    assert first.is_subset_split(0)  # good and bad cities are told apart by one split
    levels = model.schema_.columns[0].levels
    assert {levels[i] for i in first.left_levels(0)} in ({"Basel", "Zug"}, {"Bern", "Chur", "Genf"})
    assert "city" in export_text(model.estimators_[0, 0])
    classifier = GradientBoostingClassifier(n_estimators=60).fit(X, label)
    assert classifier.score(X, label) > 0.97
    assert list(classifier.classes_) == ["no", "yes"]
    shuffled = X[["noise", "size", "city"]]
    np.testing.assert_array_equal(classifier.predict_proba(shuffled), classifier.predict_proba(X))


@pytest.mark.filterwarnings("ignore::sapwood.errors.DataDriftWarning")
def test_unseen_categories_go_where_missing_values_go_or_raise() -> None:
    X, number, _ = make_frame()
    new = X.head(3).assign(city="Paris")
    model = GradientBoostingRegressor(n_estimators=5).fit(X, number)
    np.testing.assert_array_equal(model.predict(new), model.predict(new.assign(city=None)))
    with pytest.raises(InputError, match="Paris"):
        model.set_params(unseen="error").predict(new)


def test_numbers_may_be_categories() -> None:
    X = DATA.X.copy()
    y = np.isin(X[:, 0], [1, 4, 8]) * 1.0
    split = GradientBoostingRegressor(n_estimators=1, learning_rate=1.0, max_depth=1, categorical_features=[0])
    assert split.fit(X, y).score(X, y) == pytest.approx(1.0)


def test_early_stopping_with_rare_categories() -> None:
    X, number, _ = make_frame()
    X.loc[:1, "city"] = ["Olten", "Thun"]  # may be held out, and so unknown to the trees
    model = GradientBoostingRegressor(n_iter_no_change=3, n_estimators=30, random_state=0).fit(X, number)
    assert model.score(X, number) > 0.8


def test_a_warm_start_keeps_the_codes_of_categories() -> None:
    X, number, _ = make_frame()
    weight = np.where(X["city"] == "Basel", 0.0, 1.0)  # the first of the levels does not take part any more
    model = GradientBoostingRegressor(n_estimators=20, warm_start=True).fit(X, number)
    before = model.predict(X)
    model.set_params(n_estimators=21, learning_rate=1e-9).fit(X, number, weight)
    np.testing.assert_allclose(model.predict(X), before, atol=1e-6)


@pytest.mark.parametrize("n_iter_no_change", [None, 5])
def test_sparse_input(n_iter_no_change: int | None) -> None:
    dense = np.where(DATA.X > 8, DATA.X, 0.0)
    options = {"n_estimators": 5, "random_state": 0, "n_iter_no_change": n_iter_no_change, "init": LogisticRegression()}
    model = GradientBoostingClassifier(**options).fit(dense, DATA.two)
    other = GradientBoostingClassifier(**options).fit(sparse.coo_array(dense), DATA.two)
    np.testing.assert_allclose(other.predict_proba(sparse.csr_array(dense)), model.predict_proba(dense), atol=1e-4)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile", "poisson", "log_loss"])
def test_monotonic_constraints_hold_for_every_loss(loss: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.random((500, 2))
    wave = 20 * X[:, 0] + 8 * np.sin(12 * X[:, 0]) - 10 * X[:, 1] + rng.normal(size=500)
    y: Any = np.exp(wave / 10) if loss == "poisson" else wave > 5 if loss == "log_loss" else wave
    kind = GradientBoostingClassifier if loss == "log_loss" else GradientBoostingRegressor
    options = {"loss": loss, "n_estimators": 50, "max_depth": 4, "monotonic_cst": [1, -1]}
    grid = np.linspace(0, 1, 201)
    for extra in ({}, {"line_search": True}):
        model = kind(**options, **extra).fit(X, y)
        score = model.predict_proba if loss == "log_loss" else model.predict
        for fixed in (0.1, 0.5, 0.9):
            along = score(np.column_stack([grid, np.full(201, fixed)]))
            across = score(np.column_stack([np.full(201, fixed), grid]))
            if loss == "log_loss":
                along, across = along[:, 1], across[:, 1]
            assert (np.diff(along) >= 0).all()
            assert (np.diff(across) <= 0).all()
        free = kind(loss=loss, n_estimators=50).fit(X, y)
        assert model.train_score_[-1] < free.train_score_[0]
        assert model.train_score_[-1] < 0.65 * model.train_score_[0]  # constrained, and still learning


def test_interaction_constraints() -> None:
    X, y = DATA.X, DATA.X[:, 0] * DATA.X[:, 1] + DATA.X[:, 2] * DATA.X[:, 3] + DATA.X[:, 4]

    def met(setting: Any) -> set[frozenset[int]]:
        model = GradientBoostingRegressor(n_estimators=30, max_depth=4, interaction_cst=setting).fit(X, y)
        return {path for tree in model.estimators_[:, 0] for path in paths(tree.tree_)}

    assert all(len(path) == 1 for path in met("no_interactions"))
    assert max(len(path) for path in met("pairwise")) == 2
    assert all(path <= {0, 1} or path <= {2, 3, 4} for path in met([[0, 1]]))
    assert max(len(path) for path in met(None)) > 2


def paths(tree: Any) -> set[frozenset[int]]:
    """Columns on the way to each leaf."""
    found, waiting = set(), [(0, frozenset[int]())]
    while waiting:
        node, path = waiting.pop()
        if tree.children_left[node] < 0:
            found.add(path)
            continue
        longer = path | {int(tree.feature[node])}
        waiting += [(int(tree.children_left[node]), longer), (int(tree.children_right[node]), longer)]
    return {path for path in found if path}


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "poisson", "log_loss"])
def test_threads_and_shards_do_not_matter(loss: str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40_000, 3)), DATA.target(loss)[rng.integers(0, 400, size=40_000)]
    kind = GradientBoostingClassifier if loss == "log_loss" else GradientBoostingRegressor
    models = [
        kind(loss=loss, n_estimators=2, subsample=0.8, random_state=1, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, 5)
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.predict(X), models[0].predict(X))
        np.testing.assert_array_equal(model.train_score_, models[0].train_score_)
    one, three = (scores_with_shards(models[0], X, y, n_shards) for n_shards in (1, 3))
    np.testing.assert_array_equal(one, three)


def scores_with_shards(model: Any, X: Any, y: Any, n_shards: int) -> Any:
    rows = Rows(Table.from_any(X), np.asarray(y, dtype=np.float64))
    loss = make_loss("logistic" if model.loss == "log_loss" else model.loss)
    setup: Setup = model._setup(rows, loss)
    setup = replace(setup, rounds=replace(setup.rounds, n_shards=n_shards), metrics=())
    setup = replace(setup, plan=replace(setup.plan, n_rounds=2))
    return fit_ensemble(rows, [], setup).ensemble.scores(rows.table)


def test_max_features_draws_columns_for_each_split() -> None:
    model = GradientBoostingRegressor(n_estimators=20, max_features=1, random_state=0).fit(DATA.X, DATA.number)
    assert model.max_features_ == 1
    used = {int(tree.tree_.feature[0]) for tree in model.estimators_[:, 0]}
    assert used == {0, 1, 2, 3, 4}
    again = GradientBoostingRegressor(n_estimators=20, max_features=1, random_state=0).fit(DATA.X, DATA.number)
    np.testing.assert_array_equal(again.predict(DATA.X), model.predict(DATA.X))


def test_more_bins_are_closer_to_the_data() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((2000, 1))
    y = np.floor(X[:, 0] * 64) % 2
    fits = [GradientBoostingRegressor(max_bins=bins, n_estimators=50, max_depth=6).fit(X, y) for bins in (8, 255)]
    assert fits[0].score(X, y) < 0.1
    assert fits[1].score(X, y) > 0.5


def test_cross_validation_of_scikit_learn() -> None:
    model = GradientBoostingClassifier(n_estimators=20)
    assert cross_val_score(model, DATA.X, DATA.three, cv=3).mean() > 0.6


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"learning_rate": -1}, "learning_rate=-1 .*must be a finite number of at least 0, a list of such numbers, or"),
        ({"learning_rate": []}, r"learning_rate=\[\]"),
        ({"learning_rate": [0.1, "a"]}, "learning_rate"),
        ({"loss": "ls"}, "loss='ls' is not allowed for GradientBoostingRegressor"),
        ({"criterion": "gini"}, "criterion='gini'"),
        ({"init": "one"}, "init='one' .*'zero', an estimator with fit and predict, or None"),
        ({"init": GradientBoostingRegressor}, "init="),
        ({"n_estimators": 0}, "n_estimators=0 .*Use n_estimators=1"),
        ({"subsample": 1.5}, "subsample=1.5"),
        ({"max_bins": 65_536}, "max_bins=65536 .*Use max_bins=65535"),
        ({"alpha": 1.0, "loss": "huber"}, "alpha=1.0"),
        ({"monotonic_cst": [1]}, "monotonic_cst has 1 elements, but X has 5 columns"),
        ({"monotonic_cst": [2, 0, 0, 0, 0]}, "monotonic_cst is 2 for the column"),
        ({"interaction_cst": [[0, 7]]}, "interaction_cst holds the column 7"),
        ({"interaction_cst": "none"}, "interaction_cst='none'"),
        ({"callbacks": print}, "callbacks="),
    ],
)
def test_refused_parameters(parameters: dict[str, Any], match: str) -> None:
    with pytest.raises(SapwoodError, match=match):
        GradientBoostingRegressor(**parameters).fit(DATA.X, DATA.number)


@pytest.mark.parametrize(
    ("parameters", "y", "weight", "match"),
    [
        ({"loss": "exponential"}, DATA.three, None, "loss='exponential' is only suitable for.*Use loss='log_loss'"),
        ({"monotonic_cst": [1, 0, 0, 0, 0]}, DATA.three, None, "monotonic_cst=.* is for two classes, but y has 3"),
        ({"class_weight": {0: 0.0}}, DATA.two, None, "y contains 1 class after rows of weight zero are left out: 1"),
        ({}, DATA.two, DATA.two, "one class"),
        ({}, np.zeros(400, dtype=int), None, "one class, 0"),
    ],
)
def test_refused_classes(parameters: dict[str, Any], y: Any, weight: Any, match: str) -> None:
    with pytest.raises(SapwoodError, match=match):
        GradientBoostingClassifier(**parameters).fit(DATA.X, y, weight)


def test_refused_targets_and_unfitted_models() -> None:
    with pytest.raises(InputError, match="the loss 'gamma' needs numbers above 0"):
        GradientBoostingRegressor(loss="gamma").fit(DATA.X, DATA.X[:, 0])
    for name in ("predict", "apply", "staged_predict"):
        with pytest.raises(NotFittedError):
            getattr(GradientBoostingRegressor(), name)(DATA.X)
    assert not hasattr(GradientBoostingRegressor(), "estimators_")
    assert not hasattr(GradientBoostingRegressor(), "feature_importances_")
    with pytest.raises(ParameterError, match=r"validation_fraction=2\.0"):
        GradientBoostingRegressor(n_iter_no_change=2, validation_fraction=2.0).fit(DATA.X, DATA.number)
    with pytest.raises(InputError, match=r"validation_fraction=0\.1 of 1 row leaves"):
        GradientBoostingRegressor(n_iter_no_change=2).fit(DATA.X[:1], DATA.number[:1])

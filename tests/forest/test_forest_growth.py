"""Trees of a forest are the trees of their bags; the forest is the same however it is grown."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from forest_cases import frame, same, signal, tables
from scipy import sparse
from sklearn.base import clone

from sapwood import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    export_text,
)
from sapwood.errors import InputError, InputTypeError, ParameterError

X = frame()
NUMBERS = signal(X)
TWO, THREE = (NUMBERS > 0.5).astype(int), np.digitize(NUMBERS, [0.0, 1.5])
FORESTS: dict[str, tuple[Any, Any]] = {
    "two classes": (RandomForestClassifier(6, random_state=0), TWO),
    "three classes": (RandomForestClassifier(6, random_state=0, criterion="entropy"), THREE),
    "exact": (RandomForestClassifier(6, random_state=0, max_bins=None), TWO),
    "exact, three classes": (RandomForestClassifier(6, random_state=0, max_bins=None), THREE),
    "numbers": (RandomForestRegressor(6, random_state=0), NUMBERS),
    "numbers, all columns": (RandomForestRegressor(6, random_state=0, max_features=None, max_bins=None), NUMBERS),
    "absolute error": (RandomForestRegressor(6, random_state=0, criterion="absolute_error"), NUMBERS),
    "extra": (ExtraTreesClassifier(6, random_state=0), TWO),
    "extra, three classes": (ExtraTreesClassifier(6, random_state=0, bootstrap=True), THREE),
    "extra, numbers": (ExtraTreesRegressor(6, random_state=0), NUMBERS),
    "columns of trees": (RandomForestClassifier(6, random_state=0, feature_sampling="tree"), TWO),
    "few leaves": (RandomForestClassifier(6, random_state=0, max_leaf_nodes=5, max_samples=0.7), THREE),
    "balanced": (RandomForestClassifier(6, random_state=0, class_weight="balanced_subsample"), THREE),
    "monotonic": (RandomForestRegressor(6, random_state=0, monotonic_cst={"a": 1}), NUMBERS),
    "pruned": (RandomForestRegressor(6, random_state=0, ccp_alpha=0.02), NUMBERS),
}


@pytest.fixture(params=FORESTS)
def case(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    forest, y = FORESTS[request.param]
    return clone(forest), y


def test_any_number_of_threads_grows_the_same_forest(case: tuple[Any, Any]) -> None:
    forest, y = case
    forests = [clone(forest).set_params(n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, 5)]
    assert same(forests[0], forests[1])
    assert same(forests[0], forests[2])
    np.testing.assert_array_equal(forests[0].predict(X), forests[2].predict(X))


def test_the_order_of_rows_does_not_matter(case: tuple[Any, Any]) -> None:
    forest, y = case
    order = np.random.default_rng(1).permutation(len(X))
    ours, theirs = clone(forest).fit(X, y), clone(forest).fit(X.iloc[order], y[order])
    first, second = (forest.predict(X) for forest in (ours, theirs))
    np.testing.assert_allclose(first.astype(float), second.astype(float), rtol=1e-9)


def test_a_forest_continued_is_a_forest_grown_at_once(case: tuple[Any, Any]) -> None:
    forest, y = case
    whole = clone(forest).fit(X, y)
    part = clone(forest).set_params(n_estimators=2, warm_start=True).fit(X, y)
    part.set_params(n_estimators=6).fit(X, y)
    assert same(whole, part)


def test_a_pickled_forest_is_the_same(case: tuple[Any, Any]) -> None:
    forest, y = case
    forest.fit(X, y).predict(X)
    again = pickle.loads(pickle.dumps(forest))
    assert same(forest, again)
    np.testing.assert_array_equal(forest.predict(X), again.predict(X))


@pytest.mark.parametrize("max_features", [None, 2])
@pytest.mark.parametrize(
    ("forest", "kind", "y"),
    [
        (RandomForestClassifier(4, random_state=3, max_bins=None), DecisionTreeClassifier, TWO),
        (RandomForestClassifier(4, random_state=3, max_bins=None), DecisionTreeClassifier, THREE),
        (RandomForestRegressor(4, random_state=3, max_bins=None), DecisionTreeRegressor, NUMBERS),
        (RandomForestRegressor(4, random_state=3, criterion="absolute_error"), DecisionTreeRegressor, NUMBERS),
        (ExtraTreesRegressor(4, random_state=3, bootstrap=True), DecisionTreeRegressor, NUMBERS),
    ],
)
def test_a_tree_of_the_forest_is_the_tree_of_its_rows(forest: Any, kind: Any, y: Any, max_features: Any) -> None:
    """Grown on ranks or on lists of a sample, it is the single tree with the numbers of draws as weights."""
    forest = clone(forest).set_params(max_features=max_features, max_bins=None).fit(X, y)
    for t, rows in enumerate(forest.estimators_samples_):
        weight = np.bincount(rows, minlength=len(X))
        options = {"criterion": forest.criterion, "splitter": forest.splitter, "max_features": max_features}
        tree = kind(random_state=forest.estimators_[t].random_state, **options).fit(X, y, sample_weight=weight)
        for name, array in forest.forest_.tree(t).arrays().items():
            np.testing.assert_allclose(array.astype(float), tree.tree_.arrays()[name].astype(float), rtol=1e-12)


def test_packed_trees_lose_nothing(case: tuple[Any, Any]) -> None:
    forest, y = case
    grown: list[Any] = []
    from sapwood.packed_tree import PackedTree

    pack = PackedTree.of

    def keep(tree: Any) -> PackedTree:
        grown.append(tree)
        return pack(tree)

    PackedTree.of = keep  # type: ignore[method-assign,assignment]
    try:
        forest.fit(X, y)
    finally:
        PackedTree.of = pack  # type: ignore[method-assign]
    for tree, packed in zip(grown, forest.forest_.trees, strict=True):
        for name, array in packed.unpack().arrays().items():
            assert array.dtype == tree.arrays()[name].dtype, name
            assert array.tobytes() == tree.arrays()[name].tobytes(), name


def test_bins_and_ranks_agree_where_values_are_few() -> None:
    coarse = X.drop(columns="level").round(1)
    binned, exact = (
        RandomForestClassifier(5, random_state=0, max_bins=max_bins).fit(coarse, TWO) for max_bins in (255, None)
    )
    assert same(binned, exact)


def test_a_sparse_matrix_grows_the_forest_of_the_dense_one() -> None:
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((150, 12)) < 0.1, rng.normal(size=(150, 12)), 0.0)
    y = (dense[:, 0] + dense[:, 1] > 0).astype(int)
    for forest in (RandomForestClassifier(5, random_state=0), ExtraTreesClassifier(5, random_state=0)):
        ours, theirs = clone(forest).fit(sparse.csr_array(dense), y), clone(forest).fit(dense, y)
        np.testing.assert_array_equal(ours.estimators_samples_, theirs.estimators_samples_)
        if isinstance(forest, RandomForestClassifier):
            np.testing.assert_array_equal(ours.predict_proba(sparse.csr_array(dense)), theirs.predict_proba(dense))


def test_rows_of_weight_zero_are_not_there() -> None:
    weight = (np.arange(len(X)) % 3 > 0).astype(float)
    forest = RandomForestClassifier(5, random_state=0, oob_score=lambda *_: 0.0)
    with pytest.warns(UserWarning, match="in the bag of every tree"):
        model = forest.fit(X, TWO, sample_weight=weight)
    assert all(weight[rows].all() for rows in model.estimators_samples_)
    assert np.isnan(model.oob_decision_function_[::3]).all()


@pytest.mark.parametrize("max_samples", [50, 0.25])
def test_max_samples(max_samples: float) -> None:
    model = RandomForestClassifier(3, random_state=0, max_samples=max_samples).fit(X, TWO)
    assert [len(rows) for rows in model.estimators_samples_] == [50, 50, 50]


def test_columns_of_trees() -> None:
    model = RandomForestClassifier(20, random_state=0, feature_sampling="tree", max_features=2).fit(X, TWO)
    for tree, features in zip(model.forest_.unpacked(), model.estimators_features_, strict=True):
        assert len(features) == 2
        assert set(tree.feature[tree.feature >= 0]) <= set(features.tolist())
    assert len({tuple(features) for features in model.estimators_features_}) > 3


def test_estimators_are_trees() -> None:
    model = RandomForestClassifier(4, random_state=0, prior_weight=0.0).fit(X, THREE)
    assert len(model.estimators_) == 4
    assert len(model.estimators_[1:3]) == 2
    mean = np.mean([tree.predict_proba(X) for tree in model.estimators_], axis=0)
    np.testing.assert_allclose(model.predict_proba(X), mean)
    np.testing.assert_array_equal(model.apply(X)[:, 2], model.estimators_[2].apply(X))


def test_decision_paths_and_importances() -> None:
    model = RandomForestClassifier(3, random_state=0).fit(X, TWO)
    path, starts = model.decision_path(X)
    np.testing.assert_array_equal(
        path[:, starts[1] : starts[2]].toarray(), model.estimators_[1].decision_path(X).toarray()
    )
    shares = [tree.feature_importances_ for tree in model.estimators_]
    np.testing.assert_allclose(model.feature_importances_, np.mean(shares, axis=0))


def test_hard_votes_are_counted() -> None:
    model = RandomForestClassifier(7, random_state=0, voting="hard", max_depth=2).fit(X, THREE)
    votes = np.array([tree.predict(X) for tree in model.estimators_])
    expected = np.stack([(votes == label).mean(axis=0) for label in (0, 1, 2)], axis=1)
    np.testing.assert_allclose(model.predict_proba(X), expected)


def test_several_outputs() -> None:
    both = np.column_stack([TWO, THREE])
    model = RandomForestClassifier(30, random_state=0, oob_score=True).fit(X, both)
    assert [shares.shape for shares in model.predict_proba(X)] == [(len(X), 2), (len(X), 3)]
    assert (model.predict(X) == both).mean() > 0.9
    numbers = np.column_stack([NUMBERS, -NUMBERS])
    regressor = RandomForestRegressor(10, random_state=0).fit(X, numbers)
    assert regressor.predict(X).shape == (len(X), 2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"bootstrap": False, "oob_score": True}, "needs bootstrap=True"),
        ({"bootstrap": False, "oob_stop": True}, "needs bootstrap=True"),
        ({"bootstrap": False, "max_samples": 0.5}, "needs bootstrap=True"),
        ({"n_estimators": 0}, "n_estimators=0"),
        ({"max_features": "half"}, "max_features='half'"),
        ({"voting": "loud"}, "voting='loud'"),
        ({"max_samples": -1}, "max_samples=-1"),
        ({"feature_sampling": "node"}, "feature_sampling='node'"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        RandomForestClassifier(**parameters).fit(X, TWO)


def test_bad_bags() -> None:
    forest = RandomForestClassifier()
    for rows, features in [([[0, 999]], None), ([[]], None), ([[0.5]], None), (None, [[0]]), ([[0]], [[0], [1]])]:
        with pytest.raises(InputError):
            forest.fit(X, TWO, rows=rows, features=features)
    with pytest.raises(InputError, match="not columns of X"):
        forest.fit(X, TWO, rows=[[0, 1]], features=[["z"]])


def test_warm_start_is_checked() -> None:
    model = RandomForestClassifier(3, warm_start=True, random_state=0).fit(X, TWO)
    with pytest.raises(ParameterError, match="n_estimators=2"):
        model.set_params(n_estimators=2).fit(X, TWO)
    with pytest.warns(UserWarning, match="does not fit new trees"):
        model.set_params(n_estimators=3).fit(X, TWO)
    model.set_params(n_estimators=5)
    others = {
        "fewer columns": X.drop(columns="a"),
        "another type": X.assign(level=1.0),
        "other levels": X.assign(level=X["level"].cat.rename_categories({"s": "z"})),
    }
    for table in others.values():
        with pytest.raises(InputError, match="requires the columns of the previous fit"):
            model.fit(table, TWO)
    for y in (THREE, np.where(TWO, "a", "b"), np.column_stack([TWO, TWO])):
        with pytest.raises(InputError, match="requires the outputs and classes of the previous fit"):
            model.fit(X, y)


def test_a_new_seed_grows_another_forest() -> None:
    first, second = (RandomForestClassifier(3, random_state=seed).fit(X, TWO) for seed in (0, 1))
    assert not same(first, second)
    assert tables(first)


def test_a_forest_is_a_sequence_of_trees() -> None:
    model = RandomForestClassifier(3, random_state=0).fit(X, TWO)
    assert len(model) == 3
    assert [tree.get_depth() for tree in model] == [model[t].get_depth() for t in range(3)]


def test_one_tree_of_a_forest_can_be_shown() -> None:
    model = RandomForestClassifier(2, random_state=0, max_depth=2).fit(X, TWO)
    assert "class:" in export_text(model[0])
    with pytest.raises(InputTypeError, match="many trees"):
        export_text(model)

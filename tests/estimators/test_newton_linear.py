"""Newton boosting with linear leaves: what leaves hold, equal bits on every path, and what they do not go with."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from newton_cases import same, trees
from scipy import sparse
from sklearn.base import clone

import sapwood as sw
from linear_twin import fit_leaf, line_values, path_columns
from sapwood import NewtonBoostingClassifier, NewtonBoostingRegressor
from sapwood.errors import ParameterError
from sapwood.interchange import to_c, to_python, to_xgboost
from sapwood.kernels.linear_leaves import LINE

rng = np.random.default_rng(3)
X = rng.normal(size=(500, 4))
X[rng.random(X.shape) < 0.05] = np.nan
Z = np.nan_to_num(X)
Y = 2.0 * Z[:, 0] - Z[:, 1] * Z[:, 2] + 0.1 * rng.normal(size=500)
THREE = np.digitize(Y, [-1.0, 1.0])
ONE: dict[str, Any] = {"recipe": "xgboost", "n_estimators": 1, "learning_rate": 0.5, "linear_tree": True}


def regressor(**parameters: Any) -> NewtonBoostingRegressor:
    return NewtonBoostingRegressor(**{"n_estimators": 8, "linear_tree": True, "random_state": 0, **parameters})


def check_leaves(model: Any, tree: Any, leaves: Any, base: float, factor: float = 1.0, ridge: float = 1.0) -> int:
    """Compare the lines of a first tree with regressions on the rows of its leaves; squared error."""
    g, n_lines = base - Y, 0
    for leaf in np.flatnonzero(tree.is_leaf):
        rows = leaves == leaf
        wanted = fit_leaf(X[rows], g[rows], np.ones(rows.sum()), path_columns(tree, int(leaf)), ridge)
        found = tree.linear.of_node(leaf)
        assert found["column"].tolist() == [line.column for line in wanted]
        np.testing.assert_allclose(found["slope"], [factor * line.slope for line in wanted], rtol=1e-7)
        for name in ("centre", "low", "high"):
            np.testing.assert_allclose(found[name], [getattr(line, name) for line in wanted], rtol=1e-12, atol=1e-15)
        n_lines += len(found)
    return n_lines


@pytest.mark.parametrize("method", ["hist", "approx", "exact"])
@pytest.mark.parametrize("ridge", [0.0, 3.0])
def test_leaves_are_regressions_on_the_columns_of_their_paths(method: str, ridge: float) -> None:
    model = NewtonBoostingRegressor(**ONE, max_depth=4, linear_lambda=ridge, tree_method=method).fit(X, Y)
    (tree,) = trees(model)
    leaves, base = model.apply(X)[:, 0], float(model.ensemble_.base[0])
    assert check_leaves(model, tree, leaves, base, 0.5, ridge) > 5
    lines = np.zeros(len(X))
    for leaf in np.unique(leaves):
        lines[leaves == leaf] = line_values(tree.linear.of_node(leaf), X[leaves == leaf])
    np.testing.assert_allclose(model.predict(X), base + tree.value[leaves, 0, 0] + lines, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(tree.predict(X)[:, 0], tree.value[leaves, 0, 0] + lines, rtol=1e-12, atol=1e-12)


def test_values_of_leaves_are_those_of_plain_leaves() -> None:
    plain, linear = (NewtonBoostingRegressor(**{**ONE, "linear_tree": kind}).fit(X, Y) for kind in (False, True))
    np.testing.assert_array_equal(trees(plain)[0].value, trees(linear)[0].value)
    assert trees(plain)[0].linear is None


def test_rows_that_subsample_draws_set_slopes_unless_all_do() -> None:
    drawn, whole = (
        NewtonBoostingRegressor(**ONE, subsample=0.5, max_depth=2, leaf_rows=rows, random_state=0).fit(X, Y)
        for rows in ("drawn", "all")
    )
    (tree,) = trees(whole)
    assert check_leaves(whole, tree, whole.apply(X)[:, 0], float(whole.ensemble_.base[0]), 0.5) > 3
    np.testing.assert_array_equal(trees(drawn)[0].threshold, tree.threshold)
    assert not np.array_equal(trees(drawn)[0].linear.lines["slope"], tree.linear.lines["slope"])


def test_replayed_trees_of_folds_have_slopes_by_all_rows() -> None:
    model = NewtonBoostingRegressor(**{**ONE, "learning_rate": 0.4}, max_depth=2, cv=2).fit(X, Y)
    assert model.n_estimators_ == 2  # a round of each of two members, whose mean is the model
    for number, (tree,) in enumerate(model.ensemble_.rounds):
        leaves = model.apply(X)[:, number]
        assert check_leaves(model, tree, leaves, float(model.ensemble_.base[0]), 0.5 * 0.4) > 3


def test_a_linear_function_is_learned_by_few_trees() -> None:
    W = np.random.default_rng(0).normal(size=(2000, 3))
    y = 3.0 * W[:, 0] - 2.0 * W[:, 1] + 0.5 * W[:, 2]
    errors = []
    for linear in (False, True):
        model = NewtonBoostingRegressor(n_estimators=20, learning_rate=0.5, linear_tree=linear, random_state=0)
        errors.append(float(np.std(model.fit(W[:1500], y[:1500]).predict(W[1500:]) - y[1500:])))
    assert errors[1] < 0.5 * errors[0]


MODELS: dict[str, Any] = {
    "numbers": lambda: regressor().fit(X, Y),
    "folds": lambda: regressor(n_estimators="auto", learning_rate=0.3).fit(X, Y),
    "one tree": lambda: regressor(n_estimators=1).fit(X, Y),
    "large trees": lambda: regressor(max_leaves=0, max_depth=12, grow_policy="depthwise").fit(X, Y),
    "poisson": lambda: regressor(objective="poisson").fit(X, np.abs(Y).round()),
    "two classes": lambda: NewtonBoostingClassifier(n_estimators=8, linear_tree=True, random_state=0).fit(X, Y > 0),
    "three classes": lambda: NewtonBoostingClassifier(n_estimators=8, linear_tree=True, random_state=0).fit(X, THREE),
}


def scores(model: Any, rows: Any) -> Any:
    return model.predict(rows, output_margin=True)


@pytest.mark.parametrize("name", MODELS)
def test_all_paths_of_prediction_give_the_same_bits(name: str, tmp_path: Path) -> None:
    model = MODELS[name]()
    assert model.model_.trees.is_linear
    wanted = scores(model, X)
    np.testing.assert_array_equal(scores(model, X[:100]), wanted[:100])
    np.testing.assert_array_equal(np.concatenate([scores(model, X[i : i + 1]) for i in range(60)]), wanted[:60])
    np.testing.assert_array_equal(scores(model, pd.DataFrame(X)), wanted)
    *_, last = model.ensemble_.staged_scores(model.model_.match(X))
    np.testing.assert_array_equal(last.T.reshape(wanted.shape), wanted)
    half = X.astype(np.float32)
    np.testing.assert_array_equal(scores(model, half), scores(model, half.astype(np.float64)))
    np.testing.assert_array_equal(scores(model, sparse.csr_matrix(Z)), scores(model, Z))
    *_, last = model.ensemble_.staged_scores(model.model_.match(sparse.csr_matrix(Z)))
    np.testing.assert_array_equal(last.T.reshape(wanted.shape), scores(model, Z))
    singles = [model.predict_one(row) for row in X[:40].tolist()]
    np.testing.assert_array_equal(singles, model.predict(X)[:40])
    np.testing.assert_array_equal(scores(pickle.loads(pickle.dumps(model)), X), wanted)
    sw.save(model, tmp_path / "model")
    np.testing.assert_array_equal(sw.load_model(tmp_path / "model").predict(X), model.predict(X))
    assert sw.fingerprint(sw.load(tmp_path / "model")) == sw.fingerprint(model)


@pytest.mark.parametrize("parameters", [{}, {"n_estimators": "auto", "learning_rate": 0.3, "linear_tree": "validate"}])
def test_the_number_of_threads_does_not_matter(parameters: dict[str, Any]) -> None:
    first, *others = (regressor(n_jobs=n_jobs, **parameters).fit(X, Y) for n_jobs in (1, 2, 3))
    assert all(same(first, other) for other in others)


def test_many_rows_on_threads() -> None:
    W = np.random.default_rng(0).normal(size=(70_000, 3))
    y = W[:, 0] + np.abs(W[:, 1])
    first, second = (regressor(n_estimators=2, n_jobs=n_jobs).fit(W, y > 0.5) for n_jobs in (1, 2))
    assert same(first, second)
    assert first.model_.trees.is_linear


def test_training_in_two_parts() -> None:
    settings: dict[str, Any] = {"learning_rate": 0.3, "leaf_rows": "all"}
    whole = regressor(**settings).fit(X, Y)
    half = regressor(n_estimators=4, **settings).fit(X, Y)
    assert same(regressor(n_estimators=4, **settings).fit(X, Y, init_model=half), whole)


def test_validation_rows_are_scored_as_prediction_does() -> None:
    model = regressor().fit(X[:400], Y[:400], eval_set=[(X[400:], Y[400:])])
    error = np.sqrt(np.mean((model.predict(X[400:]) - Y[400:]) ** 2))
    assert model.evals_result_["validation_0"]["rmse"][-1] == pytest.approx(error, rel=1e-12)
    held = regressor(validation_fraction=0.3).fit(X, Y)
    assert len(held.evals_result_["validation"]["rmse"]) == 8


def test_weights() -> None:
    weight = np.random.default_rng(0).integers(0, 3, len(Y)).astype(np.float64)
    weighted = regressor(learning_rate=0.3).fit(X, Y, weight)
    few = weight > 0
    assert same(weighted, regressor(learning_rate=0.3).fit(X[few], Y[few], weight[few]))
    fixed: dict[str, Any] = {"recipe": "xgboost", "min_child_weight": 0.0}
    repeated = np.repeat(np.arange(len(Y)), weight.astype(int))
    twice = regressor(**fixed, tree_method="exact").fit(X[repeated], Y[repeated])
    weighted = regressor(**fixed, tree_method="exact").fit(X, Y, weight)
    np.testing.assert_allclose(weighted.predict(X), twice.predict(X), rtol=1e-7)
    fixed["min_child_samples"] = 60  # enough for all columns, however rows are weighted
    one = regressor(**fixed, max_depth=2, reg_lambda=1.0, linear_lambda=1.0).fit(X, Y, 1.0 + weight)
    four = regressor(**fixed, max_depth=2, reg_lambda=4.0, linear_lambda=4.0).fit(X, Y, 4.0 * (1.0 + weight))
    np.testing.assert_allclose(one.predict(X), four.predict(X), rtol=1e-9)


def test_units_of_columns_do_not_matter() -> None:
    unit = np.array([2.0**-40, 2.0**30, 1.0, 4.0])
    np.testing.assert_array_equal(regressor().fit(X, Y).predict(X), regressor().fit(X * unit, Y).predict(X * unit))


def test_predictions_do_not_extrapolate() -> None:
    x = np.sort(np.random.default_rng(0).uniform(size=(300, 1)), axis=0)
    model = regressor(recipe="xgboost", n_estimators=30, drift_warning=False).fit(x, 5.0 * x[:, 0])
    low, high = model.predict(x[[0, -1]])
    np.testing.assert_array_equal(model.predict([[-1e9], [-np.inf], [1e9], [np.inf]]), [low, low, high, high])


def test_categories_and_constant_columns_have_no_lines() -> None:
    frame = pd.DataFrame({"kind": pd.Categorical.from_codes(THREE, ["a", "b", "c"]), "one": 1.0, "x": Z[:, 0]})
    model = regressor(max_depth=4).fit(frame, Y)
    columns = np.concatenate([tree.linear.lines["column"] for tree in trees(model) if tree.linear is not None])
    assert set(columns.tolist()) == {2}
    only = regressor().fit(frame[["kind"]], Y)
    assert not only.model_.trees.is_linear


def test_paths_with_splits_of_categories_give_the_same_bits() -> None:
    frame = pd.DataFrame({"kind": pd.Categorical.from_codes(THREE, ["a", "b", "c"]), "x": X[:, 0], "z": X[:, 1]})
    model = regressor(max_depth=4, drift_warning=False).fit(frame, Y)
    assert model.model_.trees.is_linear
    assert any((tree.subset_start >= 0).any() for tree in trees(model))
    wanted = model.predict(frame)
    *_, last = model.staged_predict(frame)
    np.testing.assert_array_equal(last, wanted)
    ones = [model.predict_one(row._asdict()) for row in frame[:30].itertuples(index=False)]
    np.testing.assert_array_equal(ones, wanted[:30])
    unknown = frame.assign(kind="d")
    np.testing.assert_array_equal(model.predict(unknown), model.predict(frame.assign(kind=None)))


def test_infinite_and_huge_cells() -> None:
    W = Z.copy()
    W[:20, 0], W[20:40, 0], W[:, 1] = np.inf, -np.inf, W[:, 1] * 1e300
    model = regressor().fit(W, Y)
    assert np.isfinite(model.predict(W)).all()
    assert np.mean((model.predict(W) - Y) ** 2) < np.var(Y)


def test_few_rows_have_leaves_of_one_value() -> None:
    model = regressor().fit(X[:15], Y[:15])
    assert not model.model_.trees.is_linear
    assert same(model, regressor(linear_tree=False).fit(X[:15], Y[:15]))


def test_interaction_constraints_hold_for_lines() -> None:
    model = regressor(interaction_constraints=[[0, 1], [2, 3]], max_depth=4).fit(X, Y)
    for tree in trees(model):
        for leaf in np.flatnonzero(tree.linear.counts):
            columns = set(tree.linear.of_node(leaf)["column"].tolist())
            assert columns <= {0, 1} or columns <= {2, 3}


def test_a_tree_for_each_class() -> None:
    model = MODELS["three classes"]()
    assert model.params_["multi_strategy"] == "one_output_per_tree"
    assert model.ensemble_.round_size == 3
    assert any(sentence.endswith("linear leaves need a tree for each class.") for sentence in model.recipe_)


def test_clones_and_parameters() -> None:
    model = clone(regressor(linear_lambda=2.0))
    assert model.linear_tree is True
    assert model.linear_lambda == 2.0
    default = NewtonBoostingRegressor(n_estimators=5, random_state=0).fit(X, Y)
    assert default.params_["linear_tree"] is False
    assert "linear_tree=False: nothing is validated that would tell if linear leaves help." in default.recipe_
    flat, steep = (regressor(linear_lambda=ridge).fit(X, Y) for ridge in (1e9, 0.0))
    sizes = [max(np.abs(tree.linear.lines["slope"]).max() for tree in trees(own)) for own in (flat, steep)]
    assert sizes[0] < 1e-6 * sizes[1]


# Validation decides


SMOOTH = 2.0 * Z[:, 0] - Z[:, 1] + 0.05 * rng.normal(size=500)
STEPS = (Z[:, 0] > 0) * 1.0 + (Z[:, 1] > 0.3) + 0.3 * rng.normal(size=500)


@pytest.mark.parametrize(("y", "linear"), [(SMOOTH, True), (STEPS, False)])
def test_the_better_kind_of_leaves_is_kept(y: Any, linear: bool) -> None:
    settings: dict[str, Any] = {"n_estimators": "auto", "learning_rate": 0.3}
    model = regressor(**settings, linear_tree="validate").fit(X, y)
    told = [sentence for sentence in model.recipe_ if sentence.startswith("linear_tree=")]
    assert len(told) == 1
    assert told[0].startswith(f"linear_tree={linear}: after ")
    assert same(model, regressor(**settings, linear_tree=linear).fit(X, y))
    assert model.model_.trees.is_linear is linear


def test_linear_leaves_are_the_default_where_they_help() -> None:
    rows = np.random.default_rng(5).normal(size=(1000, 3))
    smooth, steps = 2.0 * rows[:, 0] - rows[:, 1], np.round(np.sign(rows).sum(axis=1))
    quick: dict[str, Any] = {"learning_rate": 0.3, "random_state": 0}
    model = NewtonBoostingRegressor(**quick).fit(rows, smooth)
    assert model.model_.trees.is_linear
    assert model.params_["linear_tree"] is True
    assert any(sentence.startswith("linear_tree=True: after ") for sentence in model.recipe_)
    assert same(model, NewtonBoostingRegressor(**quick, linear_tree=True).fit(rows, smooth))
    plain = NewtonBoostingRegressor(**quick).fit(rows, steps)
    assert plain.params_["linear_tree"] is False
    assert same(plain, NewtonBoostingRegressor(**quick, linear_tree=False).fit(rows, steps))
    kept = NewtonBoostingRegressor(**quick, monotone_constraints=[1, 0, 0]).fit(rows, smooth)
    assert kept.certify()
    assert not NewtonBoostingRegressor(**quick, recipe="xgboost").fit(rows, smooth).model_.trees.is_linear


def test_validation_on_one_part_of_the_rows() -> None:
    settings: dict[str, Any] = {"n_estimators": 6, "learning_rate": 0.3, "cv": [(np.arange(100, 500), np.arange(100))]}
    model = regressor(**settings, linear_tree="validate").fit(X, SMOOTH)
    assert same(model, regressor(**settings).fit(X, SMOOTH))
    beginning = "linear_tree=True: after 6 rounds, rmse on rows that did not train was"
    (told,) = (sentence for sentence in model.recipe_ if sentence.startswith(beginning))
    without, with_lines = (float(word) for word in told.split() if word.replace(".", "").isdigit() and "." in word)
    assert with_lines < without


def test_classes_are_compared_by_their_loss() -> None:
    model = NewtonBoostingClassifier(linear_tree="validate", learning_rate=0.3, random_state=0).fit(X, THREE)
    assert any("logloss on rows" in sentence for sentence in model.recipe_)


@pytest.mark.parametrize("fit", [{"eval_set": [(X, Y)]}, {}])
def test_without_validation_the_kinds_cannot_be_compared(fit: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=r"linear_tree='validate' compares .* Use linear_tree=True or False"):
        regressor(linear_tree="validate").fit(X, Y, **fit)


# What does not go together with linear leaves


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"objective": "absolute_error"}, "the loss 'absolute_error'"),
        ({"objective": "quantile"}, "the loss 'quantile'"),
        ({"objective": lambda y, score: (score - y, np.ones_like(y))}, "the loss"),
        ({"monotone_constraints": [1, 0, 0, 0]}, "monotone_constraints"),
        ({"max_delta_step": 1.0}, "max_delta_step=1.0"),
    ],
)
def test_parameters_that_linear_leaves_cannot_keep_are_refused(parameters: dict[str, Any], told: str) -> None:
    for kind in (True, "validate"):
        with pytest.raises(ParameterError, match=f"linear_tree={kind!r} cannot be used with {told}.*linear_tree=False"):
            regressor(**parameters, linear_tree=kind).fit(X, Y)


def test_one_tree_of_all_classes_and_rankings_are_refused() -> None:
    with pytest.raises(ParameterError, match="multi_output_tree"):
        NewtonBoostingClassifier(n_estimators=3, linear_tree=True, multi_strategy="multi_output_tree").fit(X, THREE)
    with pytest.raises(ParameterError, match="linear_tree=True cannot be used with the loss"):
        sw.NewtonBoostingRanker(n_estimators=3, linear_tree=True).fit(X, THREE, group=[250, 250])


NEED_VALUES: dict[str, Any] = {
    "certify": lambda m: m.certify(monotone_constraints=[1, 0, 0, 0]),
    "to_xgboost": to_xgboost,
}


@pytest.mark.parametrize("name", NEED_VALUES)
def test_what_needs_leaves_of_one_value_is_refused(name: str) -> None:
    with pytest.raises(ParameterError, match=r"linear_tree=False"):
        NEED_VALUES[name](MODELS["one tree"]())


@pytest.mark.parametrize("name", ["numbers", "two classes", "three classes", "poisson"])
def test_programs_in_c_and_python_have_the_lines(name: str) -> None:
    model = MODELS[name]()
    to_c(model)  # which compiles it, and compares rows at all boundaries
    module: dict[str, Any] = {}
    exec(to_python(model), module)
    asked = X[:40]
    if name in ("numbers", "poisson"):
        np.testing.assert_allclose([module["predict"](row) for row in asked.tolist()], model.predict(asked), rtol=1e-12)
    else:
        wanted = model.predict_proba(asked)
        np.testing.assert_allclose([module["predict_proba"](row) for row in asked.tolist()], wanted, rtol=1e-9)


@pytest.mark.parametrize("name", ["numbers", "folds", "two classes", "three classes", "poisson"])
def test_refit_to_the_same_rows_changes_nothing(name: str) -> None:
    model = MODELS[name]()
    y = {"two classes": Y > 0, "three classes": THREE, "poisson": np.abs(Y).round()}.get(name, Y)
    for decay in (0.0, 1.0):
        again = model.refit(X, y, decay=decay)
        np.testing.assert_allclose(scores(again, X), scores(model, X), rtol=1e-9, atol=1e-9)


def test_refit_to_other_targets_keeps_slopes_and_moves_values() -> None:
    model = regressor(learning_rate=0.5, n_estimators=20).fit(X, Y)
    moved = model.refit(X, Y + 3.0, decay=0.0)
    for (old,), (new,) in zip(model.ensemble_.rounds, moved.ensemble_.rounds, strict=True):
        np.testing.assert_array_equal(old.linear.lines, new.linear.lines)
    error = [np.mean((own.predict(X) - Y - 3.0) ** 2) for own in (model, moved)]
    assert error[1] < 0.1 * error[0]


def test_folds_of_a_cross_validation() -> None:
    linear, plain = (
        sw.cross_validate_boosting(regressor(linear_tree=kind, learning_rate=0.3), X, SMOOTH, cv=3)
        for kind in (True, False)
    )
    assert linear.test_curve.mean.min() < plain.test_curve.mean.min()


def test_folds_of_a_cross_validation_do_not_compare_kinds_of_leaves() -> None:
    model = regressor(linear_tree="validate", n_estimators=10, cv=3)
    with pytest.raises(ParameterError, match="nothing is validated"):
        sw.cross_validate_boosting(model, X, SMOOTH, cv=3)


def test_records_of_lines_are_read_only() -> None:
    (tree,) = trees(MODELS["one tree"]())
    assert tree.linear.lines.dtype == LINE
    assert not tree.linear.lines.flags.writeable
    assert not tree.arrays()["lines"].flags.writeable

"""Newton boosting of several numeric targets, as users meet it."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import mean_squared_error, r2_score
from sklearn.model_selection import cross_val_score

import sapwood as sw
from model_cases import frame, signal
from sapwood.boosting.recipe import Counts, resolve
from sapwood.errors import InputError, ParameterError
from sapwood.predictor import Predictor

X = frame(240, seed=1)
Y = pd.DataFrame({"told": signal(X), "years": 1e4 * (X["age"] / 10.0) ** 2, "odd": 1e-4 * (X["age"] % 7)})
NAMES = ("told", "years", "odd")
WEIGHT = np.random.default_rng(0).uniform(0.1, 2.0, len(X))
ONE, OTHER = {"multi_strategy": "multi_output_tree"}, {"multi_strategy": "one_output_per_tree"}
BOTH = pytest.mark.parametrize("strategy", [ONE, OTHER], ids=["one tree", "a tree for each"])
POSITIVE = np.abs(Y) / Y.std() + 0.1


def regressor(**parameters: Any) -> sw.NewtonBoostingRegressor:
    return sw.NewtonBoostingRegressor(
        **{"recipe": "xgboost", "n_estimators": 8, "max_depth": 3, "random_state": 0, **parameters}
    )


OBJECTIVES: dict[str, dict[str, Any]] = {
    "squared_error": {},
    "lossguide": {"grow_policy": "lossguide", "max_leaves": 6, "max_depth": 0},
    "exact": {"tree_method": "exact"},
    "approx": {"tree_method": "approx"},
    "absolute_error": {"objective": "absolute_error"},
    "huber": {"objective": "huber"},
    "quantile": {"objective": "quantile", "quantile_alpha": 0.7},
    "poisson": {"objective": "poisson"},
    "gamma": {"objective": "gamma"},
    "tweedie": {"objective": "tweedie", "tweedie_variance_power": 1.3},
}


@pytest.mark.parametrize("name", OBJECTIVES)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weighted"])
def test_a_tree_for_each_target_is_that_of_the_target_alone(name: str, weight: Any) -> None:
    parameters = {**OBJECTIVES[name], **OTHER}
    joint = regressor(**parameters).fit(X, POSITIVE, weight)
    for k, target in enumerate(NAMES):
        alone = regressor(**parameters).fit(X, POSITIVE[target], weight)
        assert joint.ensemble_.base[k] == alone.ensemble_.base[0]
        for trees, (tree,) in zip(joint.ensemble_.rounds, alone.ensemble_.rounds, strict=True):
            for field, array in tree.arrays().items():
                assert_array_equal(array, trees[k].arrays()[field], field)
        assert_array_equal(joint.predict(X)[:, k], alone.predict(X))


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weighted"])
@pytest.mark.parametrize("rows", [{}, {"subsample": 0.6, "leaf_rows": "all"}], ids=["all rows", "drawn rows"])
def test_leaves_of_one_tree_by_hand(weight: Any, rows: dict[str, Any]) -> None:
    """Each value is the shrunken mean of what is left of its target in the rows of the leaf."""
    model = regressor(**ONE, **rows, reg_lambda=2.5, learning_rate=0.4).fit(X, Y, weight)
    w = np.ones(len(X)) if weight is None else weight
    table, score = model.schema_.match(X), np.repeat(model.ensemble_.base[:, None], len(X), axis=1)
    assert_allclose(model.ensemble_.base, np.average(Y, axis=0, weights=weight))
    for (tree,) in model.ensemble_.rounds:
        leaves, left = Predictor(tree).leaves(table), Y.to_numpy().T - score
        for leaf in np.unique(leaves):
            of = leaves == leaf
            expected = 0.4 * (w[of] * left[:, of]).sum(axis=1) / (w[of].sum() + 2.5)
            assert_allclose(tree.value[leaf, :, 0], expected, rtol=1e-6, atol=1e-9 * Y.to_numpy().max())
        score += tree.value[leaves, :, 0].T
    assert_allclose(model.predict(X), score.T)


@BOTH
def test_the_unit_of_a_target_changes_nothing_else(strategy: dict[str, str]) -> None:
    """Multiplied by a power of two, a target has predictions that are multiplied; others keep theirs, bit for bit."""
    more = {"subsample": 0.7, "colsample_bytree": 0.7, **strategy}
    factors = np.array([1.0, 2.0**-30, 2.0**20])
    for recipe in (more, {**strategy, "recipe": "2026.1", "cv": 2, "n_estimators": 25, "learning_rate": 0.3}):
        one, other = regressor(**recipe).fit(X, Y), regressor(**recipe).fit(X, Y * factors)
        assert_array_equal(other.predict(X), one.predict(X) * factors)


def test_no_target_dominates_a_tree_of_all() -> None:
    """The units of two targets differ by 10^8, and both are learned, as if they had one."""
    plain = Y[["told", "years"]] / Y[["told", "years"]].std()
    same, far = regressor(**ONE).fit(X, plain), regressor(**ONE).fit(X, plain * [1e-4, 1e4])
    assert_allclose(far.predict(X), same.predict(X) * [1e-4, 1e4])
    assert min(r2_score(plain, same.predict(X), multioutput="raw_values")) > 0.6


@BOTH
@pytest.mark.parametrize("objective", ["squared_error", "absolute_error", "huber"])
def test_constant_targets(strategy: dict[str, str], objective: str) -> None:
    y = np.column_stack([Y["told"], np.full(len(X), 0.1), Y["years"]])
    for recipe in ({}, {"recipe": "2026.1", "cv": 2, "n_estimators": 15, "learning_rate": 0.3}):
        model = regressor(**strategy, **recipe, objective=objective).fit(X, y)
        assert_allclose(model.predict(X)[:, 1], 0.1, rtol=1e-12)
        assert model.score(X, y) > 0.5
    flat = regressor(**strategy).fit(X, y[:, [1, 1]])
    assert_allclose(flat.predict(X), 0.1, rtol=1e-12)


def test_any_container_and_the_names_of_targets() -> None:
    for strategy in (ONE, OTHER):
        named = [regressor(**strategy).fit(X, y) for y in (Y, pl.DataFrame(Y.to_dict("list")))]
        plain = [regressor(**strategy).fit(X, y) for y in (Y.to_numpy(), Y.to_numpy().tolist())]
        for model in (*named, *plain):
            assert_array_equal(model.predict(X), named[0].predict(X))
            assert model.predict(X).shape == (len(X), 3)
            assert model.n_outputs_ == 3
        assert {model.target_names_ for model in named} == {NAMES}
        assert {model.target_names_ for model in plain} == {("target 0", "target 1", "target 2")}
        assert named[0].model_.score_names == NAMES
    numbered = regressor().fit(X, Y.set_axis([0, 1, 2], axis=1))
    assert numbered.target_names_ == ("target 0", "target 1", "target 2")
    with pytest.warns(UserWarning, match="column-vector"):
        column = regressor().fit(X, Y[["told"]].to_numpy())
    assert column.predict(X).shape == (len(X),)
    assert (column.n_outputs_, column.target_names_) == (1, ())


@BOTH
def test_every_way_of_prediction(strategy: dict[str, str]) -> None:
    model = regressor(**strategy).fit(X, Y)
    found = model.predict(X)
    assert_array_equal(list(model.staged_predict(X))[-1], found)
    assert_array_equal(model.predict(X, n_rounds=8, output_margin=True), found)
    assert_array_equal([model.predict_one(row) for row in X.head(9).to_dict("records")], found[:9])
    assert model.apply(X).shape == ((len(X), 8) if strategy is ONE else (len(X), 8, 3))
    assert model.score(X, Y) == r2_score(Y, found)
    values = sw.explain.shap_values(model, X.head(20))
    assert values.output_names == NAMES
    assert_allclose(values.values.sum(axis=1) + values.base_values, found[:20])
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), found)
    assert sw.fingerprint(clone(model).fit(X, Y)) == sw.fingerprint(model)
    curve = sw.explain.partial_dependence(model, X, "age")
    assert curve.output_names == NAMES
    assert curve.average.shape[0] == 3
    assert model.feature_importances_.sum() == pytest.approx(1.0)


@BOTH
@pytest.mark.parametrize("objective", ["squared_error", "poisson"])
def test_equal_bits_for_threads(strategy: dict[str, str], objective: str) -> None:
    more = {"subsample": 0.8, "objective": objective, "recipe": "2026.1", "n_estimators": 20, **strategy}
    found = [regressor(**more, n_jobs=n_jobs).fit(X, POSITIVE, WEIGHT) for n_jobs in (1, 2, 3)]
    assert len({sw.fingerprint(model) for model in found}) == 1


@BOTH
def test_files(strategy: dict[str, str], tmp_path: Any) -> None:
    for objective in ("squared_error", "huber", "poisson"):
        model = regressor(**strategy, objective=objective).fit(X, POSITIVE)
        for name in ("model.sapwood", "model.json"):
            sw.save(model, tmp_path / name)
            found, plain = sw.load(tmp_path / name), sw.load_model(tmp_path / name)
            assert_array_equal(found.predict(X), model.predict(X))
            assert_array_equal(plain.predict(X), model.predict(X))
            assert found.target_names_ == plain.score_names == NAMES
            assert sw.fingerprint(found) == sw.fingerprint(model)
            longer = regressor(**strategy, objective=objective, n_estimators=3).fit(X, POSITIVE, init_model=found)
            at_once = regressor(**strategy, objective=objective, n_estimators=11).fit(X, POSITIVE)
            assert_array_equal(longer.predict(X), at_once.predict(X))


@BOTH
def test_checkpoints(strategy: dict[str, str], tmp_path: Any) -> None:
    class KilledError(Exception):
        pass

    def kill(progress: Any) -> None:
        if progress.round == 5:
            raise KilledError

    setting = sw.Checkpoint(tmp_path / "model.sapwood", rounds=1)
    with pytest.raises(KilledError):
        regressor(**strategy, subsample=0.7, callbacks=[kill]).fit(X, Y, checkpoint=setting)
    resumed = regressor(**strategy, subsample=0.7).fit(X, Y, checkpoint=setting)
    assert_array_equal(resumed.predict(X), regressor(**strategy, subsample=0.7).fit(X, Y).predict(X))


@BOTH
def test_refit(strategy: dict[str, str]) -> None:
    model = regressor(**strategy).fit(X, Y)
    kept = model.refit(X, Y, decay=1.0)
    assert_allclose(kept.predict(X), model.predict(X))
    new = model.refit(X, Y * 2.0, decay=0.0)
    assert new.score(X, 2.0 * Y) > model.score(X, 2.0 * Y)
    assert new.target_names_ == NAMES


@BOTH
def test_validation_compares_targets_by_what_is_left_of_their_loss(strategy: dict[str, str]) -> None:
    train, test = X.index < 160, X.index >= 160
    model = regressor(**strategy, early_stopping_rounds=3, n_estimators=60, learning_rate=0.5)
    model.fit(X[train], Y[train], eval_set=[(X[test], Y[test])])
    curve = model.evals_result_["validation_0"]["loss"]
    for n, found in zip((1, 5, len(curve)), (curve[0], curve[4], curve[-1]), strict=True):
        error = ((Y[test] - model.predict(X[test], n_rounds=n)) ** 2).mean(axis=0) / Y[train].var(ddof=0)
        assert found == pytest.approx(error.mean())
    assert model.best_score_ == min(curve)
    named = regressor(**strategy, eval_metric=["rmse", "mae", mean_squared_error])
    named.fit(X[train], Y[train], eval_set=[(X[test], Y[test])], sample_weight_eval_set=[WEIGHT[test]])
    found = named.evals_result_["validation_0"]
    error = (Y[test] - named.predict(X[test])).to_numpy()
    assert found["rmse"][-1] == pytest.approx(np.sqrt(np.average((error**2).mean(axis=1), weights=WEIGHT[test])))
    assert found["mae"][-1] == pytest.approx(np.average(np.abs(error).mean(axis=1), weights=WEIGHT[test]))
    assert found["mean_squared_error"][-1] == pytest.approx(found["rmse"][-1] ** 2)
    held_out = regressor(**strategy, validation_fraction=0.3).fit(X, Y)
    assert list(held_out.evals_result_["validation"]) == ["loss"]


@BOTH
@pytest.mark.parametrize("objective", ["squared_error", "absolute_error", "huber"])
def test_rounds_are_validated(strategy: dict[str, str], objective: str) -> None:
    quick = {"n_estimators": 30, "learning_rate": 0.2, "cv": 3} if objective != "squared_error" else {}
    model = sw.NewtonBoostingRegressor(**strategy, **quick, objective=objective, random_state=0).fit(X, Y)
    assert model.oof_prediction_.shape == (len(X), 3)
    assert np.isfinite(model.oof_prediction_).all()
    assert 0.3 < r2_score(Y, model.oof_prediction_) < model.score(X, Y)
    assert "Best numbers of rounds" in model.recipe_[-1]
    given = regressor(**strategy, objective=objective, cv=2).fit(X, Y, WEIGHT * (X.index > 20))
    assert np.isnan(given.oof_prediction_).all(axis=1).sum() == 21


@BOTH
def test_cross_validation(strategy: dict[str, str]) -> None:
    found = sw.cross_validate_boosting(regressor(**strategy), X, Y, cv=3, refit=True)
    assert found.metric == "loss"
    assert found.oof_prediction.shape == (len(X), 3)
    assert found.estimators[0].target_names_ == found.refit_.target_names_ == NAMES
    train, test = found.splits[1]
    alone = regressor(**strategy, n_estimators=found.best_n_rounds).fit(X.iloc[train], Y.iloc[train])
    assert_allclose(found.oof_prediction[test], alone.predict(X.iloc[test]), rtol=0.2, atol=0.2 * Y.std().max())
    assert np.mean(cross_val_score(regressor(**strategy), X, Y)) > 0.5


@BOTH
def test_functions_of_several_targets(strategy: dict[str, str]) -> None:
    """Scores start at 0, as targets do that are centred."""
    centred = (Y - Y.mean()).to_numpy()

    def squared(y: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        assert y.shape == score.shape == centred.shape
        return score - y, np.ones_like(y)

    own = regressor(objective=squared, **OTHER).fit(X, centred)
    assert_allclose(own.predict(X), regressor(**OTHER).fit(X, centred).predict(X), rtol=1e-6, atol=1e-9)
    one = regressor(objective=squared, **strategy).fit(X, centred)
    assert one.predict(X).shape == (len(X), 3)
    assert one.n_outputs_ == 3


def test_what_the_recipe_chooses() -> None:
    given = sw.NewtonBoostingRegressor().get_params()
    for recipe in ("xgboost", "2026.1"):
        model = sw.NewtonBoostingRegressor(recipe=recipe, n_estimators=3).fit(X, Y)
        assert model.params_["multi_strategy"] == "one_output_per_tree"
        one, three = (resolve(Counts(900, 7, 0, n), given | {"recipe": recipe}, validates=True).values for n in (1, 3))
        assert one == three


@pytest.mark.parametrize(
    ("parameters", "y", "error", "message"),
    [
        ({}, Y.set_axis(X.index).drop(7).reindex(X.index), InputError, r"^Column 'told' of y: .*NaN.*row 7"),
        ({}, Y.assign(odd=np.where(X.index == 3, np.inf, 0.0)), InputError, r"^Column 'odd' of y: .*infinity.*row 3"),
        ({}, Y.to_numpy() * [1.0, np.nan, 1.0], InputError, r"^Column 1 of y: .*NaN.*row 0"),
        ({}, Y.assign(years="x"), InputError, r"^Column 'years' of y: y holds 'x' in row 0"),
        ({}, Y.to_numpy() * [1.0, 1.0, 1e200], InputError, r"^Column 2 of y reaches .* Divide them by a constant"),
        ({}, Y.to_numpy() * [1.0, 1e-120, 1.0], InputError, r"^Column 1 of y is at most .* Multiply it by a constant"),
        ({"objective": "poisson"}, -Y, InputError, r"^target 'told' of y holds -.* in row 0, but the loss 'poisson'"),
        ({"objective": "gamma"}, Y * 0.0, InputError, r"^target 'told' of y holds"),
        ({"objective": "quantile", "quantile_alpha": [0.1, 0.9]}, Y, ParameterError, "Use one quantile, or fit one"),
        (
            {"monotone_constraints": {"age": 1}},
            Y,
            ParameterError,
            "is for one target, but y has 3. Fit one model for each",
        ),
        ({"eval_metric": "auc", "validation_fraction": 0.2}, Y, ParameterError, "predicts several targets"),
    ],
)
@BOTH
def test_what_is_refused(
    strategy: dict[str, str], parameters: dict[str, Any], y: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        regressor(**strategy, **parameters).fit(X, y)


def test_other_numbers_of_targets_are_refused() -> None:
    model = regressor().fit(X, Y)
    with pytest.raises(InputError, match=r"y has 2 columns, but the model is trained on 3 targets"):
        model.refit(X, Y[["told", "odd"]])
    with pytest.raises(InputError, match=r"eval_set\[0\]: y has 1 column, but the model is trained on 3 targets"):
        regressor().fit(X, Y, eval_set=[(X, Y["told"])])
    with pytest.raises(InputError, match=r"y has 3 columns, but the model is trained on 1 target\."):
        regressor().fit(X, Y, init_model=regressor().fit(X, Y["told"]))
    with pytest.raises(ParameterError, match="same objective with the same options, classes, quantiles or targets"):
        regressor(objective="huber").fit(X, Y, init_model=model)
    with pytest.raises(ParameterError, match="multi_strategy='multi_output_tree' does not match init_model"):
        regressor(**ONE).fit(X, Y, init_model=model)
    with pytest.raises(InputError, match="y has 2 columns, but the model predicts 3 numbers"):
        sw.explain.importance(model, X, Y[["told", "odd"]])
    for other in (sw.NewtonBoostingClassifier, sw.NewtonBoostingRanker, sw.GradientBoostingRegressor):
        with pytest.raises(InputError, match="boosting predicts one"):
            other().fit(X, np.column_stack([X["age"], X["age"]]))


@BOTH
def test_certificates_pictures_and_notebooks(strategy: dict[str, str]) -> None:
    model = regressor(**strategy, interaction_constraints=[["age", "income"], ["colour"]]).fit(X, Y)
    assert model.certify().ok
    assert "3: told, years, odd" in model._repr_html_()
    for picture in (
        sw.plot.plot_partial_dependence(sw.explain.partial_dependence(model, X, "age"), output="years"),
        sw.plot.plot_shap_summary(sw.explain.shap_values(model, X.head(9)), output="odd"),
        sw.plot_tree(model, tree=0),
    ):
        assert picture is not None
    assert "value: [" in sw.export_text(model, tree=0)

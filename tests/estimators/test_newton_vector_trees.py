"""multi_strategy and leaf_rows of Newton boosting, as users meet them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import sapwood as sw
from model_cases import frame, signal, three_classes, two_classes
from sapwood.errors import ParameterError

X = frame(200, seed=1)
Y, TWO, THREE = signal(X), two_classes(X), three_classes(X)
ONE = {"multi_strategy": "multi_output_tree"}
OTHER = {"multi_strategy": "one_output_per_tree"}


def classifier(**parameters: Any) -> sw.NewtonBoostingClassifier:
    return sw.NewtonBoostingClassifier(
        **{"recipe": "xgboost", "n_estimators": 6, "max_depth": 3, "random_state": 0, **parameters}
    )


def regressor(**parameters: Any) -> sw.NewtonBoostingRegressor:
    return sw.NewtonBoostingRegressor(
        **{"recipe": "xgboost", "n_estimators": 6, "max_depth": 3, "random_state": 0, **parameters}
    )


def test_a_round_has_one_tree_with_a_value_for_each_class():
    model = classifier(**ONE).fit(X, THREE)
    assert [len(trees) for trees in model.ensemble_.rounds] == [1] * 6
    assert {tree.value.shape[1:] for (tree,) in model.ensemble_.rounds} == {(3, 1)}
    assert model.apply(X).shape == (len(X), 6)
    assert model.score(X, THREE) > 0.8
    for staged, n in zip(model.staged_predict_proba(X), range(1, 7), strict=True):
        assert_array_equal(staged, model.predict_proba(X, n_rounds=n))
    assert_array_equal(model.model_.predict_proba(X), model.predict_proba(X))
    assert [model.predict_one(row) for row in X.head(9).to_dict("records")] == model.predict(X.head(9)).tolist()


@pytest.mark.parametrize("y", [TWO, Y])
def test_one_score_has_one_tree_anyway(y):
    make = regressor if y is Y else classifier
    one, other = (make(**own).fit(X, y) for own in (ONE, OTHER))
    assert_array_equal(one.predict(X, output_margin=True), other.predict(X, output_margin=True))
    again = make(**OTHER).fit(X, y, init_model=one)
    assert again.ensemble_.n_rounds == 12


def test_the_seed_decides_about_mixtures():
    one, same, other = (classifier(**ONE, random_state=seed).fit(X, THREE) for seed in (0, 0, 1))
    assert sw.fingerprint(one) == sw.fingerprint(same)
    assert sw.fingerprint(one) != sw.fingerprint(other)


@pytest.mark.parametrize("more", [{}, {"subsample": 0.6, "leaf_rows": "all"}, {"tree_method": "exact"}])
def test_training_goes_on_bit_for_bit(more, tmp_path):
    whole = classifier(**ONE, **more).fit(X, THREE)
    first = classifier(**ONE, **more, n_estimators=2).fit(X, THREE)
    sw.save(first, tmp_path / "first.sapwood")
    for start in (first, tmp_path / "first.sapwood"):
        both = classifier(**ONE, **more, n_estimators=4).fit(X, THREE, init_model=start)
        assert_array_equal(both.predict_proba(X), whole.predict_proba(X))
        for (ours,), (theirs,) in zip(both.ensemble_.rounds, whole.ensemble_.rounds, strict=True):
            for name, array in ours.arrays().items():
                assert array.tobytes() == theirs.arrays()[name].tobytes(), name


@pytest.mark.parametrize(("before", "after"), [(ONE, OTHER), (OTHER, ONE)])
def test_rounds_of_two_kinds_do_not_mix(before, after):
    names = before["multi_strategy"], after["multi_strategy"]
    told = (
        f"multi_strategy='{names[1]}' does not match init_model, .* with multi_strategy='{names[0]}'.*Use multi_strat"
    )
    with pytest.raises(ParameterError, match=told):
        classifier(**after).fit(X, THREE, init_model=classifier(**before).fit(X, THREE))
    quantiles: dict[str, Any] = {"objective": "quantile", "quantile_alpha": [0.2, 0.8]}
    with pytest.raises(ParameterError, match=told):
        regressor(**after, **quantiles).fit(X, Y, init_model=regressor(**before, **quantiles).fit(X, Y))


def test_a_recipe_that_chooses_one_tree_continues_its_own_models():
    given: dict[str, Any] = {"recipe": "2026.1", "multi_strategy": "auto"}
    first = classifier(**given).fit(X, THREE)
    assert first.params_["multi_strategy"] == "multi_output_tree"
    assert classifier(**given).fit(X, THREE, init_model=first).ensemble_.n_rounds == 12
    with pytest.raises(ParameterError, match="multi_strategy='one_output_per_tree' does not match init_model"):
        classifier().fit(X, THREE, init_model=first)


def test_another_strategy_does_not_resume_a_checkpoint(tmp_path):
    path = tmp_path / "checkpoint.sapwood"
    classifier(**ONE).fit(X, THREE, checkpoint=path)
    with pytest.raises(ParameterError, match="multi_strategy"):
        classifier(**OTHER).fit(X, THREE, checkpoint=path)


def test_early_stopping_and_evaluation():
    model = classifier(**ONE, n_estimators=200, learning_rate=0.5, early_stopping_rounds=3, validation_fraction=0.3)
    model.fit(X, THREE)
    assert model.best_n_rounds_ < model.ensemble_.n_rounds
    assert len(model.model_.trees) == model.best_n_rounds_
    watched = classifier(**ONE).fit(X, THREE, eval_set=[(X, THREE)], verbose=False)
    shares = watched.predict_proba(X)[np.arange(len(X)), np.searchsorted(watched.classes_, THREE)]
    (found,) = watched.evals_result().values()
    assert found["mlogloss"][-1] == pytest.approx(-np.log(shares).mean())


def test_monotone_constraints_of_several_classes_are_refused_as_before():
    with pytest.raises(ParameterError, match="monotone_constraints"):
        classifier(**ONE, monotone_constraints={"age": 1}).fit(X, THREE)


@pytest.mark.parametrize("objective", ["squared_error", "absolute_error", "huber"])
@pytest.mark.parametrize("method", ["uniform", "gradient_based"])
def test_leaves_of_all_rows_keep_constraints(objective, method):
    signs = {"age": 1, "income": -1}
    given: dict[str, Any] = {"objective": objective, "subsample": 0.4, "sampling_method": method, "leaf_rows": "all"}
    model = regressor(n_estimators=12, monotone_constraints=signs, **given).fit(X, Y)
    assert model.certify()
    assert not regressor(n_estimators=12, **given).fit(X, Y).certify(monotone_constraints=signs)


def test_leaves_of_all_rows_are_means_of_residuals():
    given: dict[str, Any] = {"subsample": 0.5, "reg_lambda": 0.0, "learning_rate": 1.0, "n_estimators": 1}
    model = regressor(**given, leaf_rows="all").fit(X, Y)
    ((tree,),), leaves = model.ensemble_.rounds, model.apply(X)[:, 0]
    for leaf in np.unique(leaves):
        expected = (Y[leaves == leaf] - model.ensemble_.base[0]).mean()
        assert tree.value[leaf, 0, 0] == pytest.approx(expected, abs=1e-9)
    drawn = regressor(**given).fit(X, Y)
    assert_array_equal(drawn.apply(X), model.apply(X))
    assert not np.allclose(drawn.predict(X), model.predict(X))


@pytest.mark.parametrize("name", ["multi_strategy", "leaf_rows"])
def test_other_values_are_refused(name):
    with pytest.raises(ParameterError, match=f"{name}='both' is not allowed"):
        classifier(**{name: "both"}).fit(X, THREE)

"""What happens stage by stage: staged predictions, samples, warm starts, monitors, early stopping, reports."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gradient_cases import make_data
from sklearn.base import clone
from sklearn.metrics import log_loss, mean_squared_error

from sapwood import GradientBoostingClassifier, GradientBoostingRegressor, load, save
from sapwood.errors import ParameterError

DATA = make_data(n=300)
KINDS = [
    (GradientBoostingRegressor, "squared_error", DATA.number),
    (GradientBoostingRegressor, "huber", DATA.number),
    (GradientBoostingClassifier, "log_loss", DATA.two),
    (GradientBoostingClassifier, "log_loss", DATA.three),
]
ALL_KINDS = pytest.mark.parametrize(("kind", "loss", "y"), KINDS)


@ALL_KINDS
def test_the_last_stage_is_the_prediction(kind: Any, loss: str, y: Any) -> None:
    model = kind(loss=loss, n_estimators=8, subsample=0.7, random_state=3).fit(DATA.X, y, DATA.weight)
    stages = list(model.staged_predict(DATA.X))
    assert len(stages) == 8
    np.testing.assert_array_equal(stages[-1], model.predict(DATA.X))
    if kind is GradientBoostingClassifier:
        *_, score = model.staged_decision_function(DATA.X)
        np.testing.assert_array_equal(score.squeeze(), model.decision_function(DATA.X))
        *_, share = model.staged_predict_proba(DATA.X)
        np.testing.assert_array_equal(share, model.predict_proba(DATA.X))
        np.testing.assert_allclose(np.exp(model.predict_log_proba(DATA.X)), share)


@pytest.mark.parametrize("y", [DATA.two, DATA.three])
def test_scores_are_the_start_and_the_trees_times_their_rates(y: Any) -> None:
    rates = [0.5, 0.2, 0.1]
    model = GradientBoostingClassifier(n_estimators=5, learning_rate=rates).fit(DATA.X, y)
    np.testing.assert_array_equal(model.learning_rates_, [0.5, 0.2, 0.1, 0.1, 0.1])
    share = model.init_.predict_proba(DATA.X[:1])[0]
    start = np.log(share[1] / share[0]) if len(share) == 2 else np.log(share) - np.log(share).mean()
    said = [[tree.predict(DATA.X) for tree in stage] for stage in model.estimators_]
    score = np.einsum("t,tkn->nk", model.learning_rates_, said) + start
    np.testing.assert_allclose(score.squeeze(), model.decision_function(DATA.X), atol=1e-12)
    leaves = model.apply(DATA.X)
    assert leaves.shape == (300, 5, 1 if len(share) == 2 else 3)
    np.testing.assert_array_equal(leaves[:, 2, 0], model.estimators_[2, 0].apply(DATA.X))


def test_train_score_is_what_scikit_learn_reports() -> None:
    numbers = GradientBoostingRegressor(n_estimators=4).fit(DATA.X, DATA.number, DATA.weight)
    errors = [
        mean_squared_error(DATA.number, said, sample_weight=DATA.weight) for said in numbers.staged_predict(DATA.X)
    ]
    np.testing.assert_allclose(numbers.train_score_, errors)
    classes = GradientBoostingClassifier(n_estimators=4).fit(DATA.X, DATA.two, DATA.weight)
    deviance = [2 * log_loss(DATA.two, p, sample_weight=DATA.weight) for p in classes.staged_predict_proba(DATA.X)]
    np.testing.assert_allclose(classes.train_score_, deviance)


@ALL_KINDS
def test_out_of_bag_scores_by_recomputation(kind: Any, loss: str, y: Any) -> None:
    model = kind(loss=loss, n_estimators=6, subsample=0.4, random_state=1)
    masks, losses = [], []

    def look(i: int, estimator: Any, facts: dict[str, Any]) -> None:
        assert i == facts["i"] == len(masks)
        assert facts["n_inbag"] == facts["sample_mask"].sum() == int(0.4 * 300)
        masks.append(facts["sample_mask"])
        losses.append(facts["progress"].rounds.loss)

    model.fit(DATA.X, y, DATA.weight, monitor=look)
    assert len({mask.tobytes() for mask in masks}) == 6
    factor = 2.0 if loss == "squared_error" or (model.n_trees_per_iteration_ == 1 and loss == "log_loss") else 1.0
    scores = [model.ensemble_.scores(model.model_.match(DATA.X), stages) for stages in range(7)]

    def mean(stage: int, rows: Any, score: Any) -> float:
        own = losses[stage].losses(np.asarray(y, dtype=float)[rows], score[:, rows])
        return factor * float(np.average(own, weights=DATA.weight[rows]))

    oob = [mean(stage, ~masks[stage], scores[stage + 1]) for stage in range(6)]
    np.testing.assert_allclose(model.oob_scores_, oob)
    np.testing.assert_allclose(model.train_score_, [mean(t, masks[t], scores[t + 1]) for t in range(6)])
    np.testing.assert_allclose(model.oob_improvement_, -np.diff([mean(0, ~masks[0], scores[0]), *oob]))
    assert model.oob_score_ == model.oob_scores_[-1]


def test_there_is_no_out_of_bag_score_without_a_sample() -> None:
    model = GradientBoostingRegressor(n_estimators=3, subsample=0.5).fit(DATA.X, DATA.number)
    assert hasattr(model, "oob_score_")
    model.set_params(subsample=1.0).fit(DATA.X, DATA.number)
    assert not hasattr(model, "oob_score_")
    assert not hasattr(model, "oob_improvement_")


@ALL_KINDS
@pytest.mark.parametrize("options", [{}, {"subsample": 0.5, "max_features": 2}, {"n_iter_no_change": 50}])
def test_a_warm_start_is_the_whole(kind: Any, loss: str, y: Any, options: dict[str, Any]) -> None:
    parts = kind(loss=loss, n_estimators=3, warm_start=True, random_state=5, **options)
    parts.fit(DATA.X, y, DATA.weight)
    early = parts.predict(DATA.X)
    parts.set_params(n_estimators=8).fit(DATA.X, y, DATA.weight)
    whole = kind(loss=loss, n_estimators=8, random_state=5, **options).fit(DATA.X, y, DATA.weight)
    assert parts.estimators_.shape == whole.estimators_.shape
    np.testing.assert_array_equal(parts.predict(DATA.X), whole.predict(DATA.X))
    np.testing.assert_array_equal(list(parts.staged_predict(DATA.X))[2], early)
    for name in ("train_score_", "oob_improvement_", "oob_scores_", "validation_score_", "learning_rates_"):
        assert hasattr(parts, name) == hasattr(whole, name)
        np.testing.assert_allclose(getattr(parts, name, 0), getattr(whole, name, 0), rtol=1e-12)


def test_a_warm_start_continues_what_an_estimator_began() -> None:
    init = clone(GradientBoostingRegressor(n_estimators=2))
    parts = GradientBoostingRegressor(init=init, n_estimators=3, warm_start=True).fit(DATA.X, DATA.number)
    parts.set_params(n_estimators=6).fit(DATA.X, DATA.number)
    whole = GradientBoostingRegressor(init=init, n_estimators=6).fit(DATA.X, DATA.number)
    np.testing.assert_array_equal(parts.predict(DATA.X), whole.predict(DATA.X))


def test_a_warm_start_of_as_many_stages_changes_nothing() -> None:
    model = GradientBoostingRegressor(n_estimators=3, warm_start=True).fit(DATA.X, DATA.number)
    before = model.predict(DATA.X)
    np.testing.assert_array_equal(model.fit(DATA.X, DATA.number).predict(DATA.X), before)
    assert len(model.train_score_) == 3


def test_a_warm_start_may_begin_to_sample() -> None:
    model = GradientBoostingRegressor(n_estimators=3, warm_start=True).fit(DATA.X, DATA.number)
    model.set_params(n_estimators=6, subsample=0.5).fit(DATA.X, DATA.number)
    np.testing.assert_array_equal(model.oob_improvement_[:3], 0)
    assert (model.oob_improvement_[3:4] > 0).all()  # before and after on the same rows
    model.set_params(n_estimators=8, subsample=1.0).fit(DATA.X, DATA.number)
    assert model.oob_scores_.shape == model.train_score_.shape == (8,)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"n_estimators": 2}, "n_estimators=2 is less than the 4 stages the model has.*Use n_estimators=4 or more"),
        (
            {"n_estimators": 9, "loss": "exponential"},
            "loss='exponential' cannot continue.*'logistic'.*warm_start=False",
        ),
    ],
)
def test_a_warm_start_refuses_what_it_cannot_continue(change: dict[str, Any], match: str) -> None:
    model = GradientBoostingClassifier(n_estimators=4, warm_start=True).fit(DATA.X, DATA.two)
    before = model.predict_proba(DATA.X)
    with pytest.raises(ParameterError, match=match):
        model.set_params(**change).fit(DATA.X, DATA.two)
    np.testing.assert_array_equal(model.predict_proba(DATA.X), before)  # a fit that fails leaves the model as it was


def test_a_monitor_sees_a_model_and_may_stop() -> None:
    seen = []

    def stop_at_the_fourth(i: int, model: Any, facts: dict[str, Any]) -> bool:
        assert model is facts["self"] is not own  # which stays as it was until training has ended
        assert model.n_estimators_ == len(model.estimators_) == len(model.train_score_) == i + 1
        np.testing.assert_allclose(model.predict(DATA.X), facts["raw_predictions"][:, 0])
        assert facts["begin_at_stage"] == 0
        assert facts["do_oob"] is False
        assert facts["sample_mask"].all()
        seen.append(i)
        return i == 3

    own = GradientBoostingRegressor(n_estimators=10)
    own.fit(DATA.X, DATA.number, monitor=stop_at_the_fourth)
    assert seen == [0, 1, 2, 3]
    assert own.n_estimators_ == 4
    assert own.stopped_reason_ == "the monitor asked to stop"
    np.testing.assert_array_equal(
        own.predict(DATA.X), GradientBoostingRegressor(n_estimators=4).fit(DATA.X, DATA.number).predict(DATA.X)
    )


def test_callbacks_and_a_limit_of_time_stop_too() -> None:
    told = []
    model = GradientBoostingRegressor(callbacks=[lambda progress: told.append(progress.round) or progress.round == 3])
    assert model.fit(DATA.X, DATA.number).n_estimators_ == 3
    assert told == [1, 2, 3]
    assert model.stopped_reason_ == "a callback asked to stop"
    model = GradientBoostingRegressor(max_seconds=1e-9).fit(DATA.X, DATA.number)
    assert model.n_estimators_ == 1
    assert "max_seconds" in model.stopped_reason_


def test_early_stopping_by_recomputation() -> None:
    model = GradientBoostingRegressor(
        n_estimators=200, learning_rate=0.5, n_iter_no_change=4, tol=0.02, random_state=0
    ).fit(DATA.X, DATA.number)
    curve, recent = model.validation_score_, [np.inf] * 4
    assert len(curve) == model.n_estimators_ < 200
    for stage, loss in enumerate(curve):
        is_better = any(loss + 0.02 < other for other in recent)
        assert is_better == (stage < len(curve) - 1)
        recent[stage % 4] = loss
    assert model.evals_result()["validation"]["loss"] == curve.tolist()
    assert model.set_params(validation_fraction=None, n_estimators=5).fit(DATA.X, DATA.number).n_estimators_ == 5
    assert not hasattr(model, "validation_score_")


def test_verbose_prints_the_table_of_scikit_learn(capsys: pytest.CaptureFixture[str]) -> None:
    GradientBoostingRegressor(n_estimators=25, verbose=1, subsample=0.5).fit(DATA.X, DATA.number)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split("  ")[-1].strip() == "Remaining Time"
    assert [line.split()[0] for line in lines] == ["Iter", *map(str, range(1, 11)), "20"]
    GradientBoostingRegressor(n_estimators=25, verbose=2).fit(DATA.X, DATA.number)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 26
    assert len(lines[-1].split()) == 3


def test_a_pickled_model_predicts_the_same() -> None:
    model = GradientBoostingClassifier(n_estimators=3).fit(DATA.X, DATA.three)
    assert model.estimators_.shape == (3, 3)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict_proba(DATA.X), model.predict_proba(DATA.X))
    np.testing.assert_array_equal(copy.estimators_[1, 1].tree_.value, model.estimators_[1, 1].tree_.value)


def test_a_new_fit_forgets_the_last_one() -> None:
    model = GradientBoostingClassifier(n_estimators=3).fit(DATA.X, DATA.three)
    assert model.estimators_.shape == (3, 3)
    model.fit(DATA.X, DATA.two)
    assert model.estimators_.shape == (3, 1)
    assert model.train_score_.shape == (3,)


def test_trees_carry_the_parameters_they_were_grown_with(tmp_path: Path) -> None:
    limits = {"min_impurity_decrease": 0.01, "min_samples_leaf": 2, "max_features": 2, "ccp_alpha": 0.0}
    model = GradientBoostingRegressor(n_estimators=4, max_depth=1, random_state=3, warm_start=True, **limits)
    model.fit(DATA.X, DATA.number)
    model.set_params(n_estimators=6, max_depth=np.int64(2)).fit(DATA.X, DATA.number)
    model.set_params(max_depth=7)
    save(model, tmp_path / "model.sapwood")
    for one in (model, load(tmp_path / "model.sapwood")):
        trees = one.estimators_[:, 0]
        assert [tree.max_depth for tree in trees] == [1, 1, 1, 1, 2, 2]
        assert all(tree.get_params()[name] == value for tree in trees for name, value in limits.items())
        assert {tree.random_state for tree in trees} == {3}
        assert [tree.get_depth() for tree in trees] == [1, 1, 1, 1, 2, 2]
    other = GradientBoostingRegressor(n_estimators=4, max_depth=1, random_state=3, **limits).fit(DATA.X, DATA.number)
    assert [tree.max_depth for tree in other.fit(DATA.X, DATA.number).estimators_[:, 0]] == [1] * 4

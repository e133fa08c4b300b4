"""Symmetric trees of Newton boosting: parameters, and the choice of the recipe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sapwood
from sapwood import NewtonBoostingClassifier, NewtonBoostingRegressor
from sapwood.boosting.whole_rounds import WholeRounds
from sapwood.errors import ParameterError

RNG = np.random.default_rng(1)
X = RNG.normal(size=(1000, 4))
PARITY = ((X[:, 0] > 0) ^ (X[:, 1] > 0)).astype(int)  # no split of one node gains, one of a whole level does
SUM = (X.sum(axis=1) > 2.5).astype(int)


def classifier(**parameters: Any) -> NewtonBoostingClassifier:
    return NewtonBoostingClassifier(random_state=0, **parameters)


@pytest.fixture(scope="module")
def parity() -> NewtonBoostingClassifier:
    return classifier(n_jobs=1).fit(X, PARITY)


def test_validation_chooses_them_where_they_save_much(parity: NewtonBoostingClassifier) -> None:
    assert parity.params_["grow_policy"] == "symmetric"
    assert "grow_policy=symmetric: chosen by validation." in parity.recipe_
    assert parity.recipe_[-2].startswith("grow_policy='symmetric': after the best numbers of rounds, logloss")
    usual = classifier(grow_policy="lossguide", n_jobs=1).fit(X, PARITY)
    best = [np.mean([min(fold["logloss"]) for fold in model.evals_result_.values()]) for model in (parity, usual)]
    assert best[0] < 0.95 * best[1]


def test_other_trees_stay_as_they_are_where_they_do_not() -> None:
    model, usual = (classifier(n_jobs=1, **given).fit(X, SUM) for given in ({}, {"grow_policy": "lossguide"}))
    assert model.params_["grow_policy"] == "lossguide"
    assert model.recipe_[-2].startswith("grow_policy='lossguide': after the best numbers of rounds")
    np.testing.assert_array_equal(model.predict_proba(X), usual.predict_proba(X))


def test_the_choice_can_be_repeated(parity: NewtonBoostingClassifier) -> None:
    names = ("grow_policy", "max_depth", "max_leaves", "random_strength", "extra_trees", "subsample")
    given = {name: parity.params_[name] for name in (*names, "colsample_bytree", "learning_rate")}
    again = classifier(n_jobs=1, **given).fit(X, PARITY)
    np.testing.assert_array_equal(again.predict_proba(X), parity.predict_proba(X))


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_the_same_model_for_any_number_of_threads(parity: NewtonBoostingClassifier, n_jobs: int) -> None:
    assert sapwood.fingerprint(classifier(n_jobs=n_jobs).fit(X, PARITY)) == sapwood.fingerprint(parity)


def test_files_and_refit(parity: NewtonBoostingClassifier, tmp_path: Path) -> None:
    sapwood.save(parity, tmp_path / "m.sapwood")
    loaded = sapwood.load(tmp_path / "m.sapwood")
    assert sapwood.fingerprint(loaded) == sapwood.fingerprint(parity)
    assert loaded.params_ == parity.params_
    np.testing.assert_allclose(
        loaded.refit(X, PARITY, decay=0.0).predict_proba(X), parity.predict_proba(X), rtol=1e-9, atol=1e-12
    )


def test_splits_of_a_level_are_the_same() -> None:
    """Each path takes its splits in the order of the levels, and leaves some out."""
    model = NewtonBoostingRegressor(grow_policy="symmetric", n_estimators=5, subsample=1.0, max_depth=4).fit(
        X, X @ X[0]
    )
    for (tree,) in model.ensemble_.rounds:
        splits = [(f, t) for f, t in zip(tree.feature.tolist(), tree.threshold.tolist(), strict=True) if f >= 0]
        assert len(set(splits)) <= 4 < len(splits)


@pytest.mark.parametrize("constraints", [{}, {"monotone_constraints": [1, 0, -1, 0, 0]}])
def test_whole_rounds_give_the_same_bits(constraints: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame(X, columns=list("abcd")).assign(level=pd.Categorical(RNG.choice(list("stuvw"), len(X))))
    frame.loc[::7, "a"] = np.nan
    options = {"grow_policy": "symmetric", "cv": 3, "n_estimators": 25, "n_jobs": 2, **constraints}
    at_once = classifier(**options).fit(frame, PARITY)
    monkeypatch.setattr(WholeRounds, "suits", classmethod(lambda *_: False))
    assert sapwood.fingerprint(classifier(**options).fit(frame, PARITY)) == sapwood.fingerprint(at_once)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tree_method": "exact"}, "grow_policy='symmetric' cannot be used with tree_method='exact'.*histograms"),
        ({"max_bin": 1000}, "cannot be used with.*max_bin=1000"),
        ({"colsample_bynode": 0.5}, "cannot be used with colsample_bynode=0.5.*Use colsample_bylevel"),
    ],
)
def test_what_they_cannot_keep_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        classifier(grow_policy="symmetric", **given).fit(X, PARITY)
    assert classifier(**given).fit(X, PARITY).params_["grow_policy"] == "lossguide"

"""Training goes on from a loaded model as it would have from the model that was saved."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from file_cases import FORMS, assert_same_answers, assert_same_model, trip
from saved_models import classes, matrix, numbers, squared

import sapwood as sw
from sapwood.errors import ParameterError
from sapwood.files.lost import Lost

WARM: dict[str, Any] = {
    "forest": sw.RandomForestRegressor(oob_score=True, keep_targets=True, max_depth=3),
    "forest of classes": sw.RandomForestClassifier(oob_score=True, class_weight="balanced", voting="hard"),
    "extra trees": sw.ExtraTreesClassifier(max_depth=4),
    "bagging": sw.BaggingRegressor(max_features=0.5),
    "gradient": sw.GradientBoostingRegressor(subsample=0.7),
    "gradient of huber": sw.GradientBoostingRegressor(loss="huber", n_iter_no_change=50),
    "gradient of classes": sw.GradientBoostingClassifier(class_weight="balanced"),
}


@pytest.mark.parametrize("name", WARM)
def test_a_warm_start_after_loading_gives_the_same_model(name: str, tmp_path: Path) -> None:
    X = matrix(missing=True)
    model = deepcopy(WARM[name]).set_params(n_estimators=25, random_state=3, warm_start=True)
    y = classes(X, 3) if hasattr(model, "predict_proba") else numbers(X)
    model.fit(X, y)
    loaded = trip(model, tmp_path)
    for one in (model, loaded):
        one.set_params(n_estimators=30).fit(X, y)
    assert_same_model(model, loaded, matrix(seed=5))
    assert_same_model(model, trip(loaded, tmp_path), matrix(seed=5))


NEWTON: dict[str, Any] = {
    "numbers": sw.NewtonBoostingRegressor(subsample=0.8, colsample_bytree=0.7),
    "quantiles": sw.NewtonBoostingRegressor(objective="quantile", quantile_alpha=[0.2, 0.8]),
    "classes": sw.NewtonBoostingClassifier(class_weight={0: 2.0, 1: 1.0, 2: 0.5}),
    "early stopping": sw.NewtonBoostingRegressor(early_stopping_rounds=2, validation_fraction=0.3),
    "ranks": sw.NewtonBoostingRanker(),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NEWTON)
def test_an_init_model_may_come_from_a_file(name: str, form: str, tmp_path: Path) -> None:
    X = matrix(missing=True)
    model = deepcopy(NEWTON[name]).set_params(n_estimators=4, max_depth=2, random_state=1)
    y = numbers(X) if "numbers" in name or "quantiles" in name or "early" in name else classes(X, 3)
    given = {"group": [40, 40]} if name == "ranks" else {}
    first = deepcopy(model).fit(X, y, **given)
    loaded = trip(first, tmp_path, form)
    second = deepcopy(model).fit(X, y, init_model=first, **given)
    assert_same_model(second, deepcopy(model).fit(X, y, init_model=loaded, **given), matrix(seed=5))


def test_training_on_needs_the_function_back_that_no_file_holds(tmp_path: Path) -> None:
    X = matrix()
    model = sw.NewtonBoostingRegressor(n_estimators=2, max_depth=2, objective=squared).fit(X, numbers(X))
    loaded = trip(model, tmp_path)
    assert loaded.objective == Lost("the function squared")
    assert_same_answers(model, loaded, X)
    with pytest.raises(ParameterError, match=r"cannot hold the function squared.*set_params"):
        loaded.fit(X, numbers(X))
    again = loaded.set_params(objective=squared).fit(X, numbers(X), init_model=trip(model, tmp_path))
    assert_same_answers(model.fit(X, numbers(X), init_model=deepcopy(model)), again, X)


def test_what_was_lost_is_lost_again_when_saved_again(tmp_path: Path) -> None:
    X = matrix()
    model = sw.RandomForestRegressor(n_estimators=2, random_state=np.random.RandomState(3)).fit(X, numbers(X))
    loaded = trip(trip(model, tmp_path), tmp_path)
    assert loaded.random_state == Lost("a RandomState")
    with pytest.raises(ParameterError, match="random_state=<a RandomState, which the model file does not hold>"):
        loaded.fit(X, numbers(X))


def test_pruning_and_refitting_work_after_loading(tmp_path: Path) -> None:
    X = matrix()
    model = sw.DecisionTreeClassifier(random_state=0).fit(X, classes(X, 3))
    loaded = trip(model, tmp_path)
    assert_same_model(
        model.set_params(ccp_alpha=0.02).fit(X, classes(X, 3)),
        loaded.set_params(ccp_alpha=0.02).fit(X, classes(X, 3)),
        X,
    )

"""Exports take a fitted estimator or its Model, and give the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import sapwood as sw
from export_cases import EXPORTS, SUMS, exported
from sapwood import interchange
from sapwood.errors import InputTypeError, NotFittedError


@pytest.mark.parametrize("kind", EXPORTS)
def test_a_model_gives_the_text_of_its_estimator(kind: str) -> None:
    estimator = exported(kind)
    assert interchange.to_python(estimator.model_) == interchange.to_python(estimator)
    assert interchange.to_sql(estimator.model_) == interchange.to_sql(estimator)
    assert interchange.to_c(estimator.model_, check=False) == interchange.to_c(estimator, check=False)


@pytest.mark.parametrize("kind", SUMS)
def test_xgboost_needs_the_loss_for_its_name_only(kind: str) -> None:
    estimator = exported(kind)
    learners = [json.loads(interchange.to_xgboost(model))["learner"] for model in (estimator, estimator.model_)]
    links = [_link(learner.pop("objective")["name"]) for learner in learners]
    assert learners[0] == learners[1]
    assert links[0] == links[1]


def _link(objective: str) -> str:
    if objective in ("count:poisson", "reg:gamma", "reg:tweedie"):
        return "log"
    return objective if objective in ("binary:logistic", "multi:softprob") else "identity"


def test_onnx_takes_a_model() -> None:
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    estimator = exported("newton three")
    assert interchange.to_onnx(estimator.model_) == interchange.to_onnx(estimator)


TEXTS = (interchange.to_c, interchange.to_python, interchange.to_sql, interchange.to_xgboost)


@pytest.mark.parametrize("export", TEXTS)
def test_other_things_are_refused(export: Callable[[Any], Any]) -> None:
    with pytest.raises(InputTypeError, match="model is a list, but must be a fitted model of Sapwood"):
        export([])
    with pytest.raises(InputTypeError, match="model is the class DecisionTreeRegressor"):
        export(sw.DecisionTreeRegressor)
    with pytest.raises(NotFittedError, match="DecisionTreeRegressor is not fitted yet"):
        export(sw.DecisionTreeRegressor())

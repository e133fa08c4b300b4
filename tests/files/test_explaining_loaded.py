"""Texts, frames, pictures and intervals of a loaded model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from file_cases import trip
from saved_models import saved_model

import sapwood as sw
from model_cases import fitted
from sapwood.explain import importance

EXPLAINED = ["tree classes", "forest numbers", "adaboost three", "newton three", "gradient numbers", "two outputs"]


@pytest.mark.parametrize("name", EXPLAINED)
def test_texts_frames_and_importances_are_the_same_after_loading(name: str, tmp_path: Path) -> None:
    model, _ = saved_model(name)
    loaded = trip(model, tmp_path)
    if hasattr(model, "tree_"):
        assert sw.export_text(model) == sw.export_text(loaded)
        assert sw.export_graphviz(model) == sw.export_graphviz(loaded)
    elif hasattr(model, "estimators_"):
        for one, other in zip(np.ravel(model.estimators_), np.ravel(loaded.estimators_), strict=True):
            assert sw.export_text(one) == sw.export_text(other)
    assert model.to_frame().equals(loaded.to_frame())
    assert str(importance(model)) == str(importance(loaded))


def test_pictures_can_be_drawn_after_loading(tmp_path: Path) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    sw.plot_tree(trip(fitted("tree classes"), tmp_path))
    sw.plot_tree(trip(fitted("forest numbers"), tmp_path), tree=1)
    sw.plot_importance(trip(fitted("newton three"), tmp_path))
    model, _ = saved_model("newton with evals")
    sw.plot_learning_curves(trip(model, tmp_path))
    pyplot.close("all")


def test_intervals_and_quantiles_are_the_same_after_loading(tmp_path: Path) -> None:
    model, X = saved_model("forest with everything")
    for loaded in (trip(model, tmp_path), trip(model, tmp_path, "json")):
        assert np.array_equal(model.predict_quantiles(X), loaded.predict_quantiles(X))
        assert np.array_equal(model.predict_interval(X, 0.8), loaded.predict_interval(X, 0.8))
        for ours, theirs in zip(model.estimators_samples_, loaded.estimators_samples_, strict=True):
            assert np.array_equal(ours, theirs)

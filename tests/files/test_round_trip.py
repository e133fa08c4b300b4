"""A model that was saved and loaded is the model that it was."""

from __future__ import annotations

from pathlib import Path

import pytest
from file_cases import FORMS, assert_same_model, is_complete, trip
from saved_models import NAMES, saved_model

import sapwood as sw


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_a_loaded_model_has_the_bits_of_the_saved_one(name: str, form: str, tmp_path: Path) -> None:
    model, X = saved_model(name)
    assert_same_model(model, trip(model, tmp_path, form), X)


@pytest.mark.parametrize("name", NAMES)
def test_no_attribute_of_a_fitted_model_is_forgotten(name: str) -> None:
    assert is_complete(saved_model(name)[0])


@pytest.mark.parametrize("name", NAMES)
def test_both_forms_hold_the_same_model(name: str, tmp_path: Path) -> None:
    model, X = saved_model(name)
    sw.save(model, tmp_path / "model.json")
    as_binary = trip(sw.load(tmp_path / "model.json"), tmp_path)
    assert (tmp_path / "model.json").read_bytes()[:1] == b"{"
    assert_same_model(model, as_binary, X)
    sw.save(model, tmp_path / "model.sapwood")
    assert (tmp_path / "model.sapwood").read_bytes() == (tmp_path / "model.binary").read_bytes()

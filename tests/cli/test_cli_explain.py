"""`sapwood explain`: one row, and all rows of a file."""

from __future__ import annotations

import re

import numpy as np
import pytest
from outcomes import error_line

import sapwood as sw
from model_cases import KINDS, OF_TARGETS, fitted, frame
from sapwood import explain

SEVERAL_OUTPUTS = ("two outputs", *OF_TARGETS)


def test_a_row_is_explained_by_path_values_and_change(run, saved, flowers) -> None:
    result = run("explain", saved, "--input", flowers, "--row", 3)
    assert result.exit_code == 0, result.output
    assert "Shapley values of the score of" in result.output
    assert "größe" in result.output
    assert re.search(r"if|instead|change", result.output)


def test_effects_are_those_of_python(run, saved_prices, houses) -> None:
    result = run("explain", saved_prices, "--input", houses, "--row", 0)
    assert result.exit_code == 0, result.output
    model = sw.load(saved_prices)
    cells = np.genfromtxt(houses, delimiter=";", names=True)
    X = {"area": cells["area"][:1], "rooms": cells["rooms"][:1]}
    values = explain.shap_values(model, np.column_stack([X["area"], X["rooms"]])).values[0]
    for name, value in zip(("area", "rooms"), values, strict=True):
        assert re.search(rf"│ {name} +│ .* │ +{re.escape(f'{value:+.4g}')} │", result.output)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in SEVERAL_OUTPUTS])
def test_every_model_is_explained(run, tmp_path, kind) -> None:
    model, data = tmp_path / "model.sapwood", tmp_path / "rows.parquet"
    sw.save(fitted(kind), model)
    frame(30, seed=3).to_parquet(data)
    for options in ((), ("--row", "2")):
        result = run("explain", model, "--input", data, *options)
        assert result.exit_code == 0, result.output
        assert "Shapley value" in result.output


def test_a_row_that_is_not_there_is_refused(run, saved, flowers) -> None:
    result = run("explain", saved, "--input", flowers, "--row", 120)
    assert "has the rows 0 to 119" in error_line(result)

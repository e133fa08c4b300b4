"""Estimators on code files: what trains, and what needs the data files or another encoding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from source_fits import FEATURES, KEEPS, file_of, force, sales, shown

import sapwood as sw
from sapwood.errors import ParameterError, SapwoodError
from sapwood.sources.encode import encode
from sapwood.sources.open import open_source
from sapwood.sources.rows import Roles
from sapwood.sources.survey import survey

pytestmark = pytest.mark.filterwarnings("ignore::sapwood.errors.IdentifierWarning")

FRAME = sales(1200)
MAX_BINS = 63


def codes_of(folder: Path, max_bins: int = 255) -> Path:
    found = survey(open_source(file_of(FRAME, folder, "price")), Roles(target="price"), task="numbers")
    return encode(found, folder / "rows.codes", block_rows=500, max_bins=max_bins).path


@pytest.mark.parametrize("stops", [False, True])
def test_parameters_that_are_auto_need_no_cells(stops: bool, tmp_path: Path) -> None:
    more = {"early_stopping_rounds": 2, "validation_fraction": 0.2} if stops else {}
    model = sw.NewtonBoostingRegressor(n_estimators=6, random_state=0, **more)
    wanted = shown(model.fit(FRAME[FEATURES], FRAME["price"]))
    assert shown(model.fit(codes_of(tmp_path))) == wanted
    assert model.params_["linear_tree"] is False


def test_folds_need_cells(tmp_path: Path, monkeypatch: Any) -> None:
    path = codes_of(tmp_path)
    with pytest.raises(
        ParameterError, match=r"n_estimators='auto' .* 1,200 rows.* Set n_estimators, or early_stopping"
    ):
        sw.NewtonBoostingRegressor().fit(path)
    for n_estimators in (5, "auto"):
        model = sw.NewtonBoostingRegressor(n_estimators=n_estimators, cv=3)
        with pytest.raises(ParameterError, match=r"cv=3 is not allowed .* folds need all cells in memory. Set n_est"):
            model.fit(path)
    force(monkeypatch, KEEPS["codes"], 500)
    with pytest.raises(ParameterError, match="cv=3 is not allowed"):
        model.fit(tmp_path / "rows.parquet", target="price")


def test_training_that_goes_on_needs_cells(tmp_path: Path) -> None:
    path, kept = codes_of(tmp_path), tmp_path / "kept.sapwood"
    model = sw.NewtonBoostingRegressor(n_estimators=2)
    first = sw.NewtonBoostingRegressor(n_estimators=2).fit(FRAME[FEATURES], FRAME["price"])
    for given in ({"init_model": first}, {"checkpoint": kept}):
        with pytest.raises(ParameterError, match=r"is not allowed with a code file, which has no cells. Pass the data"):
            model.fit(path, **given)
    assert not kept.exists()


@pytest.mark.parametrize("pair", [False, True])
def test_a_validation_file_has_the_columns_of_the_code_file(pair: bool, tmp_path: Path) -> None:
    path = codes_of(tmp_path)
    other = file_of(sales(60, 1), tmp_path, "price", name="valid.parquet")
    model = sw.NewtonBoostingRegressor(n_estimators=2).fit(path, eval_set=[(other, None)] if pair else other)
    assert list(model.evals_result_) == ["validation_0"]


def test_bins_and_categories_are_those_of_the_file(tmp_path: Path) -> None:
    path = codes_of(tmp_path, MAX_BINS)
    options: dict[str, Any] = {"n_estimators": 2, "random_state": 0}
    in_memory = sw.NewtonBoostingRegressor(**options, max_bin=MAX_BINS).fit(FRAME[FEATURES], FRAME["price"])
    wanted = in_memory.predict(FRAME[FEATURES]).tolist()
    for more in ({}, {"max_bin": MAX_BINS}, {"categorical_features": ["shop", "many"]}):
        model = sw.NewtonBoostingRegressor(**options | more).fit(path)
        assert model.predict(FRAME[FEATURES]).tolist() == wanted
    wrong = [({"max_bin": 64}, "max_bin=64 .* has at most 63 bins"), ({"categorical_features": ["b"]}, "names 'b'")]
    for more, words in wrong:
        with pytest.raises(SapwoodError, match=words):
            sw.NewtonBoostingRegressor(**options | more).fit(path)


def test_scratch_may_be_a_path(tmp_path: Path) -> None:
    model = sw.NewtonBoostingRegressor(n_estimators=2, scratch=tmp_path).fit(codes_of(tmp_path))
    sw.save(model, tmp_path / "model.sapwood")
    assert np.array_equal(sw.load(tmp_path / "model.sapwood").predict(FRAME[FEATURES]), model.predict(FRAME[FEATURES]))
    with pytest.raises(ParameterError, match=r"scratch=3 .* must be a path, or None"):
        sw.NewtonBoostingRegressor(scratch=3).fit(FRAME[FEATURES], FRAME["price"])

"""Files of linear leaves with the right checksum, made by somebody with bad intentions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from file_cases import contents
from saved_models import saved_model
from test_hostile_files import Change, refused, with_array, with_cell

import sapwood as sw

NAME = "newton of linear leaves"
WHERE = "fitted.ensemble_.linear"


def without(name: str) -> Change:
    def change(document: Any, arrays: dict[str, Any]) -> None:
        del arrays[f"{WHERE}.{name}"]

    return change


def with_lines(entry: Any) -> Change:
    def change(document: Any, arrays: dict[str, Any]) -> None:
        ensemble = document["fitted"]["ensemble_"]["Ensemble"]
        ensemble["linear"] = entry if entry is not None else {**ensemble["linear"], "more": "x"}

    return change


def without_trees(document: Any, arrays: dict[str, Any]) -> None:
    document["fitted"]["ensemble_"]["Ensemble"]["trees"] = {"count": 0}


def with_unsplit_column(document: Any, arrays: dict[str, Any]) -> None:
    """A column that exists, but is split by no tree."""
    feature = arrays["fitted.ensemble_.trees.feature"]
    used = set(feature.tolist())
    feature[:] = min(used)
    arrays[f"{WHERE}.column"][:] = min(used) + 1


def with_crossed_range(document: Any, arrays: dict[str, Any]) -> None:
    low, high = f"{WHERE}.low", f"{WHERE}.high"
    arrays[low], arrays[high] = arrays[high], arrays[low]


CHANGES: dict[str, tuple[Change, str]] = {
    "a column that is not there": (with_cell(f"{WHERE}.column", 200), "linear.column names a column beyond 4"),
    "a column below zero": (with_array(f"{WHERE}.column", lambda own: -own.astype(np.int8)), "names a column beyond"),
    "a column that is no number": (with_array(f"{WHERE}.column", lambda own: own * np.nan), "names a column beyond"),
    "a column that is not split": (with_unsplit_column, "names a column that its tree does not split"),
    "a slope that is not finite": (
        with_array(f"{WHERE}.slope", lambda own: own.astype(np.float64) * np.inf),
        "slope is not made of finite numbers",
    ),
    "a centre that is missing": (
        with_array(f"{WHERE}.centre", lambda own: own.astype(np.float64) * np.nan),
        "centre is not made of finite numbers",
    ),
    "a range that is crossed": (with_crossed_range, "centre is not from low to high"),
    "texts": (with_array(f"{WHERE}.high", lambda own: own.astype(bool)), "high is not made of finite numbers"),
    "a line too few": (with_array(f"{WHERE}.low", lambda own: own[1:]), "low is not for"),
    "a leaf too few": (with_array(f"{WHERE}.counts", lambda own: own[1:]), "counts does not fit the leaves"),
    "many lines of a leaf": (with_cell(f"{WHERE}.counts", 6), "counts does not fit the leaves"),
    "more lines than there are": (with_cell(f"{WHERE}.counts", 5), "is not for"),
    "wide counts": (with_array(f"{WHERE}.counts", lambda own: own.astype(np.uint32)), "counts does not fit"),
    "a matrix": (with_array(f"{WHERE}.slope", lambda own: own[:, None]), "slope is not for"),
    "no slopes": (without("slope"), "is missing"),
    "other parts": (with_lines(None), "linear does not describe lines"),
    "no parts": (with_lines([]), "linear does not describe lines"),
    "no trees": (without_trees, "has lines, but there are no trees"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_lines_that_do_not_fit_are_refused(name: str, tmp_path: Path) -> None:
    refused(NAME, *CHANGES[name], tmp_path)


def test_lines_of_categories_are_refused(tmp_path: Path) -> None:
    """Columns are made categories whose levels are split as before."""
    model, _ = saved_model("newton numbers")
    categories = [j for j, column in enumerate(model.schema_.columns) if column.kind == "category"]
    assert categories

    def change(document: Any, arrays: dict[str, Any]) -> None:
        n_leaves = len(arrays["fitted.ensemble_.trees.rows.leaf"])
        counts = np.zeros(n_leaves, dtype=np.uint8)
        counts[0] = 1
        parts = {"counts": counts, "column": np.array([categories[0]], dtype=np.uint8)}
        parts |= {name: np.zeros(1) for name in ("slope", "centre", "low", "high")}
        arrays.update({f"{WHERE}.{name}": array for name, array in parts.items()})
        document["fitted"]["ensemble_"]["Ensemble"]["linear"] = {name: f"{WHERE}.{name}" for name in parts}

    refused("newton numbers", change, "names a column of categories", tmp_path)


def test_files_without_linear_leaves_have_no_part_for_them(tmp_path: Path) -> None:
    sw.save(saved_model("newton numbers")[0], tmp_path / "model")
    document, arrays = contents(tmp_path / "model")[1:]
    assert set(document["fitted"]["ensemble_"]["Ensemble"]) == {"base", "trees"}
    assert not any("linear" in name for name in arrays)

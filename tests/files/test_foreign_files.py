"""What is said of files that are no models, or newer ones, and of paths that are none."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from file_cases import FORMS, load_bytes, packed
from saved_models import matrix, numbers
from test_container import file_of

import sapwood as sw
from model_cases import fitted
from sapwood.errors import ModelFileError, ParameterTypeError

FOREIGN: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "not a model file"),
    "text": (b"Dear reader,\nthis is no model.\n" * 9, "not a model file"),
    "number": (b"42", "not a model file"),
    "pickle": (pickle.dumps({"a": np.ones(40)}), "not a model file"),
    "png": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\0" * 99, "not a model file"),
    "zip": (b"PK\x03\x04" + b"\0" * 99, "not a model file"),
    "json": (b'{"a": [1, 2, 3]}', "metadata must be present"),
    "list": (b'[{"metadata": {}}]', "not a model file"),
    "broken json": (b'{"metadata": ', "not a model file"),
    "xgboost": (json.dumps({"learner": {"objective": {}}, "version": [3, 0, 0]}).encode(), "metadata must be present"),
    "deep json": (b'{"a":' * 5000, "not a model file"),
    "lightgbm": (b"tree\nversion=v4\nnum_class=1\n", "not a model file"),
}


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize("kind", FOREIGN)
def test_foreign_files_are_refused_by_name(kind: str, mmap: bool, tmp_path: Path) -> None:
    data, told = FOREIGN[kind]
    with pytest.raises(ModelFileError, match=rf"given.sapwood.*{told}"):
        load_bytes(data, tmp_path, mmap=mmap)


def test_a_model_of_xgboost_is_told_from_ours(tmp_path: Path) -> None:
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBRegressor(n_estimators=2).fit(matrix(), numbers(matrix()))
    for name in ("model.json", "model.ubj"):
        model.save_model(tmp_path / name)
        with pytest.raises(ModelFileError, match="cannot be loaded"):
            sw.load(tmp_path / name)


def test_paths_that_lead_nowhere_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="No such file"):
        sw.load(tmp_path / "absent")
    with pytest.raises(ModelFileError, match="directory"):
        sw.load(tmp_path)
    with pytest.raises(ModelFileError, match=r"cannot be read.*null"):
        sw.load("a\0b")
    with pytest.raises(ModelFileError, match=r"cannot be written.*Nothing was changed"):
        sw.save(fitted("tree numbers"), tmp_path / "absent" / "model")
    with pytest.raises(ModelFileError, match=r"cannot be written.*null"):
        sw.save(fitted("tree numbers"), "a\0b")


@pytest.mark.parametrize("path", [3, None, b"model", ["model"], open])
def test_what_is_no_path_is_refused(path: Any) -> None:
    with pytest.raises(ParameterTypeError, match="must be a string or a Path"):
        sw.load(path)
    with pytest.raises(ParameterTypeError, match="must be a string or a Path"):
        sw.save(fitted("tree numbers"), path)


def as_version(version: str, form: str, library: str = "7.1.0", **more: Any) -> bytes:
    return packed(
        {"format": "sapwood", "version": version, "library": library, "estimator": "Oak", **more}, {}, {}, form
    )


@pytest.mark.parametrize("form", FORMS)
def test_a_newer_file_says_which_version_is_needed(form: str, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"format version 2, written by Sapwood 7.1.0.*Install Sapwood 7.1.0"):
        load_bytes(as_version("2", form), tmp_path)


def test_a_newer_file_may_have_other_arrays_and_entries(tmp_path: Path) -> None:
    data = as_version("3", "json").replace(b'"arrays"', b'"trees": [], "arrays"', 1)
    with pytest.raises(ModelFileError, match="format version 3"):
        load_bytes(data, tmp_path)
    metadata = {"format": "sapwood", "version": "3", "library": "8.0.0"}
    new = {"__metadata__": metadata, "x": {"dtype": "F4", "shape": [1], "data_offsets": [0, 1], "order": "F"}}
    with pytest.raises(ModelFileError, match="format version 3"):
        load_bytes(file_of(new, b"0"), tmp_path)


@pytest.mark.parametrize("version", ["", "0", "-1", "1.0", "x", "٣", "9" * 5000])
def test_a_version_that_is_no_number_is_refused(version: str, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="is not a number"):
        load_bytes(as_version(version, "binary"), tmp_path)

"""Models also survive pickle, copies, joblib and skops, before and after a trip to a file."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import joblib
import pytest
from file_cases import assert_same_answers, trip
from saved_models import saved_model

from model_cases import KINDS


def _pickled(model: Any, folder: Path) -> Any:
    return pickle.loads(pickle.dumps(model))


def _copied(model: Any, folder: Path) -> Any:
    return deepcopy(model)


def _dumped(model: Any, folder: Path) -> Any:
    joblib.dump(model, folder / "model.joblib")
    return joblib.load(folder / "model.joblib")


def _by_skops(model: Any, folder: Path) -> Any:
    skops = pytest.importorskip("skops.io")
    data = skops.dumps(model)
    untrusted = skops.get_untrusted_types(data=data)
    assert all(name.startswith(("sapwood.", "builtins.frozenset", "numpy.")) for name in untrusted), untrusted
    return skops.loads(data, trusted=untrusted)


WAYS = (_pickled, _copied, _dumped, _by_skops)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__.strip("_"))
@pytest.mark.parametrize("name", [*KINDS, "forest with everything", "newton with constraints", "sparse"])
def test_a_model_survives(name: str, way: Callable[[Any, Path], Any], tmp_path: Path) -> None:
    model, X = saved_model(name)
    assert_same_answers(model, way(model, tmp_path), X)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__.strip("_"))
@pytest.mark.parametrize("name", ["tree classes", "forest votes", "adaboost three", "newton three", "gradient numbers"])
def test_a_loaded_model_survives(name: str, way: Callable[[Any, Path], Any], tmp_path: Path) -> None:
    model, X = saved_model(name)
    loaded = way(trip(model, tmp_path), tmp_path)
    (tmp_path / "model.binary").unlink()
    assert_same_answers(model, loaded, X)


def test_a_pickle_of_a_loaded_model_does_not_depend_on_its_file(tmp_path: Path) -> None:
    model, X = saved_model("forest numbers")
    buffer = io.BytesIO()
    pickle.dump(trip(model, tmp_path), buffer)
    (tmp_path / "model.binary").write_bytes(b"something else")
    assert_same_answers(model, pickle.loads(buffer.getvalue()), X)

"""Small files that ask for much memory or time do not get it."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from file_cases import contents, packed
from saved_models import saved_model
from test_hostile_files import Change, refused, with_fitted, with_parameter

import sapwood as sw
from sapwood.errors import ModelFileError
from sapwood.files.tree_stack import BYTES_OF_TREE


def file_of(name: str, change: Change, folder: Path, form: str = "binary") -> bytes:
    sw.save(saved_model(name)[0], folder / "first.sapwood")
    metadata, document, arrays = contents(folder / "first.sapwood")
    change(document, arrays)
    return packed(metadata, document, arrays, form)


def lone_leaves(place: str, n: int, padding: bool) -> Change:
    """A million trees of one leaf take few bytes, but are a million objects."""

    def change(document: Any, arrays: dict[str, Any]) -> None:
        holder = document["fitted"][place.split(".")[1]]
        trees = next(iter(holder.values()))["trees"]
        trees |= {"count": n, "impurity": None}
        for name in [name for name in arrays if name.startswith(f"{place}.")]:
            del arrays[name]
        none, one = np.empty(0, np.uint8), np.ones(n, np.uint8)
        parts = {"nodes": one, "is_leaf": np.packbits(one), "feature": none, "threshold": none, "missing_left": none}
        parts |= {"levels": none.astype(np.uint32), "rows.leaf": one, "impurity.leaf": one, "impurity.inner": none}
        parts |= {"value.leaf": one[:, None], "value.inner": none[:, None]}
        if padding:
            held = sum(part.nbytes for part in parts.values())
            parts["padding"] = np.zeros(BYTES_OF_TREE * n - held, np.uint8)
        arrays.update({f"{place}.{name}": part for name, part in parts.items()})

    return change


def cost(data: bytes, folder: Path) -> tuple[float, float]:
    """Bytes of memory for each of the file, and seconds, that reading takes, whatever comes out of it."""
    path = folder / "costly"
    path.write_bytes(data)
    tracemalloc.start()
    begin = time.process_time()
    try:
        sw.load(path)
    except ModelFileError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak / len(data), time.process_time() - begin


N = 8_000
COSTLY: dict[str, tuple[str, Change]] = {
    "lone leaves of boosting": ("newton numbers", lone_leaves("fitted.ensemble_.trees", N // 2, True)),
    "lone leaves of a forest": ("forest numbers", lone_leaves("fitted.forest_.trees", N // 2, True)),
    "lone leaves of adaboost": ("adaboost numbers", lone_leaves("fitted._members.trees", N // 2, True)),
    "many estimators": ("newton numbers", with_parameter("callbacks", [{"DecisionTreeRegressor": {}}] * N)),
    "many inits": ("gradient numbers", with_fitted("init_", [{"DummyRegressor": 0.5}] * N)),
    "many trees": ("newton numbers", with_fitted("_best", [{"Tree": {"count": 0}}] * N)),
    "many empty dictionaries": ("newton numbers", with_parameter("callbacks", [{"dict": {}}] * N)),
    "many empty arrays": ("newton numbers", with_parameter("callbacks", [{"texts": []}] * N)),
    "numbers of one hash": (
        "tree classes",
        with_parameter("class_weight", {"map": [[i * (2**61 - 1), 1] for i in range(N)]}),
    ),
    "tuples of one hash": (
        "tree classes",
        with_parameter(
            "class_weight", {"map": [[{"tuple": [-1 - (i >> k & 1) for k in range(13)]}, 1] for i in range(N)]}
        ),
    ),
    "labels of one hash": ("tree classes", with_fitted("classes_", {"objects": [i * (2**61 - 1) for i in range(N)]})),
    "a long name of a long list": ("newton numbers", with_parameter("callbacks", {"dict": {"x" * 10**6: [0] * N}})),
    "a long metric": (
        "newton numbers",
        with_fitted("evals_result_", {"dict": {"x" * 10**6: {"dict": {"y": [0.5] * N}}}}),
    ),
    "one long text": ("tree classes", with_fitted("classes_", {"texts": ["x" * 10**6, *map(str, range(N))]})),
    "a group of many rows": (
        "newton ranks",
        with_fitted("loss_", {"LambdaRank": {"name": "lambdarank", "options": {"group_sizes": [10**10], "k": None}}}),
    ),
    "many classes": (
        "newton three",
        with_fitted("loss_", {"Multinomial": {"name": "multinomial", "options": {"n_classes": 10**12}}}),
    ),
}


@pytest.mark.parametrize("what", COSTLY)
def test_no_file_takes_many_times_its_size_or_for_ever(what: str, tmp_path: Path) -> None:
    ratio, seconds = cost(file_of(*COSTLY[what], tmp_path), tmp_path)
    assert ratio < 64
    assert seconds < 4


@pytest.mark.parametrize("what", ["lone leaves of a forest", "many empty dictionaries", "one long text"])
def test_no_readable_file_does_either(what: str, tmp_path: Path) -> None:
    ratio, seconds = cost(file_of(*COSTLY[what], tmp_path, "json"), tmp_path)
    assert ratio < 64
    assert seconds < 4


def test_lone_leaves_without_padding_are_refused(tmp_path: Path) -> None:
    refused("newton numbers", lone_leaves("fitted.ensemble_.trees", 500, False), "padding is missing", tmp_path)

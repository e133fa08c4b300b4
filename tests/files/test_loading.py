"""How files are opened, and what becomes of files in use."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from file_cases import FORMS, assert_same_answers, changed, contents, load_bytes, trip
from saved_models import matrix, numbers, saved_model

import sapwood as sw
from model_cases import fitted, frame
from sapwood.errors import ParameterError
from sapwood.estimators.model_file import rebuild, write_model

POSIX = pytest.mark.skipif(os.name != "posix", reason="elsewhere a mapped file cannot be replaced")


def owners(array: Any) -> Any:
    while isinstance(array, np.ndarray):
        array = array.base
    return array


@pytest.mark.parametrize("mmap", [True, False])
def test_a_file_is_mapped_unless_it_shall_not_be(mmap: bool, tmp_path: Path) -> None:
    loaded = trip(fitted("forest numbers"), tmp_path, mmap=mmap)
    threshold = loaded.forest_.trees[0].leaf["value"]
    assert isinstance(owners(threshold), memoryview)
    assert ("mmap" in type(owners(threshold).obj).__name__) is mmap
    assert_same_answers(fitted("forest numbers"), loaded, frame(40, seed=1))


@POSIX
@pytest.mark.parametrize("name", ["forest classes", "newton numbers", "tree numbers", "adaboost three"])
def test_a_file_may_be_deleted_or_replaced_while_its_model_is_in_use(name: str, tmp_path: Path) -> None:
    model, X = saved_model(name)
    path = tmp_path / "model.sapwood"
    sw.save(model, path)
    first = sw.load(path)
    sw.save(fitted("newton ranks"), path)
    second = sw.load(path)
    path.unlink()
    assert_same_answers(model, first, X)
    assert_same_answers(fitted("newton ranks"), second, X)


def test_a_file_may_be_overwritten_in_place_if_it_was_not_mapped(tmp_path: Path) -> None:
    model, X = saved_model("forest classes")
    sw.save(model, tmp_path / "model")
    loaded = sw.load(tmp_path / "model", mmap=False)
    (tmp_path / "model").write_bytes(b"0" * (tmp_path / "model").stat().st_size)
    assert_same_answers(model, loaded, X)


@POSIX
def test_a_model_may_be_saved_to_the_file_it_was_loaded_from(tmp_path: Path) -> None:
    model, X = saved_model("forest numbers")
    path = tmp_path / "model"
    sw.save(model, path)
    loaded = sw.load(path)
    sw.save(loaded, path)
    assert_same_answers(model, loaded, X)
    assert_same_answers(model, sw.load(path), X)


def test_two_loads_do_not_know_of_each_other(tmp_path: Path) -> None:
    X = matrix()
    model = sw.RandomForestRegressor(n_estimators=3, random_state=0, warm_start=True).fit(X, numbers(X))
    sw.save(model, tmp_path / "model")
    one, two = sw.load(tmp_path / "model"), sw.load(tmp_path / "model")
    one.set_params(n_estimators=5).fit(X, numbers(X))
    assert len(one) == 5
    assert_same_answers(model, two, X)


def test_many_threads_load_and_predict_at_once(tmp_path: Path) -> None:
    model, X = saved_model("forest classes")
    sw.save(model, tmp_path / "model")
    wanted, wrong = model.predict_proba(X), []

    def use() -> None:
        for _ in range(5):
            if not np.array_equal(sw.load(tmp_path / "model").predict_proba(X), wanted):
                wrong.append(1)

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_file_and_folder_that_may_only_be_read_are_enough(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    sw.save(fitted("tree numbers"), folder / "model")
    (folder / "model").chmod(0o444)
    folder.chmod(0o555)
    try:
        assert_same_answers(fitted("tree numbers"), sw.load(folder / "model"), frame(40, seed=1))
    finally:
        folder.chmod(0o755)


def test_arrays_of_a_mapped_model_cannot_be_changed(tmp_path: Path) -> None:
    loaded = trip(fitted("tree numbers"), tmp_path)
    with pytest.raises(ValueError, match="read-only"):
        loaded.tree_.value[0] = 1.0


def test_the_form_is_one_of_two(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="'binary' or 'json'"):
        sw.save(fitted("tree numbers"), tmp_path / "model", form="yaml")
    sw.save(fitted("tree numbers"), tmp_path / "model.json", form="binary")
    assert (tmp_path / "model.json").read_bytes()[8:9] == b"{"
    assert_same_answers(fitted("tree numbers"), sw.load(tmp_path / "model.json"), frame(40))


def test_extensions_that_nobody_knows_are_ignored(tmp_path: Path) -> None:
    model, X = saved_model("newton two")

    def extend(document: Any, arrays: dict[str, Any]) -> None:
        document["extensions"]["tomorrow"] = {"any": ["thing", {"at": "all"}], "none": None}
        arrays["extensions.tomorrow.numbers"] = np.arange(5)

    for form in FORMS:
        assert_same_answers(model, changed(model, tmp_path, extend, form), X)


def test_extensions_are_written_with_the_model(tmp_path: Path) -> None:
    model, X = saved_model("newton two")
    write_model(tmp_path / "model", model, {"note": {"a": 1}}, "json")
    _, document, arrays = contents(tmp_path / "model")
    assert document["extensions"] == {"statistics": {"rows": 120}, "note": {"a": 1}}
    assert_same_answers(model, rebuild(document, arrays), X)


def test_a_parameter_that_the_file_does_not_name_has_its_default(tmp_path: Path) -> None:
    model, X = saved_model("newton two")

    def forget(document: Any, arrays: dict[str, Any]) -> None:
        del document["parameters"]["reg_lambda"], document["parameters"]["max_seconds"]

    loaded = changed(model, tmp_path, forget)
    assert loaded.reg_lambda == "auto"
    assert loaded.params_["reg_lambda"] == 1.0
    assert_same_answers(model, loaded, X)


def test_white_space_in_the_readable_form_does_not_matter(tmp_path: Path) -> None:
    model, X = saved_model("forest numbers")
    sw.save(model, tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_bytes())
    for layout in ({"indent": 7}, {"separators": (",", ":")}, {"ensure_ascii": True}):
        assert_same_answers(model, load_bytes(json.dumps(content, **layout).encode(), tmp_path), X)


def test_the_readable_form_can_be_read_by_others(tmp_path: Path) -> None:
    model, _ = saved_model("newton numbers")
    sw.save(model, tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_text(), parse_constant=pytest.fail)
    arrays = content["arrays"]
    assert arrays["fitted.ensemble_.base"]["data"] == model.ensemble_.base.tolist()
    assert content["document"]["parameters"]["max_depth"] == 3
    assert content["metadata"]["estimator"] == "NewtonBoostingRegressor"

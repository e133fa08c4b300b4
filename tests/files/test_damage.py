"""Damage: no file with a changed byte, and none that was cut off, is taken for a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from file_cases import assert_same_answers
from saved_models import NAMES, saved_model

import sapwood as sw
from model_cases import KINDS
from sapwood.errors import ModelFileError
from sapwood.estimators.model_file import rebuild
from sapwood.files.content import parse_content


def saved_bytes(name: str, folder: Path, form: str) -> bytes:
    sw.save(saved_model(name)[0], folder / "model", form=form)
    return (folder / "model").read_bytes()


def is_refused(data: bytes) -> bool:
    try:
        parse_content(data)
    except ModelFileError:
        return True
    return False


def with_byte(data: bytes, place: int, mask: int) -> bytes:
    return data[:place] + bytes([data[place] ^ mask]) + data[place + 1 :]


def accepted_changes(data: bytes, masks: tuple[int, ...], step: int = 1) -> list[tuple[int, int]]:
    places = range(0, len(data), step)
    return [(place, mask) for place in places for mask in masks if not is_refused(with_byte(data, place, mask))]


def sweep(name: str, folder: Path, form: str, masks: tuple[int, ...], step: int = 1) -> int:
    """Change every byte; what is not refused, white space of the readable form, must be the same model."""
    data = saved_bytes(name, folder, form)
    accepted = accepted_changes(data, masks, step)
    assert form == "json" or not accepted
    model, X = saved_model(name)
    for place, mask in accepted[:: max(1, len(accepted) // 40)]:
        _, document, arrays = parse_content(with_byte(data, place, mask))
        assert_same_answers(model, rebuild(document, arrays), X)
    return len(accepted)


@pytest.mark.parametrize("name", KINDS)
def test_every_changed_byte_is_refused(name: str, tmp_path: Path) -> None:
    sweep(name, tmp_path, "binary", (1,))


@pytest.mark.parametrize("name", KINDS)
def test_every_truncation_is_refused(name: str, tmp_path: Path) -> None:
    data = saved_bytes(name, tmp_path, "binary")
    assert all(is_refused(data[:size]) for size in range(len(data)))
    assert is_refused(data + b"\0")


@pytest.mark.parametrize("name", ["tree classes"])
def test_a_changed_byte_of_the_readable_form_is_refused_or_harmless(name: str, tmp_path: Path) -> None:
    sweep(name, tmp_path, "json", (1,), step=3)
    data = saved_bytes(name, tmp_path, "json")
    assert all(is_refused(data[:size]) for size in range(0, len(data), 7))


def test_what_is_told_of_a_damaged_file_names_it(tmp_path: Path) -> None:
    data = saved_bytes("tree classes", tmp_path, "binary")
    (tmp_path / "damaged").write_bytes(with_byte(data, len(data) - 1, 255))
    with pytest.raises(ModelFileError, match=r"damaged' cannot be loaded. The checksum is wrong"):
        sw.load(tmp_path / "damaged")
    readable = saved_bytes("tree classes", tmp_path, "json").replace(b'"max_depth": 4', b'"max_depth": 5')
    (tmp_path / "edited").write_bytes(readable)
    with pytest.raises(ModelFileError, match=r"edited' cannot be loaded. The checksum is wrong: the file was changed"):
        sw.load(tmp_path / "edited")


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", KINDS)
def test_every_byte_of_every_kind_changed_in_many_ways_is_refused(name: str, tmp_path: Path) -> None:
    masks = (1, 2, 4, 8, 16, 32, 64, 128, 255)
    sweep(name, tmp_path, "binary", masks)
    data = saved_bytes(name, tmp_path, "binary")
    assert all(is_refused(data[:size]) for size in range(len(data)))


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", ["tree numbers", "forest votes", "newton two"])
def test_every_byte_of_the_readable_form_is_refused_or_harmless(name: str, tmp_path: Path) -> None:
    sweep(name, tmp_path, "json", (1, 2, 16, 32, 128))
    data = saved_bytes(name, tmp_path, "json")
    assert all(is_refused(data[:size]) for size in range(len(data)))


def changed_array(array: Any, random: np.random.Generator) -> Any:
    cells = array.copy().reshape(-1).view(np.uint8)
    cells[random.integers(len(cells))] ^= np.uint8(random.integers(1, 256))
    return cells.view(array.dtype).reshape(array.shape)


@pytest.mark.parametrize("name", NAMES[::4])
def test_a_changed_array_is_refused_by_the_checksum_of_the_readable_form(name: str, tmp_path: Path) -> None:
    from sapwood.files.content import _parse_json
    from sapwood.files.json_form import to_json

    data = saved_bytes(name, tmp_path, "json")
    metadata, document, arrays = _parse_json(data)
    random = np.random.default_rng(0)
    for key, array in arrays.items():
        if array.size and array.dtype != np.bool_:
            other = arrays | {key: changed_array(array, random)}
            assert is_refused(to_json(metadata, document, other, metadata["sha256"])), key

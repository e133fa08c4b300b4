"""The container is a safetensors file with a checksum, and nothing else is one."""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from file_cases import contents, load_bytes, same
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import sapwood as sw
from model_cases import fitted
from sapwood.errors import ModelFileError
from sapwood.files.container import ALIGNMENT, BLANK, DTYPES, pack, unpack

dtypes = st.sampled_from(sorted(DTYPES.values(), key=str))
arrays = st.dictionaries(
    st.text(max_size=6).filter(lambda name: name != "__metadata__"),
    dtypes.flatmap(lambda dtype: npst.arrays(dtype, npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))),
    max_size=5,
)


def accept(metadata: Any) -> None:
    """Any metadata will do."""


def joined(metadata: dict[str, str], held: dict[str, Any]) -> bytes:
    return b"".join(bytes(part) for part in pack(metadata, held))


def sealed(data: bytes) -> bytes:
    """The same file with the right checksum in place of its blank."""
    return data.replace(BLANK.encode(), hashlib.sha256(data).hexdigest().encode(), 1)


def file_of(header: dict[str, Any] | bytes, body: bytes = b"", digest: bool = True, pad: int = ALIGNMENT) -> bytes:
    """A file of any header, sealed."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    if digest:
        text = text.replace(b'"__metadata__": {', f'"__metadata__": {{"sha256": "{BLANK}", '.encode(), 1)
        text = text.replace(b", }", b"}")
    text += b" " * (-(8 + len(text)) % pad)
    return sealed(struct.pack("<Q", len(text)) + text + body)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3), arrays)
def test_arrays_and_metadata_come_back(metadata: dict[str, str], held: dict[str, Any]) -> None:
    metadata.pop("sha256", None)
    data = joined(metadata, held)
    told, found = unpack(data, accept)
    assert {name: text for name, text in told.items() if name != "sha256"} == metadata
    assert same(dict(sorted(held.items())), dict(sorted(found.items())))
    assert joined(dict(reversed(metadata.items())), dict(reversed(held.items()))) == data


@settings(max_examples=30, deadline=None)
@given(arrays)
def test_safetensors_reads_our_files(held: dict[str, Any]) -> None:
    safetensors = pytest.importorskip("safetensors.numpy")
    found = safetensors.load(joined({"format": "sapwood"}, held))
    assert same(dict(sorted(held.items())), dict(sorted(found.items())))


def test_safetensors_reads_a_saved_model(tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors")
    sw.save(fitted("forest classes"), tmp_path / "model.sapwood")
    metadata, document, held = contents(tmp_path / "model.sapwood")
    with safetensors.safe_open(tmp_path / "model.sapwood", "np") as file:
        assert metadata.items() <= file.metadata().items()
        assert set(file.keys()) == {*held, "document"}
        assert json.loads(file.get_tensor("document").tobytes()) == document
        assert same({name: file.get_tensor(name) for name in held}, held)


def test_files_of_safetensors_that_are_no_models_are_refused(tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors.numpy")
    weights = {"w": np.ones(3, np.float32)}
    for metadata in (None, {"format": "pt"}, {"format": "sapwood", "version": "1"}):
        with pytest.raises(ModelFileError, match="not a model file of Sapwood"):
            load_bytes(safetensors.save(weights, metadata), tmp_path)
    with pytest.raises(ModelFileError, match="safetensors file, but not a model of Sapwood"):
        load_bytes(joined({"format": "pt"}, weights), tmp_path)


def test_arrays_can_be_used_where_they_lie() -> None:
    held = {"a": np.arange(3, dtype=np.int8), "b": np.arange(5.0), "c": np.ones((2, 2), np.float32)}
    data = np.frombuffer(joined({}, held), np.uint8)
    _, found = unpack(memoryview(data), accept)
    for array in found.values():
        assert np.shares_memory(array, data)
        assert array.flags.aligned
        assert not array.flags.writeable or not data.flags.writeable
        assert (array.ctypes.data - data.ctypes.data) % array.dtype.itemsize == 0


def test_every_nan_is_written_as_the_same_one() -> None:
    odd = np.array([0x7FF8000000000000, 0xFFF8000000000000, 0x7FF0000000000001], np.uint64).view(np.float64)
    assert joined({}, {"x": odd}) == joined({}, {"x": np.full(3, np.nan)})
    short = np.array([0x7FC00000, 0xFFC00000, 0x7F800001], np.uint32).view(np.float32)
    assert joined({}, {"x": short}) == joined({}, {"x": np.full(3, np.nan, np.float32)})


@pytest.mark.parametrize("array", [np.ones(2, np.float16), np.ones((1, 1, 1, 1)), np.ones(2, complex), np.array(["a"])])
def test_arrays_of_other_types_and_dimensions_are_refused(array: Any) -> None:
    with pytest.raises(ModelFileError, match="cannot be kept in a file"):
        pack({}, {"x": array})


def entry(dtype: Any = "U8", shape: Any = (4,), offsets: Any = (0, 4)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def test_a_header_made_by_hand_is_read() -> None:
    _, found = unpack(file_of({"__metadata__": {}, "x": entry()}, b"abcd"), accept)
    assert found["x"].tobytes() == b"abcd"


BAD_HEADERS: dict[str, Any] = {
    "unknown type": {"x": entry("F128")},
    "type that is no text": {"x": {**entry(), "dtype": ["U8"]}},
    "negative length": {"x": entry(shape=[-4])},
    "fraction": {"x": entry(shape=[4.0])},
    "truth value": {"x": entry("U8", [True], [0, 4])},
    "too short": {"x": entry(shape=[3], offsets=[0, 3])},
    "too long": {"x": entry(shape=[5], offsets=[0, 5])},
    "wrong size": {"x": entry(shape=[2], offsets=[0, 4])},
    "begins late": {"x": entry(shape=[3], offsets=[1, 4])},
    "ends before it begins": {"x": entry(shape=[4], offsets=[4, 0])},
    "one offset": {"x": entry(offsets=[4])},
    "four dimensions": {"x": entry(shape=[1, 1, 1, 4])},
    "huge": {"x": entry(shape=[2**70], offsets=[0, 2**70])},
    "huge and empty": {"x": entry(shape=[0, 2**63], offsets=[0, 0]), "y": entry()},
    "huge and empty floats": {"x": entry("F64", [0, 2**60, 2**60], [0, 0]), "y": entry()},
    "overlap": {"x": entry(), "y": entry()},
    "missing entry": {"x": {"dtype": "U8", "shape": [4]}},
    "more entries": {"x": {**entry(), "more": 1}},
    "no object": {"x": 3},
    "unaligned": {"x": entry("U8", [1], [0, 1]), "y": entry("U16", [1], [1, 3]), "z": entry("U8", [1], [3, 4])},
}


@pytest.mark.parametrize("name", BAD_HEADERS)
def test_a_header_that_describes_no_arrays_is_refused(name: str) -> None:
    with pytest.raises(ModelFileError, match=r"[Tt]he header's entry|The arrays end"):
        unpack(file_of({"__metadata__": {}, **BAD_HEADERS[name]}, b"abcd"), accept)


BAD_FILES: dict[str, bytes] = {
    "nothing": b"",
    "seven bytes": b"1234567",
    "length beyond the end": struct.pack("<Q", 1000) + b"{}",
    "huge length": struct.pack("<Q", 2**64 - 1) + b"{}" * 50,
    "no header": struct.pack("<Q", 4) + b"[{}]" + b" " * 100,
    "no json": file_of(b"{nonsense", digest=False),
    "no utf-8": file_of(b'{"\xff": 1}', digest=False),
    "utf-16": file_of('{"__metadata__": {}}'.encode("utf-16-le"), digest=False),
    "nested": file_of(b'{"a":' * 100_000, digest=False),
    "long number": file_of(b'{"a":' + b"1" * 10_000 + b"}", digest=False),
    "a name twice": file_of(b'{"__metadata__": {}, "x": 1, "x": 1}'),
    "no metadata": file_of(b'{"x": 1}', digest=False),
    "metadata of numbers": file_of(b'{"__metadata__": {"a": 1}}'),
    "no digest": file_of(b'{"__metadata__": {"a": "1"}}', digest=False),
    "digest of other characters": file_of(b'{"__metadata__": {"sha256": "' + b"\\ud800" * 64 + b'"}}', digest=False),
    "digest that is escaped": file_of(b'{"__metadata__": {"sha256": "' + b"\\u0030" * 64 + b'"}}', digest=False),
    "header that ends anywhere": file_of(b'{"__metadata__": {}}', pad=1),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_file_without_a_proper_header_is_refused(name: str) -> None:
    with pytest.raises(ModelFileError):
        unpack(BAD_FILES[name], accept)


def test_bytes_after_the_last_array_are_refused() -> None:
    data = file_of({"__metadata__": {}, "x": entry()}, b"abcde")
    with pytest.raises(ModelFileError, match="1 bytes before the file does"):
        unpack(data, accept)


def test_a_changed_byte_is_told_by_the_checksum() -> None:
    data = bytearray(joined({"a": "b"}, {"x": np.arange(9)}))
    data[-1] ^= 1
    with pytest.raises(ModelFileError, match="checksum is wrong"):
        unpack(bytes(data), accept)

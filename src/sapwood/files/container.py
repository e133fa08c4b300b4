"""The container: a safetensors file, that is, named arrays behind a header in JSON, with a checksum of every byte.

    8 bytes: length of the header ─ header (JSON, padded with spaces) ─ arrays, one after the other

The header names for each array its type, its shape and where it begins and ends; `__metadata__` holds short texts. One
of them, "sha256", is the digest of the whole file with 64 zeros in its place. Arrays stand in the order of their item
size, largest first, so that every one is aligned and can be used where it lies in a mapped file.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import ModelFileError

Array = NDArray[Any]
Buffer = bytes | memoryview

METADATA, DIGEST = "__metadata__", "sha256"
BLANK = "0" * 64
ALIGNMENT = 64  # of the first array: a cache line
MOST_DIMENSIONS = 3
DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "I64": np.dtype("<i8"),
    "U64": np.dtype("<u8"),
    "F32": np.dtype("<f4"),
    "I32": np.dtype("<i4"),
    "U32": np.dtype("<u4"),
    "I16": np.dtype("<i2"),
    "U16": np.dtype("<u2"),
    "I8": np.dtype("i1"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


def pack(metadata: Mapping[str, str], arrays: Mapping[str, Array]) -> list[Buffer]:
    """The parts of the file, which follow each other; equal content gives equal bytes."""
    held = {name: _stored(array) for name, array in arrays.items()}
    order = sorted(held, key=lambda name: (-held[name].dtype.itemsize, name))
    header = _header({**metadata, DIGEST: BLANK}, {name: held[name] for name in order})
    body = [np.ascontiguousarray(held[name]).reshape(-1).view(np.uint8).data for name in order]
    found = hashlib.sha256(header)
    for part in body:
        found.update(part)
    return [header.replace(BLANK.encode(), found.hexdigest().encode(), 1), *body]


def _stored(array: Array) -> Array:
    own = array.astype(array.dtype.newbyteorder("<"), copy=False)
    if own.dtype not in NAMES or own.ndim > MOST_DIMENSIONS:
        raise ModelFileError(f"An array of type {array.dtype} and {array.ndim} dimensions cannot be kept in a file.")
    return own


def _header(metadata: Mapping[str, str], arrays: Mapping[str, Array]) -> bytes:
    entries: dict[str, Any] = {METADATA: {DIGEST: metadata[DIGEST], **metadata}}  # the digest first: found at once
    end = 0
    for name, array in arrays.items():
        begin, end = end, end + array.nbytes
        entries[name] = {"dtype": NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    return struct.pack("<Q", len(text)) + text


def unpack(data: Buffer) -> tuple[dict[str, str], dict[str, Array]]:
    """Metadata and arrays of a file whose checksum is right; arrays are views, so nothing is copied."""
    entries, begin = _read_header(data)
    metadata = _read_metadata(entries.pop(METADATA, None))
    _check_digest(data, begin, metadata)
    arrays, end = {}, 0
    body = memoryview(data)[begin:]
    for name, entry in entries.items():
        arrays[name], end = _read_array(body, name, entry, end)
    if end != len(body):
        raise ModelFileError(f"The arrays end {len(body) - end} bytes before the file does.")
    return metadata, arrays


def _read_header(data: Buffer) -> tuple[dict[str, Any], int]:
    size = struct.unpack_from("<Q", data)[0] if len(data) >= 8 else 0
    if not 2 <= size <= len(data) - 8 or bytes(data[8:9]) != b"{":
        raise ModelFileError("This is not a model file: it does not begin with a header.")
    try:
        entries = json.loads(bytes(data[8 : 8 + size]), object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"The header cannot be read: {error}.") from error
    return entries, 8 + size


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object whose names differ; two readers must not read two things."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice")
    return found


def _read_metadata(found: Any) -> dict[str, str]:
    if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
        raise ModelFileError(f"The header has no {METADATA}, so this is not a model file of Sapwood.")
    return found


def _check_digest(data: Buffer, begin: int, metadata: Mapping[str, str]) -> None:
    """The digest stands right behind the beginning of the header."""
    claimed = metadata.get(DIGEST, "").encode()
    place = bytes(data[:begin]).find(claimed) if len(claimed) == len(BLANK) else -1
    if place < 0:
        raise ModelFileError(f"The header has no {DIGEST}, so this is not a model file of Sapwood.")
    whole = memoryview(data)
    found = hashlib.sha256(whole[:place])
    found.update(BLANK.encode())
    found.update(whole[place + len(claimed) :])
    if found.hexdigest().encode() != claimed:
        raise ModelFileError(
            "The checksum is wrong: the file was damaged after it was written. Copy it again, or save the model anew."
        )


def _read_array(body: memoryview, name: str, entry: Any, end_before: int) -> tuple[Array, int]:
    where = f"The header's entry {name!r}"
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise ModelFileError(f"{where} is not the description of an array.")
    dtype, shape, offsets = DTYPES.get(str(entry["dtype"])), entry["shape"], entry["data_offsets"]
    if dtype is None:
        raise ModelFileError(f"{where} has the unknown type {entry['dtype']!r}.")
    if not _are_sizes(shape) or len(shape) > MOST_DIMENSIONS or not _are_sizes(offsets) or len(offsets) != 2:
        raise ModelFileError(f"{where} has a shape or place that is not made of whole numbers.")
    begin, end = offsets
    size = dtype.itemsize
    for length in shape:
        size *= length
    if begin != end_before or end - begin != size or end > len(body) or begin % dtype.itemsize:
        raise ModelFileError(f"{where} is to be found at {begin} to {end}, where no array of its shape can be.")
    return np.frombuffer(body[begin:end], dtype=dtype).reshape(shape), end


def _are_sizes(found: Any) -> bool:
    return isinstance(found, list) and all(type(item) is int and 0 <= item < 2**62 for item in found)

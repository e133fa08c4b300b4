"""The container: a safetensors file, that is, named arrays behind a header in JSON, with a checksum of every byte.

    8 bytes: length of the header ─ header (JSON, padded with spaces) ─ arrays, one after the other

The header names for each array its type, its shape and where it begins and ends; `__metadata__` holds short texts. One
of them, "sha256", is the digest of the whole file with 64 zeros in its place. Arrays stand in the order of their item
size, largest first, so that every one is aligned and can be used where it lies in a mapped file. All NaN are the same
one: processors differ in the bits of theirs, but equal models have equal files everywhere.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sapwood.arrays import Array
from sapwood.errors import ModelFileError
from sapwood.files.values import Json

Buffer = bytes | memoryview

METADATA, DIGEST = "__metadata__", "sha256"
BLANK = "0" * 64
ALIGNMENT = 64  # of the first array: a cache line
MOST_DIMENSIONS = 3
MOST_BYTES = 2**62  # of an array, were its empty dimensions not empty
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
    return np.where(np.isnan(own), np.asarray(np.nan, own.dtype), own) if _has_nan(own) else own


def _has_nan(array: Array) -> bool:
    return array.dtype.kind == "f" and bool(np.isnan(array).any())


def _header(metadata: Mapping[str, str], arrays: Mapping[str, Array]) -> bytes:
    digest_first = sorted(metadata, key=lambda name: (name != DIGEST, name))  # where it is found at once
    entries: dict[str, object] = {METADATA: {name: metadata[name] for name in digest_first}}
    end = 0
    for name, array in arrays.items():
        begin, end = end, end + array.nbytes
        entries[name] = {"dtype": NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [begin, end]}
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    return struct.pack("<Q", len(text)) + text


def unpack(data: Buffer, check: Callable[[Mapping[str, str]], None]) -> tuple[dict[str, str], dict[str, Array]]:
    """Metadata and arrays of a file whose checksum is right; arrays are views, so nothing is copied.

    `check` may refuse the metadata before anything else is looked at that newer versions may have changed.
    """
    entries, begin = _read_header(data)
    metadata = _read_metadata(entries.pop(METADATA, None))
    _check_digest(data, begin, metadata)
    check(metadata)
    if begin % ALIGNMENT:
        raise ModelFileError(f"The header ends at {begin}, which is not a multiple of {ALIGNMENT}.")
    arrays, end = {}, 0
    body = memoryview(data)[begin:]
    for name, entry in entries.items():
        arrays[name], end = _read_array(body, name, entry, end)
    if end != len(body):
        raise ModelFileError(f"The arrays end {len(body) - end} bytes before the file does.")
    return metadata, arrays


def _read_header(data: Buffer) -> tuple[dict[str, Json], int]:
    size = struct.unpack_from("<Q", data)[0] if len(data) >= 8 else 0
    if not 2 <= size <= len(data) - 8 or bytes(data[8:9]) != b"{":
        raise ModelFileError("This is not a model file: it does not begin with a header.")
    try:
        entries = json.loads(bytes(data[8 : 8 + size]).decode(), object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"The header cannot be read: {error}.") from error
    return entries, 8 + size


def once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """A JSON object whose names differ; all readers must read the same."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name occurs twice")
    return found


def _read_metadata(found: Json) -> dict[str, str]:
    if not isinstance(found, dict) or not all(isinstance(text, str) for text in found.values()):
        raise ModelFileError(f"The header has no {METADATA}, so this is not a model file of Sapwood.")
    return found


def _check_digest(data: Buffer, begin: int, metadata: Mapping[str, str]) -> None:
    """The digest stands right behind the beginning of the header."""
    claimed = metadata.get(DIGEST, "").encode(errors="replace")
    place = bytes(data[:begin]).find(claimed) if len(claimed) == len(BLANK) else -1
    if place < 0:
        raise ModelFileError(f"The header has no {DIGEST}, so this is not a model file of Sapwood.")
    whole = memoryview(data)
    found = hashlib.sha256(whole[:place])
    found.update(BLANK.encode())
    found.update(whole[place + len(claimed) :])
    if found.hexdigest().encode() != claimed:
        raise ModelFileError(
            "The checksum is wrong: the file was damaged after it was written. Copy it again, or save the model again."
        )


def _read_array(body: memoryview, name: str, entry: Json, end_before: int) -> tuple[Array, int]:
    where = f"The header's entry {name!r}"
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise ModelFileError(f"{where} is not the description of an array.")
    dtype, shape, offsets = DTYPES.get(str(entry["dtype"])), entry["shape"], entry["data_offsets"]
    if dtype is None:
        raise ModelFileError(f"{where} has the unknown type {str(entry['dtype'])[:20]!r}.")
    if not is_shape(shape, dtype) or not _are_sizes(offsets) or len(offsets) != 2:
        raise ModelFileError(f"{where} has a shape or place that no array can have.")
    begin, end = offsets
    size = dtype.itemsize * math.prod(shape)
    if begin != end_before or end - begin != size or end > len(body) or begin % dtype.itemsize:
        raise ModelFileError(f"{where} has the offsets {begin} to {end}, which do not match its shape.")
    return np.frombuffer(body[begin:end], dtype=dtype).reshape(shape), end


def is_shape(found: Json, dtype: np.dtype[Any]) -> bool:
    """Whether there can be an array of this shape."""
    if not _are_sizes(found) or len(found) > MOST_DIMENSIONS:
        return False
    return bool(dtype.itemsize * math.prod(max(1, length) for length in found) <= MOST_BYTES)


def _are_sizes(found: object) -> bool:
    return isinstance(found, list) and all(type(item) is int and item >= 0 for item in found)

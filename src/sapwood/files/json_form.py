"""The readable form of a model file: the same content as JSON, numbers in full, checked by the same checksum."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping

import numpy as np

from sapwood.arrays import Array
from sapwood.errors import ModelFileError
from sapwood.files.container import DIGEST, DTYPES, METADATA, NAMES, Buffer, is_shape, once, pack
from sapwood.files.values import ODD_FLOATS, Json, expect


def digest_of(parts: list[Buffer]) -> str:
    """The checksum that packed content carries."""
    header = bytes(parts[0])
    text: str = json.loads(header[8:])[METADATA][DIGEST]
    return text


def to_json(metadata: dict[str, str], document: Json, arrays: dict[str, Array], digest: str) -> bytes:
    """Content as text; the document, which is an array in the other form, stands in it as it is."""
    content = {"metadata": {DIGEST: digest, **metadata}, "document": document}
    content["arrays"] = {name: _described(array) for name, array in sorted(arrays.items())}
    return json.dumps(content, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass")


def _described(array: Array) -> dict[str, object]:
    own = array.astype(array.dtype.newbyteorder("<"), copy=False)
    numbers = [_number(item) for item in own.reshape(-1).tolist()]
    return {"dtype": NAMES[own.dtype], "shape": list(own.shape), "data": numbers}


def _number(item: object) -> object:
    return item if not isinstance(item, float) or math.isfinite(item) else str(item)


def from_json(data: bytes, check: Callable[[Mapping[str, str]], None]) -> tuple[dict[str, str], Json, dict[str, Array]]:
    """Metadata, document and arrays of the readable form. The checksum is for the caller to compare.

    `check` may refuse the metadata before anything else is looked at that newer versions may have changed.
    """
    try:
        content = json.loads(data.decode("utf-8", "surrogatepass"), object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"This is not a model file: {error}.") from error
    metadata: Json = content.get("metadata") if isinstance(content, dict) else None
    texts = isinstance(metadata, dict) and all(isinstance(text, str) for text in metadata.values())
    expect(texts, "metadata", "must be present and made of strings")
    check(metadata)
    fits = set(content) == {"metadata", "document", "arrays"} and isinstance(content["arrays"], dict)
    expect(fits, "the file", "must have metadata, a document and arrays")
    expect(METADATA not in content["arrays"], f"arrays.{METADATA}", "is a name that no array may have")
    arrays = {name: _array(entry, f"arrays.{name}") for name, entry in content["arrays"].items()}
    return metadata, content["document"], arrays


def _array(entry: Json, where: str) -> Array:
    fits = isinstance(entry, dict) and set(entry) == {"dtype", "shape", "data"} and isinstance(entry["data"], list)
    expect(fits and str(entry["dtype"]) in DTYPES and isinstance(entry["shape"], list), where, "is not an array")
    dtype, shape, data = DTYPES[entry["dtype"]], entry["shape"], entry["data"]
    fits = is_shape(shape, dtype) and math.prod(shape) == len(data)
    expect(fits, where, f"does not hold as many numbers as its shape {shape} needs")
    kind: type = {"b": bool, "f": float}.get(dtype.kind, int)
    numbers = [ODD_FLOATS.get(item, item) if isinstance(item, str) else item for item in data]
    expect(all(type(item) is kind for item in numbers), where, f"holds something that is not {dtype}")
    try:
        with np.errstate(over="ignore"):
            return np.array(numbers, dtype=dtype).reshape(shape)
    except OverflowError as error:
        raise ModelFileError(f"The model file cannot be used: {where} holds a number too large for {dtype}.") from error


def repacked(metadata: dict[str, str], arrays: dict[str, Array]) -> str:
    """The checksum that this content should have."""
    return digest_of(pack({name: text for name, text in metadata.items() if name != DIGEST}, arrays))

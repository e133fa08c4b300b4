"""The content of a model file, a document and arrays, written to and read from either of its forms.

document (JSON) and arrays ─► container with checksum ─► file that is complete or untouched
"""

from __future__ import annotations

import json
import mmap as memory_map
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sapwood import __version__
from sapwood.arrays import Array
from sapwood.atomic_file import replace_file
from sapwood.errors import ModelFileError, ParameterError, ParameterTypeError
from sapwood.files.container import DIGEST, Buffer, once, pack, unpack
from sapwood.files.json_form import digest_of, from_json, repacked, to_json
from sapwood.files.values import Json, expect

Form = Literal["binary", "json"]
FilePath = str | os.PathLike[str]
Content = tuple[dict[str, str], dict[str, Json], dict[str, Array]]  # metadata, document, arrays

FORMAT, VERSION = "sapwood", 1
DOCUMENT = "document"


def write_content(path: FilePath, document: dict[str, Json], arrays: dict[str, Array], form: Form | None) -> None:
    """Write a file; without a form, JSON if the path ends in ".json"."""
    form = form or ("json" if _path_of(path).suffix == ".json" else "binary")
    if form not in ("binary", "json"):
        raise ParameterError(f"form={form!r} is not allowed for save: it must be 'binary' or 'json'.")
    metadata = {"format": FORMAT, "version": str(VERSION), "library": __version__, "estimator": document["estimator"]}
    parts = pack(metadata, arrays | {DOCUMENT: document_bytes(document)})
    data = parts if form == "binary" else [to_json(metadata, document, arrays, digest_of(parts))]
    try:
        replace_file(path, data)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(f"path={os.fspath(path)!r} cannot be written: {reason}. Nothing was changed.") from error


def content_digest(document: dict[str, Json], arrays: dict[str, Array]) -> str:
    """The checksum of content without metadata."""
    return digest_of(pack({"format": FORMAT}, arrays | {DOCUMENT: document_bytes(document)}))


def document_bytes(document: Json) -> NDArray[np.uint8]:
    """A document as the array that stands for it in the binary form."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return np.frombuffer(text, dtype=np.uint8)


def read_content(path: FilePath, *, mmap: bool = True) -> Content:
    """Metadata, document and arrays of a file with the right checksum and a version that can be read."""
    data = _read(_path_of(path), mmap)
    try:
        return parse_content(data)
    except (ModelFileError, RecursionError) as error:
        raise ModelFileError(f"{os.fspath(path)!r} cannot be loaded. {error}") from error


def parse_content(data: Buffer) -> Content:
    """The same, from the bytes of a file."""
    if bytes(data[:1]) == b"{" and bytes(data[8:9]) != b"{":
        return _parse_json(bytes(data))
    metadata, arrays = unpack(data, _check_version)
    text = arrays.pop(DOCUMENT, None)
    expect(text is not None and text.dtype == np.uint8 and text.ndim == 1, DOCUMENT, "is missing")
    assert text is not None
    try:
        return metadata, json.loads(text.tobytes().decode("utf-8", "surrogatepass"), object_pairs_hook=once), arrays
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"The document cannot be read: {error}.") from error


def _parse_json(data: bytes) -> Content:
    metadata, document, arrays = from_json(data, _check_version)
    if repacked(metadata, arrays | {DOCUMENT: document_bytes(document)}) != metadata.get(DIGEST):
        raise ModelFileError("The checksum is wrong: the file was changed after it was written. Save the model again.")
    return metadata, document, arrays


def _path_of(path: object) -> Path:
    if not isinstance(path, (str, os.PathLike)) or not isinstance(os.fspath(path), str):
        raise ParameterTypeError(f"path={path!r} is not allowed: it must be a string or a Path, that of a model file.")
    return Path(path)


def _read(path: Path, mmap: bool) -> Buffer:
    try:
        if not mmap or path.stat().st_size == 0:
            return path.read_bytes()
        with path.open("rb") as file:
            return memoryview(memory_map.mmap(file.fileno(), 0, access=memory_map.ACCESS_READ))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelFileError(f"path={str(path)!r} cannot be read: {reason}. Give the path of a model file.") from error


def _check_version(metadata: Mapping[str, str]) -> None:
    if metadata.get("format") != FORMAT:
        raise ModelFileError("This is a safetensors file, but not a model of Sapwood.")
    version = metadata.get("version", "")
    if not (version.isascii() and version.isdecimal()) or len(version) > 9 or int(version) < 1:
        raise ModelFileError(f"The format version {version!r} is not a number.")
    expect("library" in metadata, "metadata", "does not say which version of the library wrote the file")
    if int(version) > VERSION:
        raise ModelFileError(
            f"The file has the format version {version}, written by Sapwood {metadata['library']}; this is Sapwood "
            f"{__version__}, which reads versions up to {VERSION}. Install Sapwood {metadata['library']} or newer."
        )

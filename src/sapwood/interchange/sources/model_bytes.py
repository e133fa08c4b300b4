"""Model files in any form that they are handed over in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sapwood.errors import InputTypeError, ModelFileError


def read_bytes(source: Any, function: str, alternative: str) -> bytes:
    """The bytes of a file, given as such or by its path."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    if not isinstance(source, (str, Path)):
        raise InputTypeError(
            f"{function} got a {type(source).__name__}. Pass {alternative}, a path to a model file, or its bytes."
        )
    try:
        return Path(source).read_bytes()
    except (OSError, ValueError) as error:
        raise ModelFileError(f"The model file {str(source)[:200]!r} cannot be read: {error}.") from error

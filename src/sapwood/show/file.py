"""Text written to a file that is either complete or untouched."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sapwood.atomic_file import replace_file
from sapwood.errors import DataFileError, ParameterTypeError


def write_text(out_file: Any, text: str) -> None:
    """Write to a path or to an open text file."""
    if hasattr(out_file, "write"):
        out_file.write(text)
    elif isinstance(out_file, (str, os.PathLike)):
        _write_path(Path(os.fspath(out_file)), text)
    else:
        raise ParameterTypeError(
            f"out_file={out_file!r} is not allowed: it must be a path, an open text file, or None for a string."
        )


def _write_path(path: Path, text: str) -> None:
    try:
        replace_file(path, text.encode())
    except OSError as error:
        raise DataFileError(
            f"out_file={str(path)!r} cannot be written: {error.strerror or error}. "
            "Give a path in an existing folder that you may write to."
        ) from error

"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from sapwood.atomic_file import complete_or_untouched
from sapwood.errors import DataFileError


def check_output(path: Path, extensions: Collection[str] | None, inputs: Collection[Path] = ()) -> None:
    """Raise before any work is done if the file could not be written in the end, or is one of the inputs.

    Extensions of None allow every one.
    """
    if extensions is not None and path.suffix.lower() not in extensions:
        raise DataFileError(
            f"The output {str(path)!r} has the extension {path.suffix!r}, which is not known. "
            f"Use {', '.join(extensions)}."
        )
    if not path.parent.is_dir():
        raise DataFileError(f"There is no folder {str(path.parent)!r} for the output. Make it first.")
    if not os.access(path.parent, os.W_OK):
        raise DataFileError(f"The folder {str(path.parent)!r} of the output may not be written to. Give another one.")
    if path.exists() and not path.is_file():
        raise DataFileError(f"The output {str(path)!r} is not a plain file. Give another name.")
    if path.exists() and any(file.exists() and path.samefile(file) for file in inputs):
        raise DataFileError(f"The output {str(path)!r} is one of the input files. Give another name.")


@contextmanager
def whole_output(path: Path) -> Iterator[Path]:
    """A temporary path that takes the output's place once it is written; errors name the output."""
    try:
        with complete_or_untouched(path) as temporary:
            yield temporary
    except OSError as error:
        raise DataFileError(f"The output {str(path)!r} cannot be written: {error.strerror or error}.") from error

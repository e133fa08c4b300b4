"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from sapwood.errors import DataFileError


def check_output(path: Path, extensions: Collection[str], inputs: Collection[Path] = ()) -> None:
    """Raise before any work is done if the file could not be written in the end, or is one of the inputs."""
    if path.suffix.lower() not in extensions:
        raise DataFileError(
            f"The output {str(path)!r} has the extension {path.suffix!r}, which is not known. "
            f"Use {', '.join(extensions)}."
        )
    if not path.parent.is_dir():
        raise DataFileError(f"There is no folder {str(path.parent)!r} for the output. Make it first.")
    if path.exists() and not path.is_file():
        raise DataFileError(f"The output {str(path)!r} is not a plain file. Give another name.")
    if path.exists() and any(file.exists() and path.samefile(file) for file in inputs):
        raise DataFileError(f"The output {str(path)!r} is one of the input files. Give another name.")


@contextmanager
def complete_or_untouched(path: Path) -> Iterator[Path]:
    """A temporary path in the same folder, which takes the file's place once it is written."""
    target = path.resolve()
    temporary = target.with_name(f".{target.stem[:100]}.{secrets.token_hex(8)}{target.suffix}")
    try:
        yield temporary
        _store(temporary)
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except OSError as error:
        raise DataFileError(f"The output {str(path)!r} cannot be written: {error.strerror or error}.") from error
    finally:
        temporary.unlink(missing_ok=True)


def _store(path: Path) -> None:
    """Without this, a power failure after the renaming could leave an empty file."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())

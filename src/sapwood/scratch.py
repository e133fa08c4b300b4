"""A folder for scratch files, which is removed at the end, however the work ends."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sapwood.errors import DataFileError, ParameterError

SCRATCH = "sapwood-scratch-"


@contextmanager
def scratch_folder(given: str | os.PathLike[str] | None) -> Iterator[Path]:
    """A new folder in the one that was given, or in the system's folder for temporary files.

    Those that killed processes left behind are removed before.
    """
    parent = scratch_parent(given)
    for old in parent.glob(f"{SCRATCH}*"):
        number = old.name.removeprefix(SCRATCH).split("-")[0]
        if number.isdecimal() and not _runs(int(number)):
            shutil.rmtree(old, ignore_errors=True)
    try:
        folder = Path(tempfile.mkdtemp(prefix=f"{SCRATCH}{os.getpid()}-", dir=parent))
    except OSError as error:
        raise DataFileError(
            f"scratch={str(parent)!r} cannot be written to: {error.strerror}. Give another folder."
        ) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def scratch_parent(given: str | os.PathLike[str] | None) -> Path:
    """The folder that holds scratch folders."""
    parent = Path(tempfile.gettempdir() if given is None else os.fspath(given))
    if not parent.is_dir():
        raise ParameterError(f"scratch={str(parent)!r} is not a folder. Create it, or give another one.")
    return parent


def _runs(process: int) -> bool:
    """Whether there is a process of this number."""
    if os.name != "posix":
        return True  # it cannot be asked without harm
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True

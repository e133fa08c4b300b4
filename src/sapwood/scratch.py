"""A folder for scratch files, which is removed at the end, however the work ends."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sapwood.errors import DataFileError, ParameterError

try:
    import fcntl
except ImportError:  # Windows, where folders of killed processes stay
    fcntl = None  # type: ignore[assignment]

SCRATCH, LOCK = "sapwood-rows-", "lock"
MAKING = 60.0  # seconds within which a new folder gets its lock


@contextmanager
def scratch_folder(given: str | os.PathLike[str] | None) -> Iterator[Path]:
    """A new folder in the one that was given, or in the system's folder for temporary files.

    Folders left by killed processes are removed first.
    """
    parent = scratch_parent(given)
    for old in parent.glob(f"{SCRATCH}*"):
        if not _is_used(old):
            shutil.rmtree(old, ignore_errors=True)
    try:
        folder = Path(tempfile.mkdtemp(prefix=SCRATCH, dir=parent))
    except OSError as error:
        raise DataFileError(
            f"scratch={str(parent)!r} cannot be written to: {error.strerror}. Give another folder."
        ) from error
    try:
        with (folder / LOCK).open("wb") as lock:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_SH)
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def scratch_parent(given: str | os.PathLike[str] | None) -> Path:
    """The folder that holds scratch folders."""
    parent = Path(tempfile.gettempdir() if given is None else os.fspath(given))
    if not parent.is_dir():
        raise ParameterError(f"scratch={str(parent)!r} is not a folder. Create it, or give another one.")
    return parent


def _is_used(folder: Path) -> bool:
    """Whether its process holds the lock, which it loses however it ends. Numbers of processes differ by container."""
    if fcntl is None:
        return True
    try:
        with (folder / LOCK).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return _age(folder) < MAKING
    except OSError:  # locked, or not ours
        return True
    return False


def _age(folder: Path) -> float:
    """Seconds since it was changed; 0 if it is gone."""
    try:
        return time.time() - folder.stat().st_mtime
    except OSError:
        return 0.0

"""The folders of compiled kernels, and files in them that are written whole or not at all.

    NUMBA_CACHE_DIR, if set ─► the package's own __pycache__ ─► the user's cache folder

A kernel is read from the first folder that has it, and written to the first that can be written to: in an image whose
kernels were compiled when it was built, everybody reads what root has written.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from numba.core import config

PACKAGE_FOLDER = Path(__file__).parent / "__pycache__"
_unwritable: set[Path] = set()


def folders() -> Iterator[Path]:
    """Where kernels may be, the first choice first."""
    chosen = getattr(config, "CACHE_DIR", "")
    if chosen:
        yield Path(chosen) / "sapwood"
    yield PACKAGE_FOLDER
    user = _user_folder()
    if user.is_absolute():  # a user without a home has none
        yield user / "sapwood" / "kernels"


def store(name: str, data: bytes) -> Path | None:
    """Write a file to the first folder that takes it, and say which that was."""
    return next((folder for folder in folders() if folder not in _unwritable and _write(folder / name, data)), None)


def can_store() -> bool:
    """Whether a kernel that is compiled now could be kept."""
    name = f"{os.urandom(6).hex()}.tmp"
    folder = store(name, b"")
    if folder is not None:
        with suppress(OSError):
            (folder / name).unlink(missing_ok=True)
    return folder is not None


def _write(path: Path, data: bytes) -> bool:
    """Whether the file was written: a full disk or a read-only folder is not asked again in this process."""
    temporary = path.with_name(f"{path.name}.{os.urandom(6).hex()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(data)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError:
        _unwritable.add(path.parent)
        return False
    return True


def _user_folder() -> Path:
    """The user's folder for caches, by the customs of the system."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or "")
    if sys.platform == "darwin":
        return Path("~/Library/Caches").expanduser()
    chosen = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    with suppress(RuntimeError):  # a user whom the system does not know
        return Path(chosen).expanduser()
    return Path()

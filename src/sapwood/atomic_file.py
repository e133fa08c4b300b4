"""Atomic writes: a file is replaced as a whole or left unchanged, even by an error, a kill or a power failure.

    write a temporary file in the same folder ─► fsync ─► rename over the old one ─► fsync the folder

Renaming is atomic, so a reader finds the old file or the new one. On any error the old file is unchanged and the
temporary one is removed; only a kill can leave it behind, under a name that begins with a dot. A folder that cannot be
fsynced is not an error: the new file is complete, and some file systems do not support it.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

Bytes = bytes | bytearray | memoryview
LONGEST_SUFFIX = 20  # of a temporary file, whose name must not be too long where that of the file is not


def replace_file(path: str | os.PathLike[str], parts: Bytes | Iterable[Bytes]) -> None:
    """Write bytes, or one part after the other, to a file; a device or pipe is written as it is."""
    target = Path(os.fspath(path))
    chunks = [parts] if isinstance(parts, Bytes) else parts
    if target.exists() and not target.is_file() and not target.is_dir():
        with target.open("wb") as device:
            device.writelines(chunks)
        return
    with complete_or_untouched(target) as temporary, temporary.open("xb") as file:
        file.writelines(chunks)


@contextmanager
def complete_or_untouched(path: Path) -> Iterator[Path]:
    """A temporary path in the same folder, which takes the file's place once it is written.

    Links are followed, and a file that is replaced keeps its permissions.
    """
    target = _without_links(path)
    temporary = target.with_name(f".{secrets.token_hex(8)}{target.suffix[:LONGEST_SUFFIX]}")
    try:
        yield temporary
        store(temporary, os.O_RDWR)
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)  # noqa: PTH105 - one call, which tests make fail
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    with suppress(OSError):
        store(target.parent, os.O_RDONLY)


def _without_links(path: Path) -> Path:
    try:
        return path.resolve()
    except RuntimeError as error:  # links that lead back to themselves
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from error


def store(path: Path, flags: int) -> None:
    """Flush to disk: without this, a power failure after the renaming could leave an empty file."""
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

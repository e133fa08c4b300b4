"""Where the arrays of rows are kept: in memory, or in files of a scratch folder that the system maps into memory.

A scratch file has no name: it is gone when the process ends, however it ends.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import DTypeLike

from sapwood.arrays import Array
from sapwood.errors import DataFileError
from sapwood.memory_size import written_size

CHUNK = 1 << 26  # bytes of a file that arrays share
LINE = 64


class ArraysOfRows(Protocol):
    """Makes arrays with an element, or several, for each row."""

    def empty(self, shape: int | Sequence[int], dtype: DTypeLike) -> Array:
        """An uninitialised array."""

    def release(self) -> None:
        """The arrays are not used for a while: give memory back if their values are kept elsewhere."""


class InMemory:
    """Plain arrays."""

    def empty(self, shape: int | Sequence[int], dtype: DTypeLike) -> Array:
        """An uninitialised array."""
        return np.empty(shape, dtype=dtype)

    def release(self) -> None:
        """Nothing: they are nowhere else."""


class OnDisk:
    """Arrays in files of a folder, of which only what is being used takes memory. Many arrays share a file."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._maps: list[mmap.mmap] = []
        self._used = CHUNK  # bytes of the last file, if it is shared

    def empty(self, shape: int | Sequence[int], dtype: DTypeLike) -> Array:
        """An array of zeros; disk space is reserved at once, so that a full disk is found out now."""
        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        count = int(np.prod(sizes, dtype=np.int64))
        n_bytes = np.dtype(dtype).itemsize * count
        if not n_bytes:
            return np.empty(sizes, dtype=dtype)
        offset = 0
        if n_bytes > CHUNK // 2:
            mapped = self._map(n_bytes)
            self._maps.insert(0, mapped)
        else:
            if self._used + n_bytes > CHUNK:
                self._maps.append(self._map(CHUNK))
                self._used = 0
            mapped, offset = self._maps[-1], self._used
            self._used += -(-n_bytes // LINE) * LINE
        return np.frombuffer(mapped, dtype=dtype, count=count, offset=offset).reshape(sizes)

    def _map(self, n_bytes: int) -> mmap.mmap:
        """A file that has no name, mapped into memory."""
        try:
            with tempfile.TemporaryFile(dir=self._folder) as file:
                _reserve(file.fileno(), n_bytes)
                return mmap.mmap(file.fileno(), n_bytes)
        except OSError as error:
            raise DataFileError(
                f"{written_size(n_bytes)} cannot be reserved in the scratch folder {str(self._folder)!r}: "
                f"{error.strerror}. Give another folder with scratch=, or more memory with max_memory=."
            ) from error

    def release(self) -> None:
        """Pages that were written go to their files, and out of memory."""
        if hasattr(mmap, "MADV_DONTNEED"):
            for mapped in self._maps:
                mapped.madvise(mmap.MADV_DONTNEED)


def _reserve(file: int, n_bytes: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, n_bytes)
    else:
        os.ftruncate(file, n_bytes)

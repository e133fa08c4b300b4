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


class ArraysOfRows(Protocol):
    """Makes arrays with an element, or several, for each row."""

    def empty(self, shape: int | Sequence[int], dtype: DTypeLike) -> Array:
        """An array that begins with anything."""

    def release(self) -> None:
        """The arrays are not used for a while: give memory back if their values are kept elsewhere."""


class InMemory:
    """Plain arrays."""

    def empty(self, shape: int | Sequence[int], dtype: DTypeLike) -> Array:
        """An array that begins with anything."""
        return np.empty(shape, dtype=dtype)

    def release(self) -> None:
        """Nothing: they are nowhere else."""


class OnDisk:
    """Arrays in files of a folder, of which only what is being used takes memory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._maps: list[mmap.mmap] = []

    def empty(self, shape: int | Sequence[int], dtype: DTypeLike) -> Array:
        """An array of zeros; its file takes its place at once, so that a full disk is found out now."""
        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        n_bytes = int(np.dtype(dtype).itemsize * np.prod(sizes, dtype=np.int64))
        if not n_bytes:
            return np.empty(sizes, dtype=dtype)
        try:
            with tempfile.TemporaryFile(dir=self._folder) as file:
                _reserve(file.fileno(), n_bytes)
                mapped = mmap.mmap(file.fileno(), n_bytes)
        except OSError as error:
            raise DataFileError(
                f"The scratch folder {str(self._folder)!r} has no room for {n_bytes / 1e9:.3g} GB: {error.strerror}. "
                "Give another folder with scratch=, or more memory with max_memory=."
            ) from error
        self._maps.append(mapped)
        return np.frombuffer(mapped, dtype=dtype).reshape(sizes)

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

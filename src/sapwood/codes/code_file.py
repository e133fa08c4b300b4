"""Code files: a coded table on disk, in blocks of rows that are mapped into memory one at a time.

    magic | block 0 | block 1 | … | contents as JSON | offset and length of the contents, their checksum, magic

A block begins with a page and holds what a `BinnedTable` of its rows holds (codes by column and by row, levels,
bundles), and the target, weights and queries if there are any; each array begins with a cache line.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from sapwood.arrays import Array
from sapwood.atomic_file import complete_or_untouched
from sapwood.codes.binned import BinnedTable, pack_table
from sapwood.codes.bins import Bins
from sapwood.codes.bundles import Bundles
from sapwood.codes.code_file_contents import Contents, from_json, to_json
from sapwood.errors import DataFileError
from sapwood.table.schema import Schema

MAGIC = b"SAPCODES"
PAGE, LINE = 4096, 64
TAIL = struct.Struct("<QQI4x8s")
OTHERS = ("y", "weight", "query")
TYPES = {"|u1", "<u2", "<u4", "<i8", "<f8"}


class Section(NamedTuple):
    """An array of a block."""

    dtype: str
    shape: tuple[int, ...]
    offset: int  # in the block

    @property
    def n_bytes(self) -> int:
        """Its length."""
        return int(np.dtype(self.dtype).itemsize * np.prod(self.shape, dtype=np.int64))


class BlockPlace(NamedTuple):
    """Where a block is, and what it holds."""

    start: int  # its first row
    n_rows: int
    offset: int
    n_bytes: int
    checksum: int
    sections: Mapping[str, Section]


@dataclass(frozen=True, eq=False)
class CodeBlock:
    """Some consecutive rows. Changes of the arrays stay in memory, and are undone by `release`."""

    start: int
    table: BinnedTable
    y: Array | None  # codes of classes, or numbers
    weight: Array | None
    query: Array | None  # numbers of queries; rows of one have the same
    _map: mmap.mmap
    _place: tuple[int, int]  # where it begins and ends in the map

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.table.n_rows

    def release(self) -> None:
        """Give the memory back, on Linux only; arrays that are used again are read from the file."""
        first, last = -(-self._place[0] // mmap.PAGESIZE), self._place[1] // mmap.PAGESIZE  # no page of another block
        if hasattr(mmap, "MADV_DONTNEED") and last > first:
            self._map.madvise(mmap.MADV_DONTNEED, first * mmap.PAGESIZE, (last - first) * mmap.PAGESIZE)


class CodeFile:
    """A code file that is open for reading. It keeps no memory and no open file; blocks do.

    | name | meaning |
    |---|---|
    | path, n_bytes | the file |
    | contents | what `Contents` lists: schema, bins, digests, names and classes of the target |
    | n_rows, n_blocks, block_rows | all rows, the blocks, and the rows of each but the last |
    """

    def __init__(self, path: Path, contents: Contents, places: list[BlockPlace], stamp: tuple[int, int]) -> None:
        self.path, self.contents, self._places, self._stamp = path, contents, places, stamp
        self.n_bytes = stamp[0]

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> CodeFile:
        """Read the contents of a file; no block is read yet."""
        where = Path(os.fspath(path))
        with reading(where):
            with where.open("rb") as file:
                stamp = _stamp(file)
                document = _read_document(file, where)
            contents, blocks = from_json(document["contents"]), document["blocks"]
            places = [_place(one) for one in blocks]
        _check(places, contents, stamp[0], where)
        return cls(where, contents, places, stamp)

    @property
    def schema(self) -> Schema:
        """The columns."""
        return self.contents.schema

    @property
    def bins(self) -> tuple[Bins, ...]:
        """Bins of the columns."""
        return self.contents.bins

    @property
    def n_rows(self) -> int:
        """All rows."""
        return self._places[-1].start + self._places[-1].n_rows

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return len(self._places)

    @property
    def block_rows(self) -> int:
        """Rows of each block but the last."""
        return self._places[0].n_rows

    def starts(self) -> list[int]:
        """The first row of each block, and the number of rows."""
        return [place.start for place in self._places] + [self.n_rows]

    def block(self, number: int) -> CodeBlock:
        """Map a block into memory; nothing is read before it is used."""
        place = self._places[number]
        first = place.offset // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
        with self._opened() as file:
            length = place.offset + place.n_bytes - first
            mapped = mmap.mmap(file.fileno(), length, access=mmap.ACCESS_COPY, offset=first)
        return self._cut(place, mapped, place.offset - first)

    def blocks(self) -> list[CodeBlock]:
        """All blocks, in one map of the file, which takes no memory before it is used."""
        with self._opened() as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        return [self._cut(place, mapped, place.offset) for place in self._places]

    def _cut(self, place: BlockPlace, mapped: mmap.mmap, begin: int) -> CodeBlock:
        arrays = {name: _array(mapped, own, begin) for name, own in place.sections.items()}
        y, weight, query = (arrays.get(name) for name in OTHERS)
        within = begin, begin + place.n_bytes
        return CodeBlock(place.start, _table(arrays, self.bins), y, weight, query, mapped, within)

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        """The file, if it is still the same."""
        with reading(self.path), self.path.open("rb") as file:
            if _stamp(file) != self._stamp:
                raise DataFileError(f"The code file {str(self.path)!r} was changed while it was in use. Start again.")
            yield file

    def __iter__(self) -> Iterator[CodeBlock]:
        """One block after the other, each released once the next one is asked for."""
        for number in range(self.n_blocks):
            block = self.block(number)
            yield block
            block.release()

    def read_ahead(self, number: int) -> None:
        """Ask the system to read a block soon."""
        if hasattr(os, "posix_fadvise") and number < self.n_blocks:
            place = self._places[number]
            with suppress(OSError), self.path.open("rb") as file:
                os.posix_fadvise(file.fileno(), place.offset, place.n_bytes, os.POSIX_FADV_WILLNEED)

    def others(self, name: str) -> Array | None:
        """The target ("y"), weights or queries of all rows, in memory."""
        parts = [getattr(block, name) for block in self]
        return None if parts[0] is None else np.concatenate(parts)

    def table(self, n_jobs: int = 1) -> BinnedTable:
        """All rows as one table in memory: what `bin_table` makes of the whole table."""
        columns = np.empty((self.schema.n_features, self.n_rows), dtype=np.uint8)
        levels: list[Array] = []
        for block in self:
            columns[:, block.start : block.start + block.n_rows] = block.table.columns
            levels.append(block.table.levels.copy())
        return pack_table(self.bins, columns, np.concatenate(levels, axis=1), n_jobs)

    def verify(self) -> None:
        """Read all blocks, and raise if one is not what was written."""
        with reading(self.path), self.path.open("rb") as file:
            for number, place in enumerate(self._places):
                file.seek(place.offset)
                if zlib.crc32(file.read(place.n_bytes)) != place.checksum:
                    raise damaged(self.path, f"block {number} has another checksum")


class CodeFileWriter:
    """Writes blocks in the order of their rows, and the contents at the end."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._places = file, []  # type: tuple[BinaryIO, list[BlockPlace]]
        self._at, self._n_rows = file.write(MAGIC), 0

    def add(self, table: BinnedTable, others: Mapping[str, Array | None]) -> None:
        """Write a block: a coded table, and target, weights and queries of its rows."""
        bundles = table.bundles
        arrays = {"columns": table.columns, "rows": table.rows, "levels": table.levels}
        arrays |= {name: getattr(bundles, name) for name in ("sizes", "bundle_of", "meaning_of", "meanings")}
        arrays |= {name: values for name, values in others.items() if values is not None}
        self._pad(PAGE)
        begin, checksum, sections = self._at, 0, {}
        for name, values in arrays.items():
            checksum = zlib.crc32(self._pad(LINE), checksum)
            plain = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
            sections[name] = Section(plain.dtype.str, plain.shape, self._at - begin)
            checksum = zlib.crc32(plain.data if plain.size else b"", checksum)
            self._at += self._file.write(plain.data if plain.size else b"")
        place = BlockPlace(self._n_rows, table.n_rows, begin, self._at - begin, checksum, sections)
        self._places.append(place)
        self._n_rows += table.n_rows

    def finish(self, contents: Contents) -> None:
        """Write what was found of all rows."""
        self._pad(LINE)
        text = json.dumps({"contents": to_json(contents), "blocks": self._places}).encode("ascii")
        self._file.write(text)
        self._file.write(TAIL.pack(self._at, len(text), zlib.crc32(text), MAGIC))

    def _pad(self, width: int) -> bytes:
        padding = bytes(-self._at % width)
        self._at += self._file.write(padding)
        return padding


@contextmanager
def writing_codes(path: Path) -> Iterator[CodeFileWriter]:
    """A writer of a file that takes the place of another one only if it is complete."""
    try:
        with complete_or_untouched(path) as temporary, temporary.open("xb") as file:
            yield CodeFileWriter(file)
    except OSError as error:
        raise DataFileError(f"The code file {str(path)!r} cannot be written: {error.strerror or error}.") from error


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Raise errors of reading as ones that name the file."""
    try:
        yield
    except OSError as error:
        raise DataFileError(f"The code file {str(path)!r} cannot be read: {error.strerror or error}.") from error
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        if isinstance(error, DataFileError):
            raise
        raise damaged(path, "its contents are not understood") from error


def is_code_file(path: Path) -> bool:
    """Whether a file begins as code files do."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def damaged(path: Path, how: str) -> DataFileError:
    """The error for a file that is not whole."""
    return DataFileError(f"The code file {str(path)!r} is damaged: {how}. Write it again.")


def _stamp(file: BinaryIO) -> tuple[int, int]:
    found = os.fstat(file.fileno())
    return found.st_size, found.st_mtime_ns


def _read_document(file: BinaryIO, path: Path) -> dict[str, Any]:
    size = os.fstat(file.fileno()).st_size
    if file.read(len(MAGIC)) != MAGIC:
        raise DataFileError(f"The file {str(path)!r} is not a code file. Write one with sapwood encode.")
    if size < len(MAGIC) + TAIL.size:
        raise damaged(path, "its end is missing")
    file.seek(size - TAIL.size)
    offset, length, checksum, magic = TAIL.unpack(file.read(TAIL.size))
    if magic != MAGIC or offset + length + TAIL.size != size:
        raise damaged(path, "its end is missing")
    file.seek(offset)
    text = file.read(length)
    if zlib.crc32(text) != checksum:
        raise damaged(path, "its contents have another checksum")
    document: dict[str, Any] = json.loads(text)
    return document


def _place(found: list[Any]) -> BlockPlace:
    start, n_rows, offset, n_bytes, checksum, sections = found
    own = {name: Section(dtype, tuple(shape), begin) for name, (dtype, shape, begin) in sections.items()}
    return BlockPlace(start, n_rows, offset, n_bytes, checksum, own)


def _check(places: list[BlockPlace], contents: Contents, size: int, path: Path) -> None:
    """Arrays lie inside of the file and have the shapes that the rows imply."""
    row = 0
    for place in places:
        sections = place.sections
        inside = place.offset % PAGE == 0 and place.offset >= 0 and place.offset + place.n_bytes <= size
        inside &= all(own.offset >= 0 and own.offset + own.n_bytes <= place.n_bytes for own in sections.values())
        fits = sections["columns"].shape == (contents.schema.n_features, place.n_rows)
        fits &= sections["rows"].shape[0] == place.n_rows and sections["levels"].shape[1:] == (place.n_rows,)
        fits &= all(sections[name].shape == (place.n_rows,) for name in OTHERS if name in sections)
        fits &= all(own.dtype in TYPES for own in sections.values())
        if not (inside and fits and place.start == row and place.n_rows > 0):
            raise damaged(path, "its blocks do not fit its contents")
        row += place.n_rows
    if not places:
        raise damaged(path, "it has no blocks")


def _array(mapped: mmap.mmap, own: Section, begin: int) -> Array:
    count = int(np.prod(own.shape, dtype=np.int64))
    if not count:
        return np.empty(own.shape, dtype=own.dtype)
    found: Array = np.frombuffer(mapped, dtype=own.dtype, count=count, offset=begin + own.offset)
    return found.reshape(own.shape)


def _table(arrays: Mapping[str, Array], bins: tuple[Bins, ...]) -> BinnedTable:
    parts = (arrays[name].copy() for name in ("sizes", "bundle_of", "meaning_of", "meanings"))
    return BinnedTable(bins, arrays["columns"], arrays["rows"], Bundles((), *parts), arrays["levels"])

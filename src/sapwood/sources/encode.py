"""The second pass over a source: rows are coded and written to a code file, block by block."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.codes.binned import code_columns, grouped_levels, pack_table, row_width
from sapwood.codes.bins import MOST_BINS, Bins, GroupedLevels, code_type
from sapwood.codes.code_file import CodeFile, CodeFileWriter, writing_codes
from sapwood.codes.code_file_contents import Contents
from sapwood.errors import DataFileError, ParameterError, SchemaError
from sapwood.progress_bar import WorkBar
from sapwood.sources.column_facts import level_keys
from sapwood.sources.row_digest import RowDigest, hash_columns
from sapwood.sources.rows import Part, Roles, read_parts
from sapwood.sources.source import DataSource
from sapwood.sources.statistics import StatisticsReading, cells_to_hash
from sapwood.sources.survey import Survey, different_rows
from sapwood.sources.target_facts import Queries, class_type, code_labels, digest_values
from sapwood.table.column import UNSEEN, Column
from sapwood.table.digest import RowDigest as CellsDigest
from sapwood.table.digest import text_of_table
from sapwood.table.schema import Schema, Unseen
from sapwood.table.storage import ColumnStorage
from sapwood.table.table import Table
from sapwood.table.unread import UnreadStorage
from sapwood.threads import resolve_jobs

BLOCK_ROWS, FEWEST_ROWS, BLOCK_CELLS = 1 << 20, 1 << 14, 1 << 26  # of a block, of a wide one, cells of a block
PAGE = 4096


def encode(
    found: Survey,
    path: str | os.PathLike[str],
    *,
    max_bins: int = MOST_BINS,
    block_rows: int | None = None,
    n_jobs: int | None = None,
    verbose: bool | int = 0,
    notes: dict[str, Any] | None = None,
) -> CodeFile:
    """Read all rows again, and write their codes to a file, which takes the place of another one once it is complete.

    Args:
        found: what `survey` found.
        path: the code file.
        max_bins: largest number of bins of a column of numbers, at most 255.
        block_rows: rows of a block; by default about a million, fewer of a wide table.
        n_jobs: number of threads.
        verbose: whether a progress bar is shown.
        notes: anything else to keep in the file.
    """
    target = Path(os.fspath(path))
    if not 2 <= max_bins <= MOST_BINS:
        raise ParameterError(
            f"max_bins={max_bins} is not allowed: a code file holds 2 to {MOST_BINS} bins of a column."
        )
    if block_rows is None:
        block_rows = min(BLOCK_ROWS, max(FEWEST_ROWS, BLOCK_CELLS // found.schema.n_features))
    if block_rows < 1:
        raise ParameterError(f"block_rows={block_rows} is not allowed: it must be at least 1.")
    check_space(found, target, block_rows)
    n_jobs = resolve_jobs(n_jobs)
    bins = found.bins(max_bins, n_jobs)
    with writing_codes(target) as writer, WorkBar(found.n_given, verbose) as bar:
        coding = _Coding(found, bins, min(block_rows, found.n_rows), writer, n_jobs)
        for part, table in read_tables(found.source, found.roles, found.schema, again=True):
            with part.naming():
                coding.add(part, table)
            bar.add(part.n_rows)
        writer.finish(coding.finish(max_bins, notes or {}))
    return CodeFile.open(target)


def read_tables(
    source: DataSource, roles: Roles, schema: Schema, unseen: Unseen = "missing", *, again: bool = False
) -> Iterator[tuple[Part, Table]]:
    """The rows of a source in the columns and codes of training, batch by batch.

    With `again`, they have been read before, so that rows that do not fit have changed since.
    """
    for part in read_parts(source, roles):
        with part.naming():
            try:
                table = schema.match(part.X, unseen=unseen)
            except SchemaError as error:
                if not again:
                    raise
                raise DataFileError(f"The rows are not those of the first pass: {error}") from error
        yield part, table


def bytes_needed(found: Survey) -> int:
    """About the size of the code file."""
    n, d = found.n_rows, found.schema.n_features
    most = int(found.schema.n_levels.max(initial=0))
    wide = np.dtype(code_type(most)).itemsize * int((found.schema.n_levels > MOST_BINS).sum())
    others = 8 * (found.has_weight + ("query" in found.digests))
    return n * (d + row_width(d) + wide + others + _target_type(found).itemsize)


def check_space(found: Survey, path: Path, block_rows: int) -> None:
    """Raise if the folder has not enough room."""
    folder = path.parent
    if not folder.is_dir():
        raise DataFileError(f"There is no folder {str(folder)!r} for the code file {path.name!r}. Create it first.")
    needed = bytes_needed(found) + PAGE * -(-found.n_rows // block_rows)
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise DataFileError(
            f"The code file {str(path)!r} needs {needed / 1e9:.3g} GB, but {free / 1e9:.3g} GB are free. Give another "
            "folder, or make room."
        )


def _target_type(found: Survey) -> np.dtype:
    classes = None if found.target is None else found.target.classes
    return np.dtype(np.float64 if classes is None else class_type(len(classes)))


class _Coding:
    """The pass under way: rows are gathered until they fill a block."""

    def __init__(
        self, found: Survey, bins: tuple[Bins, ...], block_rows: int, writer: CodeFileWriter, n_jobs: int
    ) -> None:
        self._found, self._bins, self._writer, self._n_jobs = found, bins, writer, n_jobs
        self._block_rows = block_rows
        self._keys: list[Floats | None] = [
            level_keys(own.levels) if own.kind == "category" else None for own in found.schema.columns
        ]
        self._has_categories = "category" in found.schema.kinds
        self._digests = {name: RowDigest() for name in found.digests}
        self._cells = CellsDigest()  # as of a table in memory, whose levels are codes
        self._statistics = StatisticsReading(found)
        self._queries = Queries()
        self._n_rows = self._filled = 0
        grouped = [own for own in bins if isinstance(own, GroupedLevels)]
        wide = code_type(max((own.n_levels for own in grouped), default=0))
        self._room: dict[str, Array] = {
            "columns": np.empty((len(bins), block_rows), dtype=np.uint8),
            "levels": np.empty((len(grouped), block_rows), dtype=wide if grouped else np.uint8),
        }
        types = {"y": _target_type(found), "weight": np.dtype(np.float64), "query": np.dtype(np.int64)}
        self._room |= {name: np.empty(block_rows, dtype) for name, dtype in types.items() if name in found.digests}

    def add(self, part: Part, table: Table) -> None:
        """Code the rows of a batch that are used."""
        used = part.used
        table = self._typed(table, used)
        n = table.n_rows
        numbers = None if part.query is None else self._queries.number(part.query, part.batch.place)
        if n == 0:
            return
        self._look(table)
        pick: Any = slice(None) if used is None else used
        others: dict[str, Array | None] = {"weight": part.weight, "query": numbers}
        others = {name: None if own is None else own[pick] for name, own in others.items()}
        for name, own in others.items():
            if own is not None:
                self._digests[name].add(hash_columns([own]), self._n_rows)
        if part.y is not None and self._found.target is not None:
            self._digests["y"].add(hash_columns([digest_values(part.y[pick])]), self._n_rows)
            others["y"] = code_labels(part.y[pick], self._found.target.classes)
        self._n_rows += n
        columns = code_columns(table, self._bins, range(table.n_features), np.uint8, self._n_jobs)
        levels = grouped_levels(table, self._bins, self._n_jobs)
        self._gather({"columns": columns, "levels": levels} | {k: v for k, v in others.items() if v is not None}, n)

    def _typed(self, table: Table, used: Array | None) -> Table:
        """The rows that are used, in the types of the whole."""
        columns = []
        for j, (own, facts) in enumerate(zip(self._found.schema.columns, self._found.columns, strict=True)):
            values = table.values(j) if used is None else table.values(j)[used]
            if own.kind == "category" and (values == UNSEEN).any():
                raise DataFileError(
                    f"The rows are not those of the first pass: column {own.name!r} holds other levels than then. "
                    "Files must not change meanwhile."
                )
            columns.append(Column(own.kind, values.astype(facts.dtype, copy=False), own.levels))
        return Table(self._found.schema, ColumnStorage(columns))

    def _look(self, table: Table) -> None:
        """Digest and statistics."""
        hashes = hash_columns(cells_to_hash(table, self._keys), self._n_jobs)
        self._digests["X"].add(hashes, self._n_rows)
        self._cells += CellsDigest.of_table(table, self._n_rows, self._n_jobs)
        if self._has_categories and self._statistics.is_wanted:  # statistics hash codes
            codes = [None if own is None else np.append(np.arange(len(own) - 1.0), np.nan) for own in self._keys]
            hashes = hash_columns(cells_to_hash(table, codes), self._n_jobs)
        self._statistics.add(table, hashes)

    def _gather(self, arrays: dict[str, Array], n: int) -> None:
        taken = 0
        while taken < n:
            count = min(n - taken, self._block_rows - self._filled)
            for name, values in arrays.items():
                self._room[name][..., self._filled : self._filled + count] = values[..., taken : taken + count]
            self._filled, taken = self._filled + count, taken + count
            if self._filled == self._block_rows:
                self._write()

    def _write(self) -> None:
        """Write the rows that are gathered as a block."""
        own = {name: np.ascontiguousarray(values[..., : self._filled]) for name, values in self._room.items()}
        table = pack_table(self._bins, own.pop("columns"), own.pop("levels"), self._n_jobs)
        self._writer.add(table, own)
        self._filled = 0

    def finish(self, max_bins: int, notes: dict[str, Any]) -> Contents:
        """Write the last block; what was found of all rows."""
        found = self._found
        if self._n_rows != found.n_rows:
            raise different_rows(found.source, self._n_rows, found.n_rows)
        digests = {name: str(own) for name, own in self._digests.items()}
        if digests != dict(found.digests):
            other = next(name for name, own in digests.items() if own != found.digests[name])
            raise DataFileError(
                f"{found.source.label!r} gave other rows in the second pass than in the first: {other} differs. A "
                "source must give the same rows in the same order each time; files must not change meanwhile."
            )
        if self._filled:
            self._write()
        target, roles = found.target, found.roles
        return Contents(
            schema=self._statistics.schema(),
            bins=self._bins,
            max_bins=max_bins,
            n_given=found.n_given,
            digests=digests | {"table": text_of_table(self._cells, Table(found.schema, UnreadStorage(0, "")))},
            roles={"target": roles.target, "weight": roles.weight, "query": roles.query},
            classes=None if target is None else target.classes,
            counts=None if target is None else target.counts,
            source=found.source.label,
            notes=notes,
        )

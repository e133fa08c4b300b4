"""Rows to predict in batches, so that a file may be larger than memory."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sapwood.cli.column_types import convert, expected_readings, is_text, levels_of
from sapwood.cli.console import print_line
from sapwood.cli.data_file import named_columns, no_rows, open_data, readable, require_columns, times_as_durations
from sapwood.cli.dataset import Dataset, repeated_notes
from sapwood.cli.options import FileFormat
from sapwood.table.reading import Reading, Recognition

if TYPE_CHECKING:
    from pyarrow import Table


class Batches:
    """The rows of a file, read as those of the training file, with the columns to copy to the output."""

    def __init__(self, path: Path, file_format: FileFormat, known: Dataset, keep: Collection[str]) -> None:
        self._path, self._format, self._known = path, file_format, known
        self._file = open_data(path, file_format, text=known.string_columns)
        self.names = self._file.names
        self._keep = list(named_columns(keep, self.names))
        require_columns(self.names, self._keep, "--keep", path)
        for note in repeated_notes(self._file.repeated, path):
            print_line(note)

    def read(self, columns: Collection[str]) -> Iterator[tuple[Table, Table, float]]:
        """For each batch these columns, those to copy, and the share of the file that has been read."""
        names = [name for name in self.names if name in set(columns) | set(self._keep)]
        wanted = [name for name in self.names if name in set(columns)]
        n_rows = 0
        with readable(self._path):
            readings = self._readings(names)
            for table, share in self._file.batches(names):
                rows = times_as_durations(table)
                n_rows += rows.num_rows
                if rows.num_rows:
                    yield convert(rows.select(wanted), readings, self._path), rows.select(self._keep), share
        if n_rows == 0:
            raise no_rows(self._path)

    def _readings(self, names: list[str]) -> dict[str, Reading]:
        """Those of training, and of text in columns that were numbers or dates in training."""
        types, kinds = self._file.types(names), self._known.kinds
        text = [name for name in names if is_text(types[name]) and name in kinds and name not in self._known.readings]
        found = {name: Recognition() for name in text}
        for table, _ in self._file.batches(text) if text else ():
            for name in text:
                found[name].look(levels_of(table.column(name)))
        return expected_readings(found, kinds, self._format, self._path) | dict(self._known.readings)


@contextmanager
def regular_file(path: Path) -> Iterator[Path]:
    """The path of a file; standard input (-) and pipes are copied to a temporary file first."""
    if str(path) != "-" and (path.is_file() or path.is_dir() or not path.exists()):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="sapwood-") as folder:
        spool = Path(folder) / "input"
        with spool.open("wb") as file:
            if str(path) == "-":
                shutil.copyfileobj(sys.stdin.buffer, file)
            else:
                with path.open("rb") as pipe:
                    shutil.copyfileobj(pipe, file)
        with spool.open("rb") as file:
            is_parquet = file.read(4) == b"PAR1"
        yield spool.rename(spool.with_name("input.parquet" if is_parquet else "input.csv"))

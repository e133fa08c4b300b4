"""Rows to predict, some at a time, so that a file may be larger than the memory."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sapwood.cli.console import say
from sapwood.cli.data import named_columns, no_rows, open_data, readable, require_columns, without_clocks
from sapwood.cli.layout import Layout
from sapwood.cli.sample import Sample, repeated_note
from sapwood.cli.task import is_text
from sapwood.cli.text_columns import convert, expected_reading, levels_of
from sapwood.table.reading import Reading, Recognition


class Rows:
    """The rows of a file, read like those of training, and the columns of them to keep."""

    def __init__(self, path: Path, layout: Layout, known: Sample, keep: Collection[str]) -> None:
        self._path, self._layout, self._known = path, layout, known
        self._file = open_data(path, layout, text=[*known.text_columns, *known.readings])
        self.names = self._file.names
        self._keep = list(named_columns(keep, self.names))
        require_columns(self.names, self._keep, "--keep", path)
        for note in repeated_note(self._file.repeated, path):
            say(note)

    def parts(self, columns: Collection[str]) -> Iterator[tuple[Any, Any, float]]:
        """Parts of the rows: these columns, those to keep, and the share of the file that has been read."""
        names = [name for name in self.names if name in set(columns) | set(self._keep)]
        wanted = [name for name in self.names if name in set(columns)]
        n_rows = 0
        with readable(self._path):
            readings = self._readings(names)
            for table, share in self._file.batches(names):
                rows = without_clocks(table)
                n_rows += rows.num_rows
                if rows.num_rows:
                    yield convert(rows.select(wanted), readings, self._path), rows.select(self._keep), share
        if n_rows == 0:
            raise no_rows(self._path)

    def _readings(self, names: list[str]) -> dict[str, Reading]:
        """Those of training, and of text where training had numbers or dates that were no text."""
        types, kinds = self._file.types(names), self._known.kinds
        open_names = [
            name for name in names if is_text(types[name]) and name in kinds and name not in self._known.readings
        ]
        seen = {name: Recognition() for name in open_names}
        for table, _ in self._file.batches(open_names) if open_names else ():
            for name in open_names:
                seen[name].look(levels_of(table.column(name)))
        found = {
            name: expected_reading(each, name, kinds[name], self._layout, self._path) for name, each in seen.items()
        }
        return {name: reading for name, reading in found.items() if reading is not None} | dict(self._known.readings)


@contextmanager
def plain_input(path: Path) -> Iterator[Path]:
    """The path of a file; what comes through the standard input or a pipe is stored in a file first."""
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

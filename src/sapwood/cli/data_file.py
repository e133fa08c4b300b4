"""Data files: CSV, Parquet, or a folder of Parquet files, as pyarrow tables; in batches if larger than memory."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from sapwood.cli.column_types import convert, expected_readings, is_text, levels_of
from sapwood.cli.console import print_line
from sapwood.cli.main import missing_extra
from sapwood.cli.options import DETECTED, FileFormat
from sapwood.errors import DataFileError
from sapwood.sources.csv_file import looks_like_data
from sapwood.sources.files import DataFiles, find_files
from sapwood.sources.read_ahead import read_ahead
from sapwood.table.names import nearest_name, shorten
from sapwood.table.reading import Reading, Recognition

if TYPE_CHECKING:
    from pyarrow import Table

    from sapwood.cli.dataset import Dataset


def arrow() -> ModuleType:
    """Import pyarrow."""
    try:
        import pyarrow as pa
    except ModuleNotFoundError as error:
        raise missing_extra(error) from error
    module: ModuleType = pa
    return module


def open_data(path: Path, file_format: FileFormat = DETECTED, text: Collection[str] = ()) -> DataFiles:
    """A data file, a folder or a pattern. Columns named in `text` are read from CSV as strings."""
    arrow()
    return DataFiles(find_files(path), file_format, text)


def no_rows(path: Path) -> DataFileError:
    """The error for a file that has only a header."""
    return DataFileError(f"The file {str(path)!r} has a header but no rows. Give a file with data.")


def require_columns(names_there: Sequence[str], names: Collection[str], option: str, path: Path) -> None:
    """Raise for the first name that is not a column."""
    for name in names:
        if name not in names_there:
            hint = nearest_name(name, names_there)
            if looks_like_data(names_there) and not hint:
                hint = " Its first line looks like data, not column names: use --no-header."
            raise DataFileError(
                f"{option} {name!r} is not a column of {str(path)!r}.{hint} "
                f"Its columns are {shorten(names_there, most=20)}."
            )


def repeated_notes(repeated: Mapping[str, list[str]], path: Path) -> list[str]:
    """A note for each name that several columns have."""
    return [
        f"{str(path)!r} has more than one column {name!r}; the others are renamed to {', '.join(map(repr, others))}."
        for name, others in repeated.items()
    ]


def named_columns(given: Iterable[str], names_there: Collection[str]) -> tuple[str, ...]:
    """Names as given on the command line: one, or several separated by commas where that is not itself a name."""
    parts = [[name] if name in names_there else [part.strip() for part in name.split(",")] for name in given]
    return tuple(dict.fromkeys(name for names in parts for name in names))


class Batches:
    """The rows of a file, read as those of the training file, with the columns to copy to the output."""

    def __init__(self, path: Path, file_format: FileFormat, known: Dataset, keep: Collection[str]) -> None:
        self._path, self._format, self._known = path, file_format, known
        self._file = open_data(path, file_format, text=known.string_columns)
        self.paths = self._file.paths
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
        readings = self._readings(names)
        for batch in read_ahead(self._file.batches(names)):
            rows = batch.frame
            n_rows += rows.num_rows
            yield convert(rows.select(wanted), readings, self._path), rows.select(self._keep), batch.share
        if n_rows == 0:
            raise no_rows(self._path)

    def _readings(self, names: list[str]) -> dict[str, Reading]:
        """Those of training, and of text in columns that were numbers or dates in training."""
        types, kinds = self._file.types(names), self._known.kinds
        text = [name for name in names if is_text(types[name]) and name in kinds and name not in self._known.readings]
        found = {name: Recognition() for name in text}
        for batch in self._file.batches(text) if text else ():
            for name in text:
                found[name].look(levels_of(batch.frame.column(name)))
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

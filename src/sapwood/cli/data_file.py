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
from sapwood.cli.csv_file import NOT_UTF8, CsvFile, looks_like_data
from sapwood.cli.main import missing_extra
from sapwood.cli.options import DETECTED, FileFormat
from sapwood.errors import DataFileError
from sapwood.table.names import nearest_name, repeated_names, shorten
from sapwood.table.reading import Reading, Recognition

if TYPE_CHECKING:
    from pyarrow import DataType, Table

    from sapwood.cli.dataset import Dataset

CSV = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq")
_COMPRESSED = (".gz", ".bz2", ".zst")
_BATCH = 1 << 17  # rows


def arrow() -> ModuleType:
    """Import pyarrow."""
    try:
        import pyarrow as pa
    except ModuleNotFoundError as error:
        raise missing_extra(error) from error
    module: ModuleType = pa
    return module


def open_data(path: Path, file_format: FileFormat = DETECTED, text: Collection[str] = ()) -> CsvFile | ParquetFile:
    """A data file. Columns named in `text` are read from CSV as strings, whatever they look like."""
    if not path.is_dir():
        check_exists(path, "CSV or Parquet file")
    with readable(path):
        if not path.is_dir() and _kind(path) in CSV:
            return CsvFile(path, file_format, text)
        return ParquetFile(path)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Raise errors of reading as ones that name the file and the remedy."""
    pa = arrow()
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise DataFileError(f"The file {str(path)!r} cannot be read: {_cause(error)}") from error


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


def check_exists(path: Path, wanted: str) -> None:
    """Raise if there is no such file, naming the nearest one."""
    if path.is_dir():
        raise DataFileError(f"{str(path)!r} is a folder. Give a {wanted}.")
    if not path.exists():
        near = nearest_name(path.name, _neighbours(path))
        raise DataFileError(f"There is no file {str(path)!r}.{near} Check the path.")


def _neighbours(path: Path) -> list[str]:
    try:
        return [other.name for other in path.parent.iterdir()]
    except OSError:
        return []


def _kind(path: Path) -> str:
    """The extension, without that of a compression."""
    suffix = path.suffix.lower()
    if suffix in _COMPRESSED:
        suffix = Path(path.stem).suffix.lower()
    if suffix not in CSV + PARQUET:
        raise DataFileError(
            f"The file {str(path)!r} has the unknown extension {suffix!r}. "
            f"Use {', '.join(CSV)} (plain or compressed) or {', '.join(PARQUET)}."
        )
    return suffix


def times_as_durations(table: Table) -> Table:
    """The table with times of day as durations since midnight."""
    pa = arrow()
    for position, field in enumerate(table.schema):
        if pa.types.is_time(field.type):
            whole = "int32" if pa.types.is_time32(field.type) else "int64"
            durations = table.column(position).cast(whole).cast("int64").cast(pa.duration(field.type.unit))
            table = table.set_column(position, field.name, durations)
    return table


def _cause(error: Exception) -> str:
    if isinstance(error, UnicodeError) or "invalid UTF8" in str(error):
        return f"it is {NOT_UTF8}"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}. Check its permissions."
    return f"{str(error).rstrip('.')}. Check its contents, and for CSV its --delimiter."


class ParquetFile:
    """One file, or those of a folder in the order of their names."""

    decimal = "."

    def __init__(self, path: Path) -> None:
        import pyarrow.parquet as pq

        self.path = path
        self.repeated: dict[str, list[str]] = {}
        self._paths = parquet_files(path) if path.is_dir() else [path]
        self._schema = pq.read_schema(self._paths[0])
        self.names: list[str] = self._schema.names
        repeated = repeated_names(self.names)
        if repeated:
            raise DataFileError(f"The file {str(path)!r} has several columns named {shorten(repeated)}. Rename them.")
        for other in self._paths[1:]:
            if not pq.read_schema(other).equals(self._schema):
                raise DataFileError(
                    f"The file {str(other)!r} has other columns or types than {self._paths[0].name!r}. Give files "
                    "with the same columns, or one file."
                )

    def read(self) -> Table:
        """The whole table."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        return pa.concat_tables(pq.ParquetFile(path).read() for path in self._paths)

    def batches(self, columns: Collection[str] | None = None) -> Iterator[tuple[Table, float]]:
        """Tables of some rows each, with the share of the rows that has been read."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        wanted = None if columns is None else [name for name in self.names if name in set(columns)]
        total = max(1, sum(pq.read_metadata(path).num_rows for path in self._paths))
        done = 0
        for path in self._paths:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(_BATCH, columns=wanted):
                    done += batch.num_rows
                    yield pa.Table.from_batches([batch]), done / total

    def types(self, columns: Collection[str] | None = None) -> dict[str, DataType]:
        """The type of each column."""
        return {field.name: field.type for field in self._schema if columns is None or field.name in set(columns)}


def parquet_files(folder: Path) -> list[Path]:
    """The Parquet files of a folder, in the order of their names."""
    found = sorted(path for path in folder.iterdir() if path.suffix.lower() in PARQUET and path.is_file())
    if not found:
        raise DataFileError(
            f"{str(folder)!r} is a folder without Parquet files. Give a CSV or Parquet file, or a folder of Parquet "
            "files."
        )
    return found


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

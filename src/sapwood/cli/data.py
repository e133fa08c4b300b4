"""Data files: CSV and Parquet, as pyarrow tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sapwood.cli.csv_file import NOT_UTF8, CsvFile
from sapwood.cli.dialect import looks_like_data
from sapwood.cli.extras import missing_extra
from sapwood.cli.layout import FOUND_OUT, Layout
from sapwood.cli.output import whole_output
from sapwood.cli.parquet_file import PARQUET, ParquetFile
from sapwood.errors import DataFileError
from sapwood.table.names import nearest_name, shorten

CSV = (".csv", ".tsv", ".txt")
_COMPRESSED = (".gz", ".bz2", ".zst")

Table = Any


def arrow() -> Any:
    """Import pyarrow."""
    try:
        import pyarrow as pa
    except ModuleNotFoundError as error:
        raise missing_extra(error) from error
    return pa


def open_data(path: Path, layout: Layout = FOUND_OUT, text: Collection[str] = ()) -> CsvFile | ParquetFile:
    """A data file. Columns named in `text` are read from CSV as strings, whatever they look like."""
    if not path.is_dir():
        check_exists(path, "CSV or Parquet file")
    with readable(path):
        if not path.is_dir() and _kind(path) in CSV:
            return CsvFile(path, layout, text)
        return ParquetFile(path)


def read_table(path: Path, layout: Layout = FOUND_OUT, text: Collection[str] = ()) -> Table:
    """The table in a file."""
    file = open_data(path, layout, text)
    with readable(path):
        table = file.read()
    if table.num_rows == 0:
        raise no_rows(path)
    return without_clocks(table)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Errors of reading name the file and the remedy."""
    pa = arrow()
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise DataFileError(f"The file {str(path)!r} cannot be read: {_cause(error)}") from error


def no_rows(path: Path) -> DataFileError:
    """The error for a file that has nothing but names."""
    return DataFileError(f"The file {str(path)!r} has column names but no rows. Give a file with data.")


def write_table(path: Path, table: Table) -> None:
    """Write a table to a file that is either complete or untouched."""
    with whole_output(path) as temporary:
        if path.suffix.lower() in PARQUET:
            import pyarrow.parquet as pq

            pq.write_table(table, temporary)
        else:
            from pyarrow import csv

            delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
            csv.write_csv(table, temporary, csv.WriteOptions(delimiter=delimiter))


def require_columns(names_there: list[str], names: Collection[str], option: str, path: Path) -> None:
    """Raise for the first name that is none of the columns there."""
    for name in names:
        if name not in names_there:
            hint = nearest_name(name, names_there)
            if looks_like_data(names_there) and not hint:
                hint = " Its first line looks like data, not like column names: use --no-header."
            raise DataFileError(
                f"{option} {name!r} is not a column of {str(path)!r}.{hint} "
                f"Its columns are {shorten(names_there, most=20)}."
            )


def named_columns(given: Iterable[str], names_there: Collection[str]) -> tuple[str, ...]:
    """Names as given on the command line: one, or several between commas where that is not a name itself."""
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
    """The extension, less that of a compression."""
    suffix = path.suffix.lower()
    if suffix in _COMPRESSED:
        suffix = Path(path.stem).suffix.lower()
    if suffix not in CSV + PARQUET:
        raise DataFileError(
            f"The file {str(path)!r} has the extension {suffix!r}, which is not known. "
            f"Use {', '.join(CSV)} (also compressed) or {', '.join(PARQUET)}."
        )
    return suffix


def without_clocks(table: Table) -> Table:
    """A time of day is the duration since midnight."""
    pa = arrow()
    for position, field in enumerate(table.schema):
        if pa.types.is_time(field.type):
            whole = "int32" if pa.types.is_time32(field.type) else "int64"
            durations = table.column(position).cast(whole).cast("int64").cast(pa.duration(field.type.unit))
            table = table.set_column(position, field.name, durations)
    return table


def _cause(error: Exception) -> str:
    if isinstance(error, UnicodeError):
        return f"it is {NOT_UTF8}"
    if "invalid UTF8" in str(error):
        return f"it is {NOT_UTF8}"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}. Check its permissions."
    return f"{str(error).rstrip('.')}. Check its contents, and for CSV its --delimiter."

"""Data files: CSV and Parquet, as pyarrow tables."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from sapwood.cli.dialect import guess_dialect
from sapwood.cli.extras import missing_extra
from sapwood.cli.output import whole_output
from sapwood.errors import DataFileError
from sapwood.table.names import nearest_name, repeated_names, shorten

MISSING = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL", "Null", "?")
CSV = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq")
_COMPRESSED = (".gz", ".bz2", ".zst")
_HEAD = 1 << 16
_BLOCK = 1 << 24  # bytes; a row must fit into one block

Table = Any


def arrow() -> Any:
    """Import pyarrow."""
    try:
        import pyarrow as pa
    except ModuleNotFoundError as error:
        raise missing_extra(error) from error
    return pa


def read_table(path: Path, delimiter: str | None = None, text: Collection[str] = ()) -> Table:
    """The table in a file. Columns named in `text` are read from CSV as strings, whatever they look like."""
    check_exists(path, "CSV or Parquet file")
    read = _read_csv if _kind(path) in CSV else _read_parquet
    pa = arrow()
    try:
        table = read(path, delimiter, text)
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise DataFileError(f"The file {str(path)!r} cannot be read: {_cause(error)}") from error
    _check_names(path, table)
    if table.num_rows == 0:
        raise DataFileError(f"The file {str(path)!r} has column names but no rows. Give a file with data.")
    return _without_clocks(table)


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


def require_columns(table: Table, names: Collection[str], option: str, path: Path) -> None:
    """Raise for the first name that is no column of the table."""
    for name in names:
        if name not in table.column_names:
            raise DataFileError(
                f"{option} {name!r} is not a column of {str(path)!r}.{nearest_name(name, table.column_names)} "
                f"Its columns are {shorten(table.column_names, most=20)}."
            )


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


def _read_parquet(path: Path, _delimiter: str | None, _text: Collection[str]) -> Table:
    import pyarrow.parquet as pq

    return pq.read_table(path)


def _read_csv(path: Path, delimiter: str | None, text: Collection[str]) -> Table:
    pa = arrow()
    from pyarrow import csv

    with pa.input_stream(str(path)) as stream:
        head = stream.read(_HEAD)
    if not head.strip():
        raise DataFileError(f"The file {str(path)!r} is empty. Give a file with a line of column names and rows.")
    dialect = guess_dialect(head.decode("utf-8-sig", errors="replace"), len(head) < _HEAD, delimiter)
    table = csv.read_csv(
        path,
        csv.ReadOptions(block_size=_BLOCK),
        csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True),
        csv.ConvertOptions(
            null_values=[*MISSING, *(f" {word}" for word in MISSING)],
            strings_can_be_null=True,
            decimal_point=dialect.decimal,
            column_types=dict.fromkeys(text, pa.string()),
        ),
    )
    return _trimmed(path, table)


def _trimmed(path: Path, table: Table) -> Table:
    """Spaces around names and strings belong to the layout of a CSV file, not to the data."""
    pa = arrow()
    for position, field in enumerate(table.schema):
        if pa.types.is_binary(field.type):
            raise DataFileError(
                f"Column {field.name!r} of {str(path)!r} is not UTF-8 text. Save the file with the encoding UTF-8."
            )
        if pa.types.is_string(field.type):
            table = table.set_column(position, field.name, _trimmed_strings(table.column(position)))
    return table.rename_columns([name.strip() for name in table.column_names])


def _trimmed_strings(column: Any) -> Any:
    pa = arrow()
    from pyarrow import compute as pc

    trimmed = pc.utf8_trim_whitespace(column)
    is_missing = pc.is_in(trimmed, value_set=pa.array(MISSING))
    return pc.if_else(is_missing, pa.scalar(None, pa.string()), trimmed)


def _without_clocks(table: Table) -> Table:
    """A time of day is the duration since midnight."""
    pa = arrow()
    for position, field in enumerate(table.schema):
        if pa.types.is_time(field.type):
            whole = "int32" if pa.types.is_time32(field.type) else "int64"
            durations = table.column(position).cast(whole).cast("int64").cast(pa.duration(field.type.unit))
            table = table.set_column(position, field.name, durations)
    return table


def _check_names(path: Path, table: Table) -> None:
    repeated = repeated_names(table.column_names)
    if repeated:
        raise DataFileError(
            f"The file {str(path)!r} has more than one column of the name {shorten(repeated)}. Rename them."
        )


def _cause(error: Exception) -> str:
    if isinstance(error, UnicodeError):
        return "it is not UTF-8 text. Save it with the encoding UTF-8."
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}. Check its permissions."
    return f"{str(error).rstrip('.')}. Check its contents, and for CSV its --delimiter."

"""CSV files, read whole or batch by batch with the same types.

The types are those that pyarrow finds for the whole file: for each column the first of a list of types that all its
values have. Batch by batch, a pass over the file finds them before the first batch is returned.
"""

from __future__ import annotations

import csv as csv_module
import io
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from sapwood.errors import DataFileError, ParameterError
from sapwood.sources.csv_format import CsvFormat
from sapwood.table.names import shorten
from sapwood.table.reading import recognise

if TYPE_CHECKING:
    from pyarrow import ChunkedArray, DataType, NativeFile, Table
    from pyarrow.csv import ConvertOptions, CSVStreamingReader, ParseOptions, ReadOptions

MISSING = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL", "Null", "?")
_HEAD = 1 << 16
_BLOCK = 1 << 24  # bytes; a row must fit into one block
_SMALL_BLOCK = 1 << 22  # batch by batch, where pyarrow reads up to 32 blocks ahead
_MARKS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_WRONG_TYPE = re.compile(r"In CSV column #(\d+): (?:Row #\d+: )?CSV conversion error to (?!string)")

_DELIMITERS = ",;\t|"
_NAMED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d+,\d+\s*")
_DECIMAL_POINT = re.compile(r"\s*[-+]?\d+\.\d+\s*")


class CsvFile:
    """A CSV file. Columns named in `text` are read as strings, whatever they look like."""

    def __init__(self, path: Path, file_format: CsvFormat, text: Collection[str] = ()) -> None:
        import pyarrow as pa

        self.path = path
        self.n_rows: int | None = None
        """Number of rows, known once the types are."""
        self._format = file_format
        with pa.input_stream(str(path)) as stream:
            head = stream.read(_HEAD)
        self._encoding = file_format.encoding or next((name for mark, name in _MARKS if head.startswith(mark)), "utf8")
        start = head.decode(self._encoding if self._encoding != "utf8" else "utf-8-sig", errors="replace")
        if not start.strip("\ufeff\x00 \r\n\t"):
            raise DataFileError(f"The file {str(path)!r} is empty. Give a file with a line of column names and rows.")
        rows = _Start(start, len(head) < _HEAD)
        self._delimiter = _checked(file_format) if file_format.delimiter else rows.delimiter()
        self.decimal = rows.decimal(self._delimiter)
        self._blank_lines = start.count("\n", 0, len(start) - len(start.lstrip("\ufeff\r\n")))
        self._header = not file_format.no_header
        self._given_names: list[str] | None = None
        found = self._stream({}, None).schema.names
        self.names = [name.strip() for name in found] if self._header else [f"column{k + 1}" for k in range(len(found))]
        self.repeated = self._unique_names()
        if self.names != found:
            self._given_names = self.names
        self._settled: dict[frozenset[str] | None, dict[str, DataType]] = {}
        self._types = {name: pa.string() for name in self.names if name in set(text)}

    def _unique_names(self) -> dict[str, list[str]]:
        """Give repeated names a number, and return the new names by the old ones."""
        if self._header and looks_like_data(self.names) and len(set(self.names)) < len(self.names):
            raise DataFileError(
                f"The first line of {str(self.path)!r} looks like data, not column names: {shorten(self.names)}. "
                f"Use {self._format.option('no_header')}, which names the columns column1, column2 and so on."
            )
        taken, seen = set(self.names), set()
        repeated: dict[str, list[str]] = {}
        for k, name in enumerate(self.names):
            if name in seen:
                self.names[k] = next(new for n in count(2) if (new := f"{name}.{n}") not in taken)
                repeated.setdefault(name, []).append(self.names[k])
                taken.add(self.names[k])
            seen.add(name)
        return repeated

    def read(self) -> Table:
        """The whole table."""
        from pyarrow import csv

        return self._trimmed(csv.read_csv(self.path, *self._options(self._types, None)))

    def batches(self, columns: Collection[str] | None = None) -> Iterator[tuple[Table, float]]:
        """Tables of some rows each, with the share of the file that has been read."""
        import pyarrow as pa

        types = self.types(columns)
        size = max(1, self.path.stat().st_size)
        with pa.OSFile(str(self.path)) as file:
            for batch in self._stream(types, columns, _decompressed(file, self.path)):
                table = pa.Table.from_batches([batch])
                yield self._trimmed(table), min(1.0, file.tell() / size)

    def types(self, columns: Collection[str] | None = None) -> dict[str, DataType]:
        """The type of each column; reads the whole file."""
        key = None if columns is None else frozenset(columns)
        if key is not None and None in self._settled:
            return {name: kind for name, kind in self._settled[None].items() if name in key}
        if key not in self._settled:
            self._settled[key] = self._settle(columns)
        return self._settled[key]

    def settle(self, types: dict[str, DataType]) -> dict[str, DataType]:
        """The types of the columns if they are at least these, as other files need them."""
        self._settled = {None: self._settle(None, types)}
        return self._settled[None]

    def _settle(self, columns: Collection[str] | None, least: dict[str, DataType] | None = None) -> dict[str, DataType]:
        import pyarrow as pa

        order = _types_in_order()
        types = dict(least or {}) | self._types
        while True:
            try:
                reader = self._stream(types, columns)
                types |= {field.name: field.type for field in reader.schema}
                self.n_rows = sum(batch.num_rows for batch in reader)
                return types
            except pa.ArrowInvalid as error:
                found = _WRONG_TYPE.match(str(error))
                if found is None:
                    raise
                name = self.names[int(found[1])]
                at = order.index(types[name]) if types.get(name) in order else len(order) - 2
                types[name] = order[at + 1]

    def _stream(
        self, types: dict[str, DataType], columns: Collection[str] | None, source: NativeFile | None = None
    ) -> CSVStreamingReader:
        from pyarrow import csv

        read, parse, convert = self._options(types, columns)
        read.block_size = _SMALL_BLOCK
        return csv.open_csv(self.path if source is None else source, read, parse, convert)

    def _options(
        self, types: dict[str, DataType], columns: Collection[str] | None
    ) -> tuple[ReadOptions, ParseOptions, ConvertOptions]:
        from pyarrow import csv

        read = csv.ReadOptions(block_size=_BLOCK, encoding=self._encoding)
        if self._given_names is not None:
            read.column_names = self._given_names
            read.skip_rows_after_names = 1 + self._blank_lines if self._header else 0
        elif not self._header:
            read.autogenerate_column_names = True
        convert = csv.ConvertOptions(
            null_values=[*MISSING, *(f" {word}" for word in MISSING)],
            strings_can_be_null=True,
            decimal_point=self.decimal,
            column_types=types,
            include_columns=None if columns is None else [name for name in self.names if name in set(columns)],
        )
        parse = csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True)
        return read, parse, convert

    def _trimmed(self, table: Table) -> Table:
        """Spaces around strings belong to the format of a CSV file, not to the data."""
        import pyarrow as pa

        for position, field in enumerate(table.schema):
            if pa.types.is_binary(field.type):
                raise DataFileError(f"Column {field.name!r} of {str(self.path)!r} is {self._format.not_utf8}")
            if pa.types.is_string(field.type):
                table = table.set_column(position, field.name, _trimmed_strings(table.column(position)))
        return table


def _types_in_order() -> list[DataType]:
    """Types in the order in which pyarrow tries them."""
    import pyarrow as pa

    times = [pa.timestamp(unit, zone) for unit in ("s", "ns") for zone in (None, "UTC")]
    return [pa.null(), pa.int64(), pa.bool_(), pa.date32(), pa.time32("s"), *times, pa.float64(), pa.string()]


def _decompressed(file: NativeFile, path: Path) -> NativeFile:
    import pyarrow as pa

    codec = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}.get(path.suffix.lower())
    return file if codec is None else pa.CompressedInputStream(file, codec)


def _trimmed_strings(column: ChunkedArray) -> ChunkedArray:
    import pyarrow as pa
    from pyarrow import compute as pc

    trimmed = pc.utf8_trim_whitespace(column)
    is_missing = pc.is_in(trimmed, value_set=pa.array(MISSING))
    return pc.if_else(is_missing, pa.scalar(None, pa.string()), trimmed)


def looks_like_data(names: Sequence[str]) -> bool:
    """Whether the names of columns look like values: a quarter of them are numbers or dates."""
    values = [name for name in names if _is_value(name)]
    return 4 * len(values) >= len(names)


def _is_value(name: str) -> bool:
    if re.fullmatch(r"[-+]?\d+", name):
        return True
    return recognise([name]).reading() is not None if name else False


def _checked(file_format: CsvFormat) -> str:
    delimiter = _NAMED.get(str(file_format.delimiter), str(file_format.delimiter))
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
        option = file_format.option("delimiter")
        raise ParameterError(f"{option} {delimiter!r} is not allowed: use one character, or tab.")
    return delimiter


class _Start:
    """The beginning of a file, from which its delimiter and decimal separator are guessed."""

    def __init__(self, text: str, is_complete: bool) -> None:
        self._text, self._is_complete = text, is_complete

    def delimiter(self) -> str:
        """The delimiter that gives every row the same number of values, and of several the one that gives the most."""

        def merit(delimiter: str) -> tuple[bool, int]:
            widths = [len(row) for row in self._rows(delimiter)]
            width = widths[0] if widths else 1
            return width > 1 and len(set(widths)) == 1, width

        return max(_DELIMITERS, key=merit)

    def decimal(self, delimiter: str) -> str:
        """A comma if it is in numbers and a point is not."""
        if delimiter == ",":
            return "."
        values = [value for row in self._rows(delimiter) for value in row]
        has_point = any(map(_DECIMAL_POINT.fullmatch, values))
        return "," if not has_point and any(map(_DECIMAL_COMMA.fullmatch, values)) else "."

    def _rows(self, delimiter: str) -> list[list[str]]:
        try:
            rows = [row for row in csv_module.reader(io.StringIO(self._text, newline=""), delimiter=delimiter) if row]
        except csv_module.Error:
            return []
        return rows if self._is_complete else rows[:-1]

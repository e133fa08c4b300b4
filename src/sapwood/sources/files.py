"""Data files as one source: found by a path, folder or pattern, checked against each other, read in order."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from sapwood.errors import DataFileError, MissingExtraError
from sapwood.sources.arrow_files import IpcFile, ParquetFile
from sapwood.sources.csv_file import CsvFile
from sapwood.sources.csv_format import CsvFormat
from sapwood.sources.source import Batch, DataSource
from sapwood.table.names import nearest_name, shorten

if TYPE_CHECKING:
    from pyarrow import DataType, Table

CSV = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq")
IPC = (".arrow", ".feather", ".ipc", ".arrows")
COMPRESSED = (".gz", ".bz2", ".zst")
DataFile = CsvFile | ParquetFile | IpcFile
T = TypeVar("T")


class DataFiles(DataSource):
    """Files with the same columns, in the order of their paths.

    A file that changes while it is in use is an error. Columns named in `text` are read from CSV as strings.
    """

    def __init__(self, paths: Sequence[Path], csv: CsvFormat | None = None, text: Collection[str] = ()) -> None:
        self.paths = list(paths)
        self._csv = csv or CsvFormat()
        self._stamps = {path: _stamp(path) for path in self.paths}
        self.files = [self._open(path, text) for path in self.paths]
        self.names = list(self.files[0].names)
        for other in self.files[1:]:
            _check_names(self.files[0], other)
        self.n_bytes: int = sum(size for size, _ in self._stamps.values())
        self.label = str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
        self._is_settled = False

    @property
    def repeated(self) -> dict[str, list[str]]:
        """New names of columns of CSV files by names that several columns have."""
        return dict(self.files[0].repeated)

    @property
    def decimal(self) -> str:
        """Decimal separator of the text of CSV files."""
        return self.files[0].decimal

    def read(self) -> Table:
        """All rows."""
        import pyarrow as pa

        if len(self.files) == 1:
            with readable(self.paths[0], self._csv):
                return with_durations(self.files[0].read())
        return pa.concat_tables([batch.frame for batch in self.batches()], promote_options="permissive")

    @property
    def n_rows(self) -> int | None:
        """Number of rows; of CSV files it is known once they were read."""
        self._settle()
        counts = [file.n_rows for file in self.files]
        return None if None in counts else sum(count or 0 for count in counts)

    def types(self, columns: Collection[str] | None = None) -> dict[str, DataType]:
        """The type of each column of the first file; CSV files are read for it, and all of them have the same."""
        self._settle()
        return self.files[0].types(columns)

    def batches(self, columns: Collection[str] | None = None) -> Iterator[Batch]:
        """Rows of one file after the other."""
        self._settle()
        first, done = 0, 0
        for path, file in zip(self.paths, self.files, strict=True):
            self.check_unchanged(path)
            begin, size = first, self._stamps[path][0]
            for table, share in self._read(file, columns):
                if table.num_rows:
                    total = (done + share * size) / max(1, self.n_bytes)
                    yield Batch(with_durations(table), None, None, str(path), first - begin, first, min(1.0, total))
                    first += table.num_rows
            done += size
            self.check_unchanged(path)
            if file.n_rows is not None and first - begin != file.n_rows:
                raise changed(path)

    def check_unchanged(self, path: Path) -> None:
        """Raise if a file is not what it was when the source was opened."""
        try:
            now = _stamp(path)
        except DataFileError as error:
            raise DataFileError(
                f"The file {str(path)!r} was removed while it was in use. Restore it and start again."
            ) from error
        if now != self._stamps[path]:
            raise changed(path)

    def _open(self, path: Path, text: Collection[str]) -> DataFile:
        suffix = kind_of(path)
        with readable(path, self._csv):
            if suffix in CSV:
                return CsvFile(path, self._csv, text)
            return ParquetFile(path) if suffix in PARQUET else IpcFile(path)

    def _settle(self) -> None:
        """Find, once, the types that the columns of CSV files would have in one file."""
        if self._is_settled:
            return
        files = [file for file in self.files if isinstance(file, CsvFile)]
        types: dict[str, DataType] = {}
        waiting = files
        while waiting:
            for file in waiting:
                with readable(file.path, self._csv):
                    types = file.settle(types)
            waiting = [file for file in files if file.types() != types]
        self._is_settled = True

    def _read(self, file: DataFile, columns: Collection[str] | None) -> Iterator[tuple[Table, float]]:
        """The batches of a file; errors name it."""
        batches = file.batches(columns)
        while True:
            with readable(file.path, self._csv):
                found = next(batches, None)
            if found is None:
                return
            yield found


def changed(path: object) -> DataFileError:
    """The error for a file that has other rows than before."""
    return DataFileError(f"The file {str(path)!r} was changed while it was in use. Start again once it is complete.")


def find_files(given: str | os.PathLike[str]) -> list[Path]:
    """The data files that a path, a folder or a pattern such as part-*.parquet means, in the order of their paths."""
    path = Path(os.fspath(given))
    if path.is_dir():
        return _in_folder(path)
    if path.exists() or not glob.has_magic(str(path)):
        check_exists(path, "CSV, Parquet or Arrow file")
        return [path]
    found = sorted(Path(name) for name in glob.glob(str(path), recursive=True))  # noqa: PTH207 - absolute, too
    found = [path for path in found if path.is_file()]
    if not found:
        raise DataFileError(f"No file matches {str(given)!r}. Check the pattern.")
    return found


def _in_folder(folder: Path) -> list[Path]:
    """The data files of a folder; others, and hidden ones, are left out."""
    found = sorted(path for path in folder.iterdir() if path.is_file() and path.name[0] not in "._" and _is_data(path))
    if not found:
        raise DataFileError(
            f"{str(folder)!r} is a folder without Parquet, CSV or Arrow files. Give a file, or a folder of such files; "
            f"for files in folders below it, a pattern such as {str(folder / '**' / '*.parquet')!r}."
        )
    kinds = {kind_of(path) for path in found}
    if len({_family(kind) for kind in kinds}) > 1:
        raise DataFileError(
            f"The folder {str(folder)!r} holds files of several kinds: {', '.join(sorted(kinds))}. Give a pattern for "
            f"one of them, such as {str(folder / ('*' + min(kinds)))!r}."
        )
    return found


def _family(kind: str) -> int:
    return next(number for number, kinds in enumerate((CSV, PARQUET, IPC)) if kind in kinds)


def _is_data(path: Path) -> bool:
    return _suffix(path) in CSV + PARQUET + IPC


def kind_of(path: Path) -> str:
    """The extension, without that of a compression."""
    suffix = _suffix(path)
    if suffix not in CSV + PARQUET + IPC:
        raise DataFileError(
            f"The file {str(path)!r} has the unknown extension {suffix!r}. "
            f"Use {', '.join(CSV)} (plain or compressed), {', '.join(PARQUET)} or {', '.join(IPC)}."
        )
    return suffix


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in COMPRESSED else suffix


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


@contextmanager
def readable(path: Path, csv: CsvFormat) -> Iterator[None]:
    """Raise errors of reading as ones that name the file and the remedy."""
    try:
        import pyarrow as pa
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "Data files are read by pyarrow, which is not installed. Install it with: pip install pyarrow"
        ) from error
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise DataFileError(f"The file {str(path)!r} cannot be read: {_cause(error, csv)}") from error


def _cause(error: Exception, csv: CsvFormat) -> str:
    if isinstance(error, UnicodeError) or "invalid UTF8" in str(error):
        return f"it is {csv.not_utf8}"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}. Check its permissions."
    return f"{str(error).rstrip('.')}. Check its contents, and for CSV its {csv.option('delimiter')}."


def _stamp(path: Path) -> tuple[int, int]:
    """What changes with the contents of a file."""
    try:
        found = path.stat()
    except OSError as error:
        raise DataFileError(f"The file {str(path)!r} cannot be read: {error.strerror}.") from error
    return found.st_size, found.st_mtime_ns


def _check_names(first: DataFile, other: DataFile) -> None:
    missing = [name for name in first.names if name not in other.names]
    more = [name for name in other.names if name not in first.names]
    if missing or more:
        what = f"lacks {shorten(missing)}" if missing else f"also has {shorten(more)}"
        raise DataFileError(
            f"The file {str(other.path)!r} has other columns than {first.path.name!r}: it {what}. Give files with the "
            "same columns."
        )


def with_durations(table: Table) -> Table:
    """The table with times of day as durations since midnight."""
    import pyarrow as pa

    for position, field in enumerate(table.schema):
        if pa.types.is_time(field.type):
            whole = "int32" if pa.types.is_time32(field.type) else "int64"
            durations = table.column(position).cast(whole).cast("int64").cast(pa.duration(field.type.unit))
            table = table.set_column(position, field.name, durations)
    return table

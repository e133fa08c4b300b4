"""Parquet files, or a folder of them, read whole or batch by batch."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from sapwood.errors import DataFileError
from sapwood.table.names import repeated_names, shorten

PARQUET = (".parquet", ".pq")
_BATCH = 1 << 17  # rows


class ParquetFile:
    """One file, or those of a folder in the order of their names."""

    decimal = "."
    first_line_is_data = False

    def __init__(self, path: Path) -> None:
        import pyarrow.parquet as pq

        self.path = path
        self.repeated: dict[str, list[str]] = {}
        self._paths = parquet_files(path) if path.is_dir() else [path]
        self._schema = pq.read_schema(self._paths[0])
        self.names: list[str] = self._schema.names
        repeated = repeated_names(self.names)
        if repeated:
            raise DataFileError(
                f"The file {str(path)!r} has more than one column of the name {shorten(repeated)}. Rename them."
            )
        for other in self._paths[1:]:
            if not pq.read_schema(other).equals(self._schema):
                raise DataFileError(
                    f"The file {str(other)!r} has other columns or types than {self._paths[0].name!r}. Make them the "
                    "same, or give one file."
                )

    def read(self) -> Any:
        """The whole table."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        return pa.concat_tables(pq.ParquetFile(path).read() for path in self._paths)

    def batches(self, columns: Collection[str] | None = None) -> Iterator[tuple[Any, float]]:
        """Some of the columns, some rows at a time, each with the share of the rows that has been read."""
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

    def types(self, columns: Collection[str] | None = None) -> dict[str, Any]:
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

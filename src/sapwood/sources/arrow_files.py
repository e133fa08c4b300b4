"""Parquet files and Arrow IPC (Feather) files, read batch by batch."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sapwood.errors import DataFileError
from sapwood.sources.source import batch_rows
from sapwood.table.names import repeated_names, shorten

if TYPE_CHECKING:
    from pyarrow import DataType, RecordBatch, Schema, Table

BUFFER = 1 << 20  # bytes of a column that are read at a time


class ArrowFile:
    """What both kinds of files offer; `repeated` and `decimal` are those of a CSV file."""

    decimal = "."

    def __init__(self, path: Path, schema: Schema, n_rows: int | None) -> None:
        self.path, self._schema, self.n_rows = path, schema, n_rows
        self.names: list[str] = schema.names
        self.repeated: Mapping[str, list[str]] = {}
        repeated = repeated_names(self.names)
        if repeated:
            raise DataFileError(f"The file {str(path)!r} has several columns named {shorten(repeated)}. Rename them.")

    def types(self, columns: Collection[str] | None = None) -> dict[str, DataType]:
        """The type of each column."""
        return {field.name: field.type for field in self._schema if columns is None or field.name in set(columns)}

    def batches(self, columns: Collection[str] | None = None) -> Iterator[tuple[Table, float]]:
        """Tables of some rows each, with the share of the file that has been read."""
        import pyarrow as pa

        wanted = None if columns is None else [name for name in self.names if name in set(columns)]
        done = 0
        for batch in self._record_batches(wanted):
            done += batch.num_rows
            yield pa.Table.from_batches([batch]), done / max(1, self.n_rows or done)

    def read(self) -> Table:
        """The whole table."""
        import pyarrow as pa

        return pa.concat_tables([self._schema.empty_table(), *(table for table, _ in self.batches())])

    def _record_batches(self, wanted: list[str] | None) -> Iterator[RecordBatch]:
        raise NotImplementedError


class ParquetFile(ArrowFile):
    """One Parquet file, of which a few row groups are in memory at a time."""

    def __init__(self, path: Path) -> None:
        import pyarrow.parquet as pq

        with pq.ParquetFile(path) as file:
            super().__init__(path, file.schema_arrow, file.metadata.num_rows)

    def _record_batches(self, wanted: list[str] | None) -> Iterator[RecordBatch]:
        import pyarrow.parquet as pq

        with pq.ParquetFile(self.path, pre_buffer=False, buffer_size=BUFFER) as file:  # else the file stays in memory
            rows = batch_rows(len(self.names if wanted is None else wanted))
            yield from file.iter_batches(rows, columns=wanted)


class IpcFile(ArrowFile):
    """One file of Arrow's IPC format: with an index (Feather), or a stream."""

    def __init__(self, path: Path) -> None:
        import pyarrow as pa

        try:
            with pa.memory_map(str(path)) as file:
                reader = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=[0]))
                n_rows = sum(reader.get_batch(k).num_rows for k in range(reader.num_record_batches))
                super().__init__(path, pa.ipc.open_file(file).schema, n_rows)
                self._is_stream = False
        except pa.ArrowInvalid:
            with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as stream:
                super().__init__(path, stream.schema, None)
                self._is_stream = True

    def _record_batches(self, wanted: list[str] | None) -> Iterator[RecordBatch]:
        for batch in self._whole_batches(wanted):
            rows = batch_rows(batch.num_columns)
            for start in range(0, batch.num_rows, rows):
                yield batch.slice(start, rows)

    def _whole_batches(self, wanted: list[str] | None) -> Iterator[RecordBatch]:
        import pyarrow as pa

        if self._is_stream:
            with pa.OSFile(str(self.path)) as file, pa.ipc.open_stream(file) as stream:
                yield from (batch if wanted is None else batch.select(wanted) for batch in stream)
            return
        places = None if wanted is None else [self.names.index(name) for name in wanted]
        options = pa.ipc.IpcReadOptions(included_fields=places)
        with pa.memory_map(str(self.path)) as file:
            reader = pa.ipc.open_file(file, options=options)
            for k in range(reader.num_record_batches):
                yield reader.get_batch(k)

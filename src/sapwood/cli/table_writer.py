"""Tables written batch by batch, to a file that is complete or untouched, or to the standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sapwood.cli.output import whole_output
from sapwood.cli.parquet_file import PARQUET

STANDARD = Path("-")
Write = Callable[[Any], None]


def is_standard(path: Path) -> bool:
    """Whether the path stands for the standard output."""
    return str(path) in ("-", "/dev/stdout")


@contextmanager
def table_writer(path: Path) -> Iterator[Write]:
    """A function that writes one table after the other, all of the same columns."""
    if is_standard(path):
        with _writing(sys.stdout.buffer, ".csv") as write:
            yield write
        sys.stdout.buffer.flush()
        return
    with whole_output(path) as temporary, _writing(temporary, path.suffix.lower()) as write:
        yield write


@contextmanager
def _writing(sink: Any, suffix: str) -> Iterator[Write]:
    """The columns are those of the first table."""
    writers: list[Any] = []

    def write(table: Any) -> None:
        if not writers:
            writers.append(_writer(sink, suffix, table.schema))
        writers[0].write_table(table)

    try:
        yield write
    finally:
        for writer in writers:
            writer.close()


def _writer(sink: Any, suffix: str, schema: Any) -> Any:
    if suffix in PARQUET:
        import pyarrow.parquet as pq

        return pq.ParquetWriter(sink, schema)
    from pyarrow import csv

    return csv.CSVWriter(sink, schema, write_options=csv.WriteOptions(delimiter="\t" if suffix == ".tsv" else ","))

"""Tables in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sapwood.cli.data_file import open_data
from sapwood.cli.output_file import table_writer


def read_table(path: Path, **options: Any) -> Any:
    """The table in a data file."""
    return open_data(path, **options).read()


def write_table(path: Path, table: Any) -> None:
    """Write a table as commands write it."""
    with table_writer(path) as write:
        write(table)

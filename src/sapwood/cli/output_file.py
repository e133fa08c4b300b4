"""Output files, written atomically: tables and pictures."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from sapwood.atomic_file import complete_or_untouched
from sapwood.errors import DataFileError
from sapwood.plot.style import pyplot
from sapwood.sources.files import IPC, PARQUET

if TYPE_CHECKING:
    from pyarrow import Schema, Table

    from sapwood.estimators.boosting_cv import BoostingCV
    from sapwood.estimators.estimator import Estimator

TABLES = (".csv", ".tsv", *PARQUET, *IPC)
_PICTURES = (".png", ".svg", ".pdf")
_MOST_LEAVES = 150
_LEVELS_OF_LARGE = 5
_DOTS_PER_INCH = 120

Write = Callable[["Table"], None]


def check_output(path: Path, extensions: Collection[str] | None, inputs: Collection[Path] = ()) -> None:
    """Raise, before any work is done, if the file cannot be written or is one of the inputs.

    Extensions of None allow any.
    """
    if extensions is not None and path.suffix.lower() not in extensions:
        raise DataFileError(
            f"The output {str(path)!r} has the unknown extension {path.suffix!r}. Use {', '.join(extensions)}."
        )
    if not path.parent.is_dir():
        raise DataFileError(f"There is no folder {str(path.parent)!r} for the output {path.name!r}. Create it first.")
    if not os.access(path.parent, os.W_OK):
        raise DataFileError(f"The folder {str(path.parent)!r} of the output is not writable. Choose another one.")
    if path.exists() and not path.is_file():
        raise DataFileError(f"The output {str(path)!r} is not a regular file. Choose another name.")
    if path.exists() and any(file.exists() and path.samefile(file) for file in inputs):
        raise DataFileError(f"The output {str(path)!r} is one of the input files. Choose another name.")


@contextmanager
def whole_output(path: Path) -> Iterator[Path]:
    """A temporary path, renamed to the output once it is written; errors name the output."""
    try:
        with complete_or_untouched(path) as temporary:
            yield temporary
    except OSError as error:
        raise DataFileError(f"The output {str(path)!r} cannot be written: {error.strerror or error}.") from error


def is_standard(path: Path) -> bool:
    """Whether the path means standard output."""
    return str(path) in ("-", "/dev/stdout")


@contextmanager
def table_writer(path: Path) -> Iterator[Write]:
    """A function that writes one table after another, all with the same columns, to a file or standard output."""
    if is_standard(path):
        with _writing(sys.stdout.buffer, ".csv") as write:
            yield write
        sys.stdout.buffer.flush()
        return
    with whole_output(path) as temporary, _writing(temporary, path.suffix.lower()) as write:
        yield write


@contextmanager
def _writing(sink: Path | BinaryIO, suffix: str) -> Iterator[Write]:
    """The columns are those of the first table."""
    writers: list[Any] = []

    def write(table: Table) -> None:
        if not writers:
            writers.append(_writer(sink, suffix, table.schema))
        writers[0].write_table(table)

    try:
        yield write
    finally:
        for writer in writers:
            writer.close()


def _writer(sink: Path | BinaryIO, suffix: str, schema: Schema) -> Any:
    if suffix in PARQUET:
        import pyarrow.parquet as pq

        return pq.ParquetWriter(sink, schema)
    if suffix in IPC:
        import pyarrow as pa

        file = str(sink) if isinstance(sink, Path) else sink
        return pa.ipc.new_stream(file, schema) if suffix == ".arrows" else pa.ipc.new_file(file, schema)
    from pyarrow import csv

    return csv.CSVWriter(sink, schema, write_options=csv.WriteOptions(delimiter="\t" if suffix == ".tsv" else ","))


def check_picture(path: Path) -> None:
    """Raise, before any work is done, if the picture cannot be drawn or written."""
    check_output(path, _PICTURES)
    pyplot()


def write_picture(estimator: Estimator, path: Path, feature_names: Sequence[str] | None = None) -> str:
    """Draw the tree, or the upper levels of a large one, and describe what was written."""
    from sapwood.plot import plot_tree

    depth = _LEVELS_OF_LARGE if estimator.get_n_leaves() > _MOST_LEAVES else None
    _save(path, lambda: plot_tree(estimator, max_depth=depth, feature_names=feature_names))
    return f"Picture of the {'tree' if depth is None else f'upper {depth} levels of the tree'}: {path}"


def write_curve(result: BoostingCV, path: Path) -> str:
    """Draw the curve of a cross-validation, and describe what was written."""
    _save(path, result.plot)
    return f"Picture of the curve: {path}"


def _save(path: Path, draw: Callable[[], object]) -> None:
    import matplotlib as mpl

    mpl.use("Agg")  # needs no display
    plt = pyplot()
    try:
        draw()
        with whole_output(path) as temporary:
            plt.gcf().savefig(temporary, dpi=_DOTS_PER_INCH)
    finally:
        plt.close("all")

"""`sapwood encode`: code the rows of data files for training, into a file that is read block by block."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sapwood.cli.console import print_line, share_bar
from sapwood.cli.options import DETECTED, DropOption, FileFormat, Task
from sapwood.counted import counted
from sapwood.errors import DataFileError, ParameterError
from sapwood.sources.source import Batch, DataSource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyarrow import Table

    from sapwood.codes.code_file import CodeFile
    from sapwood.sources.files import DataFiles
    from sapwood.sources.survey import Survey
    from sapwood.sources.target_facts import Task as TargetTask
    from sapwood.table.reading import Reading

_TASKS: dict[Task, TargetTask] = {Task.AUTO: "auto", Task.CLASSIFICATION: "classes", Task.REGRESSION: "numbers"}
READINGS = "readings"  # note in the file, as in model files: how text was read as numbers and dates


@dataclass(frozen=True, kw_only=True)
class EncodeOptions:
    """The roles of the columns, and how rows are coded."""

    target: Annotated[str | None, typer.Option("--target", help="Column to predict.")] = None
    task: Annotated[Task, typer.Option("--task", help="Task; auto chooses it by the target's values.")] = Task.AUTO
    weight: Annotated[str | None, typer.Option("--weight", metavar="COLUMN", help="Column of row weights.")] = None
    query: Annotated[str | None, typer.Option("--query", metavar="COLUMN", help="Column of queries, for rankings.")] = (
        None
    )
    drop: DropOption = field(default_factory=list)
    category: Annotated[
        list[str],
        typer.Option("--category", metavar="COLUMN", help="Numeric column to treat as categorical. Repeatable."),
    ] = field(default_factory=list)
    drop_missing_target: Annotated[
        bool, typer.Option("--drop-missing-target", help="Ignore rows whose target is missing.")
    ] = False
    max_bins: Annotated[int, typer.Option("--max-bins", min=2, max=255, help="Bins of a column of numbers.")] = 255
    block_rows: Annotated[
        int | None, typer.Option("--block-rows", min=1, help="Rows of a block. [default: about a million]")
    ] = None
    file_format: FileFormat = DETECTED

    def __post_init__(self) -> None:
        roles = [name for name in (self.target, self.weight, self.query) if name is not None]
        given = [*roles, *self.drop, *self.category]
        twice = next((name for name in roles if given.count(name) > 1), None)
        if twice is not None:
            raise ParameterError(f"Column {twice!r} is given to several options. Give it to one of them.")
        if self.drop_missing_target and self.target is None:
            raise ParameterError("--drop-missing-target needs --target.")


def encode(
    data: Annotated[
        Path,
        typer.Argument(
            help="CSV, Parquet or Arrow file, a folder of them, or a pattern in quotes such as 'part-*.parquet'.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Code file to write.")],
    options: EncodeOptions,
) -> None:
    """Code data files for training.

    Reads the rows twice, in batches, so they may be larger than memory, and writes their codes to a file of blocks,
    which can be trained on as often as needed.
    """
    from sapwood.cli.data_file import open_data
    from sapwood.cli.output_file import check_output
    from sapwood.sources.encode import encode as write
    from sapwood.threads import available_cores

    files = open_data(data, options.file_format)
    check_output(out, None, inputs=files.paths)
    source = open_text(files, options, data)
    n_jobs = available_cores()
    shown = ShownSource(source)
    with share_bar("reading") as shown.show:
        found = read_survey(shown, options, n_jobs)
    print_survey(found, options)
    with share_bar("coding") as shown.show:
        notes = {READINGS: {name: [own.kind, own.form] for name, own in source.readings.items()}}
        made = write(found, out, max_bins=options.max_bins, block_rows=options.block_rows, n_jobs=n_jobs, notes=notes)
    print_line(describe_size(made))


def describe_size(file: CodeFile) -> str:
    """Rows, blocks and bytes."""
    from rich.filesize import decimal

    rows = counted(file.n_rows, "row")
    return f"Code file: {file.path} ({rows} in {counted(file.n_blocks, 'block')}, {decimal(file.n_bytes)})"


def open_text(files: DataFiles, options: EncodeOptions, path: Path) -> ReadText:
    """The files, with text read as numbers and dates as `sapwood train` reads it."""
    from sapwood.cli.column_types import readings_of_batches, shortened
    from sapwood.cli.data_file import named_columns, repeated_notes, require_columns

    drop = named_columns(options.drop, files.names)
    for name, own in [("target", options.target), ("weight", options.weight), ("query", options.query)]:
        require_columns(files.names, [] if own is None else [own], f"--{name}", path)
    require_columns(files.names, drop, "--drop", path)
    require_columns(files.names, options.category, "--category", path)
    as_text = {*drop, *options.category, options.query}
    if options.task is Task.CLASSIFICATION:
        as_text.add(options.target)
    names = [name for name in files.names if name not in as_text]
    readings, notes = readings_of_batches(files, names, options.file_format)
    for note in [*repeated_notes(files.repeated, path), *shortened(notes)]:
        print_line(note)
    return ReadText(files, readings, options.target if options.drop_missing_target else None)


def read_survey(source: DataSource, options: EncodeOptions, n_jobs: int) -> Survey:
    """The first pass."""
    from sapwood.cli.data_file import named_columns
    from sapwood.sources.rows import Roles
    from sapwood.sources.survey import survey

    drop = named_columns(options.drop, source.names)
    roles = Roles(target=options.target, weight=options.weight, query=options.query, drop=drop)
    categorical = [name for name in roles.features(source.names) if name in options.category]
    return survey(
        source,
        roles,
        task=_TASKS[options.task],
        categorical_features=categorical or None,
        n_jobs=n_jobs,
    )


def print_survey(found: Survey, options: EncodeOptions) -> None:
    """Print what the columns and the target are."""
    kinds = [column.kind for column in found.schema.columns]
    counts = [counted(kinds.count(kind), kind) for kind in dict.fromkeys(kinds)]
    print_line(f"{counted(len(kinds), 'column')}: {', '.join(counts)}.")
    if found.target is None:
        return
    if found.target.classes is None:
        print_line(f"Target: {options.target}, numbers from {found.target.low:.6g} to {found.target.high:.6g}.")
    else:
        print_line(f"Target: {options.target}, {counted(len(found.target.classes), 'class')}.")


class ReadText(DataSource):
    """Data files whose text is read as numbers and dates; rows without the target `required` are left out."""

    def __init__(self, files: DataFiles, readings: Mapping[str, Reading], required: str | None) -> None:
        self._files, self.readings, self._required = files, readings, required
        self.names, self.label, self.n_bytes = files.names, files.label, files.n_bytes

    @property
    def n_rows(self) -> int | None:
        """Number of rows."""
        return None if self._required is not None else self._files.n_rows

    def batches(self, columns: Collection[str] | None = None) -> Iterator[Batch]:
        """The rows of the files."""
        from sapwood.cli.column_types import convert

        needed = columns if columns is None or self._required is None else {*columns, self._required}
        n_left = 0
        for batch in self._files.batches(needed):
            frame = self._with_target(batch.frame)
            n_left += batch.n_rows - frame.num_rows
            if frame.num_rows:
                names = [name for name in frame.column_names if columns is None or name in columns]
                frame = convert(frame.select(names), self.readings, Path(batch.name))
                yield batch._replace(frame=frame, first=batch.first - n_left)
        if self._required is not None and n_left == (self._files.n_rows or 0):
            raise DataFileError(
                f"The target {self._required!r} is missing in every row of {self.label!r}. Choose another column."
            )

    def _with_target(self, table: Table) -> Table:
        if self._required is None:
            return table
        from pyarrow import compute as pc

        return table.filter(pc.invert(pc.is_null(table.column(self._required), nan_is_null=True)))


class ShownSource(DataSource):
    """A source that shows how much of it has been read."""

    show: Callable[[float], None]

    def __init__(self, source: DataSource) -> None:
        self._source = source
        self.names, self.label, self.n_bytes = source.names, source.label, source.n_bytes

    @property
    def n_rows(self) -> int | None:
        """Number of rows."""
        return self._source.n_rows

    def batches(self, columns: Collection[str] | None = None) -> Iterator[Batch]:
        """The rows."""
        for batch in self._source.batches(columns):
            yield batch
            self.show(batch.share)

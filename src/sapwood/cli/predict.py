"""`sapwood predict`: predictions of a model, from a file or trained now, for the rows of a data file."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sapwood.cli.console import on_stderr, print_line, share_bar
from sapwood.cli.options import FileFormat, FileOrKindOption, KeepOption, Task, TrainFile, TrainingOptions, chosen_file
from sapwood.counted import counted
from sapwood.errors import ParameterError

if TYPE_CHECKING:
    from pyarrow import Table

    from sapwood.arrays import Array
    from sapwood.cli.data_file import Batches
    from sapwood.cli.dataset import Dataset
    from sapwood.estimators.estimator import Estimator

_OF_TRAINING = ("target", "task", "settings", "seed", "weight", "category", "drop_missing_target")


def predict(
    *,
    context: typer.Context,
    new: Annotated[
        Path,
        typer.Option(
            "--input",
            help="CSV, Parquet or Arrow file with the rows to predict, a folder of such files, a pattern in quotes, "
            "or - for standard input.",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", help="CSV, Parquet or Arrow file to write, or - for CSV on standard output.")
    ],
    model: FileOrKindOption = "tree",
    train: TrainFile = None,
    target: Annotated[str, typer.Option("--target", show_default=False, help="Column to predict, with --train.")] = "",
    options: TrainingOptions,
    proba: Annotated[
        bool | None,
        typer.Option("--proba/--no-proba", help="Write a probability for every class. [default: if there are classes]"),
    ] = None,
    keep: KeepOption = None,
) -> None:
    """Predict the rows of a data file.

    The model is read from a file with --model, or trained with --train and --target.
    """
    from sapwood.cli.data_file import regular_file
    from sapwood.cli.output_file import is_standard

    file = chosen_file(context, model, train, _OF_TRAINING)
    if train is not None and not target:
        raise typer.BadParameter("--train needs --target, the column to predict.")
    with on_stderr(is_standard(out)), regular_file(new) as path:
        job = _Job(path, out, options.file_format, proba, tuple(keep or ()))
        if file is not None:
            _by_file(file, job, options.drop)
        elif train is not None:
            _by_training(train, options, job)


@dataclass(frozen=True)
class _Job:
    """What to predict, and what to write."""

    new: Path
    out: Path
    file_format: FileFormat
    proba: bool | None
    keep: tuple[str, ...]

    def check(self, source: Path) -> None:
        """Raise, before any work is done, if the predictions cannot be written."""
        from sapwood.cli.output_file import TABLES, check_output, is_standard

        if not is_standard(self.out):
            check_output(self.out, TABLES, inputs=(source, self.new))

    def open(self, known: Dataset) -> Batches:
        """The rows to predict, read as those of training."""
        from sapwood.cli.data_file import Batches
        from sapwood.cli.output_file import TABLES, check_output, is_standard

        if self.proba and known.task is Task.REGRESSION:
            raise ParameterError("--proba needs classes, but the task is regression. Leave out --proba.")
        batches = Batches(self.new, self.file_format, known, self.keep)
        if not is_standard(self.out):
            check_output(self.out, TABLES, inputs=batches.paths)
        return batches

    def write(self, estimator: Estimator, batches: Batches, columns: Collection[str]) -> None:
        """Predict and write batch by batch."""
        from sapwood.cli.output_file import table_writer

        proba = estimator.model_.is_classifier and self.proba is not False
        n_rows = 0
        with table_writer(self.out) as write, share_bar("predicting") as show:
            for rows, kept, share in batches.read(columns):
                write(beside(kept, _predictions(estimator, rows, proba)))
                n_rows += rows.num_rows
                show(share)
        print_line(f"Predictions of {counted(n_rows, 'row')}: {self.out}")


def _by_training(train: Path, options: TrainingOptions, job: _Job) -> None:
    from sapwood.cli.data_file import require_columns
    from sapwood.cli.dataset import read_dataset
    from sapwood.cli.report import show_task
    from sapwood.cli.train import fit

    job.check(train)
    dataset = read_dataset(train, options)
    batches = job.open(dataset)
    require_columns(batches.names, dataset.X.column_names, "The training column", job.new)
    show_task(dataset)
    estimator, _ = fit(options, dataset)
    job.write(estimator, batches, dataset.X.column_names)


def _by_file(file: Path, job: _Job, drop: Collection[str]) -> None:
    from sapwood.cli.model_file import read_model
    from sapwood.cli.report import model_summary

    job.check(file)
    saved = read_model(file)
    batches = job.open(saved.empty_dataset())
    columns = saved.columns_of(batches.names, job.new, drop)
    print_line(f"Model: {model_summary(saved.estimator)}.")
    job.write(saved.estimator, batches, columns)


def _predictions(estimator: Estimator, rows: Table, proba: bool) -> dict[str, Array]:
    """Columns to write."""
    columns = {"prediction": estimator.predict(rows)}
    if proba:
        columns |= probability_columns(estimator.predict_proba(rows), estimator.model_.classes[0])
    return columns


def probability_columns(probabilities: Array, classes: Array) -> dict[str, Array]:
    """A column for each class."""
    return {f"probability_{label}": probabilities[:, k] for k, label in enumerate(classes)}


def beside(kept: Table, predicted: dict[str, Array]) -> Table:
    """Columns copied from the input, followed by those of predictions."""
    from sapwood.cli.data_file import arrow

    clash = set(kept.column_names) & set(predicted)
    if clash:
        raise ParameterError(f"--keep {min(clash)!r} has the name of a column of predictions. Rename it in the input.")
    for name, values in predicted.items():
        kept = kept.append_column(name, arrow().array(values)) if kept.num_columns else arrow().table({name: values})
    return kept

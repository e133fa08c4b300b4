"""`sapwood predict`: write predictions of a model, from a file or trained now, for the rows of a data file."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sapwood.cli.console import on_stderr, say, say_sample, share_bar
from sapwood.cli.options import (
    CategoryOption,
    DayFirstOption,
    DelimiterOption,
    DropMissingOption,
    DropOption,
    EncodingOption,
    NoHeaderOption,
    SeedOption,
    SetOption,
    SourceOption,
    TaskOption,
    TracebackOption,
    TrainFile,
    WeightOption,
)
from sapwood.cli.task import Task
from sapwood.counted import counted
from sapwood.errors import ParameterError

if TYPE_CHECKING:
    from sapwood.cli.layout import Layout
    from sapwood.cli.recipe import Recipe
    from sapwood.cli.rows_to_predict import Rows
    from sapwood.cli.sample import Sample

_OF_TRAINING = ("target", "task", "settings", "seed", "weight", "category", "drop_missing_target")


def predict(
    context: typer.Context,
    new: Annotated[
        Path,
        typer.Option(
            "--input",
            help="CSV or Parquet file with the rows to predict, a folder of Parquet files, or - (standard input).",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", help="CSV or Parquet file to write, or - for CSV on the standard output.")
    ],
    model: SourceOption = None,
    train: TrainFile = None,
    target: Annotated[str | None, typer.Option("--target", help="Column to predict, with --train.")] = None,
    task: TaskOption = Task.AUTO,
    settings: SetOption = None,
    seed: SeedOption = 0,
    weight: WeightOption = None,
    drop: DropOption = None,
    category: CategoryOption = None,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    no_header: NoHeaderOption = False,
    day_first: DayFirstOption = None,
    drop_missing_target: DropMissingOption = False,
    proba: Annotated[
        bool | None,
        typer.Option("--proba/--no-proba", help="Write a probability for every class. [default: if there are classes]"),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="COLUMN", help="Column of the input to copy to the output. Repeatable."),
    ] = None,
    _traceback: TracebackOption = False,
) -> None:
    """Write the predictions of a model for a data file: a model from a file, or one trained on another data file."""
    from sapwood.cli.layout import layout_from
    from sapwood.cli.recipe import recipe_from
    from sapwood.cli.rows_to_predict import plain_input
    from sapwood.cli.source import chosen_file
    from sapwood.cli.table_writer import is_standard

    file = chosen_file(context, model, train, _OF_TRAINING)
    layout = layout_from({"delimiter": delimiter, "encoding": encoding, "no_header": no_header, "day_first": day_first})
    if file is not None:
        with on_stderr(is_standard(out)), plain_input(new) as path:
            _by_file(file, _Wanted(path, out, layout, proba, tuple(keep or ())), tuple(drop or ()))
        return
    if train is None or target is None:
        raise typer.BadParameter("--train needs --target, the column to predict.")
    recipe = recipe_from(
        target=target,
        model=model or "tree",
        task=task,
        settings=settings,
        seed=seed,
        weight=weight,
        drop=drop,
        category=category,
        delimiter=delimiter,
        encoding=encoding,
        no_header=no_header,
        day_first=day_first,
        drop_missing_target=drop_missing_target,
    )
    with on_stderr(is_standard(out)), plain_input(new) as path:
        _by_training(train, recipe, _Wanted(path, out, layout, proba, tuple(keep or ())))


@dataclass(frozen=True)
class _Wanted:
    """What to predict, and what to write of it."""

    new: Path
    out: Path
    layout: Layout
    proba: bool | None
    keep: tuple[str, ...]

    def check(self, source: Path) -> None:
        """Raise before any work is done if the predictions could not be written in the end."""
        from sapwood.cli.output import check_output
        from sapwood.cli.parquet_file import PARQUET
        from sapwood.cli.table_writer import is_standard

        if not is_standard(self.out):
            check_output(self.out, (".csv", ".tsv", *PARQUET), inputs=(source, self.new))

    def open(self, known: Sample) -> Rows:
        """The rows to predict, read like those of training."""
        from sapwood.cli.rows_to_predict import Rows

        if self.proba and known.task is Task.REGRESSION:
            raise ParameterError("--proba needs classes, but the task is regression. Leave out --proba.")
        return Rows(self.new, self.layout, known, self.keep)

    def write(self, estimator: Any, rows: Rows, columns: Collection[str]) -> None:
        """Predict and write, some rows at a time."""
        from sapwood.cli.table_writer import table_writer

        proba = hasattr(estimator, "classes_") and self.proba is not False
        n_rows = 0
        with table_writer(self.out) as write, share_bar("predicting") as show:
            for part, kept, share in rows.parts(columns):
                write(beside(kept, _predictions(estimator, part, proba)))
                n_rows += part.num_rows
                show(share)
        say(f"Predictions of {counted(n_rows, 'row')}: {self.out}")


def _by_training(train: Path, recipe: Recipe, wanted: _Wanted) -> None:
    from sapwood.cli.data import require_columns
    from sapwood.cli.sample import read_sample
    from sapwood.cli.train import fit

    wanted.check(train)
    sample = read_sample(train, recipe)
    rows = wanted.open(sample)
    require_columns(rows.names, sample.X.column_names, "The training column", wanted.new)
    say_sample(sample)
    estimator, _ = fit(recipe, sample)
    wanted.write(estimator, rows, sample.X.column_names)


def _by_file(file: Path, wanted: _Wanted, drop: tuple[str, ...]) -> None:
    from sapwood.cli.data import named_columns, require_columns
    from sapwood.cli.report import model_facts
    from sapwood.cli.saved_model import known_sample, read_model, require_model_columns

    wanted.check(file)
    model = read_model(file)
    rows = wanted.open(known_sample(model))
    drop = named_columns(drop, rows.names)
    require_columns(rows.names, drop, "--drop", wanted.new)
    left = [name for name in rows.names if name not in drop]
    require_model_columns(left, model.estimator, wanted.new)
    say(f"Model: {model_facts(model.estimator)}.")
    schema = model.estimator.schema_
    wanted.write(model.estimator, rows, schema.names if schema.named else left)


def _predictions(estimator: Any, rows: Any, proba: bool) -> dict[str, Any]:
    """Columns to write."""
    columns = {"prediction": estimator.predict(rows)}
    if proba:
        shares = estimator.predict_proba(rows)
        columns |= {f"probability_{label}": shares[:, k] for k, label in enumerate(estimator.classes_)}
    return columns


def beside(kept: Any, predicted: dict[str, Any]) -> Any:
    """Columns kept from the input, and after them those of predictions."""
    from sapwood.cli.data import arrow

    clash = set(kept.column_names) & set(predicted)
    if clash:
        raise ParameterError(f"--keep {min(clash)!r} has the name of a column of predictions. Rename it in the input.")
    for name, values in predicted.items():
        kept = kept.append_column(name, arrow().array(values)) if kept.num_columns else arrow().table({name: values})
    return kept

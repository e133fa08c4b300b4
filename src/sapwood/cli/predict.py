"""`sapwood predict`: write predictions of a model, from a file or trained now, for the rows of a data file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sapwood.cli.console import say
from sapwood.cli.options import (
    CategoryOption,
    DelimiterOption,
    DropMissingOption,
    DropOption,
    SeedOption,
    SetOption,
    SourceOption,
    TaskOption,
    TracebackOption,
    TrainFile,
    WeightOption,
)
from sapwood.cli.task import Task
from sapwood.errors import ParameterError

if TYPE_CHECKING:
    from sapwood.cli.recipe import Recipe
    from sapwood.cli.sample import Sample

_OF_TRAINING = ("target", "task", "settings", "seed", "weight", "category", "drop_missing_target")


def predict(
    context: typer.Context,
    new: Annotated[Path, typer.Option("--input", help="CSV or Parquet file with the rows to predict.")],
    out: Annotated[Path, typer.Option("--out", help="CSV or Parquet file to write.")],
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
    from sapwood.cli.recipe import recipe_from
    from sapwood.cli.source import chosen_file

    wanted = _Wanted(new, out, delimiter, proba, tuple(dict.fromkeys(keep or ())))
    file = chosen_file(context, model, train, _OF_TRAINING)
    if file is not None:
        _by_file(file, wanted, tuple(drop or ()))
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
        drop_missing_target=drop_missing_target,
    )
    _by_training(train, recipe, wanted)


@dataclass(frozen=True)
class _Wanted:
    """What to predict, and what to write of it."""

    new: Path
    out: Path
    delimiter: str | None
    proba: bool | None
    keep: tuple[str, ...]

    def check(self, source: Path) -> None:
        """Raise before any work is done if the predictions could not be written in the end."""
        from sapwood.cli import data
        from sapwood.cli.output import check_output

        check_output(self.out, (".csv", ".tsv", *data.PARQUET), inputs=(source, self.new))

    def read(self, known: Sample) -> Any:
        """The rows to predict, read like those of training."""
        from sapwood.cli import data

        if self.proba and known.task is Task.REGRESSION:
            raise ParameterError("--proba needs classes, but the task is regression. Leave out --proba.")
        rows = data.read_table(self.new, self.delimiter, text=known.text_columns)
        data.require_columns(rows, self.keep, "--keep", self.new)
        return rows

    def write(self, estimator: Any, rows: Any, kept: Any) -> None:
        """Predict and write."""
        from sapwood.cli.data import write_table

        predicted = _predictions(estimator, rows, hasattr(estimator, "classes_") and self.proba is not False)
        write_table(self.out, beside(kept, predicted))
        say(f"Predictions of {rows.num_rows} rows: {self.out}")


def _by_training(train: Path, recipe: Recipe, wanted: _Wanted) -> None:
    from sapwood.cli.data import require_columns
    from sapwood.cli.sample import read_sample
    from sapwood.cli.train import fit

    wanted.check(train)
    sample = read_sample(train, recipe)
    rows = wanted.read(sample)
    require_columns(rows, sample.X.column_names, "The training column", wanted.new)
    say(f"Task: {sample.task}, because {sample.choice.why}.")
    estimator, _ = fit(recipe, sample)
    wanted.write(estimator, rows, rows.select(wanted.keep))


def _by_file(file: Path, wanted: _Wanted, drop: tuple[str, ...]) -> None:
    from sapwood.cli.data import require_columns
    from sapwood.cli.report import model_facts
    from sapwood.cli.saved_model import known_sample, read_model, require_model_columns

    wanted.check(file)
    estimator = read_model(file)
    rows = wanted.read(known_sample(estimator))
    require_columns(rows, drop, "--drop", wanted.new)
    left = rows.drop_columns(list(drop))
    require_model_columns(left, estimator, wanted.new)
    say(f"Model: {model_facts(estimator)}.")
    wanted.write(estimator, left, rows.select(wanted.keep))


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

"""`sapwood predict`: fit a model to one file and write predictions for another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sapwood.cli.console import say
from sapwood.cli.options import (
    CategoryOption,
    DelimiterOption,
    DropMissingOption,
    DropOption,
    ModelOption,
    SeedOption,
    SetOption,
    TargetOption,
    TaskOption,
    TracebackOption,
    TrainFile,
    WeightOption,
)
from sapwood.cli.task import Task
from sapwood.errors import ParameterError

if TYPE_CHECKING:
    from sapwood.cli.recipe import Recipe


def predict(
    train: TrainFile,
    target: TargetOption,
    new: Annotated[Path, typer.Option("--input", help="CSV or Parquet file with the rows to predict.")],
    out: Annotated[Path, typer.Option("--out", help="CSV or Parquet file to write.")],
    model: ModelOption = "tree",
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
    """Train a model on one data file and write its predictions for another."""
    from sapwood.cli.recipe import recipe_from

    recipe = recipe_from(
        target=target,
        model=model,
        task=task,
        settings=settings,
        seed=seed,
        weight=weight,
        drop=drop,
        category=category,
        delimiter=delimiter,
        drop_missing_target=drop_missing_target,
    )
    _run(train, new, out, recipe, proba, list(dict.fromkeys(keep or ())))


def _run(train: Path, new: Path, out: Path, recipe: Recipe, proba: bool | None, keep: list[str]) -> None:
    from sapwood.cli import data
    from sapwood.cli.output import check_output
    from sapwood.cli.sample import read_sample
    from sapwood.cli.train import fit

    check_output(out, (".csv", ".tsv", *data.PARQUET), inputs=(train, new))
    sample = read_sample(train, recipe)
    if proba and sample.task is Task.REGRESSION:
        raise ParameterError("--proba needs classes, but the task is regression. Leave out --proba.")
    rows = data.read_table(new, recipe.delimiter, text=sample.text_columns)
    data.require_columns(rows, keep, "--keep", new)
    data.require_columns(rows, sample.X.column_names, "The training column", new)
    say(f"Task: {sample.task}, because {sample.choice.why}.")
    estimator, _ = fit(recipe, sample)
    predicted = _predictions(estimator, rows, sample.task is Task.CLASSIFICATION and proba is not False)
    data.write_table(out, beside(rows.select(keep), predicted))
    say(f"Predictions of {rows.num_rows} rows: {out}")


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

"""`sapwood train`: fit a model to a file and say how good it is."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sapwood.cli.console import RoundsBar, say
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
    WeightOption,
)
from sapwood.cli.task import Task
from sapwood.errors import ParameterError

if TYPE_CHECKING:
    from sapwood.cli.recipe import Recipe
    from sapwood.cli.sample import Sample


def train(
    data: Annotated[Path, typer.Argument(help="CSV or Parquet file.", show_default=False)],
    target: TargetOption,
    model: ModelOption = "tree",
    task: TaskOption = Task.AUTO,
    settings: SetOption = None,
    test_size: Annotated[float, typer.Option("--test-size", help="Share of the rows to test on.")] = 0.25,
    seed: SeedOption = 0,
    weight: WeightOption = None,
    drop: DropOption = None,
    category: CategoryOption = None,
    delimiter: DelimiterOption = None,
    drop_missing_target: DropMissingOption = False,
    show_tree: Annotated[
        bool | None,
        typer.Option("--show-tree/--no-show-tree", help="Print the tree as text. [default: if small]"),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Draw the tree to this .png, .svg or .pdf file.")
    ] = None,
    _traceback: TracebackOption = False,
) -> None:
    """Train a model on a data file, keep some rows back, and show how good it is on them."""
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
    _run(data, recipe, test_size, show_tree, picture)


def _run(data: Path, recipe: Recipe, test_size: float, show_tree: bool | None, picture: Path | None) -> None:
    from sapwood.cli import folds, report
    from sapwood.cli.models import find_model
    from sapwood.cli.picture import check_picture, write_picture
    from sapwood.cli.sample import read_sample

    if (picture is not None or show_tree) and not find_model(recipe.model).is_one_tree:
        raise ParameterError(
            f"--model {recipe.model} makes many trees, of which none can be shown alone. Leave out --picture and "
            "--show-tree, or use --model tree."
        )
    if picture is not None:
        check_picture(picture)
    sample = read_sample(data, recipe)
    say(f"Task: {sample.task}, because {sample.choice.why}.")
    training, test = folds.split(sample, test_size, recipe.seed)
    estimator, seconds = fit(recipe, training)
    _show_results(estimator, seconds, training, test)
    report.show_importances(estimator, sample.X.column_names)
    report.show_tree(estimator, show_tree)
    if picture is not None:
        say(write_picture(estimator, picture))


def fit(recipe: Recipe, sample: Sample, quiet: bool = False) -> tuple[Any, float]:
    """A fitted estimator, and the seconds it took; ensembles show how far they are, unless `quiet`."""
    estimator = recipe.estimator(sample.task)
    known = estimator.get_params(deep=False)
    shows = not quiet and "callbacks" in known
    if not quiet and not shows and known.get("verbose") == 0:
        estimator.set_params(verbose=estimator.n_estimators)  # a bar, or the last line where there is no terminal
    start = time.perf_counter()
    with RoundsBar("training") as bar:
        if shows:
            estimator.set_params(callbacks=[bar])
        estimator.fit(sample.X, sample.y, sample_weight=sample.weight)
    seconds = time.perf_counter() - start
    if shows:
        estimator.set_params(callbacks=None)
    _check_single(estimator)
    return estimator, seconds


def _check_single(estimator: Any) -> None:
    """Columns of several quantiles have no measure that the command line knows."""
    ensemble = getattr(estimator, "ensemble_", None)
    if ensemble is not None and ensemble.n_scores > 1 and not hasattr(estimator, "classes_"):
        raise ParameterError(
            f"The model predicts {ensemble.n_scores} numbers for each row, but the command line needs one. Give one "
            "quantile."
        )


def _show_results(estimator: Any, seconds: float, training: Sample, test: Sample) -> None:
    from sapwood.cli import report
    from sapwood.cli.metrics import baseline, scores

    say(f"Rows: {training.n_rows} to train on, {test.n_rows} to test on. Columns: {training.X.num_columns}.")
    say(f"Model: {report.model_facts(estimator, seconds)}.")
    columns = {
        "train": scores(estimator, training),
        "test": scores(estimator, test),
        "test, constant prediction": scores(baseline(training), test),
    }
    report.show_scores("Measures" if test.weight is None else "Measures, weighted", columns)
    if test.task is Task.CLASSIFICATION:
        report.show_confusion(estimator, test)

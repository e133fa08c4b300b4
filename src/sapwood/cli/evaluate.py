"""`sapwood evaluate`: measure a model on a test file or by cross-validation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sapwood.cli.console import say, track
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

if TYPE_CHECKING:
    from sapwood.cli.metrics import Scores
    from sapwood.cli.recipe import Recipe
    from sapwood.cli.sample import Sample


def evaluate(
    train: TrainFile,
    target: TargetOption,
    test: Annotated[Path | None, typer.Option("--test", help="CSV or Parquet file to test on.")] = None,
    cv: Annotated[int | None, typer.Option("--cv", min=2, help="Number of folds of cross-validation.")] = None,
    model: ModelOption = "tree",
    task: TaskOption = Task.AUTO,
    settings: SetOption = None,
    seed: SeedOption = 0,
    weight: WeightOption = None,
    drop: DropOption = None,
    category: CategoryOption = None,
    delimiter: DelimiterOption = None,
    drop_missing_target: DropMissingOption = False,
    _traceback: TracebackOption = False,
) -> None:
    """Measure a model on a test file, or by cross-validation on the training file."""
    from sapwood.cli.recipe import recipe_from

    if (test is None) == (cv is None):
        raise typer.BadParameter("Give either a test file with --test or a number of folds with --cv.")
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
    if test is not None:
        _on_file(train, test, recipe)
    elif cv is not None:
        _by_folds(train, cv, recipe)


def _on_file(train: Path, test: Path, recipe: Recipe) -> None:
    from sapwood.cli import report
    from sapwood.cli.metrics import baseline, scores
    from sapwood.cli.sample import read_more
    from sapwood.cli.train import fit

    sample = _read(train, recipe)
    held_out = read_more(test, recipe, sample)
    estimator, seconds = fit(recipe, sample)
    say(f"Model: {report.model_facts(estimator, seconds)}.")
    columns = {"test": scores(estimator, held_out), "constant prediction": scores(baseline(sample), held_out)}
    report.show_scores(f"Measures on {held_out.n_rows} test rows", columns)
    if sample.task is Task.CLASSIFICATION:
        report.show_confusion(estimator, held_out)


def _by_folds(train: Path, n_folds: int, recipe: Recipe) -> None:
    from sapwood.cli.folds import folds
    from sapwood.cli.report import show_folds

    sample = _read(train, recipe)
    rows = folds(sample, n_folds, recipe.seed)
    names = [f"fold {k + 1}" for k in range(n_folds)]
    results = [_score_fold(recipe, sample.take(train), sample.take(test)) for train, test in track(rows, names)]
    show_folds(f"Cross-validation with {n_folds} folds on {sample.n_rows} rows", results)


def _read(path: Path, recipe: Recipe) -> Sample:
    from sapwood.cli.sample import read_sample

    sample = read_sample(path, recipe)
    say(f"Task: {sample.task}, because {sample.choice.why}.")
    return sample


def _score_fold(recipe: Recipe, training: Sample, test: Sample) -> Scores:
    from sapwood.cli.metrics import baseline, scores
    from sapwood.cli.train import fit

    estimator, _ = fit(recipe, training, quiet=True)
    constant = scores(baseline(training), test)
    return scores(estimator, test) | {f"{name} of a constant prediction": value for name, value in constant.items()}

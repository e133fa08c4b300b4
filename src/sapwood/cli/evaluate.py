"""`sapwood evaluate`: measure a model, from a file or trained now, on a test file or by cross-validation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sapwood.cli.console import say, say_sample, track
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
    TargetOption,
    TaskOption,
    TracebackOption,
    TrainFile,
    WeightOption,
)
from sapwood.cli.task import Task
from sapwood.counted import counted
from sapwood.errors import InputError, ParameterError

if TYPE_CHECKING:
    from sapwood.cli.metrics import Scores
    from sapwood.cli.recipe import Recipe
    from sapwood.cli.sample import Sample

_OF_TRAINING = ("cv", "task", "settings", "seed", "category")


def evaluate(
    context: typer.Context,
    target: TargetOption,
    model: SourceOption = None,
    train: TrainFile = None,
    test: Annotated[Path | None, typer.Option("--test", "--data", help="CSV or Parquet file to test on.")] = None,
    cv: Annotated[int | None, typer.Option("--cv", min=2, help="Number of folds of cross-validation.")] = None,
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
    _traceback: TracebackOption = False,
) -> None:
    """Measure a model from a file on a data file; or train one, and measure it on test rows or by cross-validation."""
    from sapwood.cli.recipe import recipe_from
    from sapwood.cli.source import chosen_file

    file = chosen_file(context, model, train, _OF_TRAINING)
    if file is not None and test is None:
        raise typer.BadParameter("Give the rows to measure the model on with --data.")
    if (test is None) == (cv is None):
        raise typer.BadParameter("Give either a test file with --test or a number of folds with --cv.")
    recipe = recipe_from(
        target=target,
        model="tree" if model is None or file is not None else model,
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
    if file is not None and test is not None:
        _of_file(file, test, recipe)
    elif train is not None and test is not None:
        _on_file(train, test, recipe)
    elif train is not None and cv is not None:
        _by_folds(train, cv, recipe)


def _of_file(file: Path, test: Path, recipe: Recipe) -> None:
    from sapwood.cli import report
    from sapwood.cli.metrics import baseline, scores
    from sapwood.cli.sample import read_more
    from sapwood.cli.saved_model import known_sample, read_model, require_model_columns

    model = read_model(file)
    estimator = model.estimator
    _check_measurable(estimator)
    held_out = read_more(test, recipe, known_sample(model))
    require_model_columns(held_out.X.column_names, estimator, test)
    _check_labels(estimator, held_out.y, recipe.target)
    say(f"Model: {report.model_facts(estimator)}.")
    constant = scores(baseline(held_out), held_out)  # of the training rows nothing is known
    _show(estimator, held_out, {"test": scores(estimator, held_out), "best constant of these rows": constant})


def _check_labels(estimator: Any, y: Any, target: str) -> None:
    """Refuse a column that cannot be what the model predicts."""
    from sapwood.table.names import shorten

    labels = estimator.classes_.tolist() if hasattr(estimator, "classes_") else []
    if labels and not set(labels) & set(y.tolist()):
        raise InputError(
            f"The column {target!r} holds none of the classes of the model, which are {shorten(labels)}. Name the "
            "column that the model predicts with --target."
        )


def _check_measurable(estimator: Any) -> None:
    from sklearn.base import is_classifier, is_regressor

    if not is_classifier(estimator) and not is_regressor(estimator):
        raise ParameterError(
            f"The model is a {type(estimator).__name__}, whose scores only order rows, but sapwood evaluate measures "
            "classes and numbers. Use sapwood predict, or ndcg_score of scikit-learn."
        )


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
    _show(estimator, held_out, columns)


def _show(estimator: Any, held_out: Sample, columns: dict[str, Scores]) -> None:
    from sapwood.cli import report

    weighted = "" if held_out.weight is None else ", weighted"
    report.show_scores(f"Measures on {counted(held_out.n_rows, 'test row')}{weighted}", columns)
    if held_out.task is Task.CLASSIFICATION:
        report.show_confusion(estimator, held_out)


def _by_folds(train: Path, n_folds: int, recipe: Recipe) -> None:
    from sapwood.cli.folds import folds
    from sapwood.cli.report import show_folds

    sample = _read(train, recipe)
    rows = folds(sample, n_folds, recipe.seed)
    names = [f"fold {k + 1}" for k in range(n_folds)]
    results = [_score_fold(recipe, sample.take(train), sample.take(test)) for train, test in track(rows, names)]
    show_folds(f"Cross-validation with {n_folds} folds on {counted(sample.n_rows, 'row')}", results)


def _read(path: Path, recipe: Recipe) -> Sample:
    from sapwood.cli.sample import read_sample

    sample = read_sample(path, recipe)
    say_sample(sample)
    return sample


def _score_fold(recipe: Recipe, training: Sample, test: Sample) -> Scores:
    from sapwood.cli.metrics import baseline, scores
    from sapwood.cli.train import fit

    estimator, _ = fit(recipe, training, with_bar=False)
    constant = scores(baseline(training), test)
    return scores(estimator, test) | {f"{name} of a constant prediction": value for name, value in constant.items()}

"""`sapwood evaluate`: measure a model, from a file or trained now, on a test file or by cross-validation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sapwood.cli.console import print_line, track
from sapwood.cli.options import FileOrKindOption, Task, TrainFile, TrainingOptions, chosen_file
from sapwood.counted import counted
from sapwood.errors import InputError, ParameterError

if TYPE_CHECKING:
    from sapwood.cli.dataset import Dataset
    from sapwood.cli.model_file import SavedModel
    from sapwood.cli.report import Scores
    from sapwood.estimators.estimator import Estimator

_OF_TRAINING = ("cv", "task", "settings", "seed", "category")


def evaluate(
    *,
    context: typer.Context,
    model: FileOrKindOption = "tree",
    train: TrainFile = None,
    test: Annotated[Path | None, typer.Option("--test", "--data", help="CSV or Parquet file to test on.")] = None,
    cv: Annotated[int | None, typer.Option("--cv", min=2, help="Number of folds of cross-validation.")] = None,
    options: TrainingOptions,
) -> None:
    """Measure how well a model predicts.

    A model file is measured with --model and --data. With --train, a model is trained, and measured on the rows of
    --test or by cross-validation with --cv.
    """
    file = chosen_file(context, model, train, _OF_TRAINING)
    if file is not None and test is None:
        raise typer.BadParameter("Give the rows to measure the model on with --data.")
    if (test is None) == (cv is None):
        raise typer.BadParameter("Give either a test file with --test or a number of folds with --cv.")
    if file is not None and test is not None:
        _evaluate_file(file, test, options)
    elif train is not None and test is not None:
        _evaluate_on_file(train, test, options)
    elif train is not None and cv is not None:
        _cross_validate(train, cv, options)


def _evaluate_file(file: Path, test: Path, options: TrainingOptions) -> None:
    from sapwood.cli import report
    from sapwood.cli.dataset import read_more
    from sapwood.cli.model_file import read_model

    saved = read_model(file)
    _check_measurable(saved.estimator)
    held_out = read_more(test, options, saved.empty_dataset())
    saved.columns_of(held_out.X.column_names, test)
    _check_labels(saved, held_out, options.target)
    print_line(f"Model: {report.model_summary(saved.estimator)}.")
    # The training rows are not known
    columns = {"test": saved.estimator, "best constant of these rows": report.baseline(held_out)}
    _show(saved.estimator, held_out, {name: report.scores(each, held_out) for name, each in columns.items()})


def _check_labels(saved: SavedModel, held_out: Dataset, target: str) -> None:
    """Raise if the model cannot predict this column."""
    from sapwood.table.names import shorten

    labels = saved.model.classes[0].tolist() if saved.model.is_classifier else []
    if labels and not set(labels) & set(held_out.y.tolist()):
        raise InputError(
            f"--target {target!r} holds none of the classes of the model, which are {shorten(labels)}. Name the column "
            "that the model predicts."
        )


def _check_measurable(estimator: Estimator) -> None:
    from sklearn.base import is_classifier, is_regressor

    if not is_classifier(estimator) and not is_regressor(estimator):
        raise ParameterError(
            f"The model is a {type(estimator).__name__}, whose scores only order rows, but sapwood evaluate measures "
            "classes and numbers. Use sapwood predict, and ndcg_score of scikit-learn."
        )


def _evaluate_on_file(train: Path, test: Path, options: TrainingOptions) -> None:
    from sapwood.cli import report
    from sapwood.cli.dataset import read_more
    from sapwood.cli.train import fit

    dataset = _read(train, options)
    held_out = read_more(test, options, dataset)
    estimator, seconds = fit(options, dataset)
    print_line(f"Model: {report.model_summary(estimator, seconds)}.")
    columns = {"test": estimator, "constant prediction": report.baseline(dataset)}
    _show(estimator, held_out, {name: report.scores(each, held_out) for name, each in columns.items()})


def _show(estimator: Estimator, held_out: Dataset, columns: dict[str, Scores]) -> None:
    from sapwood.cli import report

    weighted = "" if held_out.weight is None else ", weighted"
    report.show_scores(f"Measures on {counted(held_out.n_rows, 'test row')}{weighted}", columns)
    if held_out.task is Task.CLASSIFICATION:
        report.show_confusion(estimator, held_out)


def _cross_validate(train: Path, n_folds: int, options: TrainingOptions) -> None:
    from sapwood.cli.dataset import folds
    from sapwood.cli.report import show_folds

    dataset = _read(train, options)
    rows = folds(dataset, n_folds, options.seed)
    names = [f"fold {k + 1}" for k in range(n_folds)]
    results = [_score_fold(options, dataset.take(train), dataset.take(test)) for train, test in track(rows, names)]
    show_folds(f"Cross-validation with {n_folds} folds on {counted(dataset.n_rows, 'row')}", results)


def _read(path: Path, options: TrainingOptions) -> Dataset:
    from sapwood.cli.dataset import read_dataset
    from sapwood.cli.report import show_task

    dataset = read_dataset(path, options)
    show_task(dataset)
    return dataset


def _score_fold(options: TrainingOptions, training: Dataset, test: Dataset) -> Scores:
    from sapwood.cli.report import baseline, scores
    from sapwood.cli.train import fit

    estimator, _ = fit(options, training, with_bar=False)
    constant = scores(baseline(training), test)
    return scores(estimator, test) | {f"{name} of a constant prediction": value for name, value in constant.items()}

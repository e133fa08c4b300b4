"""`sapwood cv`: the best number of rounds of a boosting model, by cross-validation at each round."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from sapwood.cli.console import RoundsBar, say, say_sample
from sapwood.cli.options import (
    CategoryOption,
    DayFirstOption,
    DelimiterOption,
    DropMissingOption,
    DropOption,
    EncodingOption,
    ModelOption,
    NoHeaderOption,
    SeedOption,
    SetOption,
    TargetOption,
    TaskOption,
    TracebackOption,
    WeightOption,
)
from sapwood.cli.task import Task
from sapwood.counted import counted
from sapwood.data_warnings import quiet
from sapwood.errors import ParameterError

if TYPE_CHECKING:
    from sapwood.cli.recipe import Recipe
    from sapwood.cli.sample import Sample


class RuleName(StrEnum):
    """How the best round is chosen."""

    MIN = "min"
    ONE_ERROR = "1se"


def cv(
    data: Annotated[Path, typer.Argument(help="CSV or Parquet file.", show_default=False)],
    target: TargetOption,
    model: ModelOption = "boosting",
    folds: Annotated[int, typer.Option("--folds", min=2, help="Number of folds.")] = 5,
    rule: Annotated[
        RuleName,
        typer.Option("--rule", help="min: the best mean; 1se: the fewest rounds within one standard error of it."),
    ] = RuleName.MIN,
    metric: Annotated[str | None, typer.Option("--metric", help="Metric, such as logloss, auc, rmse or mae.")] = None,
    patience: Annotated[
        int | None,
        typer.Option("--early-stopping", min=1, metavar="ROUNDS", help="Stop if so many rounds bring nothing better."),
    ] = None,
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
    out: Annotated[
        Path | None, typer.Option("--out", help="CSV or Parquet file for the predictions of held-out rows.")
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="COLUMN", help="Column to copy to the output. Repeatable."),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Draw the curve to this .png, .svg or .pdf file.")
    ] = None,
    _traceback: TracebackOption = False,
) -> None:
    """Cross-validate a boosting model at each round, all folds together, and show how many rounds are best."""
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
        encoding=encoding,
        no_header=no_header,
        day_first=day_first,
        drop_missing_target=drop_missing_target,
    )
    options = {"metric": metric, "rule": rule.value, "early_stopping_rounds": patience}
    _run(data, recipe, folds, options, out, list(dict.fromkeys(keep or ())), picture)


def _run(
    path: Path,
    recipe: Recipe,
    n_folds: int,
    options: dict[str, Any],
    out: Path | None,
    keep: list[str],
    picture: Path | None,
) -> None:
    from sapwood.cli import data
    from sapwood.cli.output import check_output
    from sapwood.cli.parquet_file import PARQUET
    from sapwood.cli.picture import check_picture, write_curve
    from sapwood.cli.predict import beside
    from sapwood.cli.sample import read_rows

    _check_model(recipe)
    if out is not None:
        check_output(out, (".csv", ".tsv", *PARQUET), inputs=(path,))
    if picture is not None:
        check_picture(picture)
    sample, table = read_rows(path, recipe)
    keep = list(data.named_columns(keep, table.column_names))
    data.require_columns(table.column_names, keep, "--keep", path)
    say_sample(sample)
    result = _cross_validate(recipe, sample, n_folds, options)
    _show(result, sample)
    if out is not None:
        data.write_table(out, beside(table.select(keep), _columns(result)))
        say(f"Predictions of {counted(sample.n_rows, 'held-out row')}: {out}")
    if picture is not None:
        say(write_curve(result, picture))


def _check_model(recipe: Recipe) -> None:
    from sapwood.cli.models import MODELS, find_model

    if not find_model(recipe.model).boosts:
        known = " or ".join(name for name, model in MODELS.items() if model.boosts)
        raise ParameterError(
            f"--model {recipe.model} has no rounds to choose from. Use --model {known}, or sapwood evaluate --cv."
        )


def _cross_validate(recipe: Recipe, sample: Sample, n_folds: int, options: dict[str, Any]) -> Any:
    from sapwood import cross_validate_boosting
    from sapwood.cli.folds import folds

    estimator = recipe.estimator(sample.task)
    splits = folds(sample, n_folds, recipe.seed, "--folds")
    start = time.perf_counter()
    with RoundsBar("cross-validating") as bar, quiet():
        if "callbacks" in estimator.get_params():
            estimator.set_params(callbacks=[bar])
        result = cross_validate_boosting(
            estimator, sample.X, sample.y, cv=splits, sample_weight=sample.weight, **options
        )
    seconds = time.perf_counter() - start
    if result.oof_prediction.ndim > 1:
        raise ParameterError("The model predicts several numbers for each row. Give one quantile.")
    n_rounds = result.test_curve.n_rounds
    say(f"Model: {type(estimator).__name__}, {n_folds} folds, {counted(n_rounds, 'round')} in {seconds:.2f} s.")
    if result.stopped_reason != "all rounds done":
        say(f"Stopped: {result.stopped_reason}.")
    return result


def _show(result: Any, sample: Sample) -> None:
    from sapwood.cli.metrics import class_scores, number_scores
    from sapwood.cli.report import number, show_fold_rounds, show_scores

    error = f"{number(result.best_mean)} ± {number(result.best_standard_error)}"
    best = counted(result.best_n_rounds, "round")
    say(f"Best: {best} (rule {result.rule}), {result.metric} {error} on held-out rows.")
    if result.best_round != result.top_round:
        said = f"{number(result.test_curve.mean[result.top_round])} after {counted(result.top_round + 1, 'round')}"
        say(f"The best mean is {said}.")
    show_fold_rounds(result)
    if sample.task is Task.REGRESSION:
        measures = number_scores(sample.y, result.oof_prediction, sample.weight)
    else:
        truth, predicted = (np.searchsorted(sample.classes, y) for y in (sample.y, result.oof_prediction))
        measures = class_scores(truth, predicted, result.oof_probability, sample.weight)
    show_scores("Measures of all held-out rows", {"held out": measures})


def _columns(result: Any) -> dict[str, Any]:
    """What is written of each row: its fold, its prediction, and the probabilities of classes."""
    fold = np.empty(len(result.oof_count), dtype=np.int64)
    for number, (_, test) in enumerate(result.splits, start=1):
        fold[test] = number
    columns = {"fold": fold, "prediction": result.oof_prediction}
    if result.oof_probability is not None:
        classes = result.estimators[0].classes_
        columns |= {f"probability_{label}": result.oof_probability[:, k] for k, label in enumerate(classes)}
    return columns

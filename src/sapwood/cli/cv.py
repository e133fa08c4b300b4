"""`sapwood cv`: the best number of rounds of a boosting model, by cross-validation at each round."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from sapwood.cli.console import RoundsBar, print_line
from sapwood.cli.options import KeepOption, TrainingOptions
from sapwood.counted import counted
from sapwood.data_warnings import quiet
from sapwood.errors import ParameterError

if TYPE_CHECKING:
    from sapwood.arrays import Array
    from sapwood.cli.dataset import Dataset
    from sapwood.estimators.boosting_cv import BoostingCV


class RuleName(StrEnum):
    """How the best round is chosen."""

    MIN = "min"
    ONE_ERROR = "1se"


def cv(
    data: Annotated[Path, typer.Argument(help="CSV or Parquet file.", show_default=False)],
    options: TrainingOptions,
    model: Annotated[str, typer.Option("--model", help="Kind of model: boosting or gradient-boosting.")] = "boosting",
    folds: Annotated[int, typer.Option("--folds", min=2, help="Number of folds.")] = 5,
    rule: Annotated[
        RuleName,
        typer.Option("--rule", help="min: the best mean; 1se: the fewest rounds within one standard error of it."),
    ] = RuleName.MIN,
    metric: Annotated[str | None, typer.Option("--metric", help="Metric, such as logloss, auc, rmse or mae.")] = None,
    patience: Annotated[
        int | None,
        typer.Option("--early-stopping", min=1, metavar="ROUNDS", help="Stop after that many rounds without progress."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="CSV or Parquet file for the predictions of held-out rows.")
    ] = None,
    keep: KeepOption = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Draw the curve to this .png, .svg or .pdf file.")
    ] = None,
) -> None:
    """Find the best number of boosting rounds.

    Cross-validates a model at each round, and can write the predictions of held-out rows.
    """
    from sapwood.cli.data_file import named_columns, require_columns
    from sapwood.cli.dataset import read_rows
    from sapwood.cli.output_file import TABLES, check_output, check_picture, table_writer, write_curve
    from sapwood.cli.predict import beside
    from sapwood.cli.report import show_task

    _require_rounds(model)
    if out is not None:
        check_output(out, TABLES, inputs=(data,))
    if picture is not None:
        check_picture(picture)
    dataset, table = read_rows(data, options)
    kept = named_columns(keep or (), table.column_names)
    require_columns(table.column_names, kept, "--keep", data)
    show_task(dataset)
    result = _cross_validate(options, dataset, folds, metric=metric, rule=rule.value, early_stopping_rounds=patience)
    _show(result, dataset)
    if out is not None:
        with table_writer(out) as write:
            write(beside(table.select(list(kept)), _columns(result)))
        print_line(f"Predictions of {counted(dataset.n_rows, 'held-out row')}: {out}")
    if picture is not None:
        print_line(write_curve(result, picture))


def _require_rounds(model: str) -> None:
    from sapwood.cli.model_kinds import KINDS, find_kind

    if not find_kind(model).has_rounds:
        known = " or ".join(name for name, kind in KINDS.items() if kind.has_rounds)
        raise ParameterError(
            f"--model {model} has no rounds to choose from. Use --model {known}, or sapwood evaluate --cv."
        )


def _cross_validate(options: TrainingOptions, dataset: Dataset, n_folds: int, **how: Any) -> BoostingCV:
    from sapwood import cross_validate_boosting
    from sapwood.cli.dataset import folds
    from sapwood.cli.model_kinds import new_estimator

    estimator = new_estimator(options, dataset.task)
    splits = folds(dataset, n_folds, options.seed, "--folds")
    start = time.perf_counter()
    with RoundsBar("cross-validating") as bar, quiet():
        if "callbacks" in estimator.get_params():
            estimator.set_params(callbacks=[bar])
        result = cross_validate_boosting(
            estimator, dataset.X, dataset.y, cv=splits, sample_weight=dataset.weight, **how
        )
    seconds = time.perf_counter() - start
    if result.oof_prediction.ndim > 1:
        raise ParameterError("The model predicts several values for each row. Give one quantile with --set.")
    n_rounds = result.test_curve.n_rounds
    print_line(f"Model: {type(estimator).__name__}, {n_folds} folds, {counted(n_rounds, 'round')} in {seconds:.2f} s.")
    if result.stopped_reason != "all rounds done":
        print_line(f"Stopped: {result.stopped_reason}.")
    return result


def _show(result: BoostingCV, dataset: Dataset) -> None:
    from sapwood.cli.report import class_scores, number, number_scores, show_fold_rounds, show_scores

    error = f"{number(result.best_mean)} ± {number(result.best_standard_error)}"
    best = counted(result.best_n_rounds, "round")
    print_line(f"Best: {best} (rule {result.rule}), {result.metric} {error} on held-out rows.")
    if result.best_round != result.top_round:
        top = number(result.test_curve.mean[result.top_round])
        print_line(f"The best mean is {top} after {counted(result.top_round + 1, 'round')}.")
    show_fold_rounds(result)
    if result.oof_probability is None:
        measures = number_scores(dataset.y, result.oof_prediction, dataset.weight)
    else:
        truth, predicted = (np.searchsorted(dataset.classes, y) for y in (dataset.y, result.oof_prediction))
        measures = class_scores(truth, predicted, result.oof_probability, dataset.weight)
    show_scores("Measures of all held-out rows", {"held out": measures})


def _columns(result: BoostingCV) -> dict[str, Array]:
    """Columns to write: the fold of each row, its prediction, and the probabilities of classes."""
    from sapwood.cli.predict import probability_columns

    fold = np.empty(len(result.oof_count), dtype=np.int64)
    for number, (_, test) in enumerate(result.splits, start=1):
        fold[test] = number
    columns: dict[str, Array] = {"fold": fold, "prediction": result.oof_prediction}
    if result.oof_probability is not None:
        columns |= probability_columns(result.oof_probability, result.estimators[0].classes_)
    return columns

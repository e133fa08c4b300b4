"""`sapwood train`: fit a model to a file, say how good it is, and save it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
from sapwood.progress_bar import shown_by

if TYPE_CHECKING:
    from sapwood.cli.recipe import Recipe
    from sapwood.cli.sample import Sample

_EVERY = 50  # rounds or trees


def train(
    data: Annotated[Path, typer.Argument(help="CSV or Parquet file.", show_default=False)],
    target: TargetOption,
    model: ModelOption = "tree",
    task: TaskOption = Task.AUTO,
    settings: SetOption = None,
    test_size: Annotated[
        float, typer.Option("--test-size", help="Share of the rows to test on; 0 trains on all rows and tests on none.")
    ] = 0.25,
    seed: SeedOption = 0,
    weight: WeightOption = None,
    drop: DropOption = None,
    category: CategoryOption = None,
    delimiter: DelimiterOption = None,
    encoding: EncodingOption = None,
    no_header: NoHeaderOption = False,
    day_first: DayFirstOption = None,
    drop_missing_target: DropMissingOption = False,
    show_tree: Annotated[
        bool | None,
        typer.Option("--show-tree/--no-show-tree", help="Print the tree as text. [default: if small]"),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Draw the tree to this .png, .svg or .pdf file.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Save the model to this .sapwood or .json file. It is the model that was measured, so it has not seen "
            "the rows kept back for testing; --test-size 0 trains it on all rows.",
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            metavar="FILE",
            help="File to resume from if training is interrupted: run the same command again. For "
            "all models of many trees.",
        ),
    ] = None,
    checkpoint_every: Annotated[
        int | None,
        typer.Option("--checkpoint-every", min=1, metavar="N", help="… after every N rounds or trees. [default: 50]"),
    ] = None,
    _traceback: TracebackOption = False,
) -> None:
    """Train a model on a data file, keep some rows back, show how good it is on them, and save it if asked to."""
    from sapwood.cli.recipe import recipe_from

    if checkpoint is None and checkpoint_every is not None:
        raise typer.BadParameter("--checkpoint-every needs a file to write to with --checkpoint.")

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
    _run(data, recipe, _Wanted(test_size, show_tree, picture, out, checkpoint, checkpoint_every or _EVERY))


@dataclass(frozen=True)
class _Wanted:
    """What to keep back, to show and to write."""

    test_size: float
    show_tree: bool | None
    picture: Path | None
    out: Path | None
    checkpoint: Path | None
    checkpoint_every: int

    def check(self, data: Path, recipe: Recipe) -> None:
        """Raise before any work is done if something could not be shown or written in the end."""
        from sapwood.cli.models import find_model
        from sapwood.cli.picture import check_picture
        from sapwood.cli.saved_model import check_model_output

        if (self.picture is not None or self.show_tree) and not find_model(recipe.model).is_one_tree:
            raise ParameterError(
                f"--model {recipe.model} makes many trees, of which none can be shown alone. Leave out --picture and "
                "--show-tree, or use --model tree."
            )
        if self.picture is not None:
            check_picture(self.picture)
        if self.out is not None:
            check_model_output(self.out, inputs=(data,))
        if self.checkpoint is not None:
            self._check_checkpoint(self.checkpoint, data, recipe)

    def _check_checkpoint(self, path: Path, data: Path, recipe: Recipe) -> None:
        from sapwood.cli.models import MODELS, find_model
        from sapwood.cli.output import check_output

        if find_model(recipe.model).is_one_tree:
            known = ", ".join(name for name, model in MODELS.items() if not model.is_one_tree)
            raise ParameterError(
                f"--model {recipe.model} has no checkpoints, since it is one tree. Leave out --checkpoint, or use one "
                f"of {known}."
            )
        if self.out is not None and path.resolve() == self.out.resolve():
            raise ParameterError(f"--checkpoint and --out are the same file {str(path)!r}. Give another name.")
        check_output(path, None, inputs=(data,))

    def fit_options(self) -> dict[str, Any]:
        """What `fit` is told besides the data."""
        from sapwood.estimators.checkpoint import Checkpoint

        if self.checkpoint is None:
            return {}
        return {"checkpoint": Checkpoint(self.checkpoint, rounds=self.checkpoint_every)}


def _run(data: Path, recipe: Recipe, wanted: _Wanted) -> None:
    from sapwood.cli import folds, report
    from sapwood.cli.column_report import column_report
    from sapwood.cli.picture import write_picture
    from sapwood.cli.resumption import say_resumption
    from sapwood.cli.sample import read_sample

    wanted.check(data, recipe)
    sample = read_sample(data, recipe)
    say(column_report(sample, recipe.category))
    say_sample(sample)
    training, test = (sample, None) if wanted.test_size == 0 else folds.split(sample, wanted.test_size, recipe.seed)
    if wanted.checkpoint is not None and wanted.checkpoint.exists():
        say_resumption(wanted.checkpoint)
    estimator, seconds = fit(recipe, training, **wanted.fit_options())
    _show_results(estimator, seconds, training, test)
    report.show_importances(estimator, sample.X.column_names)
    report.show_tree(estimator, wanted.show_tree)
    if wanted.picture is not None:
        say(write_picture(estimator, wanted.picture))
    if wanted.out is not None:
        say(_saved(estimator, wanted.out, training, test))


def fit(recipe: Recipe, sample: Sample, with_bar: bool = True, **options: Any) -> tuple[Any, float]:
    """A fitted estimator, and the seconds it took; ensembles show how far they are if `with_bar`."""
    from sapwood.cli.models import check_single

    estimator = recipe.estimator(sample.task)
    has_callbacks = "callbacks" in estimator.get_params(deep=False)
    start = time.perf_counter()
    with RoundsBar("training") as bar, quiet(), shown_by(bar if with_bar else _ignore):
        if has_callbacks and with_bar:
            estimator.set_params(callbacks=[bar])
        estimator.fit(sample.X, sample.y, sample_weight=sample.weight, **options)
    seconds = time.perf_counter() - start
    if has_callbacks and with_bar:
        estimator.set_params(callbacks=None)
    check_single(estimator)
    return estimator, seconds


def _ignore(_: Any) -> None:
    """Show nothing of a round."""


def _saved(estimator: Any, path: Path, training: Sample, test: Sample | None) -> str:
    """Save the model, and say what it has seen."""
    from sapwood.cli.saved_model import write_model

    seen = f"all {counted(training.n_rows, 'row')}"
    if test is not None:
        seen = (
            f"the {counted(training.n_rows, 'row')} to train on, not the {test.n_rows} to test on "
            "(--test-size 0 trains on all rows)"
        )
    return f"Saved model: {write_model(estimator, path, training.readings)}. It has seen {seen}."


def _show_results(estimator: Any, seconds: float, training: Sample, test: Sample | None) -> None:
    from sapwood.cli import report
    from sapwood.cli.metrics import baseline, scores

    n_test = "none" if test is None else test.n_rows
    say(f"Rows: {training.n_rows} to train on, {n_test} to test on. Columns: {training.X.num_columns}.")
    say(f"Model: {report.model_facts(estimator, seconds)}.")
    columns = {"train": scores(estimator, training)}
    measured, name = (training, "train") if test is None else (test, "test")
    if test is not None:
        columns["test"] = scores(estimator, test)
    columns[f"{name}, constant prediction"] = scores(baseline(training), measured)
    report.show_scores("Measures" if training.weight is None else "Measures, weighted", columns)
    if test is not None and test.task is Task.CLASSIFICATION:
        report.show_confusion(estimator, test)

"""`sapwood train`: train a model on a data file, measure it, and save it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sapwood.cli.console import RoundsBar, print_line
from sapwood.cli.options import MODEL_FILES, BatchOptions, Task, TrainingOptions
from sapwood.counted import counted
from sapwood.data_warnings import quiet
from sapwood.errors import ParameterError, SapwoodError
from sapwood.progress_bar import shown_by

if TYPE_CHECKING:
    from sapwood.cli.dataset import Dataset
    from sapwood.estimators.checkpoint import Checkpoint
    from sapwood.estimators.estimator import Estimator

_EVERY = 50  # rounds or trees


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """What to show and to write."""

    show_tree: Annotated[
        bool | None,
        typer.Option("--show-tree/--no-show-tree", help="Print the tree as text. [default: if it is small]"),
    ] = None
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Draw the tree to this .png, .svg or .pdf file.")
    ] = None
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="Save the model to this .sapwood or .json file: the one that was measured, trained without the test "
            "rows. Use --test-size 0 to train on all rows.",
        ),
    ] = None
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            metavar="FILE",
            help="File to resume from if training is interrupted: run the same command again. For all kinds of model "
            "but tree.",
        ),
    ] = None
    checkpoint_every: Annotated[
        int | None,
        typer.Option(
            "--checkpoint-every", min=1, metavar="N", help="Rounds or trees between checkpoints. [default: 50]"
        ),
    ] = None

    def resumed(self) -> Checkpoint | None:
        """The checkpoint to write, after printing what there is to resume from."""
        from sapwood.estimators.checkpoint import Checkpoint

        if self.checkpoint is None:
            return None
        if self.checkpoint.exists():
            _print_resumption(self.checkpoint)
        return Checkpoint(self.checkpoint, rounds=self.checkpoint_every or _EVERY)

    def check(self, data: Path, options: TrainingOptions) -> None:
        """Raise, before any work is done, if something cannot be shown or written."""
        from sapwood.cli.model_kinds import find_kind
        from sapwood.cli.output_file import check_output, check_picture

        if (self.picture is not None or self.show_tree) and not find_kind(options.model).is_one_tree:
            raise ParameterError(
                f"--model {options.model} makes many trees, but --picture and --show-tree show one. Leave them out, "
                "use --model tree, or save the model with --out and run sapwood inspect FILE --tree N."
            )
        if self.picture is not None:
            check_picture(self.picture)
        if self.out is not None:
            check_output(self.out, MODEL_FILES, inputs=(data,))
        if self.checkpoint is not None:
            self._check_checkpoint(self.checkpoint, options)
            check_output(self.checkpoint, None, inputs=(data,))

    def _check_checkpoint(self, path: Path, options: TrainingOptions) -> None:
        from sapwood.cli.model_kinds import KINDS, find_kind

        if find_kind(options.model).is_one_tree:
            others = ", ".join(name for name, kind in KINDS.items() if not kind.is_one_tree)
            raise ParameterError(
                f"--model {options.model} has no checkpoints, since it is one tree. Leave out --checkpoint, or use one "
                f"of {others}."
            )
        if self.out is not None and path.resolve() == self.out.resolve():
            raise ParameterError(f"--checkpoint and --out are the same file {str(path)!r}. Choose another name.")


def train(
    *,
    context: typer.Context,
    data: Annotated[
        Path,
        typer.Argument(
            help="CSV or Parquet file, a folder of them, a pattern in quotes, or a file of sapwood encode.",
            show_default=False,
        ),
    ],
    target: Annotated[str, typer.Option("--target", show_default=False, help="Column to predict.")] = "",
    options: TrainingOptions,
    outputs: Outputs,
    batches: BatchOptions,
    test_size: Annotated[
        float, typer.Option("--test-size", help="Fraction of the rows to test on; 0 trains on all rows.")
    ] = 0.25,
) -> None:
    """Train a model on a data file.

    Shows how columns were read, metrics on the training rows and on held-out test rows, and the most important columns.
    Files that do not fit into memory, and those of sapwood encode, train boosting on all rows, batch by batch.
    """
    from sapwood.cli import report
    from sapwood.cli.column_types import column_summary
    from sapwood.cli.dataset import read_dataset, split
    from sapwood.cli.output_file import write_picture
    from sapwood.cli.train_batches import check_options, is_for_batches, train_batches

    if outputs.checkpoint is None and outputs.checkpoint_every is not None:
        raise typer.BadParameter("--checkpoint-every needs a file to write to with --checkpoint.")
    if is_for_batches(data, options, batches):
        options = check_options(context, options)
        outputs.check(data, options)
        train_batches(data, options, outputs, batches)
        return
    if not target:
        raise typer.BadParameter("Missing option '--target'.")
    outputs.check(data, options)
    dataset = read_dataset(data, options)
    print_line(column_summary(dataset.X, options.category))
    report.show_task(dataset)
    training, test = (dataset, None) if test_size == 0 else split(dataset, test_size, options.seed)
    estimator, seconds = fit(options, training, checkpoint=outputs.resumed())
    _show_results(estimator, seconds, training, test)
    report.show_importances(estimator, dataset.X.column_names)
    report.show_tree(estimator, outputs.show_tree)
    if outputs.picture is not None:
        print_line(write_picture(estimator, outputs.picture))
    if outputs.out is not None:
        print_line(_save(estimator, outputs.out, training, test))


def _print_resumption(path: Path) -> None:
    """Print how far the checkpoint is; `fit` raises if it cannot be read."""
    from sapwood.cli.model_file import read_any_model

    try:
        saved = read_any_model(path)
    except SapwoodError:
        return
    trees = saved.model.trees
    done = f"round {saved.estimator.ensemble_.n_rounds}" if trees.round_size else counted(len(trees), "tree")
    if saved.is_finished:
        print_line(f"Checkpoint: {path} holds the finished model, so nothing is left to train.")
    else:
        print_line(f"Checkpoint: resuming after {done}; the time below is that of the rest.")


def fit(
    options: TrainingOptions, dataset: Dataset, with_bar: bool = True, checkpoint: Checkpoint | None = None
) -> tuple[Estimator, float]:
    """A fitted estimator, and the seconds that fitting took; ensembles show a progress bar if `with_bar`."""
    from sapwood.cli.model_kinds import new_estimator, require_one_output

    estimator = new_estimator(options, dataset.task)
    more = {} if checkpoint is None else {"checkpoint": checkpoint}
    start = time.perf_counter()
    with RoundsBar("training") as bar, quiet(), shown_by(bar if with_bar else _ignore):
        estimator.fit(dataset.X, dataset.y, sample_weight=dataset.weight, **more)
    seconds = time.perf_counter() - start
    require_one_output(estimator)
    return estimator, seconds


def _ignore(_: object) -> None:
    """Show nothing of a round."""


def _save(estimator: Estimator, path: Path, training: Dataset, test: Dataset | None) -> str:
    """Save the model, and describe what it was trained on."""
    from sapwood.cli.model_file import write_model

    rows = f"all {counted(training.n_rows, 'row')}"
    if test is not None:
        rows = (
            f"{counted(training.n_rows, 'row')}, not on the {test.n_rows} to test on (--test-size 0 trains on all rows)"
        )
    return f"Saved model: {write_model(estimator, path, training.readings)}. It was trained on {rows}."


def _show_results(estimator: Estimator, seconds: float, training: Dataset, test: Dataset | None) -> None:
    from sapwood.cli import report

    n_test = "none" if test is None else test.n_rows
    print_line(f"Rows: {training.n_rows} to train on, {n_test} to test on. Columns: {training.X.num_columns}.")
    print_line(f"Model: {report.model_summary(estimator, seconds)}.")
    for line in report.choices(estimator):
        print_line(line)
    columns = {"train": report.scores(estimator, training)}
    measured, name = (training, "train") if test is None else (test, "test")
    if test is not None:
        columns["test"] = report.scores(estimator, test)
    columns[f"{name}, constant prediction"] = report.scores(report.baseline(training), measured)
    report.show_scores("Measures" if training.weight is None else "Measures, weighted", columns)
    if test is not None and test.task is Task.CLASSIFICATION:
        report.show_confusion(estimator, test)

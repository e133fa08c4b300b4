"""`sapwood train` of rows that are read batch by batch: code files, and files that do not fit into memory."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from sapwood.cli.console import RoundsBar, print_line, share_bar
from sapwood.cli.options import BatchOptions, Task, TrainingOptions, given_options
from sapwood.counted import counted
from sapwood.data_warnings import quiet
from sapwood.errors import ParameterError
from sapwood.progress_bar import RoundProgress, Shown, shown_by

if TYPE_CHECKING:
    from sapwood.cli.train import Outputs
    from sapwood.codes.code_file import CodeFile
    from sapwood.estimators.newton_boosting import NewtonBoosting
    from sapwood.sources.survey import Survey
    from sapwood.table.reading import Reading

_GROWTH = 6  # bytes of memory for a byte of a file: its table, copies of some of its rows, and codes


class _Found(NamedTuple):
    """Rows that are known, and not yet in memory."""

    rows: Survey | CodeFile
    target: str
    weight: str | None
    readings: Mapping[str, Reading]

    @property
    def task(self) -> Task:
        """Classification or regression."""
        from sapwood.codes.code_file import CodeFile

        known = self.rows.contents if isinstance(self.rows, CodeFile) else self.rows.target
        return Task.REGRESSION if known is None or known.classes is None else Task.CLASSIFICATION


def is_for_batches(data: Path, options: TrainingOptions, batches: BatchOptions) -> bool:
    """Whether rows are read batch by batch: if it is asked for, and if there is no other way."""
    from sapwood.cli.data_file import open_data
    from sapwood.codes.code_file import is_code_file
    from sapwood.memory_size import read_size

    if batches.is_given or is_code_file(data):
        return True
    n_bytes = open_data(data, options.file_format).n_bytes
    return _GROWTH * n_bytes > read_size(None)


def check_options(context: typer.Context, options: TrainingOptions) -> TrainingOptions:
    """The options, with boosting as the kind of model; raises for those that need all rows in memory."""
    if "--test-size" in given_options(context, ["test_size"]) and context.params["test_size"] != 0:
        raise ParameterError(
            "--test-size needs all rows in memory, but these are read batch by batch, and all trained on. Leave it "
            "out, and measure the model on other files with --validation."
        )
    if not given_options(context, ["model"]):
        return replace(options, model="boosting")
    if options.model != "boosting":
        raise ParameterError(
            f"--model {options.model} needs all rows in memory, but these are read batch by batch. Use --model "
            "boosting."
        )
    return options


def train_batches(data: Path, options: TrainingOptions, outputs: Outputs, batches: BatchOptions) -> None:
    """Print the plan, train, and save the model."""
    from sapwood.cli import report
    from sapwood.cli.model_file import write_model
    from sapwood.cli.model_kinds import require_one_output
    from sapwood.estimators.training_plan import plan

    found = _find(data, options)
    estimator = _estimator(options, batches, found.task)
    columns: dict[str, Any] = {"target": found.target, "sample_weight": found.weight}
    if batches.validation is not None:
        columns["eval_set"] = {"validation": _validation(batches.validation, options, found)}
    print_line(str(plan(estimator, found.rows, **columns)))
    if batches.plan:
        return
    checkpoint, begin = outputs.resumed(), time.perf_counter()
    with RoundsBar("training") as bar, quiet(), shown_by(_Stages(bar)):
        estimator.fit(found.rows, checkpoint=checkpoint, **columns)
    require_one_output(estimator)
    print_line(f"Model: {report.model_summary(estimator, time.perf_counter() - begin)}.")
    for line in report.choices(estimator):
        print_line(line)
    for name, values in estimator.evals_result_.get("validation", {}).items():
        rounds = counted(estimator.best_n_rounds_, "round")
        print_line(f"Validation: {name} {report.number(values[estimator.best_n_rounds_ - 1])} after {rounds}.")
    report.show_importances(estimator, list(found.rows.schema.names))
    if outputs.out is not None:
        rows = f"all {counted(found.rows.n_rows, 'row')}"
        print_line(f"Saved model: {write_model(estimator, outputs.out, found.readings)}. It was trained on {rows}.")


class _Stages:
    """Shows coding and training on one bar."""

    def __init__(self, bar: RoundsBar) -> None:
        self._bar = bar

    def __call__(self, progress: RoundProgress) -> None:
        """Show what is done."""
        self._bar.rename("coding" if isinstance(progress, Shown) else "training")
        self._bar(progress)


def _find(data: Path, options: TrainingOptions) -> _Found:
    """Read the rows once, or the contents of a code file."""
    from sapwood.cli.data_file import open_data
    from sapwood.cli.encode import READINGS, EncodeOptions, ShownSource, open_text, print_survey, read_survey
    from sapwood.codes.code_file import CodeFile, is_code_file
    from sapwood.table.reading import Reading
    from sapwood.threads import available_cores

    if is_code_file(data):
        file = CodeFile.open(data)
        noted = file.contents.notes.get(READINGS, {})
        readings = {name: Reading(kind, form) for name, (kind, form) in noted.items()}
        roles = file.contents.roles
        return _Found(file, options.target or roles["target"] or "", options.weight or roles["weight"], readings)
    if not options.target:
        raise typer.BadParameter("Missing option '--target'.")
    names = ("target", "task", "weight", "drop", "category", "drop_missing_target", "file_format")
    own = EncodeOptions(**{name: getattr(options, name) for name in names})
    source = open_text(open_data(data, options.file_format), own, data)
    shown = ShownSource(source)
    with share_bar("reading") as shown.show:
        found = read_survey(shown, own, available_cores())
    shown.show = _show_nothing  # from now on, coding is shown
    print_survey(found, own)
    return _Found(found, options.target, options.weight, source.readings)


def _show_nothing(_: float) -> None:
    """The share that has been read is shown by others."""


def _estimator(options: TrainingOptions, batches: BatchOptions, task: Task) -> NewtonBoosting:
    from sapwood.cli.model_kinds import new_estimator

    given = {} if batches.max_memory is None else {"max_memory": batches.max_memory}
    given |= {} if batches.scratch is None else {"scratch": str(batches.scratch)}
    without_columns = replace(options, category=[])  # which the rows are read with already
    estimator: NewtonBoosting = new_estimator(without_columns, task).set_params(**given)
    return estimator


def _validation(path: Path, options: TrainingOptions, found: _Found) -> Any:
    """Other rows, whose text is read as in training."""
    from sapwood.cli.data_file import open_data
    from sapwood.cli.encode import ReadText

    required = found.target if options.drop_missing_target else None
    return ReadText(open_data(path, options.file_format, list(found.readings)), found.readings, required)

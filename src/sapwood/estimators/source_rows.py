"""Training rows that are read batch by batch: of files, lazy frames, relations and anything that yields frames.

Two passes: the first one finds schema, levels, classes and the sample that bins are made of, the second one codes the
rows. What is kept of them, and where, follows from `max_memory` (`boosting/memory_plan.py`). Few rows become a table,
as if they had been given as one, so that everything that needs cells works on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sapwood.arrays import Array, Floats, Ints
from sapwood.boosting.fitting import CodedRows, Rows
from sapwood.boosting.limits import check_size
from sapwood.boosting.memory_plan import Keep, TrainingPlan
from sapwood.codes.block_table import BlockTable
from sapwood.codes.code_file import CodeFile
from sapwood.errors import InputError, ParameterError
from sapwood.estimators.boosting_rows import GivenRows, weight_by_query
from sapwood.estimators.boosting_task import BoostingTask
from sapwood.estimators.source_table import read_whole, rows_of_queries
from sapwood.estimators.training_plan import check_space, classes_of, find_rows, plan_of
from sapwood.shard.arrays_of_rows import ArraysOfRows, InMemory, OnDisk
from sapwood.sources.encode import encode, read_tables
from sapwood.sources.survey import Survey
from sapwood.sources.target_facts import code_labels
from sapwood.table.schema import Schema, Unseen
from sapwood.table.table import Table
from sapwood.table.text_warning import warn_of_classes
from sapwood.table.unread import UnreadStorage
from sapwood.threads import resolve_jobs

if TYPE_CHECKING:
    from sapwood.estimators.newton_boosting import NewtonBoosting


@dataclass(frozen=True, eq=False)
class ReadRows:
    """Rows to train on, the task, and how many rows there were, those of weight zero included."""

    rows: Rows
    task: BoostingTask
    n_given: int
    arrays: ArraysOfRows = field(default_factory=InMemory)  # where other arrays of rows are to be kept


def read_source_rows(
    model: NewtonBoosting, given: GivenRows, validation: Sequence[GivenRows], start: Any, folder: Path, verbose: int
) -> ReadRows:
    """Rows to train on; files are written to the folder."""
    found = find_rows(model, given.X, given.y, verbose)
    plan = plan_of(model, found, validation)
    classes = classes_of(found)
    if classes is not None and start is None:
        warn_of_classes([classes], found.n_rows)
    if isinstance(found, CodeFile):
        _check_method(model, plan)
        check_space(plan, folder)
        return _of_codes(model, found, None, None, plan, folder)
    if found.target is None:
        raise ParameterError("A source of rows needs the name of its target. Pass target='price', say.")
    if plan.is_table:
        return _as_table(model, found, start)
    _check_start(start, found.schema, found.source.label)
    _check_method(model, plan)
    check_space(plan, folder)
    jobs, bins = resolve_jobs(model.n_jobs), min(255, model.max_bin)
    rows = plan.block_rows
    file = encode(found, folder / "rows.codes", max_bins=bins, block_rows=rows, n_jobs=jobs, verbose=verbose)
    read = _of_codes(model, file, found, start, plan, folder)
    if plan.keep is Keep.MEMORY:  # nothing reads it again
        file.path.unlink(missing_ok=True)
    return read


def _check_start(start: Any, schema: Schema, label: str) -> None:
    """Codes of levels must mean the same in the model that is continued."""
    if start is None:
        return
    known = [(own.name, own.kind, own.levels) for own in start.schema_.columns]
    if known != [(own.name, own.kind, own.levels) for own in schema.columns]:
        raise InputError(
            f"The columns or levels of {label!r} differ from those of init_model. Continue with rows of the same "
            "columns and levels, or pass them as a table."
        )


def _check_method(model: NewtonBoosting, plan: TrainingPlan) -> None:
    """Only histograms can be made of blocks."""
    name = type(model).__name__
    if model.tree_method not in ("hist", "auto"):
        raise ParameterError(
            f"tree_method={model.tree_method!r} is not allowed for {name} on {plan.size.n_rows:,} rows of a source "
            "that is read batch by batch: it needs all cells in memory. Use tree_method='hist'."
        )
    if model.max_bin > 256:
        raise ParameterError(
            f"max_bin={model.max_bin} is not allowed for {name} on rows that are read batch by batch. Use at most 256."
        )
    if model.cv is not None:
        raise ParameterError(
            f"cv={model.cv!r} is not allowed for {name} on {plan.size.n_rows:,} rows that are read batch by batch: "
            "folds need all cells in memory. Set n_estimators, or early_stopping_rounds with validation_fraction."
        )
    for parameter, used in (("linear_tree", (True, "validate")), ("target_statistics", (True,))):
        value = getattr(model, parameter)
        if any(value is one or value == one for one in used):
            raise ParameterError(
                f"{parameter}={value!r} is not allowed for {name} on {plan.size.n_rows:,} rows that are read batch by "
                f"batch: it needs all cells in memory. Use {parameter}=False."
            )


def _as_table(model: NewtonBoosting, found: Survey, start: Any) -> ReadRows:
    """All cells in memory, as if they had been given as a table."""
    assert found.target is not None
    task = model.task(found.target.classes) if start is None else model.task.known_to(start)
    schema = found.schema if start is None else start.schema_
    unseen: Unseen = "missing" if start is None else "error"

    def code(y: Array) -> Array:
        return code_labels(y, task.classes).astype(np.float64)

    read = read_whole(found.source, found.roles, schema, code, found.n_rows, unseen=unseen, again=start is None)
    rows, task = _weighed(model, task, read.table, (read.y, read.weight, read.groups))
    return ReadRows(replace(rows, index=read.index), task, found.n_given)


def _of_codes(
    model: NewtonBoosting, file: CodeFile, found: Survey | None, start: Any, plan: TrainingPlan, folder: Path
) -> ReadRows:
    """Rows of which the codes are kept, in memory or in the file."""
    jobs, label = resolve_jobs(model.n_jobs), str(file.path)
    source = None if found is None else (found.source, found.roles, found.schema)  # and not the sample of its cells
    arrays = OnDisk(folder) if plan.keep is Keep.ALL_ON_DISK else InMemory()
    table = file.table(jobs) if plan.keep is Keep.MEMORY else BlockTable(file)
    y, weight, query = (_column(file, name, arrays) for name in ("y", "weight", "query"))
    assert y is not None

    def batches() -> Iterator[Table]:
        if source is None:
            raise InputError(f"The cells of the code file {label!r} are needed. Pass the data files.")
        for part, rows in read_tables(*source, again=True):
            yield rows if part.used is None else rows.take_within(part.used)

    task = model.task(file.contents.classes) if start is None else model.task.known_to(start)
    if start is not None and not np.array_equal(_listed(task.classes), _listed(file.contents.classes)):
        raise InputError("The classes of the target differ from those of init_model. Use rows with the same classes.")
    unread = Table(file.schema, UnreadStorage(file.n_rows, file.contents.source))
    groups = None if query is None else rows_of_queries(query)
    rows, task = _weighed(model, task, unread, (y, weight, groups))
    coded = CodedRows(table, arrays, batches, file.contents.digests["table"], plan.copies_samples)
    return ReadRows(replace(rows, coded=coded), task, file.contents.n_given, arrays)


def _listed(classes: Array | None) -> Array:
    return np.empty(0) if classes is None else classes


def _column(file: CodeFile, name: str, arrays: InMemory | OnDisk) -> Array | None:
    """A column beside the features, block by block."""
    found: Array | None = None
    for block in file:
        values = getattr(block, name)
        if values is None:
            return None
        if found is None:
            found = arrays.empty(file.n_rows, np.int64 if name == "query" else np.float64)
        found[block.start : block.start + block.n_rows] = values
    return found


def _weighed(
    model: NewtonBoosting, task: BoostingTask, table: Table, others: tuple[Floats, Floats | None, Ints | None]
) -> tuple[Rows, BoostingTask]:
    """Rows with the weights of their classes, and of their queries."""
    target, weight, groups = others
    if groups is not None:
        weight = weight_by_query(weight, len(target), groups, model.weight_name)
    task, own = task.weigh(model, target, weight)
    measured = None if own is weight else np.ones(len(target)) if weight is None else weight
    if own is not None and not own.all():
        raise InputError(
            "class_weight gives a class a weight of zero, whose rows would have to be left out. Leave them out of the "
            "source."
        )
    check_size(target, own, model.weight_name)
    return Rows(table, target, own, groups, measured=measured), task

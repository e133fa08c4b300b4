"""Training rows that are read batch by batch: of files, lazy frames, relations and anything that yields frames.

Two passes: the first one finds schema, levels, classes and the sample that bins are made of, the second one codes the
rows. What is kept of them, and where, follows from `max_memory` (`boosting/memory_plan.py`). Few rows become a table,
as if they had been given as one, so that everything that needs cells works on them.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sapwood.arrays import Array, Floats, Ints
from sapwood.boosting.fitting import CodedRows, Rows
from sapwood.boosting.limits import check_size
from sapwood.boosting.memory_plan import Keep, TrainingPlan, TrainingSize, plan_for
from sapwood.boosting.recipe import MOST_ROWS
from sapwood.codes.binned import row_width
from sapwood.codes.block_table import BlockTable
from sapwood.codes.bundles import spaced
from sapwood.codes.code_file import CodeFile, is_code_file
from sapwood.errors import InputError, ParameterError
from sapwood.estimators.boosting_rows import weight_by_query
from sapwood.estimators.boosting_task import BoostingClasses, BoostingTask
from sapwood.memory_size import read_size
from sapwood.shard.arrays_of_rows import InMemory, OnDisk
from sapwood.shard.gradient_units import PACKED_ROWS
from sapwood.sources.encode import encode, read_tables
from sapwood.sources.open import is_source, open_source
from sapwood.sources.rows import Part, Roles
from sapwood.sources.survey import Survey, survey
from sapwood.sources.target_facts import Queries, code_labels
from sapwood.table.column import Column
from sapwood.table.schema import Schema
from sapwood.table.storage import ColumnStorage
from sapwood.table.table import Table
from sapwood.table.unread import UnreadStorage
from sapwood.threads import resolve_jobs

if TYPE_CHECKING:
    from sapwood.estimators.newton_boosting import NewtonBoosting

SCRATCH = "sapwood-scratch-"
USUAL_SPLITS = 6


@dataclass(frozen=True)
class SourceColumns:
    """The columns of a source that are not features."""

    target: str | None  # None: that of a code file
    weight: str | None = None
    query: str | None = None


@dataclass(frozen=True, eq=False)
class ReadRows:
    """Rows to train on, the task, and how many rows there were, those of weight zero included."""

    rows: Rows
    task: BoostingTask
    n_given: int
    plan: TrainingPlan | None = None


def is_training_source(X: Any) -> bool:
    """Whether rows are read batch by batch: a path or another source, or a code file."""
    return isinstance(X, CodeFile) or (type(X) is not np.ndarray and is_source(X))


def source_columns(y: Any, target: str | None, weight: Any, weight_name: str, query: Any = None) -> SourceColumns:
    """The names of columns that the user gave, of which y may be one."""
    if isinstance(y, str) and target is None:
        target, y = y, None
    if y is not None:
        raise ParameterError("y is not allowed with a source of rows. Name the column of the target: target='price'.")
    for name, value in ((weight_name, weight), ("qid", query)):
        if value is not None and not isinstance(value, str):
            kind = type(value).__name__
            raise ParameterError(f"{name} of a source of rows must be the name of a column, not a {kind}.")
    return SourceColumns(target, weight, query)


@contextmanager
def scratch_folder(given: Any) -> Iterator[Path]:
    """A folder for scratch files, which is removed at the end, however training ends.

    Those that killed processes left behind are removed before.
    """
    parent = Path(tempfile.gettempdir() if given is None else os.fspath(given))
    if not parent.is_dir():
        raise ParameterError(f"scratch={str(parent)!r} is not a folder. Create it, or give another one.")
    for old in parent.glob(f"{SCRATCH}*"):
        number = old.name.removeprefix(SCRATCH).split("-")[0]
        if number.isdecimal() and not _runs(int(number)):
            shutil.rmtree(old, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{SCRATCH}{os.getpid()}-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _runs(process: int) -> bool:
    """Whether there is a process of this number."""
    if os.name != "posix":
        return True  # it cannot be asked without harm
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def read_source_rows(estimator: NewtonBoosting, X: Any, columns: SourceColumns, start: Any, folder: Path) -> ReadRows:
    """Rows to train on; files are written to the folder."""
    file = _code_file(X)
    if file is not None:
        return _of_code_file(estimator, file, columns, start, folder)
    if columns.target is None:
        raise ParameterError("A source of rows needs the name of its target. Pass target='price', say.")
    found = _survey(estimator, X, columns)
    _check_start(start, found.schema, found.source.label)
    plan = plan_of(estimator, found)
    if found.n_rows < MOST_ROWS and plan.keep is Keep.MEMORY:
        return _as_table(estimator, found, start, plan)
    _check_method(estimator, plan)
    jobs, bins = resolve_jobs(estimator.n_jobs), min(255, estimator.max_bin)
    rows, verbose = plan.block_rows, estimator.verbose
    file = encode(found, folder / "rows.codes", max_bins=bins, block_rows=rows, n_jobs=jobs, verbose=verbose)
    return _of_codes(estimator, file, found, start, plan, folder)


def plan_of(estimator: NewtonBoosting, found: Survey | CodeFile) -> TrainingPlan:
    """Where the arrays of a training on these rows will be."""
    schema, n_rows = found.schema, found.n_rows
    if isinstance(found, CodeFile):
        n_codes = np.array([own.n_codes for own in found.bins], dtype=np.int64)
        classes, weighted, label = found.contents.classes, found.contents.roles["weight"] is not None, str(found.path)
    else:
        most = min(255, int(estimator.max_bin))
        n_codes = np.where(schema.n_levels > 0, np.minimum(schema.n_levels, 255), most).astype(np.int64)
        classes = None if found.target is None else found.target.classes
        weighted, label = found.has_weight, found.source.label
    n_classes = 0 if classes is None else len(classes)
    n_scores = n_classes if n_classes > 2 else 1
    p = estimator.tree_limits(n_rows, schema.n_features, n_classes)
    depth, leaves = p.max_depth or USUAL_SPLITS, p.max_leaves
    size = TrainingSize(
        n_rows,
        schema.n_features,
        row_width(schema.n_features),
        n_scores,
        int(spaced(n_codes + 1)[-1]),
        leaves or 1 << min(depth, 20),
        p.n_estimators,
        (leaves if leaves and p.grow_policy == "lossguide" else min(depth, 20)),
        weighted=weighted or estimator.class_weight is not None if n_classes else weighted,
        sampled=p.subsample < 1.0,
        short=n_classes > 0 and n_rows >= PACKED_ROWS,
        one_tree=n_scores > 1 and p.multi_strategy == "multi_output_tree",
        batch_bytes=min(n_rows, 1 << 17) * schema.n_features * 8,
    )
    return plan_for(size, read_size(estimator.max_memory), label)


def _survey(estimator: NewtonBoosting, X: Any, columns: SourceColumns) -> Survey:
    roles = Roles(target=columns.target, weight=columns.weight, query=columns.query)
    task = "classes" if estimator.task is BoostingClasses else "numbers"
    return survey(
        open_source(X),
        roles,
        task=task,  # type: ignore[arg-type]
        categorical_features=estimator.categorical_features,
        n_jobs=resolve_jobs(estimator.n_jobs),
        verbose=estimator.verbose,
    )


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


def _check_method(estimator: NewtonBoosting, plan: TrainingPlan) -> None:
    """Only histograms can be made of blocks."""
    name = type(estimator).__name__
    if estimator.tree_method not in ("hist", "auto"):
        raise ParameterError(
            f"tree_method={estimator.tree_method!r} is not allowed for {name} on {plan.size.n_rows:,} rows of a source "
            "that is read batch by batch: it needs all cells in memory. Use tree_method='hist'."
        )
    if estimator.max_bin > 256:
        raise ParameterError(
            f"max_bin={estimator.max_bin} is not allowed for {name} on rows that are read batch by batch. Use at most "
            "256."
        )
    for parameter, used in (("linear_tree", (True, "validate")), ("target_statistics", (True,))):
        value = getattr(estimator, parameter)
        if any(value is one or value == one for one in used):
            raise ParameterError(
                f"{parameter}={value!r} is not allowed for {name} on {plan.size.n_rows:,} rows that are read batch by "
                f"batch: it needs all cells in memory. Use {parameter}=False."
            )


def _as_table(estimator: NewtonBoosting, found: Survey, start: Any, plan: TrainingPlan) -> ReadRows:
    """All cells in memory, as if they had been given as a table."""
    parts: list[tuple[list[Array], Part]] = []
    index: list[Array] = []
    for part, table in read_tables(found.source, found.roles, found.schema, again=True):
        used = np.arange(part.n_rows) if part.used is None else part.used
        index.append(used + part.batch.first)
        parts.append(([table.values(j)[used] for j in range(table.n_features)], part))
    columns = [
        Column(own.kind, np.concatenate([cells[j] for cells, _ in parts]), own.levels)
        for j, own in enumerate(found.schema.columns)
    ]
    assert found.target is not None
    queries, classes = Queries(), found.target.classes
    y, weight, query = [], [], []
    for used, (_, part) in zip(index, parts, strict=True):
        own = used - part.batch.first
        assert part.y is not None
        y.append(code_labels(part.y[own], classes).astype(np.float64))
        weight += [] if part.weight is None else [part.weight[own]]
        query += [] if part.query is None else [queries.number(part.query, part.batch.place)[own]]
    all_rows = np.concatenate(index) if len(np.concatenate(index)) < found.n_given else None
    table = Table(found.schema, ColumnStorage(columns))
    others = np.concatenate(y), _joined(weight), _joined(query)
    return _rows(estimator, table, others, classes, start, found.n_given, plan, all_rows)


def _joined(parts: list[Array]) -> Array | None:
    return np.concatenate(parts) if parts else None


def _of_code_file(
    estimator: NewtonBoosting, file: CodeFile, columns: SourceColumns, start: Any, folder: Path
) -> ReadRows:
    """Rows of a file that `sapwood encode` wrote."""
    roles = file.contents.roles
    for name, wanted in (("target", columns.target), ("weight", columns.weight), ("query", columns.query)):
        if wanted is not None and wanted != roles[name]:
            raise InputError(
                f"The code file {str(file.path)!r} has the {name} {roles[name]!r}, not {wanted!r}. Encode the data "
                "again with that one, or leave it out."
            )
    if roles["target"] is None:
        raise InputError(f"The code file {str(file.path)!r} has no target. Encode the data again with one.")
    if start is not None:
        raise ParameterError("init_model is not allowed with a code file, which has no cells. Pass the data files.")
    is_class = file.contents.classes is not None
    if is_class is not (estimator.task is BoostingClasses):
        kind = "classes" if is_class else "numbers"
        raise InputError(
            f"The target of the code file {str(file.path)!r} holds {kind}, which {type(estimator).__name__} does not "
            "predict. Use another estimator, or encode the data with another task."
        )
    plan = plan_of(estimator, file)
    _check_method(estimator, plan)
    return _of_codes(estimator, file, None, None, plan, folder)


def _of_codes(
    estimator: NewtonBoosting, file: CodeFile, found: Survey | None, start: Any, plan: TrainingPlan, folder: Path
) -> ReadRows:
    """Rows of which the codes are kept, in memory or in the file."""
    jobs, label = resolve_jobs(estimator.n_jobs), str(file.path)
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

    coded = CodedRows(table, arrays, batches, file.contents.digests["table"])
    unread = Table(file.schema, UnreadStorage(file.n_rows, file.contents.source))
    read = _rows(estimator, unread, (y, weight, query), file.contents.classes, start, file.contents.n_given, plan, None)
    return replace(read, rows=replace(read.rows, coded=coded))


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


def _rows(
    estimator: NewtonBoosting,
    table: Table,
    others: tuple[Floats, Floats | None, Ints | None],
    classes: Array | None,
    start: Any,
    n_given: int,
    plan: TrainingPlan,
    index: Array | None,
) -> ReadRows:
    target, weight, query = others
    task = estimator.task(classes) if start is None else estimator.task.known_to(start)
    if start is not None and classes is not None and list(task.classes or ()) != list(classes):
        raise InputError("The classes of the target differ from those of init_model. Use rows with the same classes.")
    groups = None if query is None else np.diff(np.flatnonzero(np.diff(query, prepend=-1, append=-1)))
    if groups is not None and weight is not None:
        weight = weight_by_query(weight, len(target), groups, estimator.weight_name)
    task, own = task.weigh(estimator, target, weight)
    measured = None if own is weight else np.ones(len(target)) if weight is None else weight
    if own is not None and not own.all():
        raise InputError(
            "class_weight gives a class a weight of zero, whose rows would have to be left out. Leave them out of the "
            "source."
        )
    check_size(target, own, estimator.weight_name)
    return ReadRows(Rows(table, target, own, groups, measured=measured, index=index), task, n_given, plan)


def _code_file(X: Any) -> CodeFile | None:
    if isinstance(X, (str, os.PathLike)) and is_code_file(Path(os.fspath(X))):
        return CodeFile.open(X)
    return X if isinstance(X, CodeFile) else None

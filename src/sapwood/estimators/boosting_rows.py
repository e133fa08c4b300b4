"""Rows as boosting gets them: table, target and weights, without rows that count for nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sapwood.arrays import Floats, Ints
from sapwood.boosting.fitting import Rows
from sapwood.boosting.limits import check_size
from sapwood.errors import naming
from sapwood.estimators.boosting_task import BoostingTask
from sapwood.losses.loss import Loss
from sapwood.table.digest import digest_arrays, digest_numbers, digest_table
from sapwood.table.identifiers import warn_of_identifiers
from sapwood.table.queries import remaining_queries, weight_of_rows
from sapwood.table.storage import Absent
from sapwood.table.table import Table
from sapwood.table.target import warn_of_column
from sapwood.table.weight import check_weight

if TYPE_CHECKING:
    from sapwood.estimators.boosting import Boosting


@dataclass(frozen=True)
class GivenRows:
    """Rows as the user gave them: for training, or a validation set with its name and the argument it came in."""

    X: Any
    y: Any
    weight: Any = None
    queries: Callable[[int], Ints] | None = None  # from the number of rows to the rows of each query
    name: str = "train"
    argument: str = ""


def read_boosting_rows(estimator: Boosting, given: GivenRows, start: Any = None) -> tuple[Rows, BoostingTask]:
    """Rows to train on, and the task; rows of weight zero are removed before anything else looks at them."""
    warn_of_column(given.y)
    if start is None:
        absent: Absent = getattr(estimator, "sparse_absent", "zero")
        table = Table.from_any(given.X, categorical_features=estimator.categorical_features, sparse_absent=absent)
        warn_of_identifiers(table)
        task, target = estimator.task.of(estimator.task.target_type.from_any(given.y, table.n_rows))
    else:
        table = start.schema_.match(given.X, unseen="error", owner=type(estimator).__name__)
        task = estimator.task.known_to(start)
        target = task.code(given.y, table.n_rows)
    take, index = Table.take if start is None else Table.take_within, None
    groups, weight = None, None
    if given.queries is None:
        weight = check_weight(given.weight, table.n_rows)
    else:
        groups = given.queries(table.n_rows)
        weight = weight_by_query(given.weight, table.n_rows, groups, estimator.weight_name)
    if weight is not None and not weight.all():
        index = used = np.flatnonzero(weight)
        task, target = task.take(target, used) if start is None else (task, target[used])
        table, weight = take(table, used), weight[used]
        groups = None if groups is None else remaining_queries(groups, used)
    task, own = task.weigh(estimator, target, weight)
    measured = None if own is weight else np.ones(len(target)) if weight is None else weight  # without class weights
    if own is not None and not own.all():  # a class of weight zero remains a class, but its rows count for nothing
        used = np.flatnonzero(own)
        table, target, own = take(table, used), target[used], own[used]
        index = used if index is None else index[used]
        measured = None if measured is None else measured[used]
    check_size(target, own, estimator.weight_name)
    return Rows(table, target, own, groups, measured=measured, index=index), task


def weight_by_query(weight: Any, n_rows: int, groups: Ints, name: str) -> Floats | None:
    """Weights of rows, from those of queries or of rows."""
    given = weight_of_rows(weight, groups, name)
    with naming(name):
        return check_weight(given, n_rows)


def read_validation_rows(estimator: Boosting, given: GivenRows, task: BoostingTask, loss: Loss) -> Rows:
    """A validation set in the columns and codes of training."""
    with naming(given.argument):
        table = estimator.schema_.match(given.X, unseen="missing", owner=type(estimator).__name__)
        target = task.code(given.y, table.n_rows)
        loss.check_domain(target)  # losses ask more of the rows of training
        if given.queries is None:
            return Rows(table, target, check_weight(given.weight, table.n_rows), None, given.name)
        groups = given.queries(table.n_rows)
        weight = weight_by_query(given.weight, table.n_rows, groups, estimator.weight_name)
        return Rows(table, target, weight, groups, given.name)


def digests(parts: Sequence[Rows], start: Any) -> dict[str, str]:
    """Digests of training and validation rows, and of the model that is continued, by the names of arguments."""
    found = {}
    for number, rows in enumerate(parts):
        of = "" if number == 0 else f"eval_set[{number - 1}]: "
        found[f"{of}X"] = digest_table(rows.table) if rows.coded is None else rows.coded.digest
        found[f"{of}y"] = digest_numbers(rows.y)
        found[f"{of}weight"] = digest_numbers(rows.weight, rows.measured)
        found[f"{of}group"] = digest_arrays(rows.groups)
    if start is not None:
        from sapwood.estimators.model_file import fingerprint  # which knows all estimators

        found["init_model"] = fingerprint(start)
    return found

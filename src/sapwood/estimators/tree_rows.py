"""Training rows of trees, forests, bagging and AdaBoost: table, target and weights, without rows of weight zero."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Floats
from sapwood.errors import InputError
from sapwood.estimators.settings import class_weights
from sapwood.estimators.task import Task
from sapwood.model.model import Model
from sapwood.table.digest import digest_arrays, digest_table
from sapwood.table.identifiers import warn_of_identifiers
from sapwood.table.table import Table
from sapwood.table.target import ClassTarget, NumberTarget, warn_of_column
from sapwood.table.weight import check_weight


@dataclass(frozen=True, eq=False)
class TreeRows:
    """Rows with a weight above zero; `used` are their numbers among all rows given, None if these are all."""

    table: Table
    target: Any
    weight: Floats | None  # of the rows, times those of their classes
    used: NDArray[np.intp] | None = None
    given: Floats | None = None  # of the rows alone
    n_given: int = 0  # rows that the user gave

    @property
    def weights(self) -> Floats:
        """Weight of every row."""
        return np.ones(self.table.n_rows) if self.weight is None else self.weight

    def take(self, rows: NDArray[np.intp], target: ClassTarget | NumberTarget) -> TreeRows:
        """Some of the rows, and their target."""
        used = rows if self.used is None else self.used[rows]
        weight, given = (None if own is None else own[rows] for own in (self.weight, self.given))
        return TreeRows(self.table.take(rows), target, weight, used, given, self.n_given)

    def weighted_by_class(self, setting: Any, owner: str) -> TreeRows:
        """Rows whose weights are multiplied by those of their classes; a class of weight zero remains a class."""
        weight = self.weights * class_weights(setting, self.target, owner)
        rows = replace(self, weight=weight)
        if weight.all():
            return rows
        used = np.flatnonzero(weight)
        return rows.take(used, replace(self.target, codes=self.target.codes[used]))

    def among_all(self, values: Floats) -> Floats:
        """Values of the rows, among all rows given; NaN for rows of weight zero."""
        if self.used is None:
            return values
        out = np.full((self.n_given, *values.shape[1:]), np.nan)
        out[self.used] = values
        return out

    def digests(self) -> dict[str, str]:
        """Digests of the rows, by the names of the arguments of `fit`."""
        is_class = isinstance(self.target, ClassTarget)
        labels = repr([own.tolist() for own in self.target.classes]) if is_class else ""
        return {
            "X": digest_table(self.table),
            "y": digest_arrays(self.target.numbers) + labels,
            "sample_weight": digest_arrays(self.weight, self.used),
        }


def read_tree_rows(
    X: Any,
    y: Any,
    sample_weight: Any,
    task: Task,
    tree: Any = None,
    *,
    weigh_classes: bool = True,
    n_members: int | None = None,
    relative: bool = False,
) -> TreeRows:
    """Read what `fit` was given, and warn of columns that look like identifiers.

    `tree` has the parameters that decide which columns are categories and what classes weigh (unless balanced anew
    for each tree of a forest). `n_members` is the size of an ensemble, None for a single tree. `relative` weights
    tell rows apart: if all are the same, they become None.
    """
    if n_members is not None:
        warn_of_column(y)
    table = Table.from_any(X, categorical_features=getattr(tree, "categorical_features", "from_dtype"))
    target, weight = task.read(y, table.n_rows), check_weight(sample_weight, table.n_rows)
    rows = TreeRows(table, target, weight, None, weight, table.n_rows)
    if weight is not None and not weight.all():
        used = np.flatnonzero(weight)
        rows = rows.take(used, target.take(used))
    class_weight = getattr(tree, "class_weight", None) if weigh_classes else None
    if class_weight is not None and str(class_weight) != "balanced_subsample":
        rows = rows.weighted_by_class(class_weight, type(tree).__name__)
    if n_members is not None and isinstance(rows.target, NumberTarget):
        largest = float(np.abs(rows.target.values).max(initial=0.0))
        if largest > np.finfo(np.float64).max / max(2, n_members):  # nor may a difference overflow
            raise InputError(
                f"y reaches {largest:.3g}: the sum of {n_members} such predictions is larger than a 64-bit float can "
                "be. Divide y by a constant."
            )
    warn_of_identifiers(rows.table)
    if relative:
        same = [own is None or bool((own == own[0]).all()) for own in (rows.weight, rows.given)]
        rows = replace(rows, weight=None if same[0] else rows.weight, given=None if same[1] else rows.given)
    return rows


def require_same(model: Model, rows: TreeRows) -> None:
    """Refuse to add to a model whose columns, levels, outputs or classes are not those of the rows."""
    ours, theirs = ([(c.name, c.kind, c.levels) for c in s.columns] for s in (model.schema, rows.table.schema))
    if ours != theirs:
        odd = next((new[0] for own, new in zip(ours, theirs, strict=False) if own != new), theirs[-1][0])
        raise InputError(
            "warm_start=True requires the columns of the previous fit, with the same types and levels, but X "
            f"differs from {odd!r} on. Fit anew with warm_start=False."
        )
    target = rows.target
    classes = target.classes if isinstance(target, ClassTarget) else []
    same = [list(own) for own in model.classes] == [list(own) for own in classes]
    if not same or (not classes and len(model.score_names) != target.n_outputs):
        raise InputError(
            "warm_start=True requires the outputs and classes of the previous fit, but y has others. Fit anew with "
            "warm_start=False."
        )

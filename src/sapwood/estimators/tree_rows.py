"""What trees, forests, bagging and AdaBoost are fitted to: rows of a weight above zero, and their task.

A task, classes or numbers, reads the target, and turns out-of-bag predictions into fitted attributes. Everything in
between (weights, criteria, statistics, trees) takes the target as it was read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score

from sapwood.arrays import Floats
from sapwood.errors import InputError, warn_user
from sapwood.estimators.settings import class_weights
from sapwood.forest.out_of_bag import OutOfBag, class_shares
from sapwood.model.model import Model
from sapwood.table.digest import digest_arrays, digest_table
from sapwood.table.identifiers import warn_of_identifiers
from sapwood.table.table import Table
from sapwood.table.target import ClassTarget, NumberTarget, warn_of_column
from sapwood.table.text_warning import warn_of_classes
from sapwood.table.weight import check_weight

if TYPE_CHECKING:
    from sapwood.estimators.forest import ForestEstimator

Score = bool | Callable[..., float]


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


class Task(ABC):
    """What is to be predicted."""

    kind: ClassVar[str]

    @abstractmethod
    def read(self, y: Any, n_rows: int) -> ClassTarget | NumberTarget:
        """The target that `fit` was given."""

    def out_of_bag(self, forest: ForestEstimator, rows: TreeRows) -> OutOfBag:  # noqa: ARG002
        """Sums of the votes for rows outside of the bags of a forest."""
        return OutOfBag(rows.target, rows.given)

    @abstractmethod
    def measure(self, found: OutOfBag, rows: TreeRows, score: Score) -> dict[str, Any]:
        """Fitted attributes that follow from out-of-bag predictions; `score` may be the user's own function."""


class ClassTask(Task):
    """Classes, of one output or several."""

    kind: ClassVar = "classifier"

    def read(self, y: Any, n_rows: int) -> ClassTarget:
        """Labels of any type."""
        target = ClassTarget.from_any(y, n_rows)
        warn_of_classes(target.classes, len(target.codes))
        return target

    def out_of_bag(self, forest: ForestEstimator, rows: TreeRows) -> OutOfBag:
        """The same, with the shares of the classes, which count as `prior_weight` trees unless votes are hard."""
        if forest.voting == "hard" or not forest.prior_weight:
            return super().out_of_bag(forest, rows)
        order, is_balanced = forest._bags.order, str(getattr(forest, "class_weight", None)) == "balanced_subsample"
        weights = None if rows.weight is None else rows.weight[order]
        shares = class_shares(rows.target, order, weights, balanced=is_balanced)
        return OutOfBag(rows.target, rows.given, shares, float(forest.prior_weight))

    def measure(self, found: OutOfBag, rows: TreeRows, score: Score) -> dict[str, Any]:
        """Probabilities, and accuracy: of several outputs the share of rows for which all are right."""
        target, seen, shares = rows.target, found.counts > 0, found.predictions()
        everywhere, sizes = rows.among_all(shares), target.n_classes
        decisions: Any = [everywhere[:, o, :size] for o, size in enumerate(sizes)]
        if target.single:
            decisions = decisions[0]
        elif len(set(sizes)) == 1:  # scikit-learn's shape: (rows, classes, outputs)
            decisions = everywhere.transpose(0, 2, 1)
        truth, predicted = target.labels(target.codes[seen]), target.labels(shares[seen].argmax(axis=2))
        if callable(score) or not len(predicted):
            accuracy = _own_score(score, truth, predicted)
        else:
            is_right = truth == predicted if target.single else (truth == predicted).all(axis=1)
            accuracy = float(np.average(is_right, weights=None if rows.given is None else rows.given[seen]))
        return _curve(found) | {"oob_decision_function_": decisions, "oob_score_": accuracy}


class NumberTask(Task):
    """Numbers, of one output or several."""

    kind: ClassVar = "regressor"

    def read(self, y: Any, n_rows: int) -> NumberTarget:
        """Numbers."""
        return NumberTarget.from_any(y, n_rows)

    def measure(self, found: OutOfBag, rows: TreeRows, score: Score) -> dict[str, Any]:
        """Predictions, R², and sorted residuals, which intervals are made of."""
        seen, means = found.counts > 0, found.predictions()[:, :, 0]
        everywhere = rows.among_all(means)
        truth, predicted = rows.target.values[seen], means[seen]
        if callable(score) or not len(predicted):
            r2 = _own_score(score, truth, predicted)
        else:
            r2 = float(r2_score(truth, predicted, sample_weight=None if rows.given is None else rows.given[seen]))
        return _curve(found) | {
            "oob_prediction_": everywhere[:, 0] if rows.target.single else everywhere,
            "oob_score_": r2,
            "_oob_residuals": np.sort(truth - predicted, axis=0),
        }


CLASSES, NUMBERS = ClassTask(), NumberTask()


def _own_score(score: Any, truth: Any, predicted: Any) -> float:
    """The user's measure; NaN if no row was outside of any bag."""
    return float(score(truth, predicted)) if len(predicted) else np.nan


def _curve(found: OutOfBag) -> dict[str, Any]:
    n_without = int(np.count_nonzero(found.counts == 0))
    if n_without:
        warn_user(
            f"{'1 row was' if n_without == 1 else f'{n_without} rows were'} in the bag of every tree, without OOB "
            "prediction (NaN) and without part in oob_score_. Grow more trees."
        )
    return {"oob_curve_": np.array(found.curve)}


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
        rows = replace(rows, weight=rows.weights * class_weights(class_weight, rows.target, type(tree).__name__))
        if not rows.weights.all():  # a class of weight zero remains a class
            used = np.flatnonzero(rows.weights)
            rows = rows.take(used, replace(rows.target, codes=rows.target.codes[used]))
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

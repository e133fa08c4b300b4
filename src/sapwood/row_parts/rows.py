"""What losses may ask about all rows: sums, means and quantiles of terms that each part computes from its rows.

Rows may be cut into parts that are elsewhere. A question is a function of one part, and its answer is small; both can
be pickled (a question is a function of a module, or `functools.partial` of one). What follows from the answers does not
depend on where rows are cut.

    rows.means(partial(squares, k))      # with: def squares(k: int, part: RowPart) -> Floats: return part.score[k] ** 2
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from sapwood.arrays import Array, Floats, Ints
from sapwood.cached_property import cached_property
from sapwood.row_parts.exact_sum import ExactSum
from sapwood.row_parts.quantiles import quantiles
from sapwood.row_parts.selection import Keyed, keys_of

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class RowPart:
    """Rows of a training that lie together. Those that take no part are left out, or have a group beyond the last."""

    y: Array  # (n,) or (n, targets)
    score: Floats  # (n_scores, n)
    weight: Floats | None = None
    group: Array | None = None  # the leaf of each row; None: all are in group 0


Values = Callable[[RowPart], Floats]  # terms of the rows of a part, (n,)


class RowParts(ABC):
    """Rows in parts, in groups 0 … n_groups - 1 (leaves); by default all are in one. Weights are taken care of."""

    n_groups: int = 1

    @abstractmethod
    def ask(self, question: Callable[[RowPart], T]) -> list[T]:
        """The answer of each part, in the order of the rows."""

    def sums(self, values: Values) -> ExactSum:
        """Σ w v of each group."""
        return ExactSum.merged(self.ask(partial(sums_of, values, self.n_groups)))

    @cached_property
    def weights(self) -> ExactSum:
        """Σ w of each group."""
        return self.sums(ones_of)

    def mean(self, values: Values) -> float:
        """Σ w v / Σ w of all rows."""
        return self.sums(values).over(self.weights)

    def means(self, values: Values) -> Floats:
        """Σ w v / Σ w of each group; 0 of one without rows."""
        weights = self.weights.rounded()
        return np.divide(self.sums(values).rounded(), weights, out=np.zeros(self.n_groups), where=weights > 0)

    def quantile(self, values: Values, share: float) -> float:
        """The weighted quantile of all rows; 0 without rows."""
        (found,) = self.quantiles(values, share).tolist()
        return float(found)

    def quantiles(self, values: Values, share: float) -> Floats:
        """The weighted quantile of each group; 0 of one without rows."""

        def ask(question: Callable[[Keyed], T], /) -> list[T]:
            return self.ask(partial(keyed_answer, question, values))

        return quantiles(ask, self.n_groups, share)

    def extremes(self, values: Values) -> tuple[Floats, Floats]:
        """Least and largest value of each group, of rows of weight above 0; inf and -inf of one without rows."""
        least, most = zip(*self.ask(partial(extremes_of, values, self.n_groups)), strict=True)
        return np.min(least, axis=0), np.max(most, axis=0)

    def changed(self, change: Callable[[RowPart], RowPart]) -> RowParts:
        """The same rows, of which each part is changed before it answers, for example to fewer rows."""
        return _ChangedRows(self, change)

    def regrouped(self, groups: Ints) -> RowParts:
        """The same rows, of which those of group g are in groups[g]; the last of `groups` is for rows of no group."""
        return self.changed(partial(regrouped, groups))

    def of_target(self, k: int) -> RowParts:
        """The same rows with target k and score k alone."""
        return self.changed(partial(target_of, k))


@dataclass(eq=False)
class LocalRows(RowParts):
    """Parts that are in this process."""

    parts: Sequence[RowPart]
    n_groups: int = 1

    @classmethod
    def of(
        cls,
        y: Array,
        weight: Floats | None = None,
        score: Floats | None = None,
        group: Array | None = None,
        n_groups: int = 1,
    ) -> LocalRows:
        """All rows as one part; scores are needed by some questions only."""
        return cls([RowPart(y, np.empty((0, len(y))) if score is None else score, weight, group)], n_groups)

    def ask(self, question: Callable[[RowPart], T]) -> list[T]:
        """Ask one part after the other."""
        return [question(part) for part in self.parts]


class _ChangedRows(RowParts):
    """Rows whose parts are changed."""

    def __init__(self, rows: RowParts, change: Callable[[RowPart], RowPart]) -> None:
        self._rows, self._change, self.n_groups = rows, change, rows.n_groups

    def ask(self, question: Callable[[RowPart], T]) -> list[T]:
        return self._rows.ask(partial(answer_of_changed, question, self._change))


def answer_of_changed(question: Callable[[RowPart], T], change: Callable[[RowPart], RowPart], part: RowPart) -> T:
    """The answer of a part that is changed before."""
    return question(change(part))


def target_of(k: int, part: RowPart) -> RowPart:
    """A part with target k and score k alone, in memory of their own, so that sums are those of the target alone."""
    return replace(part, y=np.ascontiguousarray(part.y[:, k]), score=part.score[k : k + 1])


def regrouped(groups: Ints, part: RowPart) -> RowPart:
    """A part whose rows have other groups."""
    assert part.group is not None
    return replace(part, group=groups[np.minimum(part.group, len(groups) - 1)])


def ones_of(part: RowPart) -> Floats:
    """1 for each row."""
    return np.ones(len(part.y))


def targets_of(part: RowPart) -> Floats:
    """The targets themselves."""
    return np.asarray(part.y)


def residuals_of(k: int, part: RowPart) -> Floats:
    """The distances y - F of score k."""
    return np.asarray(part.y - part.score[k])


def sums_of(values: Values, n_groups: int, part: RowPart) -> ExactSum:
    """Sums of a part."""
    if part.group is None:
        return ExactSum.of(values(part), part.weight)
    return ExactSum.by_group(values(part), part.weight, part.group, n_groups)


def keyed_answer(question: Callable[[Keyed], T], values: Values, part: RowPart) -> T:
    """The answer to a question about a part's values in their order."""
    return question(Keyed(keys_of(values(part)), part.weight, part.group))


def extremes_of(values: Values, n_groups: int, part: RowPart) -> tuple[Floats, Floats]:
    """Least and largest values of a part's groups."""
    least, most = np.full(n_groups, np.inf), np.full(n_groups, -np.inf)
    group = np.zeros(len(part.y), dtype=np.int64) if part.group is None else part.group
    use = group < n_groups if part.weight is None else (group < n_groups) & (part.weight > 0)
    own = values(part)[use]
    np.minimum.at(least, group[use], own)
    np.maximum.at(most, group[use], own)
    return least, most


def class_sums(n_classes: int, part: RowPart) -> ExactSum:
    """Σ w of the rows of each class of a part; y holds codes 0 … n_classes - 1."""
    return ExactSum.by_group(np.ones(len(part.y)), part.weight, part.y.astype(np.int64), n_classes)


def weights_of_classes(rows: RowParts, n_classes: int) -> Floats:
    """Σ w of the rows of each class."""
    return ExactSum.merged(rows.ask(partial(class_sums, n_classes))).rounded()

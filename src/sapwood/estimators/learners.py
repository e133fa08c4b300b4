"""Learners of AdaBoost: the library's own trees on one coded table, or any estimator of scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from sapwood.adaboost.members import TreeMembers
from sapwood.data_warnings import quiet
from sapwood.errors import ParameterError
from sapwood.estimators.foreign import class_numbers, indexed, seeded
from sapwood.estimators.settings import monotonic_signs
from sapwood.estimators.tree import DecisionTree
from sapwood.estimators.tree_rows import TreeRows
from sapwood.growth.forest_grower import ForestGrower, code_for_many
from sapwood.packed_tree import PackedTree
from sapwood.predictor import Predictor
from sapwood.table.table import Table
from sapwood.table.target import ClassTarget
from sapwood.threads import resolve_jobs
from sapwood.tree import Tree

Floats = NDArray[np.float64]


class Members(Protocol):
    """Fitted learners; each says a class number, or a number, about every row."""

    fitted: list[Any]

    def predictions(self, X: Any, table: Table | None) -> Iterator[Floats]:
        """What each predicts for new rows."""


class Learner(Protocol):
    """Fits one member after the other to the same rows."""

    @property
    def members(self) -> Members:
        """Those fitted so far."""

    def fit(self, weight: Floats, drawn: NDArray[Any] | None, seed: int, done: PackedTree | None = None) -> Floats:
        """Fit one more, to all rows by weight or to rows that were drawn; returns what it says about all rows.

        A tree that was `done` before training was interrupted is taken as it is.
        """


class TreeLearner:
    """The library's own trees. Columns are sorted once: a stump of a later round takes one pass over them."""

    def __init__(self, template: DecisionTree, rows: TreeRows) -> None:
        self._table = rows.table
        self._factor = template._row_weights(rows.target, np.ones(rows.table.n_rows))
        statistics = template._statistics(rows.target, self._factor)
        rules = template._growth_rules(rows.table, 0.0)
        draws = template.splitter == "random"
        options: dict[str, Any] = {"max_bins": template.max_bins, "draws": draws}
        self._grower = ForestGrower(
            code_for_many(rows.table, statistics, rules.max_features, n_jobs=resolve_jobs(template.n_jobs), **options),
            statistics,
            rules,
            rows.table.schema.n_levels,
            monotonic_signs(template.monotonic_cst, rows.table.schema, statistics),
            template.leaf,
            draws,
            template.ccp_alpha,
            template.min_weight_fraction_leaf,
        )
        self.members = TreeMembers(isinstance(rows.target, ClassTarget))

    def fit(self, weight: Floats, drawn: NDArray[Any] | None, seed: int, done: PackedTree | None = None) -> Floats:
        """Grow one more tree."""
        tree = self._grow(weight, drawn, seed) if done is None else done.unpack()
        self.members.fitted.append(PackedTree.of(tree))
        return self.members.values(tree.value)[Predictor(tree).leaves(self._table)]

    def _grow(self, weight: Floats, drawn: NDArray[Any] | None, seed: int) -> Tree:
        rows = np.arange(len(weight))
        if drawn is not None:
            counts = np.bincount(drawn, minlength=len(weight))
            rows = np.flatnonzero(counts)
            weight = counts[rows].astype(np.float64)
        return self._grower.grow(rows, weight * self._factor[rows], seed)


class AnyMembers:
    """Fitted estimators of any kind."""

    def __init__(self, classes: NDArray[Any] | None) -> None:
        self.fitted: list[Any] = []
        self._classes = classes

    @quiet()
    def predict(self, member: Any, X: Any) -> Floats:
        """What a member says, as numbers; the ensemble has compared the rows with those of training."""
        predicted = member.predict(X)
        if self._classes is not None:
            predicted = class_numbers(self._classes, predicted, member)
        return np.asarray(predicted, dtype=np.float64)

    def predictions(self, X: Any, table: Table | None) -> Iterator[Floats]:  # noqa: ARG002 - members read X themselves
        """What each member predicts for new rows."""
        X = indexed(X)
        for member in self.fitted:
            yield self.predict(member, X)


class AnyLearner:
    """Clones of any estimator that takes weights, or rows that were drawn.

    Weights of AdaBoost sum to 1. Learners get them with a mean of 1, as if most rows had no weight: penalties and
    least weights of nodes (min_child_weight) are meant for that scale.
    """

    def __init__(self, estimator: Any, X: Any, y: NDArray[Any], classes: NDArray[Any] | None, resample: bool) -> None:
        if not resample and not has_fit_parameter(estimator, "sample_weight"):
            raise ParameterError(
                f"{type(estimator).__name__} doesn't support sample_weight. Use an estimator whose fit takes "
                "sample_weight, or resample=True."
            )
        self._estimator, self._X, self._y = estimator, indexed(X), y
        self.members = AnyMembers(classes)

    def fit(self, weight: Floats, drawn: NDArray[Any] | None, seed: int, done: PackedTree | None = None) -> Floats:  # noqa: ARG002
        """Fit one more clone."""
        member = seeded(self._estimator, seed)
        with quiet():
            if drawn is None:
                member.fit(self._X, self._y, sample_weight=weight * (len(weight) / weight.sum()))
            else:
                member.fit(_safe_indexing(self._X, drawn), _safe_indexing(self._y, drawn))
        self.members.fitted.append(member)
        return self.members.predict(member, self._X)

"""Tasks of trees, forests, bagging and AdaBoost: classes or numbers, which differ before and after the training.

A task reads the target, and turns out-of-bag predictions into fitted attributes. Everything in between (weights,
criteria, statistics, trees) takes the target as it was read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.metrics import r2_score

from sapwood.errors import warn_user
from sapwood.forest.out_of_bag import OutOfBag
from sapwood.table.target import ClassTarget, NumberTarget
from sapwood.table.text_warning import warn_of_classes

if TYPE_CHECKING:
    from sapwood.estimators.tree_rows import TreeRows

Score = bool | Callable[..., float]


class Task(ABC):
    """What is to be predicted."""

    kind: ClassVar[str]

    @abstractmethod
    def read(self, y: Any, n_rows: int) -> ClassTarget | NumberTarget:
        """The target that `fit` was given."""

    @abstractmethod
    def measure(self, found: OutOfBag, rows: TreeRows, score: Score) -> dict[str, Any]:
        """Fitted attributes that follow from out-of-bag predictions; `score` may be the user's own function."""


class ClassTask(Task):
    """Classes, of one output or several."""

    kind: ClassVar = "classifier"

    def read(self, y: Any, n_rows: int) -> ClassTarget:
        """Labels of any type."""
        target = ClassTarget.from_any(y, n_rows)
        warn_of_classes(target)
        return target

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

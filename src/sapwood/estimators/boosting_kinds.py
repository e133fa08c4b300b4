"""Boosting of numbers and of classes: how targets are read, and what scores mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from sapwood.errors import InputError
from sapwood.estimators.boosting import Boosting
from sapwood.estimators.settings import class_weights
from sapwood.losses.custom import CustomLoss
from sapwood.losses.logistic import Logistic
from sapwood.losses.loss import Loss
from sapwood.losses.multinomial import Multinomial
from sapwood.metrics.metric import CLASSES, NUMBERS, QUANTILES, TWO_CLASSES, Groups, Metric, MetricFunction, Target
from sapwood.model.response import without_factors
from sapwood.table.target import ClassTarget, NumberTarget
from sapwood.table.text_warning import warn_of_classes

Floats = NDArray[np.float64]


class NumberBoosting(RegressorMixin, Boosting):
    """Boosting whose target is one number."""

    def _read_target(self, y: Any, n_rows: int) -> Floats:
        target = NumberTarget.from_any(y, n_rows)
        refuse_several(target.n_outputs, "number")
        return target.values[:, 0]

    def _code_target(self, y: Any, n_rows: int) -> Floats:
        return self._read_target(y, n_rows)

    def _kind(self, loss: Loss) -> str:
        return NUMBERS if loss.n_scores == 1 else QUANTILES

    def predict(self, X: Any, *, output_margin: bool = False, n_rounds: int | None = None) -> Floats:
        """Predictions: (rows,), or (rows, quantiles) for several quantiles.

        Args:
            X: table of rows.
            output_margin: return the scores, before the loss's own response (such as the exponential of Poisson's).
            n_rounds: use the first rounds only; by default the best ones, see `best_n_rounds_`.
        """
        scores = self._scores(X, n_rounds)
        return _by_row(scores) if output_margin else self.model_.predictions(scores)

    def staged_predict(self, X: Any, *, n_rounds: int | None = None) -> Iterator[Floats]:
        """Predictions after each round; the last ones are those of `predict`."""
        return map(self.model_.predictions, self._staged(X, n_rounds))


class ClassBoosting(ClassifierMixin, Boosting):
    """Boosting whose target is one class."""

    classes_: NDArray[Any]
    n_classes_: int
    class_weight: Any = None
    undo_class_weight: bool = True

    def _class_factors(self, y: Floats, weight: Floats | None) -> Floats:
        """Weight of each class; also what `predict_proba` undoes."""
        factors = np.ones(self.n_classes_)
        if self.class_weight is None:
            return factors
        present, own = np.unique(y.astype(np.intp), return_inverse=True)
        if isinstance(self.class_weight, str):  # "balanced": the same total weight for every class
            totals = np.bincount(own, weights=weight)
            factors[present] = totals.sum() / (len(present) * totals)
        else:
            target = ClassTarget(own.astype(np.int32)[:, None], [self.classes_[present]], single=True)
            factors[present[own]] = class_weights(self.class_weight, target, type(self).__name__)
        return factors

    def _read_target(self, y: Any, n_rows: int) -> Floats:
        target = ClassTarget.from_any(y, n_rows)
        refuse_several(target.n_outputs, "class")
        warn_of_classes(target)
        self._set_classes(target.classes[0])
        return target.codes[:, 0].astype(np.float64)

    def _set_classes(self, classes: NDArray[Any]) -> None:
        if len(classes) < 2:
            raise InputError(
                f"y holds one class only, {_plain(classes[0])!r}, but a classifier needs two. Add rows of another one."
            )
        self.classes_, self.n_classes_ = classes, len(classes)

    def _code_target(self, y: Any, n_rows: int) -> Floats:
        target = ClassTarget.from_any(y, n_rows)
        refuse_several(target.n_outputs, "class")
        number = {_plain(label): i for i, label in enumerate(self.classes_)}
        codes = [number.get(_plain(label), -1) for label in target.classes[0]]
        if min(codes) < 0:
            unknown = _plain(target.classes[0][codes.index(-1)])
            raise InputError(
                f"y holds the class {unknown!r}, which is not among those the model was trained on: "
                f"{', '.join(repr(label) for label in list(number)[:10])}. Remove such rows, or train on them."
            )
        return np.array(codes, dtype=np.float64)[target.codes[:, 0]]

    def _continue_target(self, start: Any, y: Any, n_rows: int) -> Floats:
        self._set_classes(start.classes_)
        return self._code_target(y, n_rows)

    def _keep_target(self, y: Floats, rows: NDArray[np.intp]) -> Floats:
        present, codes = np.unique(y[rows], return_inverse=True)
        self._set_classes(self.classes_[present.astype(np.intp)])
        return codes.astype(np.float64)

    def _row_weight(self, y: Floats, weight: Floats | None) -> Floats | None:
        self._factors = self._class_factors(y, weight)
        if (self._factors == 1.0).all():
            return weight
        own = self._factors[y.astype(np.intp)]
        if not own.any():
            raise InputError(
                "class_weight gives every row a weight of zero. Give at least one class that occurs in y a weight "
                "above zero."
            )
        return own if weight is None else weight * own

    def _kind(self, loss: Loss) -> str:  # noqa: ARG002
        return TWO_CLASSES if self.n_classes_ == 2 else CLASSES

    def _metrics(self, loss: Loss) -> list[Metric]:
        """Metrics see what `predict_proba` says; those that count mistakes, what `predict` says."""
        return [self._of_probabilities(metric, loss) for metric in super()._metrics(loss)]

    def _of_probabilities(self, metric: Metric, loss: Loss) -> Metric:
        if metric.uses_score:
            return metric
        undo = not metric.decides and self._undoes_weights
        meaning = _meaning(loss).response if isinstance(loss, CustomLoss) else None
        if not undo and meaning is None:
            return metric
        return replace(metric, function=_Seen(metric.function, meaning, self._undone if undo else None))

    def decision_function(self, X: Any, *, n_rounds: int | None = None) -> Floats:
        """Scores: of the second class (rows,), or of all classes (rows, classes)."""
        return _by_row(self._scores(X, n_rounds))

    def staged_decision_function(self, X: Any, *, n_rounds: int | None = None) -> Iterator[Floats]:
        """Scores after each round; the last ones are those of `decision_function`."""
        return (_by_row(score) for score in self._staged(X, n_rounds))

    def predict(self, X: Any, *, output_margin: bool = False, n_rounds: int | None = None) -> NDArray[Any]:
        """Most probable class of every row, weights of classes included; the first of equals.

        Args:
            X: table of rows.
            output_margin: return the scores, as `decision_function` does.
            n_rounds: use the first rounds only; by default the best ones, see `best_n_rounds_`.
        """
        score = self._scores(X, n_rounds)
        return _by_row(score) if output_margin else self.model_.predictions(score)

    def predict_proba(self, X: Any, *, n_rounds: int | None = None) -> Floats:
        """Probability of every class (rows, classes); `n_rounds` as in `predict`."""
        found: Floats = self.model_.probabilities(self._scores(X, n_rounds))
        return found

    def predict_log_proba(self, X: Any, *, n_rounds: int | None = None) -> Floats:
        """Logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, n_rounds=n_rounds))

    def staged_predict(self, X: Any, *, n_rounds: int | None = None) -> Iterator[NDArray[Any]]:
        """Classes after each round; the last ones are those of `predict`."""
        return map(self.model_.predictions, self._staged(X, n_rounds))

    def staged_predict_proba(self, X: Any, *, n_rounds: int | None = None) -> Iterator[Floats]:
        """Probabilities after each round; the last ones are those of `predict_proba`."""
        return map(self.model_.probabilities, self._staged(X, n_rounds))

    @property
    def _undoes_weights(self) -> bool:
        factors = self.__dict__.get("_factors")
        return factors is not None and bool(self.undo_class_weight and (factors != factors[0]).any())

    def _undone(self, shares: Floats) -> Floats:
        """Probabilities (classes, rows) without the weights of classes."""
        return without_factors(shares, self._factors)


@dataclass(frozen=True)
class _Seen:
    """A metric of probabilities that differ from the response of the loss."""

    function: MetricFunction
    meaning: Callable[[Floats], Floats] | None
    undone: Callable[[Floats], Floats] | None

    def __call__(self, y: Target, prediction: Floats, weight: Floats | None, groups: Groups | None) -> float:
        said = np.atleast_2d(prediction)
        said = said if self.meaning is None else self.meaning(said)
        if self.undone is not None:
            said = self.undone(np.vstack([1.0 - said, said]))[1:] if len(said) == 1 else self.undone(said)
        return self.function(y, said[0] if len(said) == 1 else said, weight, groups)


def _meaning(loss: Loss) -> Loss:
    """The loss that tells what scores mean; those of a user's own objective are log-odds."""
    if not isinstance(loss, CustomLoss):
        return loss
    return Logistic() if loss.n_scores == 1 else Multinomial(loss.n_scores)


def _by_row(score: Floats) -> Floats:
    return score[0] if len(score) == 1 else score.T


def refuse_several(n_outputs: int, what: str) -> None:
    """Boosting has one target."""
    if n_outputs > 1:
        raise InputError(f"y has {n_outputs} columns, but boosting predicts one {what}. Fit one model for each column.")


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label

"""What boosting predicts: numbers, classes, or the order of rows within a query."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from sapwood.arrays import Array, Floats, plain
from sapwood.errors import InputError, ParameterError
from sapwood.estimators.settings import class_weights
from sapwood.losses.custom import CustomLoss
from sapwood.losses.loss import Loss
from sapwood.metrics.metric import CLASSES, NUMBERS, QUANTILES, RANKINGS, TWO_CLASSES, Groups, Metric, Target
from sapwood.model.response import Response, without_factors
from sapwood.table.target import ClassTarget, NumberTarget
from sapwood.table.text_warning import warn_of_classes


@dataclass(frozen=True, eq=False)
class Task(ABC):
    """How targets become numbers, and what metrics see of predictions."""

    classes: Array | None = None  # labels, in order
    factors: Floats | None = None  # weights of the classes

    @classmethod
    @abstractmethod
    def read(cls, y: Any, n_rows: int) -> tuple[Self, Floats]:
        """The task, and the target of the training rows as numbers."""

    @abstractmethod
    def code(self, y: Any, n_rows: int) -> Floats:
        """The target of other rows, coded as in training."""

    @abstractmethod
    def kind(self, loss: Loss) -> str:
        """What is predicted, in the words of `metrics.metric`."""

    def take(self, y: Floats, rows: Array) -> tuple[Self, Floats]:
        """The target of some rows, as if the others had never been there."""
        return self, y[rows]

    def weigh(self, estimator: Any, y: Floats, weight: Floats | None) -> tuple[Self, Floats | None]:  # noqa: ARG002
        """Weights of rows, those of their classes included."""
        return self, weight

    def measured(self, metric: Metric, loss: Loss, undo: bool) -> Metric:  # noqa: ARG002
        """A metric of what users are given as predictions."""
        return metric


class NumberTask(Task):
    """The target is one number."""

    @classmethod
    def read(cls, y: Any, n_rows: int) -> tuple[Self, Floats]:
        """The task, and the numbers."""
        target = NumberTarget.from_any(y, n_rows)
        _refuse_several(target.n_outputs, "number")
        return cls(), target.values[:, 0]

    def code(self, y: Any, n_rows: int) -> Floats:
        """The numbers."""
        return self.read(y, n_rows)[1]

    def kind(self, loss: Loss) -> str:
        """Numbers, or several quantiles."""
        return NUMBERS if loss.n_scores == 1 else QUANTILES

    def weigh(self, estimator: Any, y: Floats, weight: Floats | None) -> tuple[Self, Floats | None]:  # noqa: ARG002
        """The weights as they are; weights of classes are refused."""
        for name, unset in (("class_weight", None), ("scale_pos_weight", 1.0)):
            value = getattr(estimator, name, unset)
            if value != unset:
                raise ParameterError(
                    f"{name}={value!r} is for classes, but {type(estimator).__name__} has none. "
                    f"Use {estimator.weight_name} of fit."
                )
        return self, weight


class RankingTask(NumberTask):
    """The target is a grade of relevance."""

    def kind(self, loss: Loss) -> str:  # noqa: ARG002
        """A ranking."""
        return RANKINGS


class ClassTask(Task):
    """The target is one class."""

    @classmethod
    def read(cls, y: Any, n_rows: int) -> tuple[Self, Floats]:
        """The task, and numbers of classes."""
        target = ClassTarget.from_any(y, n_rows)
        _refuse_several(target.n_outputs, "class")
        warn_of_classes(target)
        return cls.of(target.classes[0]), target.codes[:, 0].astype(np.float64)

    @classmethod
    def of(cls, classes: Array) -> Self:
        """The task of some classes."""
        if len(classes) < 2:
            raise InputError(
                f"y has one class, {plain(classes[0])!r}, but a classifier needs two. Add rows of another class."
            )
        return cls(classes)

    @property
    def labels(self) -> Array:
        """The classes."""
        assert self.classes is not None
        return self.classes

    def code(self, y: Any, n_rows: int) -> Floats:
        """Numbers of classes; other classes than those of training are refused."""
        target = ClassTarget.from_any(y, n_rows)
        _refuse_several(target.n_outputs, "class")
        number = {plain(label): i for i, label in enumerate(self.labels)}
        codes = [number.get(plain(label), -1) for label in target.classes[0]]
        if min(codes) < 0:
            unknown = plain(target.classes[0][codes.index(-1)])
            raise InputError(
                f"y has the class {unknown!r}, which is not one of those the model was trained on: "
                f"{', '.join(repr(label) for label in list(number)[:10])}. Remove such rows, or train on them."
            )
        return np.array(codes, dtype=np.float64)[target.codes[:, 0]]

    def take(self, y: Floats, rows: Array) -> tuple[Self, Floats]:
        """The target of some rows; classes that only others have are forgotten."""
        present, codes = np.unique(y[rows], return_inverse=True)
        return self.of(self.labels[present.astype(np.intp)]), codes.astype(np.float64)

    def kind(self, loss: Loss) -> str:  # noqa: ARG002
        """Two classes, or more."""
        return TWO_CLASSES if len(self.labels) == 2 else CLASSES

    def weigh(self, estimator: Any, y: Floats, weight: Floats | None) -> tuple[Self, Floats | None]:
        """Weights of rows times those of their classes."""
        factors = class_factors(estimator, self.labels, y, weight)
        task = replace(self, factors=factors)
        if (factors == 1.0).all():
            return task, weight
        own = factors[y.astype(np.intp)]
        if not own.any():
            raise InputError(
                "class_weight gives every row a weight of zero. Give at least one class that occurs in y a weight "
                "above zero."
            )
        return task, own if weight is None else weight * own

    def measured(self, metric: Metric, loss: Loss, undo: bool) -> Metric:
        """Metrics see what `predict_proba` gives; those that count mistakes see what `predict` gives."""
        if metric.uses_score:
            return metric
        factors = self.factors if undo and not metric.decides and differ(self.factors) else None
        response = Response()
        if isinstance(loss, CustomLoss):  # whose scores are log-odds
            response = Response("logistic" if loss.n_scores == 1 else "softmax")
        if factors is None and response.is_identity:
            return metric
        return replace(metric, function=_OfProbabilities(metric.function, response, factors))


def differ(factors: Floats | None) -> bool:
    """Whether classes have different weights."""
    return factors is not None and bool((factors != factors[0]).any())


def class_factors(estimator: Any, classes: Array, y: Floats, weight: Floats | None) -> Floats:
    """Weight of each class, which `predict_proba` undoes."""
    factors, setting = np.ones(len(classes)), estimator.class_weight
    if setting is not None:
        present, own = np.unique(y.astype(np.intp), return_inverse=True)
        if isinstance(setting, str):  # "balanced": the same total weight for every class
            totals = np.bincount(own, weights=weight)
            factors[present] = totals.sum() / (len(present) * totals)
        else:
            target = ClassTarget(own.astype(np.int32)[:, None], [classes[present]], single=True)
            factors[present[own]] = class_weights(setting, target, type(estimator).__name__)
    scale = getattr(estimator, "scale_pos_weight", 1.0)
    if scale != 1.0:
        if len(classes) != 2:
            raise ParameterError(
                f"scale_pos_weight={scale} is for two classes, but y has {len(classes)}. Use class_weight."
            )
        factors[1] *= scale
    return factors


@dataclass(frozen=True)
class _OfProbabilities:
    """A metric of probabilities that differ from the response of the loss."""

    function: Any
    response: Response
    factors: Floats | None

    def __call__(self, y: Target, prediction: Floats, weight: Floats | None, groups: Groups | None) -> float:
        shares = self.response(np.atleast_2d(prediction))
        if len(shares) == 1:
            shares = np.vstack([1.0 - shares, shares])
        if self.factors is not None:
            shares = without_factors(shares, self.factors)
        return float(self.function(y, shares[1] if len(shares) == 2 else shares, weight, groups))


def _refuse_several(n_outputs: int, what: str) -> None:
    if n_outputs > 1:
        raise InputError(f"y has {n_outputs} columns, but boosting predicts one {what}. Fit one model for each column.")

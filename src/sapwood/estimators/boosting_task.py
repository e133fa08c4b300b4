"""What boosting predicts: numbers, classes, or the order of rows within a query."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from sapwood.arrays import Array, Floats, plain
from sapwood.boosting.eval_metrics import find_metrics
from sapwood.counted import counted
from sapwood.errors import InputError, ParameterError
from sapwood.estimators.settings import class_weights
from sapwood.losses.custom import CustomLoss
from sapwood.losses.loss import Loss
from sapwood.metrics.metric import (
    CLASSES,
    NUMBERS,
    QUANTILES,
    RANKINGS,
    TARGETS,
    TWO_CLASSES,
    Groups,
    Metric,
    MetricFunction,
    Target,
)
from sapwood.model.response import Response, without_factors
from sapwood.row_parts.rows import LocalRows, weights_of_classes
from sapwood.table.target import ClassTarget, NumberTarget
from sapwood.table.text_warning import warn_of_classes


@dataclass(frozen=True, eq=False)
class BoostingTask(ABC):
    """How targets become numbers, and what metrics see of predictions."""

    classes: Array | None = None  # labels, in order
    factors: Floats | None = None  # weights of the classes

    target_type: ClassVar[type[ClassTarget | NumberTarget]]

    @classmethod
    @abstractmethod
    def of(cls, target: Any) -> tuple[Self, Floats]:
        """The task, and the target of the training rows as numbers."""

    @classmethod
    def read(cls, y: Any, n_rows: int) -> tuple[Self, Floats]:
        """The same, from what the user gave."""
        return cls.of(cls.target_type.from_any(y, n_rows))

    @classmethod
    def known_to(cls, model: Any) -> Self:
        """The task of a fitted model."""
        return cls(getattr(model, "classes_", None))

    @abstractmethod
    def code(self, y: Any, n_rows: int) -> Floats:
        """The target of other rows, coded as in training."""

    def take(self, y: Floats, rows: Array) -> tuple[Self, Floats]:
        """The target of some rows, as if the others had never been there."""
        return self, y[rows]

    def weigh(self, estimator: Any, y: Floats, weight: Floats | None) -> tuple[Self, Floats | None]:  # noqa: ARG002
        """Weights of rows, those of their classes included."""
        return self, weight

    @abstractmethod
    def metrics(self, setting: Any, loss: Loss, estimator: Any) -> list[Metric]:
        """The metrics that a setting names, or that of the loss, of what users are given as predictions."""


class BoostingNumbers(BoostingTask):
    """The target is one number."""

    target_type = NumberTarget

    @classmethod
    def of(cls, target: NumberTarget) -> tuple[Self, Floats]:
        """The task, and the numbers."""
        return cls(), target.one_column()

    def code(self, y: Any, n_rows: int) -> Floats:
        """The numbers."""
        return self.read(y, n_rows)[1]

    def metrics(self, setting: Any, loss: Loss, estimator: Any) -> list[Metric]:
        """Metrics of numbers, or of several quantiles."""
        kind = NUMBERS if loss.n_scores == 1 else QUANTILES
        return find_metrics(setting, loss, kind, type(estimator).__name__)

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


@dataclass(frozen=True, eq=False)
class BoostingTargets(BoostingNumbers):
    """The target is one number, or several, which have names; then y is (rows, targets)."""

    targets: tuple[str, ...] = ()

    @classmethod
    def of(cls, target: NumberTarget) -> tuple[Self, Floats]:
        """The task, and the numbers."""
        if target.n_outputs == 1:
            return cls(), target.one_column()
        columns = np.asfortranarray(target.values)  # losses take one target at a time
        return cls(targets=target.names or _numbered(target.n_outputs)), columns

    @classmethod
    def known_to(cls, model: Any) -> Self:
        """The task of a fitted model."""
        n_scores = model.ensemble_.n_scores if isinstance(model.loss_, CustomLoss) else 1
        return cls(targets=model.loss_.targets or (_numbered(n_scores) if n_scores > 1 else ()))

    def code(self, y: Any, n_rows: int) -> Floats:
        """The numbers, of as many targets as in training."""
        task, found = self.read(y, n_rows)
        n, wanted = len(task.targets) or 1, len(self.targets) or 1
        if n != wanted:
            raise InputError(
                f"y has {counted(n, 'column')}, but the model is trained on {counted(wanted, 'target')}. Pass a column "
                "for each target."
            )
        return found

    def metrics(self, setting: Any, loss: Loss, estimator: Any) -> list[Metric]:
        """Metrics of one target, or means over several."""
        if not self.targets:
            return super().metrics(setting, loss, estimator)
        return find_metrics(setting, loss, TARGETS, type(estimator).__name__)


def _numbered(n_targets: int) -> tuple[str, ...]:
    return tuple(f"target {k}" for k in range(n_targets))


class BoostingRanking(BoostingNumbers):
    """The target is a grade of relevance."""

    def metrics(self, setting: Any, loss: Loss, estimator: Any) -> list[Metric]:
        """Metrics of rankings."""
        return find_metrics(setting, loss, RANKINGS, type(estimator).__name__)


@dataclass(frozen=True, eq=False)
class BoostingClasses(BoostingTask):
    """The target is one class."""

    classes: Array

    target_type = ClassTarget

    @classmethod
    def of(cls, target: ClassTarget) -> tuple[Self, Floats]:
        """The task, and numbers of classes."""
        codes = target.one_column().astype(np.float64)
        warn_of_classes(target.classes, len(target.codes))
        return cls(target.classes[0]), codes

    def code(self, y: Any, n_rows: int) -> Floats:
        """Numbers of classes; other classes than those of training are refused."""
        target = ClassTarget.from_any(y, n_rows)
        number = {plain(label): i for i, label in enumerate(self.classes)}
        codes = [number.get(plain(label), -1) for label in target.classes[0]]
        if min(codes) < 0:
            unknown = plain(target.classes[0][codes.index(-1)])
            raise InputError(
                f"y has the class {unknown!r}, which is not one of those the model was trained on: "
                f"{', '.join(repr(label) for label in list(number)[:10])}. Remove such rows, or train on them."
            )
        return np.array(codes, dtype=np.float64)[target.one_column()]

    def take(self, y: Floats, rows: Array) -> tuple[Self, Floats]:
        """The target of some rows; classes that only others have are forgotten."""
        present, codes = np.unique(y[rows], return_inverse=True)
        return replace(self, classes=self.classes[present.astype(np.intp)]), codes.astype(np.float64)

    def weigh(self, estimator: Any, y: Floats, weight: Floats | None) -> tuple[Self, Floats | None]:
        """Weights of rows times those of their classes."""
        if len(self.classes) < 2:
            raise InputError(
                f"y has one class, {plain(self.classes[0])!r}, but a classifier needs two. Add rows of another class."
            )
        scale = getattr(estimator, "scale_pos_weight", 1.0)
        if estimator.class_weight is None and scale == 1.0:
            return replace(self, factors=np.ones(len(self.classes))), weight
        factors = class_factors(estimator, self.classes, y, weight)
        own = factors[y.astype(np.intp)]
        if not own.any():
            raise InputError(
                "class_weight gives every row a weight of zero. Give at least one class that occurs in y a weight "
                "above zero."
            )
        if (factors == 1.0).all():
            return replace(self, factors=factors), weight
        return replace(self, factors=factors), own if weight is None else weight * own

    def metrics(self, setting: Any, loss: Loss, estimator: Any) -> list[Metric]:
        """Metrics see what `predict_proba` gives; those that count mistakes see what `predict` gives."""
        kind = TWO_CLASSES if len(self.classes) == 2 else CLASSES
        found = find_metrics(setting, loss, kind, type(estimator).__name__)
        factors, response = self.factors, Response()
        if not estimator.undo_class_weight or factors is None or (factors == factors[0]).all():
            factors = None
        if isinstance(loss, CustomLoss):  # whose scores are log-odds
            response = Response("logistic" if loss.n_scores == 1 else "softmax")
        elif factors is None:
            return found
        return [
            replace(one, function=_OfProbabilities(one.function, response, None if one.decides else factors))
            if not one.uses_score
            else one
            for one in found
        ]


def class_factors(estimator: Any, classes: Array, y: Floats, weight: Floats | None) -> Floats:
    """Weight of each class, which `predict_proba` undoes."""
    factors, setting = np.ones(len(classes)), estimator.class_weight
    if setting is not None:
        present, own = np.unique(y.astype(np.intp), return_inverse=True)
        if isinstance(setting, str):  # "balanced": the same total weight for every class
            totals = weights_of_classes(LocalRows.of(own, weight), len(present))
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
class _OfProbabilities(MetricFunction):
    """A metric of probabilities that differ from the response of the loss."""

    function: MetricFunction
    response: Response
    factors: Floats | None

    def part(self, y: Target, prediction: Floats, weight: Floats | None, groups: Groups | None) -> Any:
        """What the metric needs of the rows' probabilities."""
        shares = self.response(np.atleast_2d(prediction))
        if len(shares) == 1:
            shares = np.vstack([1.0 - shares, shares])
        if self.factors is not None:
            shares = without_factors(shares, self.factors)
        return self.function.part(y, shares[1] if len(shares) == 2 else shares, weight, groups)

    def merged(self, parts: Sequence[Any]) -> float:
        """The metric of all rows."""
        return float(self.function.merged(parts))

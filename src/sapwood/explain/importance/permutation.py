"""How good predictions are: accuracy, R², or any scoring of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.metrics import get_scorer, r2_score

from sapwood.errors import InputError, ParameterError, SapwoodError
from sapwood.explain.column_numbers import Model, plain
from sapwood.show.fitted import classes_by_output
from sapwood.table.names import shorten
from sapwood.table.target import ClassTarget, NumberTarget

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scoring:
    """Scores of predictions for rows whose truth is y; larger ones are better."""

    measure: Callable[[Any], float]
    reads_rows: bool  # a function of the caller's, which expects the caller's container

    @classmethod
    def of(cls, model: Any, scoring: Any, y: Any, n_rows: int, weight: Floats | None) -> Scoring:
        """Find what `scoring` stands for."""
        target = (ClassTarget if hasattr(model, "classes_") else NumberTarget).from_any(y, n_rows)
        if scoring is None:
            _check_classes(model, target)
            return cls(_default(model, target, weight), False)
        scorer = _find(scoring)
        weights = {} if weight is None else {"sample_weight": weight}

        def measure(X: Any) -> float:
            return float(scorer(model, X, y, **weights))

        if not hasattr(scorer, "_score_func"):  # a function of the caller's knows what it does with y
            return cls(measure, True)
        _check_classes(model, target)
        return cls(partial(_scored, measure, scoring, type(model).__name__), False)


def _find(scoring: Any) -> Any:
    if callable(scoring):
        return scoring
    try:
        return get_scorer(scoring)
    except (ValueError, TypeError) as error:
        raise ParameterError(
            f"scoring={scoring!r} is not allowed: it must be a name of sklearn.metrics.get_scorer_names(), a function "
            "of (model, X, y), or None. Use scoring=None for accuracy or R²."
        ) from error


def _scored(measure: Callable[[Any], float], scoring: Any, owner: str, X: Any) -> float:
    """The score by scikit-learn, whose complaints do not say that the scoring is to blame."""
    try:
        return measure(X)
    except SapwoodError:
        raise
    except (ValueError, TypeError, AttributeError) as error:
        raise ParameterError(
            f"scoring={scoring!r} is not allowed for this {owner} and y: {error} Use scoring=None for accuracy or R², "
            "or a scoring that fits them."
        ) from error


def _check_classes(model: Any, target: ClassTarget | NumberTarget) -> None:
    """Refuse classes that the model cannot predict: whatever is shuffled, they stay wrong, and nothing matters."""
    if not isinstance(target, ClassTarget):
        return
    known = classes_by_output(model)
    if len(known) != target.n_outputs:
        raise InputError(
            f"y has {target.n_outputs} outputs, but the model was fitted with {len(known)}. Pass y of the same form."
        )
    for own, classes in zip(known, target.classes, strict=True):
        unknown = [plain(label) for label in classes if plain(label) not in own.tolist()]
        if unknown:
            raise InputError(
                f"y holds classes that the model does not know: {shorten(unknown)}. It knows {shorten(own.tolist())}. "
                "Pass y as in fit, and leave out rows of other classes."
            )


def _default(model: Model, target: ClassTarget | NumberTarget, weight: Floats | None) -> Callable[[Any], float]:
    if isinstance(target, ClassTarget):
        return lambda X: _accuracy(target, np.asarray(model.predict(X)), weight)
    if not is_regressor(model):
        raise ParameterError(
            f"scoring=None is not allowed for {type(model).__name__}, which predicts neither classes nor numbers. Pass "
            "a function of (model, X, y), or leave out y."
        )
    truth = target.values
    return lambda X: float(r2_score(truth, np.asarray(model.predict(X)).reshape(truth.shape), sample_weight=weight))


def _accuracy(target: ClassTarget, predicted: NDArray[Any], weight: Floats | None) -> float:
    """Share of right classes, averaged over the outputs."""
    said = predicted.reshape(len(predicted), -1)
    right = [labels[target.codes[:, o]] == said[:, o] for o, labels in enumerate(target.classes)]
    return float(np.average(np.mean(right, axis=0), weights=weight))

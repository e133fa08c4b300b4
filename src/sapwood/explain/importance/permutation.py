"""Permutation importance: how much the score drops once the values of columns are shuffled among the rows.

The score is the accuracy, R², or any scoring of scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer, r2_score

from sapwood.arrays import Floats
from sapwood.counted import counted
from sapwood.errors import InputError, ParameterError, SapwoodError
from sapwood.explain.column_values import plain
from sapwood.explain.editable_rows import EditableRows
from sapwood.explain.model_output import predicted_kind
from sapwood.model import Model, model_of
from sapwood.progress_bar import WorkBar
from sapwood.table.names import shorten
from sapwood.table.target import ClassTarget, NumberTarget
from sapwood.threads import run_all

Target = ClassTarget | NumberTarget


def permutation_drops(
    rows: EditableRows,
    scoring: Scoring,
    groups: Sequence[tuple[str, list[int]]],
    *,
    n_repeats: int,
    seed: int,
    n_jobs: int,
    verbose: bool = False,
) -> tuple[Floats, Floats]:
    """Mean drop of the score for each group, whose columns are shuffled together, and its standard error.

    Repeat r has the same order of rows for every group, so that groups are compared like with like.
    """
    orders = [np.random.default_rng([seed, r]).permutation(rows.table.n_rows) for r in range(n_repeats)]
    whole = scoring.measure(rows.unchanged)

    def drop(columns: list[int], order: NDArray[np.intp]) -> float:
        return whole - scoring.measure(rows.shuffle(columns, order))

    tasks = [partial(drop, columns, order) for _, columns in groups for order in orders]
    with WorkBar(len(tasks), verbose) as bar:
        drops = np.array(run_all(bar.counted(tasks), n_jobs)).reshape(len(groups), n_repeats)
    if n_repeats < 2:
        return drops.mean(axis=1), np.full(len(drops), np.nan)
    return drops.mean(axis=1), drops.std(axis=1, ddof=1) / np.sqrt(n_repeats)


@dataclass(frozen=True, eq=False)
class Scoring:
    """The score of predictions for rows whose targets are y; larger ones are better."""

    measure: Callable[[Any], float]
    reads_rows: bool  # a function of the caller's, which expects the caller's container

    @classmethod
    def of(cls, given: object, scoring: Any, y: Any, n_rows: int, weight: Floats | None) -> Scoring:
        """The scoring that the argument selects; `given` is the estimator or Model that the user gave."""
        model = model_of(given)
        target: Target = (ClassTarget if model.is_classifier else NumberTarget).from_any(y, n_rows)
        if scoring is None:
            _check_classes(model, target)
            return cls(_default(given, target, weight), False)
        scorer = _find(scoring)
        weights = {} if weight is None else {"sample_weight": weight}

        def measure(X: object) -> float:
            return float(scorer(given, X, y, **weights))

        if not hasattr(scorer, "_score_func"):  # the caller's function may take any y
            return cls(measure, True)
        if isinstance(given, Model):
            raise ParameterError(
                f"scoring={scoring!r} needs an estimator, but model is the Model of one. Pass the estimator, "
                "scoring=None, or a function of (model, X, y)."
            )
        _check_classes(model, target)
        return cls(partial(_score, measure, scoring, model.estimator), False)


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


def _score(measure: Callable[[Any], float], scoring: object, owner: str, X: object) -> float:
    """The score by scikit-learn, whose errors do not mention the argument scoring."""
    try:
        return measure(X)
    except SapwoodError:
        raise
    except (ValueError, TypeError, AttributeError) as error:
        raise ParameterError(
            f"scoring={scoring!r} is not allowed for this {owner} and y: {error} Use scoring=None for accuracy or R², "
            "or a scoring for such targets."
        ) from error


def _check_classes(model: Model, target: Target) -> None:
    """Refuse classes that the model cannot predict: whatever is shuffled, they stay wrong."""
    if not isinstance(target, ClassTarget):
        return
    if len(model.classes) != target.n_outputs:
        raise InputError(
            f"y has {target.n_outputs} outputs, but the model was fitted with {len(model.classes)}. Pass y of the same "
            "form."
        )
    for known, classes in zip(model.classes, target.classes, strict=True):
        unknown = [plain(label) for label in classes if plain(label) not in known.tolist()]
        if unknown:
            raise InputError(
                f"y holds classes that the model does not know: {shorten(unknown)}. It knows "
                f"{shorten(known.tolist())}. Pass y as in fit, and leave out rows of other classes."
            )


def _default(given: object, target: Target, weight: Floats | None) -> Callable[[Any], float]:
    model = model_of(given)
    if isinstance(target, ClassTarget):
        return lambda X: _accuracy(model, target, X, weight)
    if predicted_kind(given) == "ranks":
        raise ParameterError(
            f"scoring=None is not allowed for {model.estimator}, which predicts neither classes nor numbers. Pass a "
            "function of (model, X, y), or leave out y."
        )
    truth, n_predicted = target.values, 1 if model.single else len(model.score_names)
    if truth.shape[1] != n_predicted:
        raise InputError(
            f"y has {counted(truth.shape[1], 'column')}, but the model predicts {counted(n_predicted, 'number')} for "
            "each row. Pass y of the same form."
        )
    return lambda X: float(r2_score(truth, model.predict(X).reshape(truth.shape), sample_weight=weight))


def _accuracy(model: Model, target: ClassTarget, X: object, weight: Floats | None) -> float:
    """Share of right classes, averaged over the outputs."""
    predicted = model.predict(X)
    predicted = predicted.reshape(len(predicted), -1)
    right = [labels[target.codes[:, o]] == predicted[:, o] for o, labels in enumerate(target.classes)]
    return float(np.average(np.mean(right, axis=0), weights=weight))

"""What a model is asked for: probabilities, predictions, or the scores that its trees add up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import ParameterError
from sapwood.explain.column_numbers import is_sum
from sapwood.show.fitted import classes_by_output

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Answers:
    """`read` gives (outputs, rows); where they are sums over trees, `columns` are theirs among the scores."""

    kind: str
    names: tuple[Any, ...]
    read: Callable[[Any], Floats]
    columns: list[int] | None

    @classmethod
    def of(cls, model: Any, output: str) -> Answers:
        """What `output` means for this model; of two probabilities, only that of the second class is told."""
        is_class = hasattr(model, "classes_")
        kind = ("probability" if is_class else "prediction") if output == "auto" else output
        if kind == ("prediction" if is_class else "probability"):
            other = "probability" if is_class else "prediction"
            raise ParameterError(
                f"output={output!r} is not allowed for {type(model).__name__}, which predicts "
                f"{'classes' if is_class else 'numbers'}. Use output={other!r}."
            )
        if kind == "score":
            return _scores(model)
        return _probabilities(model) if is_class else _predictions(model)


def _scores(model: Any) -> Answers:
    if not is_sum(model):
        raise ParameterError(
            f"output='score' is not allowed for {type(model).__name__}, which predicts the median of its learners, not "
            "a sum. Use output='prediction'."
        )
    names = model._score_names()
    kept = [k for k, name in enumerate(names) if name is not None]
    columns = None if not model._is_all_trees else kept
    return Answers("score", tuple(names[k] for k in kept), lambda X: model._scores(X)[kept], columns)


def _probabilities(model: Any) -> Answers:
    classes = classes_by_output(model)
    columns = None
    if model._answers_in_scores and model._is_all_trees:
        columns = [k for k, name in enumerate(model._score_names()) if name is not None]
    if len(classes) == 1:
        first = 1 if len(classes[0]) == 2 else 0
        names = tuple(classes[0].tolist()[first:])
        return Answers("probability", names, lambda X: model.predict_proba(X).T[first:], columns and columns[first:])
    several = tuple(f"output {o}: {label}" for o, labels in enumerate(classes) for label in labels.tolist())
    return Answers("probability", several, lambda X: np.concatenate(model.predict_proba(X), axis=1).T, columns)


def _predictions(model: Any) -> Answers:
    n_scores = len(model._score_names()) if is_sum(model) else 1
    names = ["prediction"] if n_scores == 1 else model._score_names()
    columns = list(range(n_scores)) if model._answers_in_scores and model._is_all_trees else None
    return Answers("prediction", tuple(names), lambda X: np.asarray(model.predict(X)).reshape(-1, n_scores).T, columns)

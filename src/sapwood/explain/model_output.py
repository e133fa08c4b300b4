"""An output of a model, chosen by the user: probabilities, predictions, or the scores that its trees add up."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from sapwood.arrays import Array, Floats
from sapwood.errors import ParameterError
from sapwood.explain.column_values import plain
from sapwood.model import Model, model_of
from sapwood.one_line import one_line
from sapwood.show.number import plain_number
from sapwood.show.value import level_text
from sapwood.tree import Tree


@dataclass(frozen=True, eq=False)
class ModelOutput:
    """`read` gives (outputs, rows); where they are sums over trees, `columns` are theirs among the scores."""

    kind: str
    names: tuple[object, ...]
    read: Callable[[Any], Floats]
    columns: list[int] | None

    @classmethod
    def of(cls, model: Model, output: str) -> ModelOutput:
        """What `output` means for this model; of two probabilities, only that of the second class."""
        own, other = ("probability", "prediction") if model.is_classifier else ("prediction", "probability")
        kind = own if output == "auto" else output
        if kind == other:
            raise ParameterError(
                f"output={output!r} is not allowed for {model.estimator}, which predicts "
                f"{'classes' if model.is_classifier else 'numbers'}. Use output={own!r}."
            )
        if kind == "score":
            return _scores(model)
        return _probabilities(model) if model.is_classifier else _predictions(model)


def _scores(model: Model) -> ModelOutput:
    if not model.is_sum:
        raise ParameterError(
            f"output='score' is not allowed for {model.estimator}, which predicts the median of its learners, not a "
            "sum. Use output='prediction'."
        )
    kept = model.kept_scores
    names = tuple(model.score_names[k] for k in kept)
    return ModelOutput("score", names, lambda X: model.scores(X)[kept], kept if model.is_all_trees else None)


def _probabilities(model: Model) -> ModelOutput:
    columns = model.kept_scores if model.response.is_identity and model.is_all_trees else None
    if model.single:
        labels = model.classes[0].tolist()
        first = 1 if len(labels) == 2 else 0
        own = columns and columns[first:]
        return ModelOutput("probability", tuple(labels[first:]), lambda X: model.predict_proba(X).T[first:], own)
    names = tuple(f"output {o}: {label}" for o, labels in enumerate(model.classes) for label in labels.tolist())
    return ModelOutput("probability", names, lambda X: np.concatenate(model.predict_proba(X), axis=1).T, columns)


def _predictions(model: Model) -> ModelOutput:
    names = model.score_names if model.is_sum and len(model.score_names) > 1 else ("prediction",)
    columns = list(range(len(names))) if model.response.is_identity and model.is_all_trees else None
    return ModelOutput("prediction", names, lambda X: model.predict(X).reshape(-1, len(names)).T, columns)


def predicted_kind(given: object) -> str:
    """What an estimator or Model predicts: "classes", "numbers" or "ranks"."""
    model = model_of(given)
    if model.is_classifier:
        return "classes"
    ranks = model.estimator.endswith("Ranker") if isinstance(given, Model) else not is_regressor(given)
    return "ranks" if ranks else "numbers"


def score_title(model: Model, k: int) -> str:
    """What column k of the scores is called: "score", "score 1" or "score of setosa"."""
    name = one_line(model.score_names[k])
    return f"score of {name}" if model.is_classifier else name


def classes_of_tree(model: Model, tree: Tree) -> tuple[Array, ...]:
    """Classes of every output, if the nodes of the tree hold shares of classes; else none."""
    return model.classes if tuple(map(len, model.classes)) == tree.n_classes else ()


def first_prediction(model: Model, X: object) -> Any:
    """The class or number that is predicted for the first row; a tuple if there are several outputs."""
    return plain_prediction(model.predict(X)[0])


def plain_prediction(prediction: Any) -> Any:
    """A prediction as a value of Python, or a tuple of values."""
    return tuple(prediction.tolist()) if np.ndim(prediction) else plain(prediction)


def prediction_values(prediction: object) -> tuple[Any, ...]:
    """The prediction of each output."""
    return prediction if isinstance(prediction, tuple) else (prediction,)


def prediction_text(prediction: object, gap: float = math.inf) -> str:
    """The prediction of each output as text; differences of `gap` are visible."""
    values = prediction_values(prediction)
    return ", ".join(plain_number(v, 3, gap) if isinstance(v, float) else level_text(v) for v in values)

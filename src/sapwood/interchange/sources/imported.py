"""Fitted estimators that were not fitted here: all that `fit` would have set, from what another library knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError as SklearnNotFittedError
from sklearn.utils.validation import check_is_fitted

from sapwood.boosting.ensemble import Ensemble
from sapwood.errors import ModelFileError, NotFittedError
from sapwood.estimators.boosting import Boosting
from sapwood.estimators.estimator import Estimator
from sapwood.losses.loss import Loss
from sapwood.table.levels import is_missing, to_level
from sapwood.table.names import numbered_names, repeated_names
from sapwood.table.schema import ColumnSchema, Schema
from sapwood.tree import Tree

Floats = NDArray[np.float64]
Kind = TypeVar("Kind", bound=Estimator)
Levels = Sequence[Sequence[Any] | None]  # of each column; None for numbers
Range = tuple[float, float]


def check_fitted(model: Any) -> None:
    """Refuse a model of another library that was not fitted."""
    try:
        check_is_fitted(model)
    except SklearnNotFittedError as error:
        raise NotFittedError(f"This {type(model).__name__} is not fitted yet. Fit it before you import it.") from error


def schema_of(names: Sequence[str] | None, levels: Levels, ranges: Mapping[int, Range] | None = None) -> Schema:
    """Columns as the other library knows them, with missing values in each, since it does not tell."""
    shown = numbered_names(len(levels)) if names is None else tuple(map(str, names))
    if repeated_names(shown):
        raise ModelFileError(f"The model has columns of the same name: {repeated_names(shown)}.")
    columns = []
    for j, (name, own) in enumerate(zip(shown, levels, strict=True)):
        if own is None:
            low, high = (ranges or {}).get(j, (np.nan, np.nan))
            columns.append(ColumnSchema(name, "number", (), low, high, True))
        else:
            columns.append(ColumnSchema(name, "category", _distinct(own, name), has_missing=True))
    return Schema(tuple(columns), named=names is not None)


def _distinct(levels: Sequence[Any], name: str) -> tuple[Any, ...]:
    """Categories as a table has them, in the order of their codes."""
    found = tuple(to_level(level) for level in levels if not is_missing(level))
    if len(set(found)) < len(found):
        raise ModelFileError(f"Column {name!r} of the model has the same category twice, which cannot be told apart.")
    if not found:
        raise ModelFileError(f"Column {name!r} of the model is one of categories, but none of them is known.")
    return found


def translated(kind: type[Kind], parameters: Mapping[str, Any]) -> Kind:
    """An estimator with those of the parameters that it has, and that may have these values; defaults for the rest."""
    known = kind._get_param_names()
    legal = {
        name: value
        for name, value in parameters.items()
        if name in known and any(rule.accepts(value) for rule in kind.rules[name])
    }
    return kind(**legal)


def describe(model: Any, schema: Schema) -> None:
    """Set what every fitted model tells of its columns."""
    model.schema_, model.n_features_in_ = schema, schema.n_features
    if schema.named:
        model.feature_names_in_ = np.array(schema.names, dtype=object)


@dataclass(frozen=True, eq=False)
class Boosted:
    """A boosted model of another library: scores are `base` and the words of all trees."""

    library: str
    schema: Schema
    base: Floats
    rounds: tuple[tuple[Tree, ...], ...]
    loss: Loss
    classes: NDArray[Any] | None = None
    n_best: int | None = None  # rounds up to the best of early stopping
    best_score: float | None = None

    def dress(self, model: Boosting) -> None:
        """Set the fitted attributes of an estimator."""
        describe(model, self.schema)
        if self.classes is not None:
            self._set_classes(model)
        ensemble = Ensemble(self.base, self.rounds)
        model.ensemble_, model.loss_, model._seed = ensemble, self.loss, 0
        model.evals_result_, model.stopped_reason_ = {}, f"imported from {self.library}"
        model.n_estimators_ = model.n_iter_ = ensemble.n_rounds
        model._best = self.n_best
        if self.n_best is not None:
            model.best_iteration_ = self.n_best - 1
        if self.n_best is not None and self.best_score is not None:
            model.best_score_ = self.best_score

    def _set_classes(self, model: Any) -> None:
        assert self.classes is not None
        expected = 2 if len(self.base) == 1 else len(self.base)
        if len(self.classes) != expected:
            raise ModelFileError(f"The model has {len(self.classes)} classes, but scores for {expected}.")
        model.classes_, model.n_classes_ = np.asarray(self.classes), expected
        model._factors = np.ones(expected)  # probabilities stay as the other library has them


def rounds_of(trees: Sequence[Tree], group: Sequence[int], n_groups: int) -> tuple[tuple[Tree, ...], ...]:
    """Trees by round: the first of each group, the second of each group, and so on."""
    own: list[list[Tree]] = [[] for _ in range(n_groups)]
    for tree, k in zip(trees, group, strict=True):
        own[k].append(tree)
    sizes = sorted({len(of_group) for of_group in own})
    if sizes[0] == 0 or len(sizes) > 1:
        raise ModelFileError(
            f"The model has {sizes[0]} trees for one of its {n_groups} scores and {sizes[-1]} for another; each needs "
            "as many."
        )
    return tuple(zip(*own, strict=True))

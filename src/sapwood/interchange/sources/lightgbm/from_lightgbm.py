"""Models of LightGBM as models of this library."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.boosting.ensemble import Ensemble
from sapwood.errors import ModelFileError
from sapwood.estimators.from_parts import estimator_with, set_boosting
from sapwood.estimators.newton import NewtonBoostingClassifier, NewtonBoostingRanker, NewtonBoostingRegressor
from sapwood.interchange.boundary import MOST_ROWS
from sapwood.interchange.optional import installed
from sapwood.interchange.sources.agreement import MOST_ROWS_SLOWLY, check_agreement
from sapwood.interchange.sources.given_model import check_fitted, read_bytes
from sapwood.interchange.sources.lightgbm.model import LightGBMModel
from sapwood.interchange.sources.lightgbm.zeros import to_source
from sapwood.interchange.sources.source_schema import LevelNames, named_levels, schema_of
from sapwood.interchange.sources.source_tree import refuse_wide_subsets
from sapwood.keywords import answering
from sapwood.losses.loss import Loss
from sapwood.losses.names import make_loss
from sapwood.losses.ranking import LambdaRank
from sapwood.table.column import UNSEEN
from sapwood.table.schema import Schema

Newton = NewtonBoostingClassifier | NewtonBoostingRegressor | NewtonBoostingRanker

NUMBERS = {
    "regression": "squared_error",
    "regression_l1": "absolute_error",
    "huber": "huber",
    "quantile": "quantile",
    "poisson": "poisson",
    "gamma": "gamma",
    "tweedie": "tweedie",
}
CLASSES = ("binary", "multiclass")
OPTIONS = {  # objective to LightGBM's parameter, its default, the loss's option and this library's parameter
    "huber": ("alpha", 0.9, "delta", "huber_delta"),
    "quantile": ("alpha", 0.9, "quantile", "quantile_alpha"),
    "tweedie": ("tweedie_variance_power", 1.5, "power", "tweedie_variance_power"),
}
PARAMETERS = {  # LightGBM's name, this library's, and the type
    "learning_rate": ("learning_rate", float),
    "num_leaves": ("max_leaves", int),
    "min_data_in_leaf": ("min_child_samples", int),
    "min_sum_hessian_in_leaf": ("min_child_weight", float),
    "lambda_l1": ("reg_alpha", float),
    "lambda_l2": ("reg_lambda", float),
    "max_bin": ("max_bin", int),
    "feature_fraction": ("colsample_bytree", float),
    "feature_fraction_bynode": ("colsample_bynode", float),
    "max_cat_threshold": ("max_cat_threshold", int),
    "max_cat_to_onehot": ("max_cat_to_onehot", int),
    "cat_smooth": ("cat_smooth", float),
}


@answering
def from_lightgbm(source: object, *, levels: LevelNames | None = None) -> Newton:
    """A model of LightGBM as a fitted Newton boosting estimator that predicts the same.

    Args:
        source: a `lightgbm.Booster`, a fitted estimator of `lightgbm`, or a model file in LightGBM's text format: its
            path, bytes, or the text itself. Files are read without LightGBM, and all their content is checked.
        levels: names of the categories 0, 1, 2, … of columns for which the model does not store them; categories are
            otherwise whole numbers. (Categories of pandas are stored.)

    Returns:
        A `NewtonBoostingRegressor`, `NewtonBoostingClassifier` or `NewtonBoostingRanker`. If the model was stopped
        early, predictions use the rounds up to the best one, as LightGBM's do. Scores of two classes are log-odds,
        that is LightGBM's times its parameter sigmoid. Categories must be whole numbers; LightGBM truncates others.

    Raises:
        ModelFileError: the file is damaged, the model has no equivalent here, or the imported model, at some threshold,
            does not predict what LightGBM does.
    """
    loaded = _Loaded.of(source)
    text = _text(source) if loaded is None else loaded.booster.model_to_string(num_iteration=-1)
    found = LightGBMModel.read(text)
    columns = _Columns.of(found, levels or {})
    model = _build(found, columns, loaded)
    _check(model, found, columns, text, loaded)
    return model


def _text(source: object) -> str:
    if isinstance(source, str) and source.startswith("tree\n"):
        return source
    try:
        return read_bytes(source, "from_lightgbm", "a lightgbm.Booster").decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelFileError(f"This is not a model file of LightGBM, which is UTF-8 text: {error}.") from error


@dataclass(frozen=True, eq=False)
class _Loaded:
    """A model in memory: the booster, and attributes of the estimator around it."""

    booster: Any
    classes: Array | None = None

    @classmethod
    def of(cls, source: object) -> _Loaded | None:
        """None if it is not an object of LightGBM."""
        lightgbm = sys.modules.get("lightgbm")  # an object of LightGBM cannot exist without it
        if lightgbm is None:
            return None
        if isinstance(source, lightgbm.Booster):
            return cls(source)
        if not isinstance(source, lightgbm.LGBMModel):
            return None
        check_fitted(source)
        classes = np.asarray(source.classes_) if isinstance(source, lightgbm.LGBMClassifier) else None
        return cls(source.booster_, classes)

    @property
    def n_best(self) -> int | None:
        """Iterations up to the best one of early stopping."""
        best = self.booster.best_iteration
        return int(best) if 0 < best <= self.booster.current_iteration() else None

    @property
    def best_score(self) -> float | None:
        """The deciding metric: the first one of the last evaluation set."""
        curves = list(self.booster.best_score.values())
        return float(next(iter(curves[-1].values()))) if curves and curves[-1] else None


@dataclass(frozen=True, eq=False)
class _Columns:
    """The columns, and LightGBM's number of each level of those that hold categories."""

    schema: Schema
    numbers: dict[int, list[int]]

    @classmethod
    def of(cls, found: LightGBMModel, given: LevelNames) -> _Columns:
        names = found.names
        stored = [found.category_names.get(j, found.categories.get(j)) for j in range(found.n_features)]
        whole = [None if own is None else range(own[-1] + 1) for own in map(found.categories.get, range(len(stored)))]
        named = named_levels(names, whole, given)
        levels = [stored[j] if named[j] is whole[j] else named[j] for j in range(len(stored))]
        numbers = {
            j: own if levels[j] is own else list(range(len(levels[j] or ()))) for j, own in found.categories.items()
        }
        return cls(schema_of(names, levels, found.ranges), numbers)

    @property
    def codes(self) -> dict[int, dict[int, int]]:
        """Numbers of levels by LightGBM's numbers."""
        return {j: {number: code for code, number in enumerate(own)} for j, own in self.numbers.items()}

    def values(self, cells: Floats) -> Floats:
        """Cells in LightGBM's numbers."""
        out = cells.copy()
        for j, own in self.numbers.items():
            known = out[:, j] >= 0
            out[known, j] = np.array(own)[out[known, j].astype(np.intp)]
            out[out[:, j] == UNSEEN, j] = -1.0
        return out


def _build(found: LightGBMModel, columns: _Columns, loaded: _Loaded | None) -> Newton:
    n_best = None if loaded is None else loaded.n_best
    n_rounds = len(found.trees) // found.n_scores
    if found.is_average and n_best is not None:  # the mean of the best rounds is not a sum over all rounds
        n_rounds, n_best = n_best, None
    factor, codes, n_levels = _factor(found, n_rounds), columns.codes, columns.schema.n_levels
    used = found.trees[: n_rounds * found.n_scores]
    refuse_wide_subsets((int(tree.feature[node]) for tree in used for node in tree.categories), n_levels)
    trees = [to_source(tree, codes, factor).to_tree(n_levels) for tree in used]
    rounds = tuple(zip(*[iter(trees)] * found.n_scores, strict=True))
    model, loss = _estimator(found, n_rounds)
    classes = None
    if isinstance(model, NewtonBoostingClassifier):
        classes = np.arange(max(found.n_scores, 2)) if loaded is None or loaded.classes is None else loaded.classes
    best_score = None if loaded is None else loaded.best_score
    ensemble = Ensemble(np.zeros(found.n_scores), rounds)
    set_boosting(model, columns.schema, ensemble, loss, classes, "imported from LightGBM", n_best, best_score)
    return model


def _factor(found: LightGBMModel, n_rounds: int) -> float:
    """What sums of leaf values are multiplied by to be scores: means of forests, log-odds of classes."""
    try:
        factor = float(found.options["sigmoid"]) if found.objective == "binary" else 1.0
    except (KeyError, ValueError):
        factor = np.nan
    if not 0.0 < factor < np.inf:
        raise ModelFileError("The objective 'binary' should have a sigmoid above 0. The file is damaged.")
    return factor / n_rounds if found.is_average else factor


def _estimator(found: LightGBMModel, n_rounds: int) -> tuple[Newton, Loss]:
    """An estimator with LightGBM's parameters as far as it has them, and the loss."""
    own = _parameters(found) | {"n_estimators": n_rounds}
    name = found.objective
    if "sqrt" in found.options or name not in (*NUMBERS, *CLASSES, "lambdarank"):
        shown = f"{name} sqrt" if "sqrt" in found.options else name
        raise ModelFileError(
            f"The model was trained with the objective {shown!r}, for which there is no loss here. There are "
            f"{', '.join([*NUMBERS, *CLASSES, 'lambdarank'])}."
        )
    if (found.n_scores == 1) == (name == "multiclass"):
        raise ModelFileError(f"The model has {found.n_scores} scores with the objective {name!r}.")
    if name == "lambdarank":
        return estimator_with(NewtonBoostingRanker, own), LambdaRank([1])
    if name in CLASSES:
        return estimator_with(NewtonBoostingClassifier, own), make_loss("log_loss", n_classes=max(found.n_scores, 2))
    options = {}
    if name in OPTIONS:
        theirs, default, option, ours = OPTIONS[name]
        options[option] = own[ours] = _number(found, theirs, default)
    own["objective"] = NUMBERS[name]
    return estimator_with(NewtonBoostingRegressor, own), make_loss(NUMBERS[name], **options)


def _number(found: LightGBMModel, name: str, default: float) -> float:
    try:
        return float(found.parameters.get(name, default))
    except ValueError as error:
        raise ModelFileError(f"The parameter {name} of the model is not a number: {error}.") from error


def _parameters(found: LightGBMModel) -> dict[str, object]:
    """Parameters of the training that are in the file."""
    own: dict[str, object] = {"grow_policy": "lossguide"}
    for theirs, (ours, kind) in PARAMETERS.items():
        try:
            own[ours] = kind(found.parameters[theirs])
        except (KeyError, ValueError):
            continue
    depth = found.parameters.get("max_depth", "-1")
    own["max_depth"] = int(depth) if depth.isdecimal() else 0
    return own


def _check(model: Newton, found: LightGBMModel, columns: _Columns, text: str, loaded: _Loaded | None) -> None:
    """Compare with LightGBM if it is installed, else with an interpreter of the file."""
    booster = loaded.booster if loaded is not None else _load(text)
    n_rounds = model.best_n_rounds_
    factor = _factor(found, n_rounds)

    def theirs(cells: Floats) -> Floats:
        rows = columns.values(cells)
        if booster is None:
            return factor * found.sums(rows, n_rounds * found.n_scores)
        sums = booster.predict(rows, raw_score=True, num_iteration=n_rounds)
        return factor * np.asarray(sums).reshape(len(rows), -1).T

    most_rows = MOST_ROWS_SLOWLY if booster is None else MOST_ROWS
    check_agreement(model.model_, theirs, "LightGBM", most_rows=most_rows)


def _load(text: str) -> Any:
    """The file as LightGBM reads it, if it is installed."""
    lightgbm = installed("lightgbm")
    if lightgbm is None:
        return None
    try:
        return lightgbm.Booster(model_str=text)
    except lightgbm.basic.LightGBMError as error:
        raise ModelFileError(f"LightGBM itself refuses this file: {error}") from error

"""Models of XGBoost as models of this library."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.boosting.ensemble import Ensemble
from sapwood.errors import InputTypeError, ModelFileError
from sapwood.estimators.from_parts import estimator_with, set_boosting
from sapwood.estimators.newton import NewtonBoostingClassifier, NewtonBoostingRanker, NewtonBoostingRegressor
from sapwood.interchange.boundary import MOST_ROWS
from sapwood.interchange.optional import installed
from sapwood.interchange.sources.agreement import LARGEST, MOST_ROWS_SLOWLY, Domain, Scores, check_agreement
from sapwood.interchange.sources.given_model import check_fitted, read_bytes
from sapwood.interchange.sources.source_schema import LevelNames, named_levels, schema_of
from sapwood.interchange.sources.source_tree import refuse_wide_subsets
from sapwood.interchange.sources.xgboost.model import XGBoostModel, quantiles_of
from sapwood.keywords import answering
from sapwood.losses.counts import Tweedie
from sapwood.losses.loss import Loss
from sapwood.losses.names import make_loss
from sapwood.losses.per_target import PerTarget
from sapwood.losses.ranking import LambdaRank
from sapwood.table.schema import Schema
from sapwood.tree import Tree

Newton = NewtonBoostingClassifier | NewtonBoostingRegressor | NewtonBoostingRanker

ROUNDING = 2.0**-23  # of sums in float32
NUMBERS = {
    "reg:squarederror": "squared_error",
    "reg:linear": "squared_error",
    "reg:absoluteerror": "absolute_error",
    "reg:quantileerror": "quantile",
    "count:poisson": "poisson",
    "reg:gamma": "gamma",
    "reg:tweedie": "tweedie",
}
CLASSES = ("binary:logistic", "multi:softprob", "multi:softmax")


@answering
def from_xgboost(source: object, *, levels: LevelNames | None = None) -> Newton:
    """A model of XGBoost as a fitted Newton boosting estimator that predicts the same.

    Args:
        source: an `xgboost.Booster`, a fitted estimator of `xgboost`, or a model file: a path, or the bytes of it, as
            JSON or UBJSON. Files are read without XGBoost, and all their content is checked.
        levels: names of the categories, in the order of their codes, of columns for which the model does not store
            them. Files of XGBoost before 3.1 store none; categories are then the whole numbers 0, 1, 2, ….

    Returns:
        A `NewtonBoostingRegressor`, `NewtonBoostingClassifier` or `NewtonBoostingRanker`. Scores are sums in double
        precision, where XGBoost adds in single precision. If the model was stopped early, predictions use the rounds
        up to the best one, as XGBoost's estimators do (its Booster uses all of them by default). Several quantiles are
        sorted, so that they cannot cross. Categories unknown to XGBoost are refused, unless they go where
        missing values go.

    Raises:
        ModelFileError: the file is damaged, the model has no equivalent here, or the imported model, at some threshold,
            does not predict what XGBoost does.
    """
    loaded = _Loaded.of(source)
    data = read_bytes(source, "from_xgboost", "an xgboost.Booster") if loaded is None else loaded.data
    found = XGBoostModel.read(data)
    model = _build(found, levels or {}, loaded)
    _check(model, found, data, loaded)
    return model


@dataclass(frozen=True, eq=False)
class _Loaded:
    """A model in memory: the booster, and attributes of the estimator around it."""

    booster: Any
    data: bytes
    classes: Array | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def of(cls, source: object) -> _Loaded | None:
        """None if it is not an object of XGBoost."""
        xgboost = sys.modules.get("xgboost")  # an object of XGBoost cannot exist without it
        if xgboost is None or not isinstance(source, (xgboost.Booster, xgboost.XGBModel)):
            return None
        if isinstance(source, xgboost.Booster):
            return cls(source, bytes(source.save_raw("json")))
        check_fitted(source)
        booster, missing = source.get_booster(), source.get_params().get("missing", math.nan)
        if missing is not None and not math.isnan(missing):
            raise InputTypeError(
                f"The model takes {missing!r} for missing values (missing={missing!r}), but here they are NaN. Pass "
                f"model.get_booster(), and NaN in place of {missing!r} to the imported model."
            )
        classes = np.asarray(source.classes_) if isinstance(source, xgboost.XGBClassifier) else None
        return cls(booster, bytes(booster.save_raw("json")), classes, source.get_params())

    @property
    def rate(self) -> float | None:
        """The learning rate."""
        about = json.loads(self.booster.save_config())["learner"]["gradient_booster"]
        about = about.get("gbtree", about).get("tree_train_param", {})
        return float(about["learning_rate"]) if "learning_rate" in about else None


def _build(found: XGBoostModel, levels: LevelNames, loaded: _Loaded | None) -> Newton:
    schema = _schema(found, levels)
    rate = None if loaded is None else loaded.rate
    n_levels = schema.n_levels
    refuse_wide_subsets((int(tree.feature[node]) for tree in found.trees for node in tree.categories), n_levels)
    trees = [
        tree.to_source(n_levels, share, rate).to_tree(n_levels)
        for tree, share in zip(found.trees, found.share.tolist(), strict=True)
    ]
    rounds = _rounds(trees, found)
    model, loss = _estimator(found, len(rounds), rate, {} if loaded is None else loaded.parameters)
    model.set_params(unseen="missing" if _unseen_are_missing(found) else "error")
    base = found.base if loss.name == "multinomial" else loss.link(found.base[:, None])[:, 0]
    classes = None
    if isinstance(model, NewtonBoostingClassifier):
        classes = np.arange(max(found.n_groups, 2)) if loaded is None or loaded.classes is None else loaded.classes
    n_best = None if found.best_iteration is None else found.n_best_trees // found.n_groups
    ensemble = Ensemble(base, rounds)
    set_boosting(model, schema, ensemble, loss, classes, "imported from XGBoost", n_best, found.best_score)
    return model


def _rounds(trees: list[Tree], found: XGBoostModel) -> tuple[tuple[Tree, ...], ...]:
    """Trees by round: the first of each group, the second of each group, and so on."""
    groups: list[list[Tree]] = [[] for _ in range(found.n_groups)]
    for tree, k in zip(trees, found.group.tolist(), strict=True):
        groups[k].append(tree)
    sizes = sorted(map(len, groups))
    if sizes[0] == 0 or sizes[0] < sizes[-1]:
        raise ModelFileError(
            f"The model has {sizes[0]} trees for one of its {len(groups)} scores and {sizes[-1]} for another; each "
            "needs the same number."
        )
    return tuple(zip(*groups, strict=True))


def _schema(found: XGBoostModel, given: LevelNames) -> Schema:
    """Categories without names are the whole numbers up to the largest that a tree mentions."""
    most = np.full(found.n_features, -1)
    for tree in found.trees:
        for node, codes in tree.categories.items():
            most[tree.feature[node]] = max(most[tree.feature[node]], int(codes.max(initial=0)))
    own = [
        None if names is None or (not names and last < 0) else names or range(last + 1)
        for names, last in zip(found.categories, most.tolist(), strict=True)
    ]
    return schema_of(found.names, named_levels(found.names, own, given))


def _unseen_are_missing(found: XGBoostModel) -> bool:
    """XGBoost sends categories that a split does not name to the left, and refuses those without a name."""
    if any(found.categories):
        return False
    return all(tree.default_left[node] for tree in found.trees for node in tree.categories)


def _estimator(
    found: XGBoostModel, n_rounds: int, rate: float | None, parameters: Mapping[str, object]
) -> tuple[Newton, Loss]:
    """An estimator with XGBoost's parameters as far as it has them, and the loss."""
    own: dict[str, Any] = {n: value for n, value in parameters.items() if value is not None and n not in IGNORED}
    own["n_estimators"] = n_rounds
    if rate is not None:
        own["learning_rate"] = float(str(np.float32(rate)))
    if "gamma" in own:
        own["gamma"] = own["gamma"] / 2.0  # gains are half of XGBoost's
    name = found.objective
    if name == "rank:ndcg":
        return estimator_with(NewtonBoostingRanker, own), LambdaRank([1])
    if name in CLASSES:
        _refuse_groups(found, name == "binary:logistic")
        return estimator_with(NewtonBoostingClassifier, own), make_loss("log_loss", n_classes=max(found.n_groups, 2))
    if name not in NUMBERS:
        raise ModelFileError(
            f"The model was trained with the objective {name!r}, for which there is no loss here. There are "
            f"{', '.join([*NUMBERS, *CLASSES, 'rank:ndcg'])}."
        )
    loss = _number_loss(found, own)
    if loss.n_scores == 1 and found.n_groups > 1:
        loss = PerTarget([loss] * found.n_groups, [f"target {k}" for k in range(found.n_groups)])
    _refuse_groups(found, loss.n_scores == 1)
    return estimator_with(NewtonBoostingRegressor, own | {"objective": NUMBERS[name]}), loss


def _number_loss(found: XGBoostModel, parameters: dict[str, object]) -> Loss:
    """The loss of a regression; its options become parameters; OUT parameters."""
    name = NUMBERS[found.objective]
    if name == "quantile":
        quantiles = quantiles_of(found.settings)
        parameters["quantile_alpha"] = alpha = quantiles if len(quantiles) > 1 else quantiles[0]
        return make_loss(name, quantile=alpha)
    if name == "tweedie":
        power = found.settings.object("tweedie_regression_param").number("tweedie_variance_power")
        parameters["tweedie_variance_power"] = power
        return Tweedie(power)
    return make_loss(name)


def _refuse_groups(found: XGBoostModel, is_single: bool) -> None:
    if is_single != (found.n_groups == 1):
        raise ModelFileError(
            f"The model has {found.n_groups} scores with the objective {found.objective!r}. Models of several targets "
            "and these objectives have no equivalent here: train one for each."
        )


def _check(model: Newton, found: XGBoostModel, data: bytes, loaded: _Loaded | None) -> None:
    """Compare with XGBoost if it is installed, else with an interpreter of the file."""
    n_trees = found.n_best_trees
    booster = loaded.booster if loaded is not None else _load(data)
    slow = booster is None
    theirs: Scores = _slow_scores(model, found, n_trees) if slow else _booster_scores(booster, found)
    check_agreement(
        model.model_,
        theirs,
        "XGBoost",
        rounding=ROUNDING * math.sqrt(n_trees + 4),
        domain=Domain(LARGEST, unseen=model.unseen == "missing"),
        most_rows=MOST_ROWS_SLOWLY if slow else MOST_ROWS,
    )


def _load(data: bytes) -> Any:
    """The file as XGBoost reads it, if it is installed."""
    xgboost = installed("xgboost")
    if xgboost is None:
        return None
    booster = xgboost.Booster()
    try:
        booster.load_model(bytearray(data))
    except xgboost.core.XGBoostError as error:
        raise ModelFileError(f"XGBoost itself refuses this file: {str(error).strip().splitlines()[-1]}") from error
    return booster


def _booster_scores(booster: Any, model: XGBoostModel) -> Scores:
    xgboost = installed("xgboost")
    last = 0 if model.best_iteration is None else model.best_iteration + 1
    types = ["q" if own is None else "c" for own in model.categories]

    def scores(cells: Floats) -> Floats:
        rows = xgboost.DMatrix(cells, feature_names=booster.feature_names, feature_types=types)
        found = booster.predict(rows, output_margin=True, iteration_range=(0, last), validate_features=False)
        return np.asarray(found, dtype=np.float64).reshape(len(cells), -1).T

    return scores


def _slow_scores(model: Newton, found: XGBoostModel, n_trees: int) -> Scores:
    base = model.ensemble_.base[:, None]
    return lambda cells: base + found.margins(cells, n_trees)


IGNORED = (  # parameters whose meaning differs here, or that do not affect the model
    *("objective", "base_score", "scale_pos_weight", "eval_metric", "callbacks", "missing", "verbose"),
    *("validation_fraction", "feature_weights", "categorical_features"),
)

"""Kinds of models by name, and estimators of these kinds with the parameters given by --set."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sapwood.errors import ParameterError

if TYPE_CHECKING:
    from sapwood.cli.options import Task, TrainingOptions
    from sapwood.estimators.estimator import Estimator

_WORDS = {"none": None, "null": None, "true": True, "false": False}


@dataclass(frozen=True)
class Kind:
    """Names, in the package, of the estimators for both tasks."""

    classifier: str
    regressor: str
    is_one_tree: bool = False
    has_rounds: bool = False
    defaults: tuple[tuple[str, object], ...] = ()  # parameters whose defaults differ on the command line


KINDS = {
    "tree": Kind("DecisionTreeClassifier", "DecisionTreeRegressor", is_one_tree=True),
    "boosting": Kind("NewtonBoostingClassifier", "NewtonBoostingRegressor", has_rounds=True),
    "gradient-boosting": Kind("GradientBoostingClassifier", "GradientBoostingRegressor", has_rounds=True),
    "forest": Kind("RandomForestClassifier", "RandomForestRegressor", defaults=(("oob_score", True),)),
    "extra-trees": Kind("ExtraTreesClassifier", "ExtraTreesRegressor"),
    "bagging": Kind("BaggingClassifier", "BaggingRegressor", defaults=(("oob_score", True), ("n_estimators", 50))),
    "adaboost": Kind("AdaBoostClassifier", "AdaBoostRegressor"),
}


def find_kind(name: str) -> Kind:
    """The kind of model of that name."""
    from sapwood.table.names import nearest_name

    kind = KINDS.get(name)
    if kind is None:
        raise ParameterError(
            f"--model {name!r} is not a kind of model.{nearest_name(name, list(KINDS))} Use one of {', '.join(KINDS)}."
        )
    return kind


def new_estimator(options: TrainingOptions, task: Task) -> Estimator:
    """An unfitted estimator with the parameters that are set."""
    import sapwood

    kind = find_kind(options.model)
    cls = getattr(sapwood, kind.classifier if task == "classification" else kind.regressor)
    given = parse_settings(options.settings)
    if options.category and "categorical_features" in given:
        raise ParameterError("--category and --set categorical_features=… set the same parameter. Use one of them.")
    nested = {name: given.pop(name) for name in list(given) if name.startswith("estimator__")}
    categories = {"categorical_features": list(options.category)} if options.category else {}
    defaults = {"random_state": options.seed, **dict(kind.defaults)}
    if "categorical_features" in cls().get_params(deep=False):
        given = categories | given
    elif (categories or nested) and "estimator" not in given:  # categories are a parameter of the learners
        given["estimator"] = cls().default_estimator().set_params(**categories)
    estimator: Estimator = cls(**(defaults | given)).set_params(**nested)
    return estimator


def require_one_output(estimator: Estimator) -> None:
    """Raise for several quantiles or targets, which have no single column of predictions."""
    model = estimator.model_
    if not model.single:
        n_outputs = len(model.classes) or len(model.score_names)
        raise ParameterError(
            f"The model predicts {n_outputs} values for each row, but the command line supports one. Train it with one "
            "quantile or one target."
        )


def parse_settings(texts: Iterable[str]) -> dict[str, object]:
    """Parameters by name, from texts such as max_depth=4."""
    settings: dict[str, object] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name.isidentifier() or not value:
            raise ParameterError(
                f"--set {text!r} is not of the form NAME=VALUE. Write, for example, --set max_depth=4."
            )
        if name in settings:
            raise ParameterError(f"--set {name} is given twice. Set each parameter once.")
        settings[name] = _parse_value(value)
    return settings


def _parse_value(text: str) -> object:
    """A Python literal, or the text itself."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value: object = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
    return value

"""The models the command line knows, by name. A further model is a further line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sapwood.cli.task import Task
from sapwood.errors import ParameterError
from sapwood.table.names import nearest_name


@dataclass(frozen=True)
class Model:
    """Names, in the package, of the estimators for both tasks."""

    classifier: str
    regressor: str
    is_one_tree: bool = False
    boosts: bool = False
    defaults: tuple[tuple[str, Any], ...] = ()  # parameters that the command line sets unless told otherwise


MODELS = {
    "tree": Model("DecisionTreeClassifier", "DecisionTreeRegressor", is_one_tree=True),
    "boosting": Model("NewtonBoostingClassifier", "NewtonBoostingRegressor", boosts=True),
    "gradient-boosting": Model("GradientBoostingClassifier", "GradientBoostingRegressor", boosts=True),
    "forest": Model("RandomForestClassifier", "RandomForestRegressor", defaults=(("oob_score", True),)),
    "extra-trees": Model("ExtraTreesClassifier", "ExtraTreesRegressor"),
    "bagging": Model("BaggingClassifier", "BaggingRegressor", defaults=(("oob_score", True), ("n_estimators", 50))),
    "adaboost": Model("AdaBoostClassifier", "AdaBoostRegressor"),
}


def find_model(name: str) -> Model:
    """The model of that name."""
    model = MODELS.get(name)
    if model is None:
        raise ParameterError(
            f"There is no model {name!r}.{nearest_name(name, list(MODELS))} Use {' or '.join(MODELS)}."
        )
    return model


def estimator_class(name: str, task: Task) -> Any:
    """The estimator's class for the task."""
    import sapwood

    model = find_model(name)
    return getattr(sapwood, model.classifier if task is Task.CLASSIFICATION else model.regressor)


def check_single(estimator: Any) -> None:
    """Several quantiles or targets have no measure and no column of predictions that the command line knows."""
    ensemble = getattr(estimator, "ensemble_", None)
    n_answers = getattr(estimator, "n_outputs_", 1)
    if ensemble is not None and not hasattr(estimator, "classes_"):
        n_answers = ensemble.n_scores
    if n_answers > 1:
        raise ParameterError(
            f"The model gives {n_answers} answers for each row, but the command line needs one. Give one quantile, or "
            "one target."
        )

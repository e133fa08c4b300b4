"""`load_model`: the Model that a file holds, without the estimator and the libraries that training needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, get_args

from sapwood.adaboost.members import TreeMembers
from sapwood.boosting.ensemble import Ensemble
from sapwood.files.checks import Check, flag, number_from_zero, one_of
from sapwood.files.content import FilePath, read_content
from sapwood.files.estimator_reader import read_estimator, refusing_misfits
from sapwood.files.families import ADABOOST, FAMILIES, FOREST, GRADIENT, NEWTON, TREE
from sapwood.files.saved_estimator import SavedEstimator
from sapwood.growth.criteria import CLASS_CRITERIA, NUMBER_CRITERIA
from sapwood.keywords import answering
from sapwood.model.methods import Common, adaboost_model, boosting_model, forest_model, tree_model
from sapwood.model.model import Model
from sapwood.table.schema import Unseen


@answering
def load_model(path: FilePath, *, mmap: bool = True, drift_warning: bool | None = None) -> Model:
    """Load what a saved model computes, for programs that only predict.

    It predicts the same bits as the estimator that `load` gives, but imports neither scikit-learn nor pandas, and of
    SciPy only what Numba imports for itself, so a process is ready in a third of the time. Use `load` to train.

    Args:
        path: a file that `save` wrote, in either form.
        mmap: use the file where it lies instead of copying it: trees are read when they are needed, and processes that
            load the same file share its memory. Set False if others may change the file in place while it is in use.
        drift_warning: whether rows that do not look like the training data give a warning; None is the parameter that
            the estimator was saved with.

    Returns:
        A `Model`, with `predict`, `predict_proba`, `predict_one`, `predict_proba_one` and `predict_batches`.

    Raises:
        ModelFileError: if the file is damaged, foreign or malicious. Reading runs no code from the file and checks all
            of it first; parameters that no prediction depends on are not compared with the rules of the estimator.
    """
    _, document, arrays = read_content(path, mmap=mmap)
    saved = read_estimator(document, arrays)
    with refusing_misfits():
        model = MAKERS[FAMILIES[saved.name].name](saved)
    return model if drift_warning is None else replace(model, drift_warning=bool(drift_warning))


def _tree_model(saved: SavedEstimator) -> Model:
    return tree_model(saved.fitted["tree_"], _criterion(saved), **_common(saved, _unseen(saved)))


def _forest_model(saved: SavedEstimator) -> Model:
    prior_weight = _parameter(saved.parameters, "prior_weight", 0.0, number_from_zero)
    return forest_model(saved.fitted["forest_"], _criterion(saved), prior_weight, **_common(saved, _unseen(saved)))


def _adaboost_model(saved: SavedEstimator) -> Model:
    members: TreeMembers = saved.fitted["_members"]
    weights = saved.fitted["estimator_weights_"][: len(members.fitted)]
    unseen: Unseen = "error" if _unseen(saved) == "error" else "missing"  # a vote has no value of an inner node
    return adaboost_model(members, weights, _criterion(saved), **_common(saved, unseen))


def _boosting_model(saved: SavedEstimator) -> Model:
    ensemble: Ensemble = saved.fitted["ensemble_"]
    best, factors = saved.fitted["_best"], saved.fitted.get("_factors")
    undo = _parameter(saved.parameters, "undo_class_weight", True, flag)
    common = _common(saved, _unseen(saved, ("missing", "error")))
    return boosting_model(
        ensemble,
        ensemble.n_rounds if best is None else best,
        saved.fitted["loss_"],
        factors if undo else None,
        FAMILIES[saved.name] is GRADIENT,
        **common,
    )


def _common(saved: SavedEstimator, unseen: Unseen) -> Common:
    return {
        "estimator": saved.name,
        "schema": saved.schema,
        "classes": saved.classes,
        "single": saved.single,
        "unseen": unseen,
        "drift_warning": _parameter(saved.parameters, "drift_warning", True, flag),
    }


def _criterion(saved: SavedEstimator) -> str:
    usual, known = ("gini", CLASS_CRITERIA) if saved.is_classifier else ("squared_error", NUMBER_CRITERIA)
    criterion: str = _parameter(saved.tree_parameters, "criterion", usual, one_of(*known))
    return criterion


def _unseen(saved: SavedEstimator, known: tuple[Unseen, ...] = get_args(Unseen)) -> Unseen:
    unseen: Unseen = _parameter(saved.tree_parameters, "unseen", "missing", one_of(*known))
    return unseen


def _parameter(parameters: Mapping[str, Any], name: str, default: object, check: Check) -> Any:
    """A parameter that the Model needs; files of older versions do not have all of them."""
    value = parameters.get(name, default)
    check(value, f"parameters.{name}")
    return value


MAKERS: dict[str, Callable[[SavedEstimator], Model]] = {
    TREE.name: _tree_model,
    FOREST.name: _forest_model,
    ADABOOST.name: _adaboost_model,
    GRADIENT.name: _boosting_model,
    NEWTON.name: _boosting_model,
}

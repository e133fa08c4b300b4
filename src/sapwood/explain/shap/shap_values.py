"""Shapley values of any model of the library.

A score of a row is the base value, which is the same for all rows, plus one value for each feature. These are the only
such values that are fair: features with the same effect get the same value, features without effect get 0, and the
values of a sum of models are the sums of their values. Explained are the sums of the trees: probabilities or means of
trees and forests, scores before the link function of boosting, the decision function of AdaBoost.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from sapwood.errors import InternalError, ParameterError
from sapwood.explain.shap.display_data import display_data
from sapwood.explain.shap.enumeration import explain_median
from sapwood.explain.shap.games import (
    Explained,
    Game,
    Interactions,
    Interventional,
    PathDependent,
    completed_pairs,
    match_background,
    play,
)
from sapwood.explain.shap.shap_result import ShapInteractions, ShapValues
from sapwood.keywords import answering
from sapwood.model import Model, model_of
from sapwood.parameters import Flag, check_parameters
from sapwood.table.table import Table
from sapwood.threads import resolve_jobs

TOLERANCE = 1e-6  # of the size of a score and of what it is made of
Result = TypeVar("Result", ShapValues, ShapInteractions)


@answering
def shap_values(
    model: object,
    X: object,
    *,
    background: object = None,
    check_additivity: bool = True,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> ShapValues:
    """Exact Shapley values of the features for the scores of rows.

    Args:
        model: a fitted model of the library.
        X: rows to explain.
        background: None averages absent features over the training rows that follow the same path in the trees. Rows
            given here are used instead: absent features are taken from each of them in turn ("interventional"). Time
            grows with their number; a hundred are often enough.
        check_additivity: check that base value and values sum up to the score of each row.
        n_jobs: threads; the result does not depend on it.
        verbose: whether to show on the standard error how much is done.

    A gradient boosting model with an `init` starts every row with a score of its own, which goes into the base values.
    AdaBoostRegressor predicts a median, not a sum: it needs a background, and at most 12 features in its trees.
    """
    model = model_of(model)
    given = {"check_additivity": check_additivity, "verbose": verbose}
    check_parameters("shap_values", dict.fromkeys(given, (Flag(),)), given)
    threads, table = resolve_jobs(n_jobs), model.match(X)
    if not model.is_sum:
        explained = explain_median(model, table, background)
    elif background is None:
        explained = _play(model, PathDependent(table.n_features), table, threads, verbose)
    else:
        others = match_background(model, background)
        explained = _play(model, Interventional(others.block(0, others.n_rows)), table, threads, verbose)
    if check_additivity:
        _check_additivity(explained)
    return _result(ShapValues, model, X, table, explained)


@answering
def shap_interaction_values(
    model: object, X: object, *, background: object = None, n_jobs: int | None = None, verbose: bool = False
) -> ShapInteractions:
    """Exact Shapley interaction values of pairs of features for the scores of rows, as (rows, features, features).

    Args:
        model: a fitted model of the library.
        X: rows to explain.
        background: not supported; absent features are averaged over the training rows, along the trees.
        n_jobs: threads; the result does not depend on it.
        verbose: whether to show on the standard error how much is done.
    """
    model = model_of(model)
    check_parameters("shap_interaction_values", {"verbose": (Flag(),)}, {"verbose": verbose})
    if background is not None:
        raise ParameterError(
            "background is not allowed for shap_interaction_values: interaction values are averaged over the training "
            "rows along the trees. Leave it out, or use shap_values(model, X, background=…)."
        )
    threads, table = resolve_jobs(n_jobs), model.match(X)
    if not model.is_sum:
        raise ParameterError(
            f"model={model.estimator} has no interaction values: it predicts the median of its learners, which is not "
            "a sum over trees. Use shap_values(model, X, background=…)."
        )
    single = _play(model, PathDependent(table.n_features), table, threads)
    pairs = _play(model, Interactions(table.n_features), table, threads, verbose)
    explained = Explained(completed_pairs(pairs.values, single.values), single.base, single.scores)
    return _result(ShapInteractions, model, X, table, explained)


def _play(model: Model, game: Game, table: Table, n_jobs: int, verbose: bool = False) -> Explained:
    return play(game, model.require_trees(), table, model.unseen == "node", n_jobs, verbose)


def _check_additivity(explained: Explained) -> None:
    """Raise if values do not lead from the base to the scores; large values that cancel out may round more."""
    values, scores = explained.values, explained.scores
    with np.errstate(over="ignore", invalid="ignore"):  # differences of scores may be too large for a number
        error = np.abs(explained.base + values.sum(axis=1) - scores)
        size = np.maximum(np.abs(scores), np.abs(values).sum(axis=1))
    wrong = error > TOLERANCE * np.maximum(1.0, size)
    if wrong.any():
        row = int(np.argmax(wrong.any(axis=1)))
        raise InternalError(
            f"The Shapley values of row {row} miss its score by {error[row].max():.3g}. Please report this; "
            "check_additivity=False returns the values as they are."
        )


def _result(kind: type[Result], model: Model, X: object, table: Table, explained: Explained) -> Result:
    """What the user gets: columns that are always zero are left out, and a single one has no axis of its own."""
    base = np.repeat(explained.base[None, :], table.n_rows, axis=0)
    if model.is_sum and model.begin is not None:
        base = base + model.begin(X).T
    kept = model.kept_scores if model.is_sum else [0]
    names = tuple(model.score_names[k] for k in kept) if model.is_sum else ("prediction",)
    values, base = explained.values[..., kept], base[:, kept]
    if len(kept) == 1:
        values, base = values[..., 0], base[:, 0]
    columns = tuple(table.schema.names)
    facts = display_data(table), columns, names, _opposite(model, names), _scale(model)
    return kind(np.ascontiguousarray(values), base, *facts)


def _scale(model: Model) -> str:
    """The scale of the scores."""
    response = model.response
    if response.is_identity or not model.is_sum:
        return "probability" if model.is_classifier else "prediction"
    if response.kind == "logistic" and response.scale == 1.0 and model.trees.round_size:
        return "log-odds"
    return "log of the prediction" if response.kind == "exponential" else "score"


def _opposite(model: Model, names: tuple[object, ...]) -> tuple[object, ...]:
    """The first of two classes where they share one score, that of the second."""
    both = model.classes[0].tolist() if len(model.classes) == 1 else []
    return (both[0],) if len(both) == 2 and names == (both[1],) else ()

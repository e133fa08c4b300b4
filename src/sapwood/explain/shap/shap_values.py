"""Shapley values of any model of the library.

A score of a row is the base value, which is the same for all rows, plus one value for each feature. They are the only
such values that are fair: features that do the same get the same, features that do nothing get 0, and the values of
sums of models are the sums of their values. What is explained is what trees add up to: probabilities or means of trees
and forests, scores before the link function of boosting, the decision function of AdaBoost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from sapwood.errors import InternalError, ParameterError
from sapwood.explain.shap.display_data import display_data
from sapwood.explain.shap.median import explain_median
from sapwood.explain.column_numbers import Model, match_background
from sapwood.explain.shap.shap_result import ShapInteractions, ShapValues
from sapwood.explain.shap.games import Explained, Interactions, Interventional, PathDependent, completed_pairs, play
from sapwood.keywords import answering
from sapwood.losses.counts import Gamma, Poisson, Tweedie
from sapwood.losses.logistic import Logistic
from sapwood.parameters import Flag, check_parameters
from sapwood.show.fitted import classes_by_output, require_model
from sapwood.table.table import Table
from sapwood.threads import resolve_jobs

TOLERANCE = 1e-6  # of the size of a score and of what it is made of
Result = TypeVar("Result", ShapValues, ShapInteractions)


@answering
def shap_values(
    model: Any,
    X: Any,
    *,
    background: Any = None,
    check_additivity: bool = True,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> ShapValues:
    """Exact Shapley values of the features for the scores of rows.

    Args:
        model: a fitted model of the library.
        X: rows to explain.
        background: None averages absent features over the training rows that go the same way down the trees. Rows
            given here are used instead: absent features are taken from each of them in turn ("interventional"). Time
            grows with their number; a hundred will often do.
        check_additivity: check that base value and values sum up to the score of each row.
        n_jobs: threads; the result does not depend on it.
        verbose: whether to show on the standard error how much is done.

    A gradient boosting model with an `init` starts every row with a score of its own, which goes into the base values.
    AdaBoostRegressor predicts a median, not a sum: it needs a background, and at most 12 features in its trees.
    """
    require_model(model)
    given = {"check_additivity": check_additivity, "verbose": verbose}
    check_parameters("shap_values", dict.fromkeys(given, (Flag(),)), given)
    threads, table = resolve_jobs(n_jobs), model._match(X)
    if model._median_weights() is not None:
        explained, names = explain_median(model, table, background), ["prediction"]
    elif background is None:
        explained, names = _play(model, PathDependent(table.n_features), table, threads, verbose), model._score_names()
    else:
        others = match_background(model, background)
        game = Interventional(others.block(0, others.n_rows))
        explained, names = _play(model, game, table, threads, verbose), model._score_names()
    if check_additivity:
        _check_additivity(explained)
    return _result(ShapValues, model, X, table, explained, names)


@answering
def shap_interaction_values(
    model: Any, X: Any, *, background: Any = None, n_jobs: int | None = None, verbose: bool = False
) -> ShapInteractions:
    """Exact Shapley interaction values of pairs of features for the scores of rows, as (rows, features, features).

    Args:
        model: a fitted model of the library.
        X: rows to explain.
        background: not supported; absent features are averaged over the training rows, along the trees.
        n_jobs: threads; the result does not depend on it.
        verbose: whether to show on the standard error how much is done.
    """
    require_model(model)
    check_parameters("shap_interaction_values", {"verbose": (Flag(),)}, {"verbose": verbose})
    if background is not None:
        raise ParameterError(
            "background is not allowed for shap_interaction_values: interaction values are averaged over the training "
            "rows along the trees. Leave it out, or use shap_values(model, X, background=…)."
        )
    threads, table = resolve_jobs(n_jobs), model._match(X)
    if model._median_weights() is not None:
        raise ParameterError(
            f"model={type(model).__name__} has no interaction values: it predicts the median of its learners, which is "
            "not a sum over trees. Use shap_values(model, X, background=…)."
        )
    single = _play(model, PathDependent(table.n_features), table, threads)
    pairs = _play(model, Interactions(table.n_features), table, threads, verbose)
    explained = Explained(completed_pairs(pairs.values, single.values), single.base, single.scores)
    return _result(ShapInteractions, model, X, table, explained, model._score_names())


def _play(model: Model, game: Any, table: Table, n_jobs: int, verbose: bool = False) -> Explained:
    return play(game, model._tree_sum(), table, model._unseen_policy == "node", n_jobs, verbose)


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


def _result(
    kind: type[Result], model: Model, X: Any, table: Table, explained: Explained, names: Sequence[Any]
) -> Result:
    """What the user gets: columns that are always zero are left out, and a single one has no axis of its own."""
    base = np.repeat(explained.base[None, :], table.n_rows, axis=0)
    starts = model._row_starts(X)
    if starts is not None:
        base = base + starts.T
    kept = [k for k, name in enumerate(names) if name is not None]
    values, base = explained.values[..., kept], base[:, kept]
    if len(kept) == 1:
        values, base = values[..., 0], base[:, 0]
    shown = tuple(names[k] for k in kept)
    columns = tuple(table.schema.names)
    known = display_data(table), columns, shown, _opposite(model, shown), _scale(model)
    return kind(np.ascontiguousarray(values), base, *known)


def _scale(model: Any) -> str:
    """What the scores are that the values lead to."""
    if model._median_weights() is not None or model._answers_in_scores:
        return "probability" if hasattr(model, "classes_") else "prediction"
    loss = getattr(model, "loss_", None)
    if isinstance(loss, Logistic):
        return "log-odds"
    return "log of the prediction" if isinstance(loss, (Poisson, Gamma, Tweedie)) else "score"


def _opposite(model: Model, shown: tuple[Any, ...]) -> tuple[Any, ...]:
    """The first of two classes where one score, that of the second, tells both."""
    classes = classes_by_output(model)
    both = classes[0].tolist() if len(classes) == 1 else []
    return (both[0],) if len(both) == 2 and shown == (both[1],) else ()

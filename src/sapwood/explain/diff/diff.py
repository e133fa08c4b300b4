"""Model diff: what changed between two fitted models, such as last month's and this month's, for those who sign off."""

from __future__ import annotations

from typing import Any

import narwhals as nw
from sklearn.base import is_regressor

from sapwood.data_warnings import quiet
from sapwood.errors import InputError, InputTypeError
from sapwood.explain.diff.column_pairs import ColumnPairs
from sapwood.explain.column_numbers import has_trees, is_sum
from sapwood.explain.diff.model_diff import ModelDiff
from sapwood.explain.diff.prediction_moves import Moves
from sapwood.explain.diff.parameter_changes import parameter_changes
from sapwood.explain.editable_rows import Rows
from sapwood.explain.diff.shap_moves import ShapMoves
from sapwood.explain.diff.split_changes import SplitChange, split_changes
from sapwood.explain.diff.tree_pairs import TreePairs, pair_trees
from sapwood.keywords import answering
from sapwood.parameters import Interval, Nothing, check_parameters
from sapwood.show.fitted import classes_by_output, require_model
from sapwood.table.names import shorten
from sapwood.threads import resolve_jobs

_RULES = {
    "tolerance": (Interval(float, low=0),),
    "shap_rows": (Interval(int, low=0), Nothing(remedy="Use shap_rows=None for all rows, and 0 for none.")),
}


@answering
@quiet()
def diff(
    model_a: Any,
    model_b: Any,
    X: Any,
    *,
    tolerance: float = 0.0,
    shap_rows: int | None = 1000,
    n_jobs: int | None = None,
) -> ModelDiff:
    """What changed from one fitted model to another: columns, parameters, predictions, trees, and why rows move.

    Both models predict classes, and the same ones; or numbers, and as many; or both are rankers. They need not be of
    the same class. Columns are compared by name, wherever they stand.

    Trees are compared by position. Two of them have the same structure if every row goes the same way in both. Where
    the scores of both models are sums over trees that mean the same, the move of a row's score is the sum of three
    parts: the start before the first tree, other leaf values in trees of the same structure, and other structure. It is
    also the sum of the differences of Shapley values, of which the base value is one. AdaBoost's median is no such sum;
    of models with members of other kinds, predictions alone are compared.

    Args:
        model_a: the model of before.
        model_b: the model of after.
        X: rows to compare predictions on; they have the columns of both models.
        tolerance: a row has moved if a predicted number, or a probability, changes by more than this, or its class.
        shap_rows: so many rows at most, spread evenly over X, are explained by Shapley values; None takes all, 0 none.
        n_jobs: threads; the result does not depend on it.
    """
    check_parameters("diff", _RULES, {"tolerance": tolerance, "shap_rows": shap_rows})
    require_model(model_a, "model_a")
    require_model(model_b, "model_b")
    _check_alike(model_a, model_b)
    models, threads = (model_a, model_b), resolve_jobs(n_jobs)
    rows = _rows_of(model_a, X, "model_a"), _rows_of(model_b, X, "model_b")
    pairs = ColumnPairs.of(model_a.schema_, model_b.schema_)
    no_trees, no_sums = _no_trees(*models), _no_sums(*models)
    no_shap = no_trees or no_sums or _no_shap(*models, shap_rows)
    trees: TreePairs | None = None
    splits: tuple[SplitChange, ...] = ()
    if no_trees is None:
        trees = pair_trees(models, rows, pairs, with_parts=no_sums is None, n_jobs=threads)
        splits = split_changes([model._tree_sum() for model in models], pairs)
    return ModelDiff(
        (type(model_a).__name__, type(model_b).__name__),
        pairs.changes(),
        parameter_changes(*models),
        Moves.of(models, rows, tolerance),
        trees,
        splits,
        ShapMoves.of(models, rows, pairs, shap_rows, n_jobs) if no_shap is None else None,
        () if no_shap is None else (no_shap,),
    )


def _check_alike(model_a: Any, model_b: Any) -> None:
    """Refuse models whose predictions cannot be compared."""
    said = f"model_a ({type(model_a).__name__})", f"model_b ({type(model_b).__name__})"
    kinds = _kind(model_a), _kind(model_b)
    if kinds[0] != kinds[1]:
        raise InputError(
            f"{said[0]} predicts {kinds[0]}, but {said[1]} predicts {kinds[1]}. Compare two models that predict the "
            "same kind of thing."
        )
    n_outputs = _n_outputs(model_a), _n_outputs(model_b)
    if n_outputs[0] != n_outputs[1]:
        raise InputError(
            f"{said[0]} has {n_outputs[0]} output{'s' if n_outputs[0] > 1 else ''}, but {said[1]} has {n_outputs[1]}. "
            "Compare two models of the same outputs."
        )
    for o, (old, new) in enumerate(zip(classes_by_output(model_a), classes_by_output(model_b), strict=True)):
        if old.tolist() != new.tolist():
            where = f" of output {o}" if n_outputs[0] > 1 else ""
            raise InputError(
                f"{said[0]} knows the classes{where} {shorten(old.tolist())}, but {said[1]} knows "
                f"{shorten(new.tolist())}. Compare two models of the same classes."
            )


def _kind(model: Any) -> str:
    if hasattr(model, "classes_"):
        return "classes"
    return "numbers" if is_regressor(model) else "ranks"


def _n_outputs(model: Any) -> int:
    if hasattr(model, "classes_"):
        return len(classes_by_output(model))
    return len(model._score_names()) if is_sum(model) else 1


def _rows_of(model: Any, X: Any, argument: str) -> Rows:
    """Rows as the model reads them; errors say which of the models it was."""
    try:
        return Rows.of(model, X if model._is_all_trees else _own_columns(model, X))
    except (InputError, InputTypeError) as error:
        raise type(error)(f"X does not fit {argument}: {error}") from error


def _own_columns(model: Any, X: Any) -> Any:
    """Rows for members of other kinds, which would not find their columns among others by themselves."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    names = list(model.schema_.names)
    if isinstance(frame, nw.DataFrame) and model.schema_.named and set(names) <= set(frame.columns):
        return frame.select(names).to_native()
    return X


def _no_trees(model_a: Any, model_b: Any) -> str | None:
    """Why trees cannot be compared, if they cannot."""
    for model in (model_a, model_b):
        if not has_trees(model):
            return f"Trees and Shapley values are not compared: this {type(model).__name__} has members of other kinds."
    return None


def _no_sums(model_a: Any, model_b: Any) -> str | None:
    """Why moves of scores cannot be told apart into parts, if they cannot."""
    for model in (model_a, model_b):
        if not is_sum(model):
            return f"Moves are not explained: {type(model).__name__} predicts the median of its learners, not a sum."
    if _scale(model_a) != _scale(model_b) or len(model_a._score_names()) != len(model_b._score_names()):
        return "Moves are not explained: what the trees of both models add up are different things."
    return None


def _no_shap(model_a: Any, model_b: Any, shap_rows: int | None) -> str | None:
    """Why there are no Shapley values, if the scores are sums."""
    if shap_rows == 0:
        return "Shapley values are not compared, since shap_rows=0."
    for model in (model_a, model_b):
        if not model._is_all_trees:
            return f"Shapley values are not compared: this {type(model).__name__} starts from another kind of model."
    return None


def _scale(model: Any) -> Any:
    """What scores mean: the answer itself, what a loss makes of them, or something of the model's own."""
    if model._answers_in_scores:
        return "answer"
    loss = getattr(model, "loss_", None)
    return type(model) if loss is None else type(loss).response

"""Model diff: what changed between two fitted models, such as last month's and this month's."""

from __future__ import annotations

import narwhals as nw

from sapwood.counted import counted
from sapwood.data_warnings import quiet
from sapwood.errors import InputError, InputTypeError
from sapwood.explain.diff.column_pairs import ColumnPairs
from sapwood.explain.diff.model_diff import ModelDiff
from sapwood.explain.diff.parameter_changes import parameter_changes
from sapwood.explain.diff.prediction_moves import Moves
from sapwood.explain.diff.shap_moves import ShapMoves
from sapwood.explain.diff.split_changes import SplitChange, split_changes
from sapwood.explain.diff.tree_pairs import TreePairs, pair_trees
from sapwood.explain.editable_rows import EditableRows
from sapwood.explain.model_output import predicted_kind
from sapwood.keywords import answering
from sapwood.model import Model, model_of
from sapwood.parameters import Interval, Nothing, check_parameters
from sapwood.table.names import shorten
from sapwood.threads import resolve_jobs

Models = tuple[Model, Model]

_RULES = {
    "tolerance": (Interval(float, low=0),),
    "shap_rows": (Interval(int, low=0), Nothing(remedy="Use shap_rows=None for all rows, and 0 for none.")),
}


@answering
@quiet()
def diff(
    model_a: object,
    model_b: object,
    X: object,
    *,
    tolerance: float = 0.0,
    shap_rows: int | None = 1000,
    n_jobs: int | None = None,
) -> ModelDiff:
    """What changed from one fitted model to another: columns, parameters, predictions, trees, and why rows move.

    Both models predict classes, and the same ones; or numbers, and as many; or both are rankers. They need not be of
    the same class. Columns are compared by name, in any order. Parameters are compared if estimators are given,
    not their Models.

    Trees are compared by position. Two of them have the same structure if every row takes the same path in both. Where
    the scores of both models are sums over trees on the same scale, the move of a row's score is the sum of three
    parts: the start before the first tree, other leaf values in trees of the same structure, and other structure. It is
    also the sum of the differences of Shapley values and of base values. AdaBoost's median is not such a sum; for
    models with members of other libraries, only predictions are compared.

    Args:
        model_a: the old model.
        model_b: the new model.
        X: rows to compare predictions on; they have the columns of both models.
        tolerance: a row has moved if a predicted number, or a probability, changes by more than this, or its class.
        shap_rows: maximum number of rows, spread evenly over X, that are explained by Shapley values; None takes all,
            0 none.
        n_jobs: threads; the result does not depend on it.
    """
    check_parameters("diff", _RULES, {"tolerance": tolerance, "shap_rows": shap_rows})
    models = model_of(model_a, "model_a"), model_of(model_b, "model_b")
    _check_comparable(models, (predicted_kind(model_a), predicted_kind(model_b)))
    threads, rows = resolve_jobs(n_jobs), (_rows_of(models[0], X, "model_a"), _rows_of(models[1], X, "model_b"))
    pairs = ColumnPairs.of(models[0].schema, models[1].schema)
    no_trees, no_sums = _no_trees(models), _no_sums(models)
    no_shap = no_trees or no_sums or _no_shap(models, shap_rows)
    trees: TreePairs | None = None
    splits: tuple[SplitChange, ...] = ()
    if no_trees is None:
        trees = pair_trees(models, rows, pairs, with_parts=no_sums is None, n_jobs=threads)
        splits = split_changes([model.trees for model in models], pairs)
    return ModelDiff(
        (models[0].estimator, models[1].estimator),
        pairs.changes(),
        parameter_changes(model_a, model_b),
        Moves.of(models, rows, tolerance),
        trees,
        splits,
        ShapMoves.of(models, rows, pairs, shap_rows, n_jobs) if no_shap is None else None,
        () if no_shap is None else (no_shap,),
    )


def _check_comparable(models: Models, kinds: tuple[str, str]) -> None:
    """Refuse models whose predictions cannot be compared."""
    first, second = f"model_a ({models[0].estimator})", f"model_b ({models[1].estimator})"
    if kinds[0] != kinds[1]:
        raise InputError(
            f"{first} predicts {kinds[0]}, but {second} predicts {kinds[1]}. Compare two models that predict the same "
            "kind of thing."
        )
    n_outputs = _n_outputs(models[0]), _n_outputs(models[1])
    if n_outputs[0] != n_outputs[1]:
        raise InputError(
            f"{first} has {counted(n_outputs[0], 'output')}, but {second} has {n_outputs[1]}. Compare two models of "
            "the same outputs."
        )
    for o, (old, new) in enumerate(zip(models[0].classes, models[1].classes, strict=True)):
        if old.tolist() != new.tolist():
            where = f" of output {o}" if n_outputs[0] > 1 else ""
            raise InputError(
                f"{first} has the classes{where} {shorten(old.tolist())}, but {second} has "
                f"{shorten(new.tolist())}. Compare two models of the same classes."
            )


def _n_outputs(model: Model) -> int:
    if model.is_classifier:
        return len(model.classes)
    return len(model.score_names) if model.is_sum else 1


def _rows_of(model: Model, X: object, argument: str) -> EditableRows:
    """Rows as the model reads them; errors name the model."""
    try:
        return EditableRows.of(model, X if model.is_all_trees else _own_columns(model, X))
    except (InputError, InputTypeError) as error:
        raise type(error)(f"X does not match {argument}: {error}") from error


def _own_columns(model: Model, X: object) -> object:
    """Rows for members of other libraries, which do not find their columns among others by themselves."""
    frame, names = nw.from_native(X, eager_only=True, pass_through=True), list(model.schema.names)
    if isinstance(frame, nw.DataFrame) and model.schema.named and set(names) <= set(frame.columns):
        return frame.select(names).to_native()
    return X


def _no_trees(models: Models) -> str | None:
    """Why trees cannot be compared, if they cannot."""
    for model in models:
        if not model.has_trees:
            return f"Trees and Shapley values are not compared: this {model.estimator} has members of other libraries."
    return None


def _no_sums(models: Models) -> str | None:
    """Why moves of scores cannot be divided into parts, if they cannot."""
    for model in models:
        if not model.is_sum:
            return f"Moves are not explained: {model.estimator} predicts the median of its learners, not a sum."
    before, after = models
    same_scale = _scale(before) == _scale(after)
    if not same_scale or len(before.score_names) != len(after.score_names):
        return "Moves are not explained: the sums of the trees of both models are on different scales."
    return None


def _scale(model: Model) -> tuple[object, ...]:
    """What scores mean: the prediction itself, what a loss makes of them, or votes of learners."""
    is_vote = not model.trees.round_size and not model.response.is_identity
    return model.response.kind, model.response.scale, is_vote


def _no_shap(models: Models, shap_rows: int | None) -> str | None:
    """Why there are no Shapley values, if the scores are sums."""
    if shap_rows == 0:
        return "Shapley values are not compared, since shap_rows=0."
    for model in models:
        if not model.is_all_trees:
            return f"Shapley values are not compared: this {model.estimator} starts from another kind of model."
    return None

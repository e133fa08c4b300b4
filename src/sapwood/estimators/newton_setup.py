"""What the parameters of Newton boosting mean for the engine: loss, and options of trees, columns and rounds."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Ints
from sapwood.boosting.columns import ColumnOptions
from sapwood.boosting.fitting import Rows, Setup, start_scores
from sapwood.boosting.limits import refuse_divergence
from sapwood.boosting.options import RoundOptions, TreeOptions
from sapwood.boosting.rate import learning_rate
from sapwood.boosting.recipe import MOST_BINS, Counts, resolve
from sapwood.boosting.target_statistics import StatisticOptions
from sapwood.boosting.training import Plan
from sapwood.errors import ParameterError
from sapwood.estimators.boosting_task import BoostingClasses, BoostingRanking, BoostingTargets, BoostingTask
from sapwood.estimators.continuation import rounds_to_continue
from sapwood.estimators.linear_settings import check_linear
from sapwood.losses.custom import CustomLoss
from sapwood.losses.logistic import Logistic
from sapwood.losses.loss import Loss
from sapwood.losses.multinomial import Multinomial
from sapwood.losses.names import make_loss
from sapwood.losses.per_target import PerTarget
from sapwood.losses.quantile import Quantile
from sapwood.losses.ranking import LambdaRank
from sapwood.row_parts.rows import LocalRows
from sapwood.table.column_settings import feature_weights, interaction_sets, monotone_signs
from sapwood.table.schema import Schema
from sapwood.threads import resolve_jobs

if TYPE_CHECKING:
    from sapwood.estimators.newton_boosting import NewtonBoosting

OF_ANY_CLASSES = ("log_loss", "multinomial", "multi:softprob", "multi:softmax")
OPTIONS = {
    "quantile": ("quantile", "quantile_alpha"),
    "reg:quantileerror": ("quantile", "quantile_alpha"),
    "tweedie": ("power", "tweedie_variance_power"),
    "reg:tweedie": ("power", "tweedie_variance_power"),
}
"""Objectives with an option: its name in the loss, and the parameter that holds it."""
HUBER_QUANTILE = 0.9  # Friedman's: a tenth of the rows may be outliers


def newton_loss(parameters: NewtonBoosting, rows: Rows, task: BoostingTask) -> Loss:
    """The loss that the objective names, for targets that it admits."""
    objective, n_classes = parameters.objective, 0 if task.classes is None else len(task.classes)
    n_targets = rows.y.shape[1] if rows.y.ndim == 2 else 1
    if callable(objective):
        n_scores, rowwise = n_classes if n_classes > 2 else n_targets, bool(getattr(objective, "rowwise", False))
        loss: Loss = CustomLoss(objective, n_scores, rowwise)
    elif isinstance(task, BoostingRanking):
        assert rows.groups is not None
        loss = LambdaRank(rows.groups)
    elif n_classes and (objective is None or objective in OF_ANY_CLASSES):
        loss = Logistic() if n_classes == 2 else Multinomial(n_classes)
    elif n_classes > 2:
        raise ParameterError(f"objective={objective!r} is for two classes, but y has {n_classes}. Use 'log_loss'.")
    else:
        loss = _named_loss(parameters, objective or "squared_error")
        if isinstance(task, BoostingTargets) and task.targets:
            loss = PerTarget.of(loss, task.targets, LocalRows.of(rows.y, rows.weight))
    loss.check_target(rows.y)
    return loss


def tree_limits(parameters: NewtonBoosting, n_rows: int, n_features: int, n_classes: int) -> SimpleNamespace:
    """The parameters on so many rows, of which the recipe chooses those that are "auto"."""
    given = parameters.get_params(deep=False)
    recipe = resolve(Counts(n_rows, n_features, n_classes, 1), given, validates=False)
    return SimpleNamespace(**given | recipe.values)


def _named_loss(parameters: NewtonBoosting, name: str) -> Loss:
    if name == "huber":
        delta = parameters.huber_delta
        given = {"quantile": HUBER_QUANTILE} if delta is None else {"delta": float(delta)}
        return make_loss(name, newton=True, **given)
    if name not in OPTIONS:
        return make_loss(name)
    option, parameter = OPTIONS[name]
    value = getattr(parameters, parameter)
    return make_loss(name, **{option: tuple(map(float, value)) if np.ndim(value) else float(value)})


def newton_setup(
    parameters: NewtonBoosting,
    rows: Rows,
    loss: Loss,
    start: Any = None,
    held_out: Ints | None = None,
    validates: bool = False,
) -> Setup:
    """Everything that decides how the ensemble is trained, but metrics; `validates` if rounds are to be validated."""
    schema, given = rows.table.schema, parameters.get_params(deep=False)
    n_classes = max(2, loss.n_scores) if parameters.task is BoostingClasses else 0
    n_targets = rows.y.shape[1] if rows.y.ndim == 2 else 1
    recipe = resolve(Counts(len(rows.y), schema.n_features, n_classes, n_targets), given, validates)
    p, signs = SimpleNamespace(**given | recipe.values), monotone_signs(given["monotone_constraints"], schema)
    if signs is not None and loss.n_scores > 1:
        raise _no_constraints(p.monotone_constraints, loss, n_targets)
    if p.linear_tree:
        check_linear(p, loss, validates and recipe.n_folds > 0)
    if p.grow_policy == "symmetric":
        _check_symmetric(p)
    rounds = _round_options(p, schema, signs, parameters._seed)
    alternative = None
    if recipe.alternative:
        alternative = _round_options(SimpleNamespace(**vars(p) | recipe.alternative), schema, signs, parameters._seed)
    calls, rate = list(p.callbacks or ()), learning_rate(p.learning_rate)
    limits, verbose = (p.early_stopping_rounds, p.max_seconds), int(p.verbose)
    plan = Plan(int(p.n_estimators), rate, *limits, calls, guard=refuse_divergence, verbose=verbose)
    return Setup(
        loss,
        rounds,
        plan,
        255 if p.max_bin == 256 else int(p.max_bin),  # as many as a byte holds beside a code for missing values
        base=start_scores(p.base_score, loss),
        start=None if start is None else rounds_to_continue(start, p.multi_strategy),
        held_out=held_out,
        statistics=_statistic_options(p, n_classes, rounds) if p.target_statistics else None,
        alternative=alternative,
        recipe=recipe,
    )


def _round_options(p: SimpleNamespace, schema: Schema, signs: NDArray[np.int8] | None, seed: int) -> RoundOptions:
    """Options of a round, from parameters of which none is "auto"."""
    columns = ColumnOptions(
        schema.n_features,
        p.colsample_bytree,
        p.colsample_bylevel,
        p.colsample_bynode,
        feature_weights(p.feature_weights, schema),
        interaction_sets(p.interaction_constraints, schema),
    )
    return RoundOptions(
        _tree_options(p, signs),
        columns,
        p.subsample,
        p.sampling_method == "gradient_based",
        one_tree=p.multi_strategy == "multi_output_tree",
        leaves_of_all_rows=p.leaf_rows == "all",
        random_strength=p.random_strength,
        alternates=p.extra_trees == "alternate",
        linear=None if p.linear_tree == "validate" else bool(p.linear_tree),
        linear_ridge=float(p.linear_lambda),
        method="hist" if p.tree_method == "auto" else p.tree_method,
        seed=seed,
        n_jobs=resolve_jobs(p.n_jobs),
    )


def _check_symmetric(p: SimpleNamespace) -> None:
    """Refuse parameters, of which none is "auto", that trees of shared splits cannot keep."""
    wrong = ""
    if p.tree_method == "exact":
        wrong = "tree_method='exact': it needs histograms. Use tree_method='hist'"
    elif p.max_bin > MOST_BINS:
        wrong = f"max_bin={p.max_bin}: it needs histograms of at most 255 bins. Use max_bin=255"
    elif p.colsample_bynode < 1.0:
        wrong = f"colsample_bynode={p.colsample_bynode}: all nodes of a level share a split. Use colsample_bylevel"
    if wrong:
        raise ParameterError(f"grow_policy={p.grow_policy!r} cannot be used with {wrong}, or grow_policy='lossguide'.")


def _tree_options(p: SimpleNamespace, signs: NDArray[np.int8] | None) -> TreeOptions:
    """Limits and penalties of a tree, from parameters of which none is "auto"."""
    return TreeOptions(
        max_depth=int(p.max_depth or 0),
        max_leaves=int(p.max_leaves or 0),
        leaf_wise=p.grow_policy == "lossguide",
        symmetric=p.grow_policy == "symmetric",
        gamma=p.gamma,
        reg_lambda=p.reg_lambda,
        reg_alpha=p.reg_alpha,
        max_delta_step=p.max_delta_step,
        min_child_weight=p.min_child_weight,
        min_child_rows=int(p.min_child_samples),
        cat_smooth=p.cat_smooth,
        max_cat_to_onehot=int(p.max_cat_to_onehot),
        max_cat_threshold=int(p.max_cat_threshold),
        cat_l2=p.cat_l2,
        min_data_per_group=float(p.min_data_per_group),
        extra_trees=p.extra_trees is True,
        signs=signs,
    )


def _statistic_options(p: SimpleNamespace, n_classes: int, rounds: RoundOptions) -> StatisticOptions:
    """Statistics of the categories that are not split one level against the rest."""
    return StatisticOptions(int(p.max_cat_to_onehot), n_classes, rounds.seed, rounds.n_jobs)


def _no_constraints(setting: Any, loss: Loss, n_targets: int) -> ParameterError:
    """Scores are made comparable afterwards, by a softmax or by sorting, so that rising ones need not rise any more."""
    what = "quantiles" if isinstance(loss, Quantile) else f"scores of {loss.n_scores} classes"
    why = f"cannot hold for {what}, which depend on each other"
    if n_targets > 1:
        why = f"is for one target, but y has {n_targets}"
    return ParameterError(
        f"monotone_constraints={setting!r} {why}. Fit one model for each, or leave out monotone_constraints."
    )

"""What the parameters of gradient boosting mean for the engine: loss, options, and its trees as estimators."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sapwood.arrays import Ints
from sapwood.boosting.columns import ColumnOptions
from sapwood.boosting.fitting import Rows, Setup
from sapwood.boosting.options import NO_LIMIT, RoundOptions, TreeOptions
from sapwood.boosting.rate import learning_rate
from sapwood.boosting.training import Plan
from sapwood.errors import InputError, ParameterError
from sapwood.estimators.boosting_task import BoostingTask
from sapwood.estimators.tree import DecisionTree, DecisionTreeRegressor, fitted_tree
from sapwood.growth.rules import n_features_drawn, rows_at_least
from sapwood.losses.loss import Loss
from sapwood.losses.names import make_loss
from sapwood.table.column_settings import monotone_signs, sets_that_meet
from sapwood.threads import resolve_jobs
from sapwood.tree import Tree

if TYPE_CHECKING:
    from sapwood.estimators.gradient import GradientBoosting

OPTIONS = {
    "huber": ("quantile", "alpha"),
    "quantile": ("quantile", "alpha"),
    "tweedie": ("power", "tweedie_variance_power"),
}
"""Losses with an option: its name in the loss, and the parameter that holds it."""
OF_TREES = (
    *("max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "max_features"),
    *("max_leaf_nodes", "min_impurity_decrease", "ccp_alpha"),
)


def gradient_loss(parameters: GradientBoosting, rows: Rows, task: BoostingTask) -> Loss:
    """The loss that the parameter names, for targets that it admits."""
    name = parameters.loss
    if task.classes is None:
        option, parameter = OPTIONS.get(name, ("", ""))
        loss = make_loss(name, **({option: float(getattr(parameters, parameter))} if option else {}))
    else:
        n_classes, present = len(task.classes), task.classes[np.unique(rows.y).astype(np.intp)].tolist()
        if len(present) < 2:
            raise InputError(
                f"y contains 1 class after rows of weight zero are left out: {present[0]!r}. A classifier needs two, "
                "so give rows of another class a weight above zero."
            )
        if name != "log_loss" and n_classes > 2:
            raise ParameterError(
                f"loss={name!r} is only suitable for a binary classification problem, but y has n_classes={n_classes}. "
                "Use loss='log_loss'."
            )
        loss = make_loss("log_loss", n_classes=n_classes, friedman=True) if name == "log_loss" else make_loss(name)
    loss.check_target(rows.y)
    return loss


def gradient_setup(
    parameters: GradientBoosting, rows: Rows, loss: Loss, start: Any = None, held_out: Ints | None = None
) -> Setup:
    """Everything that decides how the ensemble is trained, but metrics; sets `max_features_`."""
    p, schema = parameters, rows.table.schema
    if hasattr(p.init, "fit") and start is None and rows.offset is None:
        raise ParameterError(
            f"init={type(p.init).__name__} is an estimator, which only `fit` can start from. Use init=None."
        )
    n_rows = p._n_rows = len(rows.y) if rows.weight is None else int(np.count_nonzero(rows.weight))
    p.max_features_ = n_features_drawn(p.max_features, schema.n_features)
    signs = monotone_signs(p.monotonic_cst, schema, "monotonic_cst")
    if signs is not None and loss.n_scores > 1:
        raise ParameterError(
            f"monotonic_cst={p.monotonic_cst!r} is for two classes, but y has {loss.n_scores}: the scores of several "
            "classes can all rise and a probability still fall. Use monotonic_cst=None."
        )
    min_leaf = rows_at_least(p.min_samples_leaf, n_rows, 1)
    tree = TreeOptions(
        max_depth=int(p.max_depth or 0),
        max_leaves=int(p.max_leaf_nodes or 0),
        leaf_wise=p.max_leaf_nodes is not None,
        reg_lambda=0.0,
        min_child_weight=0.0,
        min_child_rows=min_leaf,
        min_split_rows=max(rows_at_least(p.min_samples_split, n_rows, 2), 2 * min_leaf),
        min_child_share=p.min_weight_fraction_leaf,
        min_decrease=p.min_impurity_decrease,
        ccp_alpha=p.ccp_alpha,
        max_cat_to_onehot=1,  # levels in order of their mean gradients: the best subset is among them
        max_cat_threshold=NO_LIMIT,
        signs=signs,
    )
    together = sets_that_meet(p.interaction_cst, schema)
    columns = ColumnOptions(schema.n_features, by_node=p.max_features_ / schema.n_features, together=together)
    rounds = RoundOptions(
        tree,
        columns,
        p.subsample,
        counted=True,
        line_search=bool(p.line_search),
        unit_hessian=True,
        seed=p._seed,
        n_jobs=resolve_jobs(p.n_jobs),
    )
    done = 0 if start is None else start.ensemble_.n_rounds
    n_rounds, rate = int(p.n_estimators) - done, learning_rate(p.learning_rate)
    return Setup(
        loss,
        rounds,
        Plan(n_rounds, rate, None, p.max_seconds, list(p.callbacks or ())),
        255 if p.max_bins == 256 else int(p.max_bins),  # as many as a byte holds beside a code for missing values
        base=None if p.init is None else np.zeros(loss.n_scores),
        start=None if start is None else start.ensemble_.upto(done),
        held_out=held_out,
    )


def stage_tree(owner: GradientBoosting, tree: Tree, rate: float, stage: int) -> DecisionTree:
    """A tree of the ensemble as an estimator of its own, whose values are those before the learning rate."""
    fits = owner.__dict__.get("_grown_with", ())  # files of older versions have none
    of_stage = next((one for one in reversed(fits) if one["first"] <= stage), vars(owner))
    settings = {name: of_stage[name] for name in OF_TREES}
    template = DecisionTreeRegressor(**settings, random_state=owner.random_state, unseen=owner.unseen)
    return fitted_tree(template, owner, replace(tree, value=tree.value / rate) if rate > 0.0 else tree)

"""Regularised Newton boosting: its parameters, and what they mean for the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from sapwood.boosting.columns import ColumnOptions
from sapwood.boosting.options import TreeOptions
from sapwood.boosting.rate import learning_rate
from sapwood.boosting.rounds import RoundOptions
from sapwood.boosting.training import Plan
from sapwood.estimators.boosting import Boosting
from sapwood.estimators.boosting_rows import read_eval_set
from sapwood.estimators.boosting_settings import bins_of, refuse_divergence
from sapwood.estimators.constraints import feature_weights, interaction_sets, monotone_signs
from sapwood.estimators.newton_rules import NEWTON_RULES, WITHOUT_EFFECT
from sapwood.losses.huber import Huber
from sapwood.losses.loss import Loss
from sapwood.losses.names import make_loss
from sapwood.table.schema import Schema
from sapwood.threads import resolve_jobs

Floats = NDArray[np.float64]
EvalSet = Sequence[tuple[Any, Any]] | Mapping[str, tuple[Any, Any]] | tuple[Any, Any] | None
Kind = TypeVar("Kind", bound=type)

OPTIONS = {
    "quantile": ("quantile", "quantile_alpha"),
    "reg:quantileerror": ("quantile", "quantile_alpha"),
    "tweedie": ("power", "tweedie_variance_power"),
    "reg:tweedie": ("power", "tweedie_variance_power"),
}
"""Objectives with an option: its name in the loss, and the parameter that holds it."""

HUBER_QUANTILE = 0.9  # Friedman's: a tenth of the rows may be outliers

DEFAULT_METRICS = {"squared_error": "rmse", "absolute_error": "mae", "logistic": "logloss", "multinomial": "mlogloss"}


class NewtonBoosting(Boosting):
    """Boosted trees whose leaves are Newton steps on a regularised objective. Use one of the classes below it.

    With g and h the first and second derivative of the loss at a row's score, and G and H their sums over a leaf, the
    leaf says w = -G / (H + reg_lambda), G first moved by reg_alpha towards zero, and a split gains
    1/2 [G_L² / (H_L + λ) + G_R² / (H_R + λ) - G² / (H + λ)]. Names of parameters are XGBoost's.

    The same numbers mean other steps than XGBoost's in two cases. Of more than two classes h is p (1 - p), where
    XGBoost takes twice that: use half its learning_rate, reg_lambda and min_child_weight. Of objective="poisson" h is
    the mean, where XGBoost takes e^0.7 of it and limits leaves to 0.7. docs/coming-from-xgboost.md has the recipes.

    Rounds:

    n_estimators : int
        Rounds. Each grows a tree, or one tree for each class or quantile.
    learning_rate : float, list or function
        What leaves are multiplied by: a number; one for each round (the last holds on); or a function of the round
        from 0 on, or of the round and the root mean square of the gradient.
    early_stopping_rounds : int or None
        Stop if the last metric of the last evaluation set was not better for so many rounds. Everything that predicts
        then uses the rounds up to the best one, unless it is told n_rounds. Rows to watch come from `eval_set` of
        `fit`, or from `validation_fraction`.
    validation_fraction : float or None
        Share of the training rows (of the queries, in rankings) that only watch, where `fit` gets no `eval_set`.
    eval_metric : str, function, or a list of them
        XGBoost's names, such as "rmse", "logloss", "auc", "ndcg@10", or "loss" for the objective itself; or
        scikit-learn's metric functions, scorers and names of scorers, such as "roc_auc", whose direction is known. Any
        other function takes (y_true, y_pred), or (y_true, y_pred, weight), and returns a number; it is minimised
        unless it has an attribute greater_is_better that is true. Predictions are what `predict` gives for numbers and
        `predict_proba` for classes (of two, that of the second), whose numbers 0, 1, 2, … are y_true. Rows are weighted
        by their sample_weight, not by class_weight.
    callbacks : list of functions or None
        Each is called after every round with a `Progress` (round, n_rounds, history, best_round, seconds, ensemble).
        Training stops when one returns True.
    max_seconds : float or None
        End training after this time. This, Ctrl-C and SIGTERM leave a usable model and say so in `stopped_reason_`.
    verbose : bool or int
        Show progress and metrics on the standard error: a bar on a terminal and in a notebook, elsewhere a line every
        so many rounds.

    Trees:

    max_depth, max_leaves : int
        Limits; 0 or None for none.
    grow_policy : {"depthwise", "lossguide"}
        Level by level, or the leaf of the largest gain first.
    tree_method : {"hist", "approx", "exact", "auto"}
        "hist" looks at the borders of at most max_bin bins of each column (a column with no more distinct values than
        bins loses nothing by it); "approx" makes bins anew in each round, of equal hessian; "exact" looks at every
        distinct value, for small data. "auto" is "hist". The memory of "hist" for a sparse matrix is that of its stored
        cells; the others fill all of them in.
    max_bin : int
        Bins of a column of numbers, from 2 to 65535. XGBoost's 256 counts as 255, the most that a byte holds: more than
        256 bins take more time and memory (and are no more than 255 for a sparse matrix). Levels of categories are not
        limited by it.
    gamma : float
        Least gain of a split. (XGBoost compares gamma with twice this gain.) Trees are grown first and pruned from
        the leaves upwards, so a weak split above a good one stays.
    min_child_weight : float
        Least H of a leaf.
    min_child_samples : int
        Least rows of a leaf.
    reg_lambda, reg_alpha : float
        Penalties of squares and of absolute values of the leaves.
    max_delta_step : float
        Largest absolute value of a leaf before the learning rate; 0 for no limit.

    Samples:

    subsample : float
        Share of the rows drawn for each round.
    sampling_method : {"uniform", "gradient_based"}
        All rows alike, or by the size of their gradient, with weights that make up for it.
    colsample_bytree, colsample_bylevel, colsample_bynode : float
        Shares of the columns drawn for a tree, of these for a level, and of these for a node.
    feature_weights : list, mapping or None
        Weights of the columns in these draws, in column order or by name.
    random_state : int, RandomState, Generator or None
        Seed of all draws. The same seed gives the same model, whatever n_jobs is.

    Objective:

    base_score : float or None
        Prediction before the first round: a value, or a probability. None is the best constant; 0.5 the textbook's.
    quantile_alpha : float or list of floats
        For objective="quantile". Predictions of several quantiles have a column for each, and never cross.
    huber_delta : float or None
        For objective="huber": the residual at which squares turn into absolute values, and the most that a leaf may
        move a prediction (before learning_rate). None is the 0.9-quantile of the absolute residuals, anew in each
        round; a number should be of the size of the residuals, since one that is far too small stops progress.
    tweedie_variance_power : float
        For objective="tweedie", between 1 and 2.
    class_weight : "balanced", mapping from classes, or None
    scale_pos_weight : float
        Weights of the classes; of the second class of two. They shift the base rate, which `predict_proba` undoes
        unless undo_class_weight=False; `predict` decides by the weighted scores.

    Constraints:

    monotone_constraints : list, mapping or None
        1 if predictions may only rise with a column, -1 if they may only fall, 0 if it is free; in column order, or by
        name. For one score, that is for numbers, rankings and two classes.
    interaction_constraints : list of lists of columns, or None
        Columns, by name or number, that may meet on a path; one in none of the lists meets only itself.

    Columns:

    categorical_features : "from_dtype", None, or names, indices or a mask
        Columns to split as categories in addition to strings and categoricals. Any number of levels is split. The
        levels of a column of more than 255 are put in order for each tree, by their effect on its gradients as far as
        two halves of the rows agree on it, and cut like numbers; the three options below do not apply to it.
    max_cat_to_onehot : int
        Up to so many levels in a node, one level is split off; above, subsets in the order of their gradients.
    max_cat_threshold : int
        Most levels on the smaller side of such a split.
    cat_smooth : float
        Hessian added to each level when levels are put in order.
    unseen : {"missing", "error"}
        What an unknown category does at prediction: go where missing values go, or raise.
    sparse_absent : {"zero", "missing"}
        What a cell means that a sparse matrix does not store; a stored zero is always zero.
    n_jobs : int or None
        Threads; -1 for all cores.
    drift_warning : bool
        Warn (`DataDriftWarning`) when rows to predict are not like the training data; see `schema_.compare`.

    Attributes of a fitted model:

    ensemble_ : Ensemble
        The trees: `ensemble_.rounds[t][k]` is a `Tree` of round t for score k, and `ensemble_.base` the first scores.
    n_estimators_, n_iter_ : int
        Rounds trained, those of `init_model` included.
    best_iteration_ (best_iteration), best_score_ (best_score) : int, float
        Best round, counted from 0, and the metric in it, if there were rows to watch.
    best_n_rounds_ : int
        Rounds that prediction uses.
    evals_result_ : dict
        What `evals_result()` returns.
    stopped_reason_ : str
        Why training ended.
    feature_importances_ : array
        Share of each column in the total gain.
    classes_, n_classes_, n_features_in_, feature_names_in_
        As in scikit-learn.
    """

    rules: ClassVar = NEWTON_RULES
    without_effect: ClassVar = WITHOUT_EFFECT

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        learning_rate: Any = 0.3,
        max_depth: int | None = 6,
        max_leaves: int | None = 0,
        max_bin: int = 255,
        grow_policy: str = "depthwise",
        tree_method: str = "hist",
        objective: Any = None,
        gamma: float = 0.0,
        min_child_weight: float = 1.0,
        min_child_samples: int = 1,
        max_delta_step: float = 0.0,
        subsample: float = 1.0,
        sampling_method: str = "uniform",
        colsample_bytree: float = 1.0,
        colsample_bylevel: float = 1.0,
        colsample_bynode: float = 1.0,
        feature_weights: Any = None,
        reg_alpha: float = 0.0,
        reg_lambda: float = 1.0,
        base_score: float | None = None,
        quantile_alpha: Any = 0.5,
        huber_delta: float | None = None,
        tweedie_variance_power: float = 1.5,
        class_weight: Any = None,
        scale_pos_weight: float = 1.0,
        undo_class_weight: bool = True,
        monotone_constraints: Any = None,
        interaction_constraints: Any = None,
        max_cat_to_onehot: int = 4,
        max_cat_threshold: int = 64,
        cat_smooth: float = 0.0,
        categorical_features: Any = "from_dtype",
        unseen: Literal["missing", "error"] = "missing",
        sparse_absent: Literal["zero", "missing"] = "zero",
        eval_metric: Any = None,
        early_stopping_rounds: int | None = None,
        validation_fraction: float | None = None,
        callbacks: Any = None,
        max_seconds: float | None = None,
        verbose: bool | int = 0,
        random_state: Any = None,
        n_jobs: int | None = -1,
        drift_warning: bool = True,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.max_bin = max_bin
        self.grow_policy = grow_policy
        self.tree_method = tree_method
        self.objective = objective
        self.gamma = gamma
        self.min_child_weight = min_child_weight
        self.min_child_samples = min_child_samples
        self.max_delta_step = max_delta_step
        self.subsample = subsample
        self.sampling_method = sampling_method
        self.colsample_bytree = colsample_bytree
        self.colsample_bylevel = colsample_bylevel
        self.colsample_bynode = colsample_bynode
        self.feature_weights = feature_weights
        self.reg_alpha = reg_alpha
        self.reg_lambda = reg_lambda
        self.base_score = base_score
        self.quantile_alpha = quantile_alpha
        self.huber_delta = huber_delta
        self.tweedie_variance_power = tweedie_variance_power
        self.class_weight = class_weight
        self.scale_pos_weight = scale_pos_weight
        self.undo_class_weight = undo_class_weight
        self.monotone_constraints = monotone_constraints
        self.interaction_constraints = interaction_constraints
        self.max_cat_to_onehot = max_cat_to_onehot
        self.max_cat_threshold = max_cat_threshold
        self.cat_smooth = cat_smooth
        self.categorical_features = categorical_features
        self.unseen = unseen
        self.sparse_absent = sparse_absent
        self.eval_metric = eval_metric
        self.early_stopping_rounds = early_stopping_rounds
        self.validation_fraction = validation_fraction
        self.callbacks = callbacks
        self.max_seconds = max_seconds
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.drift_warning = drift_warning

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        eval_set: EvalSet = None,
        sample_weight_eval_set: Sequence[Any] | None = None,
        init_model: Any = None,
        checkpoint: Any = None,
        verbose: bool | int | None = None,
    ) -> Self:
        """Train.

        Args:
            X: table of rows.
            y: targets, one for each row.
            sample_weight: weights of the rows.
            eval_set: pairs (X, y) whose metrics are followed, and of which the last decides about early stopping: a
                list of pairs, one pair, or a mapping from names to pairs.
            sample_weight_eval_set: weights (or None) for each of the pairs.
            init_model: a fitted estimator to continue from, or the path of its file, n_estimators rounds more. On the
                same rows, with the same parameters and seed, this gives the very model that training in one go would
                have given.
            checkpoint: a path, or a `Checkpoint`, where training writes down how far it is. The same call goes on from
                there after a crash, and gives the same model to the last bit.
            verbose: what the parameter `verbose` means, for this call; None is the parameter.
        """
        sets = read_eval_set(eval_set, sample_weight_eval_set, "sample_weight_eval_set")
        return self._boost(X, y, sample_weight, sets, init_model, checkpoint=checkpoint, verbose=verbose)

    def _max_bins(self) -> int:
        return bins_of(self.max_bin)

    def _plan(self) -> Plan:
        return Plan(
            int(self.n_estimators),
            learning_rate(self.learning_rate),
            self.early_stopping_rounds,
            self.max_seconds,
            [*(() if self.callbacks is None else self.callbacks), refuse_divergence],
            verbose=int(self.verbose),
        )

    def _round_options(self, schema: Schema, seed: int) -> RoundOptions:
        return RoundOptions(
            self._tree_options(schema),
            self._column_options(schema),
            self.subsample,
            self.sampling_method == "gradient_based",
            method="hist" if self.tree_method == "auto" else self.tree_method,  # type: ignore[arg-type]
            seed=seed,
            n_jobs=resolve_jobs(self.n_jobs),
        )

    def _tree_options(self, schema: Schema) -> TreeOptions:
        return TreeOptions(
            max_depth=int(self.max_depth or 0),
            max_leaves=int(self.max_leaves or 0),
            leaf_wise=self.grow_policy == "lossguide",
            gamma=self.gamma,
            reg_lambda=self.reg_lambda,
            reg_alpha=self.reg_alpha,
            max_delta_step=self.max_delta_step,
            min_child_weight=self.min_child_weight,
            min_child_rows=int(self.min_child_samples),
            cat_smooth=self.cat_smooth,
            max_cat_to_onehot=int(self.max_cat_to_onehot),
            max_cat_threshold=int(self.max_cat_threshold),
            signs=monotone_signs(self.monotone_constraints, schema),
        )

    def _column_options(self, schema: Schema) -> ColumnOptions:
        return ColumnOptions(
            schema.n_features,
            self.colsample_bytree,
            self.colsample_bylevel,
            self.colsample_bynode,
            feature_weights(self.feature_weights, schema),
            interaction_sets(self.interaction_constraints, schema),
        )

    def _named_loss(self, name: str, **options: Any) -> Loss:
        if name == "huber":
            given = {"quantile": HUBER_QUANTILE} if self.huber_delta is None else {"delta": float(self.huber_delta)}
            return make_loss(name, newton=True, **given)
        if name in OPTIONS:
            option, parameter = OPTIONS[name]
            value = getattr(self, parameter)
            options[option] = tuple(map(float, value)) if np.ndim(value) else float(value)
        return make_loss(name, **options)

    def _default_metric(self, loss: Loss) -> str:
        if isinstance(loss, Huber) and loss.quantile is not None:
            return "mae"
        return DEFAULT_METRICS.get(loss.name, "loss")


def documented(kind: Kind) -> Kind:
    """Append what all classes share to the docstring of one (docstrings are None under python -OO)."""
    if kind.__doc__ and NewtonBoosting.__doc__:
        kind.__doc__ = kind.__doc__.rstrip() + "\n\n    " + NewtonBoosting.__doc__.partition("\n\n")[2].lstrip()
    return kind

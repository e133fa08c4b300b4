"""Regularised Newton boosting: its parameters, and what they mean for the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from sapwood.boosting.columns import ColumnOptions
from sapwood.boosting.options import TreeOptions
from sapwood.boosting.rate import learning_rate
from sapwood.boosting.rounds import RoundOptions
from sapwood.boosting.training import Plan
from sapwood.declaration import declared, parameter
from sapwood.estimators import shared_parameters as shared
from sapwood.estimators.boosting import Boosting
from sapwood.estimators.boosting_rows import read_eval_set
from sapwood.estimators.boosting_settings import bins_of, refuse_divergence
from sapwood.estimators.constraints import feature_weights, interaction_sets, monotone_signs
from sapwood.estimators.rules import Each, Written
from sapwood.estimators.without_effect import WITHOUT_EFFECT
from sapwood.losses.huber import Huber
from sapwood.losses.loss import Loss
from sapwood.losses.names import make_loss
from sapwood.parameters import ArrayLike, CallableRule, Flag, Interval, MappingLike, Nothing, OneOf, Text
from sapwood.table.schema import Schema
from sapwood.threads import resolve_jobs

Floats = NDArray[np.float64]
EvalSet = Sequence[tuple[Any, Any]] | Mapping[str, tuple[Any, Any]] | tuple[Any, Any] | None

OPTIONS = {
    "quantile": ("quantile", "quantile_alpha"),
    "reg:quantileerror": ("quantile", "quantile_alpha"),
    "tweedie": ("power", "tweedie_variance_power"),
    "reg:tweedie": ("power", "tweedie_variance_power"),
}
"""Objectives with an option: its name in the loss, and the parameter that holds it."""

SHARE = Interval(float, 0, 1, closed="right")
AT_LEAST_ZERO = Interval(float, low=0)
POSITIVE = Interval(float, low=0, closed="neither")
QUANTILE = Interval(float, 0, 1, closed="neither")
HUBER_QUANTILE = 0.9  # Friedman's: a tenth of the rows may be outliers

DEFAULT_METRICS = {"squared_error": "rmse", "absolute_error": "mae", "logistic": "logloss", "multinomial": "mlogloss"}


@declared
class NewtonBoosting(Boosting):
    """Boosted trees whose leaves are Newton steps on a regularised objective. Use one of the classes below it."""

    without_effect: ClassVar = WITHOUT_EFFECT

    n_estimators: int = parameter(
        Interval(int, low=1), default=100, doc="Rounds. Each adds a tree, or one tree for each class or quantile."
    )
    learning_rate: Any = parameter(
        POSITIVE,
        Each((POSITIVE,), "such numbers, one for each round"),
        CallableRule(),
        default=0.3,
        doc="Factor of the leaf values: a number; a list with one number per round, whose last value is reused; or a "
        "function of the round, counted from 0, or of the round and the root mean square of the gradient.",
    )
    max_depth: int | None = parameter(
        Interval(int, low=0),
        Nothing(remedy="Use max_depth=0 for no limit."),
        default=6,
        doc="Maximum depth of a tree; 0 or None means no limit.",
    )
    max_leaves: int | None = parameter(
        Interval(int, low=0),
        Nothing(remedy="Use max_leaves=0 for no limit."),
        default=0,
        doc="Maximum number of leaves of a tree; 0 or None means no limit.",
    )
    max_bin: int = parameter(
        Interval(int, 2, 65535),
        default=255,
        doc="Bins of a numeric column. XGBoost's 256 counts as 255, the most that a byte holds: more bins take more "
        "time and memory, and a sparse matrix has at most 255. Category levels are not limited by it.",
    )
    grow_policy: str = parameter(
        OneOf("depthwise", "lossguide"),
        default="depthwise",
        doc="Split level by level, or the leaf of largest gain first.",
    )
    tree_method: str = parameter(
        OneOf("hist", "approx", "exact", "auto"),
        default="hist",
        doc='Candidate thresholds: "hist" takes the borders of max_bin bins (a column with no more distinct values is '
        'split exactly), "approx" makes new bins of equal hessian in each round, "exact" takes every distinct value, '
        'for small data. "auto" is "hist", which alone keeps sparse matrices sparse.',
    )
    objective: Any = parameter(Text(), CallableRule(), Nothing(), default=None, doc="The loss to minimise.")
    gamma: float = parameter(
        AT_LEAST_ZERO,
        default=0.0,
        doc="Minimum gain of a split. Trees are grown first and pruned from the leaves up, so a weak split above a "
        "good one stays. XGBoost compares gamma with twice this gain.",
    )
    min_child_weight: float = parameter(AT_LEAST_ZERO, default=1.0, doc="Minimum sum of hessians of a leaf.")
    min_child_samples: int = parameter(Interval(int, low=1), default=1, doc="Minimum number of rows of a leaf.")
    max_delta_step: float = parameter(
        AT_LEAST_ZERO,
        default=0.0,
        doc="Maximum absolute leaf value before the learning rate; 0 means no limit.",
    )
    subsample: float = parameter(SHARE, default=1.0, doc="Fraction of the rows drawn for each round.")
    sampling_method: str = parameter(
        OneOf("uniform", "gradient_based"),
        default="uniform",
        doc="Draw all rows with the same probability, or by the size of their gradients, with weights that compensate.",
    )
    colsample_bytree: float = parameter(SHARE, default=1.0, doc="Fraction of the columns drawn for each tree.")
    colsample_bylevel: float = parameter(SHARE, default=1.0, doc="Fraction of the tree's columns drawn for each level.")
    colsample_bynode: float = parameter(SHARE, default=1.0, doc="Fraction of the level's columns drawn for each node.")
    feature_weights: Any = parameter(
        ArrayLike(),
        MappingLike(),
        Nothing(),
        default=None,
        doc="Weights of the columns in these draws, a list in column order or a dictionary by name.",
    )
    reg_alpha: float = parameter(AT_LEAST_ZERO, default=0.0, doc="L1 penalty of the leaf values.")
    reg_lambda: float = parameter(AT_LEAST_ZERO, default=1.0, doc="L2 penalty of the leaf values.")
    base_score: float | None = parameter(
        Interval(float),
        Nothing(),
        default=None,
        doc="Prediction before the first round: a value or a probability. None is the best constant.",
    )
    quantile_alpha: Any = parameter(
        QUANTILE,
        Each((QUANTILE,), "such numbers"),
        default=0.5,
        doc='Quantiles to predict, for objective="quantile". Several have a column each, and never cross.',
    )
    huber_delta: float | None = parameter(
        POSITIVE,
        Nothing(),
        default=None,
        doc='For objective="huber": the residual at which the loss becomes linear, and the most that a leaf may change '
        "a prediction before the learning rate. None is the 0.9 quantile of the absolute residuals in each round; a "
        "number should be of the size of the residuals, as one that is far too small stops progress.",
    )
    tweedie_variance_power: float = parameter(shared.TWEEDIE_POWER, default=1.5)
    class_weight: Any = parameter(shared.CLASS_WEIGHT, default=None)
    scale_pos_weight: float = parameter(POSITIVE, default=1.0, doc="Weight of the second class of two.")
    undo_class_weight: bool = parameter(shared.UNDO_CLASS_WEIGHT, default=True)
    monotone_constraints: Any = parameter(
        ArrayLike(),
        MappingLike(),
        Written("(1, 0, -1)"),
        Nothing(),
        default=None,
        doc="1 if predictions must not fall as the column rises, -1 if they must not rise, 0 for none; a list in "
        "column order or a dictionary by name. For models with one score: numbers, rankings and two classes.",
    )
    interaction_constraints: Any = parameter(
        ArrayLike(),
        Written("[[0, 1], [2, 3]]"),
        Nothing(),
        default=None,
        doc="Lists of columns, by name or number, that may occur together on a path; a column in none of the lists "
        "occurs only alone.",
    )
    max_cat_to_onehot: int = parameter(
        Interval(int, low=1),
        default=4,
        doc="Up to so many levels in a node, splits separate one level from the rest; with more, they separate subsets "
        "in the order of their gradients.",
    )
    max_cat_threshold: int = parameter(
        Interval(int, low=1), default=64, doc="Maximum number of levels on the smaller side of such a split."
    )
    cat_smooth: float = parameter(
        AT_LEAST_ZERO, default=0.0, doc="Hessian added to each level when levels are put in order."
    )
    categorical_features: Any = parameter(
        OneOf("from_dtype"),
        ArrayLike(),
        Nothing(),
        default="from_dtype",
        doc="Columns to split as categories: names, indices or a mask. Columns of strings and categorical dtype always "
        "are. Any number of levels is split: the levels of a column of more than 255 are put in order for each tree, "
        "by their effect on its gradients as far as two halves of the rows agree on it, and cut like numbers; the "
        "three parameters above do not apply to it.",
    )
    unseen: Literal["missing", "error"] = parameter(shared.UNSEEN, default="missing")
    sparse_absent: Literal["zero", "missing"] = parameter(
        OneOf("zero", "missing"),
        default="zero",
        doc="What a cell that a sparse matrix does not store means; a stored zero is always zero.",
    )
    eval_metric: Any = parameter(
        Text(),
        CallableRule(),
        Each((Text(), CallableRule()), "names and functions"),
        Nothing(),
        default=None,
        doc='Metrics of the validation sets: XGBoost\'s names, such as "rmse", "logloss", "auc" or "ndcg@10"; "loss" '
        "for the objective itself; scikit-learn's metric functions, scorers and scorer names, whose direction is known;"
        " or a function of (y_true, y_pred) or (y_true, y_pred, weight), which is minimised unless it has an attribute "
        "greater_is_better that is true. y_pred is what predict gives for numbers and predict_proba for classes (of "
        "two, the second), whose numbers 0, 1, 2, … are y_true. Rows are weighted by sample_weight, not class_weight.",
    )
    early_stopping_rounds: int | None = parameter(
        Interval(int, low=1),
        Nothing(remedy="Use early_stopping_rounds=None to train all rounds."),
        default=None,
        doc="Stop if the last metric of the last validation set has not improved for so many rounds. Prediction then "
        "uses the rounds up to the best one, unless it is given n_rounds. Validation rows come from eval_set of fit, "
        "or from validation_fraction.",
    )
    validation_fraction: float | None = parameter(
        QUANTILE,
        Nothing(),
        default=None,
        doc="Fraction of the training rows (in rankings, of the queries) to hold out for validation if fit gets no "
        "eval_set.",
    )
    callbacks: Any = parameter(shared.CALLBACKS, default=None)
    max_seconds: float | None = parameter(shared.MAX_SECONDS, default=None)
    verbose: bool | int = parameter(
        Flag(),
        Interval(int, low=0),
        default=0,
        doc="Show progress and metrics on standard error: a bar in a terminal or notebook, elsewhere a line every so "
        "many rounds.",
    )
    random_state: Any = parameter(shared.RANDOM_STATE, default=None)
    n_jobs: int | None = -1

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

"""Regularised Newton boosting: its parameters, and how it is trained."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

from sapwood.arrays import Array
from sapwood.boosting.recipe import AUTO, is_auto
from sapwood.declaration import WIDTH, declared, fitted, parameter
from sapwood.estimators import newton_parameters as newton
from sapwood.estimators import shared_parameters as shared
from sapwood.estimators.boosting import Boosting, Constraints
from sapwood.estimators.boosting_rows import GivenRows
from sapwood.estimators.newton_parameters import AT_LEAST_ZERO, QUANTILE, SHARE
from sapwood.estimators.newton_refit import refitted
from sapwood.estimators.newton_setup import newton_loss, newton_setup, tree_limits
from sapwood.estimators.newton_training import train
from sapwood.estimators.source_columns import given_rows
from sapwood.estimators.validation_sets import read_eval_set
from sapwood.estimators.without_effect import WITHOUT_EFFECT
from sapwood.parameters import (
    ArrayLike,
    CallableRule,
    Each,
    Flag,
    Interval,
    MappingLike,
    Nothing,
    OneOf,
    Text,
    Written,
    check_parameters,
)
from sapwood.table.column_settings import interaction_sets, monotone_signs
from sapwood.table.schema import Schema

EvalSet = Sequence[tuple[Any, Any]] | Mapping[str, tuple[Any, Any]] | tuple[Any, Any] | None

POSITIVE = Interval(float, low=0, closed="neither")


@declared
class NewtonBoosting(Boosting):
    """Boosted trees whose leaves are Newton steps on a regularised objective. Use one of the classes below it."""

    without_effect: ClassVar = WITHOUT_EFFECT

    recipe: str = parameter(newton.RECIPE, default="2026.1")
    n_estimators: int | str = parameter(
        Interval(int, low=1),
        default=AUTO,
        doc="Rounds. Each adds a tree, or one tree for each class, quantile or target.",
    )
    learning_rate: Any = parameter(
        POSITIVE,
        Each((POSITIVE,), "such numbers, one for each round"),
        CallableRule(),
        default=AUTO,
        doc="Factor of the leaf values: a number; a list with one number per round, whose last value is reused; or a "
        "function of the round (from 0) alone, or of the round and the root mean square of the gradient.",
    )
    max_depth: int | str | None = parameter(
        Interval(int, low=0),
        Nothing(remedy="Use max_depth=0 for no limit."),
        default=AUTO,
        doc="Maximum depth of a tree; 0 or None means no limit.",
    )
    max_leaves: int | str | None = parameter(
        Interval(int, low=0),
        Nothing(remedy="Use max_leaves=0 for no limit."),
        default=AUTO,
        doc="Maximum number of leaves of a tree; 0 or None means no limit.",
    )
    max_bin: int = parameter(
        Interval(int, 2, 65535),
        default=255,
        doc="Bins of a numeric column. XGBoost's 256 counts as 255, the most that a byte holds: more bins take more "
        "time and memory, and a sparse matrix has at most 255. Category levels are not limited by it.",
    )
    grow_policy: str = parameter(newton.GROW_POLICY, default=AUTO)
    tree_method: str = parameter(
        OneOf("hist", "approx", "exact", "auto"),
        default="hist",
        doc='Candidate thresholds: "hist" takes the borders of max_bin bins (a column with no more distinct values is '
        'split exactly), "approx" makes new bins of equal hessian in each round, "exact" takes every distinct value, '
        'for small data. "auto" is "hist", which alone keeps sparse matrices sparse.',
    )
    multi_strategy: str = parameter(newton.MULTI_STRATEGY, default=AUTO)
    objective: Any = parameter(Text(), CallableRule(), Nothing(), default=None, doc="The loss to minimise.")
    gamma: float = parameter(
        AT_LEAST_ZERO,
        default=0.0,
        doc="Minimum gain of a split. Trees are grown first and pruned from the leaves up, so a weak split above a "
        "good one stays. XGBoost compares gamma with twice this gain.",
    )
    min_child_weight: float | str = parameter(AT_LEAST_ZERO, default=AUTO, doc="Minimum sum of hessians of a leaf.")
    min_child_samples: int = parameter(Interval(int, low=1), default=1, doc="Minimum number of rows of a leaf.")
    max_delta_step: float = parameter(
        AT_LEAST_ZERO,
        default=0.0,
        doc="Maximum absolute leaf value before the learning rate; 0 means no limit.",
    )
    subsample: float | str = parameter(SHARE, default=AUTO, doc="Fraction of the rows drawn for each round.")
    sampling_method: str = parameter(newton.SAMPLING_METHOD, default="uniform")
    leaf_rows: str = parameter(newton.LEAF_ROWS, default=AUTO)
    colsample_bytree: float | str = parameter(SHARE, default=AUTO, doc="Fraction of the columns drawn for each tree.")
    colsample_bylevel: float = parameter(SHARE, default=1.0, doc="Fraction of the tree's columns drawn for each level.")
    colsample_bynode: float = parameter(SHARE, default=1.0, doc="Fraction of the level's columns drawn for each node.")
    feature_weights: Any = parameter(newton.FEATURE_WEIGHTS, default=None)
    reg_alpha: float = parameter(AT_LEAST_ZERO, default=0.0, doc="L1 penalty of the leaf values.")
    reg_lambda: float | str = parameter(AT_LEAST_ZERO, default=AUTO, doc="L2 penalty of the leaf values.")
    linear_tree: bool | str = parameter(newton.LINEAR_TREE, default=AUTO)
    linear_lambda: float = parameter(newton.LINEAR_LAMBDA, default=1.0)
    base_score: float | None = parameter(
        Interval(float),
        Nothing(),
        default=None,
        doc="Prediction before the first round: a value or a probability. None is the best constant, for each target.",
    )
    quantile_alpha: Any = parameter(
        QUANTILE,
        Each((QUANTILE,), "such numbers"),
        default=0.5,
        doc='Quantiles to predict, for objective="quantile". Several have a column each, and never cross.',
    )
    huber_delta: float | None = parameter(newton.HUBER_DELTA, default=None)
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
    max_cat_to_onehot: int | str = parameter(newton.MAX_CAT_TO_ONEHOT, default=AUTO)
    max_cat_threshold: int = parameter(newton.MAX_CAT_THRESHOLD, default=64)
    cat_smooth: float | str = parameter(newton.CAT_SMOOTH, default=AUTO)
    cat_l2: float | str = parameter(newton.CAT_L2, default=AUTO)
    min_data_per_group: int | str = parameter(newton.MIN_DATA_PER_GROUP, default=AUTO)
    target_statistics: bool | str = parameter(newton.TARGET_STATISTICS, default=AUTO)
    extra_trees: bool | str = parameter(newton.EXTRA_TREES, default=AUTO)
    random_strength: float | str = parameter(newton.RANDOM_STRENGTH, default=AUTO)
    categorical_features: Any = parameter(newton.CATEGORICAL_FEATURES, default="from_dtype")
    sparse_absent: Literal["zero", "missing"] = parameter(
        OneOf("zero", "missing"),
        default="zero",
        doc="What a cell that a sparse matrix does not store means; a stored zero is always zero.",
    )
    eval_metric: Any = parameter(newton.EVAL_METRIC, default=None)
    early_stopping_rounds: int | None = parameter(newton.EARLY_STOPPING_ROUNDS, default=None)
    validation_fraction: float | None = parameter(newton.VALIDATION_FRACTION, default=None)
    cv: Any = parameter(newton.CV, default=None)
    max_memory: Any = parameter(newton.MAX_MEMORY, default=None)
    scratch: Any = parameter(newton.SCRATCH, default=None)
    verbose: bool | int = parameter(
        Flag(),
        Interval(int, low=0),
        default=0,
        doc="Show progress and metrics on standard error: a bar in a terminal or notebook, elsewhere a line every so "
        "many rounds.",
    )

    oof_prediction_: Array = fitted(
        "If rounds were validated: predictions of the training rows by models that did not train on them, numbers, "
        "several of them (rows, targets), or probabilities (rows, classes); NaN for rows that no fold held out.",
    )
    target_statistics_: dict[str, Array] = fitted(newton.STATISTICS_OF_LEVELS)
    recipe_: list[str] = fitted('What the recipe chose where parameters are "auto", and why: a sentence for each.')

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        target: str | None = None,
        eval_set: EvalSet = None,
        sample_weight_eval_set: Sequence[Any] | None = None,
        init_model: Any = None,
        checkpoint: Any = None,
        verbose: bool | int | None = None,
    ) -> Self:
        """Train.

        Args:
            X: table of rows; or a source that is read batch by batch and may be larger than memory: the path of a
                Parquet, CSV or Arrow file, a folder or pattern of them, a polars LazyFrame, an ordered DuckDB relation,
                anything that yields frames, or a file that `sapwood encode` wrote. See `max_memory`.
            y: targets, one for each row; numbers may have several columns.
            sample_weight: weights of the rows; of a source, the name of the column that holds them.
            target: name of the column of a source that is to be predicted.
            eval_set: validation sets, of which the last one decides about early stopping: a list of pairs (X, y), one
                pair, or a mapping from names to pairs. A source stands for a pair: its target and weights are in
                columns of the same names as those of X.
            sample_weight_eval_set: weights (or None) for each of the pairs.
            init_model: a fitted estimator, or the path of its file, that n_estimators more rounds are added to. On the
                same rows, with the same parameters and seed, the result is the model that training in one go gives.
            checkpoint: a path, or a `Checkpoint`, where training saves its state. After a crash, the same call resumes
                from there and gives the same model, bit for bit.
            verbose: replaces the parameter `verbose` for this call.
        """
        sets = []
        if eval_set is not None or sample_weight_eval_set is not None:
            sets = read_eval_set(eval_set, sample_weight_eval_set, "sample_weight_eval_set")
        given = given_rows(X, y, sample_weight, self.weight_name, target)
        return self._train(given, sets, init_model, checkpoint, verbose)

    def refit(self, X: Any, y: Any, sample_weight: Any = None, *, decay: float = 0.9) -> Self:
        """A model with the same splits and leaf values that have learned from other rows, as LightGBM's refit.

        Leaves take Newton's step on the new rows, round after round, and their values become decay * old + (1 - decay)
        * new; leaves that no new row reaches keep theirs, and linear leaves their slopes. This estimator stays as it
        is.

        Args:
            X: rows with the columns and levels of training.
            y: targets, one for each row; classes that the model knows.
            sample_weight: weights of the rows.
            decay: share of the old values, from 0 (new ones only) to 1.
        """
        self._check_fitted()
        check_parameters("refit", {"decay": (Interval(float, 0, 1),)}, {"decay": decay})
        return refitted(self, GivenRows(X, y, sample_weight), float(decay))

    def __str__(self) -> str:
        """The parameters that were given, and once fitted what the recipe chose."""
        given, chosen = str(super().__str__()), vars(self).get("_chosen", {})
        if not chosen:
            return given
        values = ", ".join(f"{name}={value}" for name, value in chosen.items())
        return "\n".join([given, *textwrap.wrap(f"Chosen: {values}", WIDTH), *self.recipe_[len(chosen) :]])

    @property
    def params_(self) -> dict[str, Any]:
        """All parameters, with the values that the recipe chose where they are "auto"."""
        self._check_fitted()
        given, chosen = self.get_params(deep=False), vars(self).get("_chosen", {})
        return {name: chosen.get(name, AUTO) if is_auto(value) else value for name, value in given.items()}

    _loss = newton_loss
    _setup = newton_setup
    _train = train
    tree_limits = tree_limits

    def _constraints(self, schema: Schema) -> Constraints:
        signs = monotone_signs(self.monotone_constraints, schema)
        return signs, interaction_sets(self.interaction_constraints, schema)

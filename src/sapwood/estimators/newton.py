"""Regularised Newton boosting, with XGBoost's names of parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin

from sapwood.boosting.columns import ColumnOptions
from sapwood.boosting.fitting import Rows
from sapwood.boosting.options import TreeOptions
from sapwood.boosting.rate import learning_rate
from sapwood.boosting.report import reporter
from sapwood.boosting.rounds import RoundOptions
from sapwood.boosting.training import Plan
from sapwood.errors import InputError, ParameterError
from sapwood.estimators.boosting import Boosting
from sapwood.estimators.constraints import feature_weights, interaction_sets, monotone_signs
from sapwood.estimators.newton_rules import NEWTON_RULES
from sapwood.estimators.settings import class_weights
from sapwood.losses.custom import CustomLoss
from sapwood.losses.exponential import Exponential
from sapwood.losses.logistic import Logistic
from sapwood.losses.loss import Loss
from sapwood.losses.multinomial import Multinomial
from sapwood.losses.names import make_loss
from sapwood.losses.ranking import LambdaRank
from sapwood.table.schema import Schema
from sapwood.table.target import ClassTarget, NumberTarget
from sapwood.threads import resolve_jobs

Floats = NDArray[np.float64]
EvalSet = Sequence[tuple[Any, Any]] | None

OPTIONS = {
    "quantile": ("quantile", "quantile_alpha"),
    "reg:quantileerror": ("quantile", "quantile_alpha"),
    "huber": ("delta", "huber_delta"),
    "tweedie": ("power", "tweedie_variance_power"),
    "reg:tweedie": ("power", "tweedie_variance_power"),
}
"""Objectives with an option: its name in the loss, and the parameter that holds it."""

DEFAULT_METRICS = {"squared_error": "rmse", "absolute_error": "mae", "logistic": "logloss", "multinomial": "mlogloss"}


class NewtonBoosting(Boosting):
    """Boosted trees whose leaves are Newton steps on a regularised objective. Use one of the classes below it.

    Parameters are XGBoost's, and beyond them:

    learning_rate : float, list or function
        A number; one for each round (the last holds on); or a function of the round, or of the round and the root mean
        square of the gradient.
    gamma : float
        Least gain of a split, 1/2 [GL²/(HL+λ) + GR²/(HR+λ) - G²/(H+λ)]. (XGBoost compares twice this gain.)
        Trees are grown first and pruned from the leaves upwards, so a weak split above a good one stays.
    min_child_samples : int
        Least rows of a leaf.
    validation_fraction : float or None
        Share of the training rows that only watch, for early stopping without an `eval_set`.
    early_stopping_rounds : int or None
        Stop if the last metric of the last evaluation set was not better for so many rounds; prediction then uses the
        best round everywhere.
    max_seconds : float or None
        End training after this time. This, Ctrl-C and SIGTERM leave a usable model and say so in `stopped_reason_`.
    cat_smooth : float
        Hessian added to each level when levels of a category are put in order.
    class_weight, scale_pos_weight
        Weights of classes. They shift the base rate, which `predict_proba` undoes unless undo_class_weight=False;
        `predict` decides by the weighted scores.
    categorical_features : "from_dtype", None, or names, indices or a mask
        Columns to split as categories in addition to strings and categoricals.
    unseen : {"missing", "error"}
        What an unknown category does at prediction.
    callbacks : list of functions or None
        Each is called after every round with a `Progress`; training stops when one returns True.
    """

    rules: ClassVar = NEWTON_RULES

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
        huber_delta: float = 1.0,
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
        eval_metric: Any = None,
        early_stopping_rounds: int | None = None,
        validation_fraction: float | None = None,
        callbacks: Any = None,
        max_seconds: float | None = None,
        verbose: bool | int = 0,
        random_state: Any = None,
        n_jobs: int | None = -1,
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
        self.eval_metric = eval_metric
        self.early_stopping_rounds = early_stopping_rounds
        self.validation_fraction = validation_fraction
        self.callbacks = callbacks
        self.max_seconds = max_seconds
        self.verbose = verbose
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        eval_set: EvalSet = None,
        sample_weight_eval_set: Sequence[Any] | None = None,
        init_model: Any = None,
    ) -> Self:
        """Train; `init_model` is a fitted estimator to continue from, n_estimators rounds more."""
        return self._boost(X, y, sample_weight, eval_set, sample_weight_eval_set, init_model)

    def _max_bins(self) -> int:
        return int(self.max_bin)

    def _plan(self) -> Plan:
        every = int(self.verbose)
        return Plan(
            int(self.n_estimators),
            learning_rate(self.learning_rate),
            self.early_stopping_rounds,
            self.max_seconds,
            [*(self.callbacks or ()), *([reporter(every)] if every else [])],
        )

    def _round_options(self, schema: Schema, seed: int) -> RoundOptions:
        tree = TreeOptions(
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
        columns = ColumnOptions(
            schema.n_features,
            self.colsample_bytree,
            self.colsample_bylevel,
            self.colsample_bynode,
            feature_weights(self.feature_weights, schema),
            interaction_sets(self.interaction_constraints, schema),
        )
        return RoundOptions(
            tree,
            columns,
            self.subsample,
            self.sampling_method == "gradient_based",
            seed=seed,
            n_jobs=resolve_jobs(self.n_jobs),
        )

    def _named_loss(self, name: str, **options: Any) -> Loss:
        if name in OPTIONS:
            option, parameter = OPTIONS[name]
            value = getattr(self, parameter)
            options[option] = tuple(value) if np.ndim(value) else float(value)
        return make_loss(name, **options)

    def _default_metric(self, loss: Loss) -> str:
        return DEFAULT_METRICS.get(loss.name, "loss")


class NewtonBoostingRegressor(RegressorMixin, NewtonBoosting):
    """Newton boosting for numbers.

    objective : {"squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"}, or a function
        XGBoost's names work too. A function takes (y_true, scores) and returns (gradient, hessian). With several
        quantile_alpha, predictions have a column for each, and they cannot cross.
    """

    __doc__ += NewtonBoosting.__doc__.partition("\n\n")[2]  # type: ignore[union-attr]

    def _read_target(self, y: Any, n_rows: int) -> Floats:
        target = NumberTarget.from_any(y, n_rows)
        if target.n_outputs > 1:
            raise InputError(
                f"y has {target.n_outputs} columns, but boosting predicts one number. Fit one model for each column."
            )
        return target.values[:, 0]

    def _code_target(self, y: Any, n_rows: int) -> Floats:
        return self._read_target(y, n_rows)

    def _row_weight(self, y: Floats, weight: Floats | None) -> Floats | None:  # noqa: ARG002
        if self.class_weight is not None or self.scale_pos_weight != 1.0:
            raise ParameterError(
                f"class_weight={self.class_weight!r} and scale_pos_weight={self.scale_pos_weight!r} are for classes. "
                "Use sample_weight to weigh rows."
            )
        return weight

    def _make_loss(self, rows: Rows) -> Loss:  # noqa: ARG002
        if callable(self.objective):
            return CustomLoss(self.objective)
        return self._named_loss(self.objective or "squared_error")

    def predict(self, X: Any, *, output_margin: bool = False, n_rounds: int | None = None) -> Floats:
        """Predictions: (rows,), or (rows, quantiles) for several quantiles; with `output_margin`, the scores."""
        return self._respond(self._scores(X, n_rounds), output_margin)

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Predictions after each round."""
        for score in self._staged(X):
            yield self._respond(score, False)

    def _respond(self, score: Floats, output_margin: bool) -> Floats:
        said = score if output_margin else self.loss_.response(score)
        return said[0] if len(said) == 1 else said.T


class NewtonBoostingClassifier(ClassifierMixin, NewtonBoosting):
    """Newton boosting for classes.

    objective : {"log_loss", "exponential"}, or a function
        "log_loss" is the logistic loss of two classes, the multinomial loss of more. XGBoost's names work too.
        A function takes (y_true, scores) and returns (gradient, hessian); classes are numbered 0, 1, 2, ….
    """

    __doc__ += NewtonBoosting.__doc__.partition("\n\n")[2]  # type: ignore[union-attr]
    classes_: NDArray[Any]

    def _read_target(self, y: Any, n_rows: int) -> Floats:
        target = ClassTarget.from_any(y, n_rows)
        if target.n_outputs > 1:
            raise InputError(
                f"y has {target.n_outputs} columns, but boosting predicts one class. Fit one model for each column."
            )
        classes = target.classes[0]
        if len(classes) < 2:
            raise InputError(f"y holds one class only, {classes[0]!r}. A classifier needs at least two classes.")
        self._target = target
        self.classes_, self.n_classes_ = classes, len(classes)
        return target.codes[:, 0].astype(np.float64)

    def _code_target(self, y: Any, n_rows: int) -> Floats:
        target = ClassTarget.from_any(y, n_rows)
        unknown = [label for label in target.classes[0] if label not in self.classes_]
        if unknown:
            raise InputError(
                f"eval_set holds the class {unknown[0]!r}, which y does not have. Remove such rows or train on them."
            )
        position = np.searchsorted(self.classes_, target.classes[0])
        return position[target.codes[:, 0]].astype(np.float64)

    def _row_weight(self, y: Floats, weight: Floats | None) -> Floats | None:
        by_class = self._class_factors(y)
        if (by_class == 1.0).all():
            return weight
        own = by_class[y.astype(np.intp)]
        return own if weight is None else weight * own

    def _class_factors(self, y: Floats) -> Floats:
        """Weight of each class; also what `predict_proba` undoes."""
        factors = np.ones(self.n_classes_)
        if self.class_weight is not None:
            rows = class_weights(self.class_weight, self._target, type(self).__name__)
            factors[y.astype(np.intp)] = rows
        if self.scale_pos_weight != 1.0:
            if self.n_classes_ != 2:
                raise ParameterError(
                    f"scale_pos_weight={self.scale_pos_weight} is for two classes, but y has {self.n_classes_}. "
                    "Use class_weight."
                )
            factors[1] *= self.scale_pos_weight
        self._factors = factors
        return factors

    def _make_loss(self, rows: Rows) -> Loss:  # noqa: ARG002
        del self._target
        name = self.objective or "log_loss"
        if callable(name):
            return CustomLoss(name, n_scores=1 if self.n_classes_ == 2 else self.n_classes_)
        if name in ("log_loss", "multi:softprob", "multi:softmax", "multinomial"):
            return make_loss("log_loss", n_classes=self.n_classes_)
        loss = self._named_loss(name)
        if not isinstance(loss, (Logistic, Exponential, Multinomial)):
            raise ParameterError(
                f"objective={name!r} is not a loss of classes. Use 'log_loss' or 'exponential', or a regressor."
            )
        if self.n_classes_ > 2:
            raise ParameterError(f"objective={name!r} is for two classes, but y has {self.n_classes_}. Use 'log_loss'.")
        return loss

    def decision_function(self, X: Any, *, n_rounds: int | None = None) -> Floats:
        """Scores: of the second class (rows,), or of all classes (rows, classes)."""
        score = self._scores(X, n_rounds)
        return score[0] if len(score) == 1 else score.T

    def predict(self, X: Any, *, output_margin: bool = False, n_rounds: int | None = None) -> NDArray[Any]:
        """Most probable class of every row, weights of classes included; with `output_margin`, the scores."""
        score = self._scores(X, n_rounds)
        if output_margin:
            return score[0] if len(score) == 1 else score.T
        return self._decide(score)

    def predict_proba(self, X: Any, *, n_rounds: int | None = None) -> Floats:
        """Probability of every class (rows, classes)."""
        return self._probabilities(self._scores(X, n_rounds))

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Classes after each round."""
        for score in self._staged(X):
            yield self._decide(score)

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Probabilities after each round."""
        for score in self._staged(X):
            yield self._probabilities(score)

    def _decide(self, score: Floats) -> NDArray[Any]:
        likely = (score[0] > 0).astype(np.intp) if len(score) == 1 else score.argmax(axis=0)
        return self.classes_[likely]

    def _probabilities(self, score: Floats) -> Floats:
        if isinstance(self.loss_, CustomLoss):
            meaning: Loss = Logistic() if len(score) == 1 else Multinomial(len(score))
        else:
            meaning = self.loss_
        said = meaning.response(score)
        shares = np.vstack([1.0 - said, said]) if len(said) == 1 else said
        if self.undo_class_weight and (self._factors != self._factors[0]).any():
            shares = shares / self._factors[:, None]
            shares = shares / shares.sum(axis=0)
        return shares.T


class NewtonBoostingRanker(NewtonBoosting):
    """Newton boosting for rankings: LambdaMART.

    y are grades of relevance, rows of a query stand together, and `fit` takes their numbers (`group`) or labels (`qid`).
    """

    __doc__ += NewtonBoosting.__doc__.partition("\n\n")[2]  # type: ignore[union-attr]

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        *,
        group: Any = None,
        qid: Any = None,
        sample_weight: Any = None,
        eval_set: EvalSet = None,
        eval_group: Sequence[Any] | None = None,
        eval_qid: Sequence[Any] | None = None,
        sample_weight_eval_set: Sequence[Any] | None = None,
        init_model: Any = None,
    ) -> Self:
        """Train on queries; `group` are the numbers of rows of each query, or `qid` its label for each row."""
        groups = group_sizes(group, qid, len(y), "group")
        others = None
        if eval_set is not None:
            of = [
                (None if eval_group is None else eval_group[i], None if eval_qid is None else eval_qid[i])
                for i in range(len(eval_set))
            ]
            others = [group_sizes(*pair, len(eval_set[i][1]), f"eval_group[{i}]") for i, pair in enumerate(of)]
        weight = _weight_of_rows(sample_weight, groups)
        return self._boost(X, y, weight, eval_set, sample_weight_eval_set, init_model, groups, others)

    def _read_target(self, y: Any, n_rows: int) -> Floats:
        return NumberTarget.from_any(y, n_rows).values[:, 0]

    def _code_target(self, y: Any, n_rows: int) -> Floats:
        return self._read_target(y, n_rows)

    def _make_loss(self, rows: Rows) -> Loss:
        if callable(self.objective):
            return CustomLoss(self.objective)
        if self.objective not in (None, "rank:ndcg", "lambdarank"):
            raise ParameterError(f"objective={self.objective!r} is not a loss of rankings. Use 'rank:ndcg'.")
        return LambdaRank(rows.groups)

    def _default_metric(self, loss: Loss) -> str:  # noqa: ARG002
        return "ndcg"

    def predict(self, X: Any, *, n_rounds: int | None = None) -> Floats:
        """Scores; within a query, larger ones come first."""
        return self._scores(X, n_rounds)[0]


def group_sizes(group: Any, qid: Any, n_rows: int, name: str) -> NDArray[np.int64]:
    """Numbers of rows of the queries, from themselves or from a label for each row."""
    if (group is None) == (qid is None):
        raise InputError(
            f"Pass either {name} (rows of each query) or {name.replace('group', 'qid')} (a label for each row)."
        )
    if qid is not None:
        labels = np.asarray(qid)
        if len(labels) != n_rows:
            raise InputError(f"qid has {len(labels)} elements, but X has {n_rows} rows. Pass one label for each row.")
        starts = np.flatnonzero(np.append(True, labels[1:] != labels[:-1]))
        if len(np.unique(labels[starts])) != len(starts):
            raise InputError("Rows of a query must stand together. Sort the rows by qid.")
        return np.diff(np.append(starts, n_rows)).astype(np.int64)
    sizes = np.asarray(group)
    if sizes.ndim != 1 or not np.issubdtype(sizes.dtype, np.integer) or (sizes < 1).any():
        raise InputError(f"{name} must hold whole numbers of at least 1, the rows of each query; it is {group!r}.")
    if sizes.sum() != n_rows:
        raise InputError(
            f"{name} adds up to {sizes.sum()} rows, but X has {n_rows}. Pass the number of rows of each query."
        )
    return sizes.astype(np.int64)


def _weight_of_rows(weight: Any, groups: NDArray[np.int64]) -> Any:
    """A weight for each row, from one for each row or one for each query."""
    if weight is None or len(weight) != len(groups) or len(weight) == groups.sum():
        return weight
    return np.repeat(np.asarray(weight), groups)

"""Regularised Newton boosting, with XGBoost's names of parameters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags

from sapwood.boosting.fitting import Rows
from sapwood.boosting.options import TreeOptions
from sapwood.declaration import declared, parameter
from sapwood.errors import InputError, ParameterError
from sapwood.estimators.boosting_kinds import ClassBoosting, NumberBoosting, refuse_several
from sapwood.estimators.boosting_rows import eval_queries, read_eval_set, read_queries, weight_of_rows
from sapwood.estimators.newton_base import EvalSet, NewtonBoosting
from sapwood.estimators.rules import objective_rule
from sapwood.losses.custom import CustomLoss
from sapwood.losses.loss import Loss
from sapwood.losses.names import make_loss
from sapwood.losses.ranking import LambdaRank
from sapwood.metrics.metric import RANKINGS
from sapwood.metrics.ranking import ndcg
from sapwood.table.schema import Schema
from sapwood.table.target import NumberTarget
from sapwood.table.weight import check_weight

Floats = NDArray[np.float64]

OF_ANY_CLASSES = ("log_loss", "multinomial", "multi:softprob", "multi:softmax")


@declared
class NewtonBoostingRegressor(NumberBoosting, NewtonBoosting):
    """Newton boosting for numbers.

    With g and h the first and second derivative of the loss at a row's score, and G and H their sums over a leaf, the
    leaf value is w = -G / (H + reg_lambda), G first moved by reg_alpha towards zero, and the gain of a split is
    1/2 [G_L² / (H_L + λ) + G_R² / (H_R + λ) - G² / (H + λ)]. Parameter names are XGBoost's.

    The same numbers mean other steps than XGBoost's for objective="poisson": h is the mean, where XGBoost takes e^0.7
    of it and limits leaves to 0.7. docs/coming-from-xgboost.md has the recipes.
    """

    objective: Any = parameter(
        *objective_rule(
            "squared_error absolute_error huber quantile poisson gamma tweedie reg:squarederror reg:absoluteerror "
            "reg:quantileerror count:poisson reg:gamma reg:tweedie",
            remedy="Use a classifier for classes, or a function of (y_true, scores).",
        ),
        default=None,
        doc="The loss to minimise; None is squared_error. A function takes (y_true, scores) and returns (gradient, "
        "hessian) of each row; its scores are predicted as they are, and start at base_score, or 0.",
    )

    def _row_weight(self, y: Floats, weight: Floats | None) -> Floats | None:  # noqa: ARG002
        _refuse_class_weights(self)
        return weight

    def _make_loss(self, rows: Rows) -> Loss:  # noqa: ARG002
        if callable(self.objective):
            return CustomLoss(self.objective)
        return self._named_loss(self.objective or "squared_error")

    def _tree_options(self, schema: Schema) -> TreeOptions:
        options = super()._tree_options(schema)
        if options.signs is not None and self.objective in ("quantile", "reg:quantileerror"):
            _refuse_signs(self.monotone_constraints, np.size(self.quantile_alpha), "quantiles")
        return options


@declared
class NewtonBoostingClassifier(ClassBoosting, NewtonBoosting):
    """Newton boosting for classes.

    With g and h the first and second derivative of the loss at a row's score, and G and H their sums over a leaf, the
    leaf value is w = -G / (H + reg_lambda), G first moved by reg_alpha towards zero, and the gain of a split is
    1/2 [G_L² / (H_L + λ) + G_R² / (H_R + λ) - G² / (H + λ)]. Parameter names are XGBoost's.

    The same numbers mean other steps than XGBoost's for more than two classes: h is p (1 - p), where XGBoost takes
    twice that, so use half its learning_rate, reg_lambda and min_child_weight. docs/coming-from-xgboost.md has more.
    """

    objective: Any = parameter(
        *objective_rule(
            "log_loss exponential logistic multinomial binary:logistic multi:softprob multi:softmax",
            remedy="Use a regressor for numbers, or a function of (y_true, scores).",
        ),
        default=None,
        doc="The loss to minimise; None is log_loss: the logistic loss of two classes, the multinomial loss of more. "
        '"exponential" is for two classes. A function takes (y_true, scores) and returns (gradient, hessian); classes '
        "are numbered 0, 1, 2, …, and for more than two classes scores have a column for each. Scores are log-odds.",
    )

    def _class_factors(self, y: Floats, weight: Floats | None) -> Floats:
        factors = super()._class_factors(y, weight)
        if self.scale_pos_weight != 1.0:
            if self.n_classes_ != 2:
                raise ParameterError(
                    f"scale_pos_weight={self.scale_pos_weight} is for two classes, but y has {self.n_classes_}. "
                    "Use class_weight."
                )
            factors[1] *= self.scale_pos_weight
        return factors

    def _make_loss(self, rows: Rows) -> Loss:  # noqa: ARG002
        name = self.objective or "log_loss"
        if callable(name):
            return CustomLoss(name, n_scores=1 if self.n_classes_ == 2 else self.n_classes_)
        if name in OF_ANY_CLASSES:
            return make_loss("log_loss", n_classes=self.n_classes_)
        if self.n_classes_ > 2:
            raise ParameterError(f"objective={name!r} is for two classes, but y has {self.n_classes_}. Use 'log_loss'.")
        return self._named_loss(name)

    def _tree_options(self, schema: Schema) -> TreeOptions:
        options = super()._tree_options(schema)
        if options.signs is not None:
            _refuse_signs(self.monotone_constraints, self.n_classes_ - 1, f"scores of {self.n_classes_} classes")
        return options


@declared
class NewtonBoostingRanker(NewtonBoosting):
    """Newton boosting for rankings: LambdaMART.

    y are grades of relevance from 0 to 31, whose gain is 2^grade - 1. Rows of a query stand together, and `fit` takes
    their numbers (`group`) or labels (`qid`). Predictions are scores: within a query, larger ones come first.

    With g and h the first and second derivative of the loss at a row's score, and G and H their sums over a leaf, the
    leaf value is w = -G / (H + reg_lambda), G first moved by reg_alpha towards zero, and the gain of a split is
    1/2 [G_L² / (H_L + λ) + G_R² / (H_R + λ) - G² / (H + λ)]. Parameter names are XGBoost's.
    """

    objective: Any = parameter(
        *objective_rule("rank:ndcg lambdarank", remedy="Use objective='rank:ndcg', or a function of (y_true, scores)."),
        default=None,
        doc="The loss to minimise; None is rank:ndcg. A function takes (y_true, scores) of all rows and returns "
        "(gradient, hessian).",
    )
    weight_name: ClassVar[str] = "query_weight"

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any,
        *,
        group: Any = None,
        qid: Any = None,
        query_weight: Any = None,
        eval_set: EvalSet = None,
        eval_group: Sequence[Any] | None = None,
        eval_qid: Sequence[Any] | None = None,
        query_weight_eval_set: Sequence[Any] | None = None,
        init_model: Any = None,
        checkpoint: Any = None,
        verbose: bool | int | None = None,
    ) -> Self:
        """Train.

        Args:
            X: table of rows.
            y: grades of relevance.
            group: numbers of rows of the queries, in the order of the rows.
            qid: or a label for each row, equal for the rows of a query. Without either, all rows are one query.
            query_weight: weights of the queries, or of their rows. (Documents of a query are compared with each other,
                so that a weight of 2 is not two copies of a document, but of its query.)
            eval_set: pairs (X, y) whose metrics are followed, and of which the last decides about early stopping: a
                list of pairs, one pair, or a mapping from names to pairs.
            eval_group: numbers of rows of the queries of each of the pairs.
            eval_qid: or labels of the rows of each of the pairs.
            query_weight_eval_set: weights (or None) for each of the pairs.
            init_model: a fitted estimator to continue from, or the path of its file, n_estimators rounds more.
            checkpoint: a path, or a `Checkpoint`, where training writes down how far it is, and goes on from.
            verbose: what the parameter `verbose` means, for this call; None is the parameter.
        """
        sets = read_eval_set(eval_set, query_weight_eval_set, "query_weight_eval_set")
        own = partial(read_queries, group, qid)
        others = [
            partial(read_queries, *given, name=f"eval_group[{i}]")
            for i, given in enumerate(eval_queries(eval_group, eval_qid, sets))
        ]
        return self._boost(X, y, query_weight, sets, init_model, own, others, checkpoint, verbose)

    def _read_target(self, y: Any, n_rows: int) -> Floats:
        target = NumberTarget.from_any(y, n_rows)
        refuse_several(target.n_outputs, "score")
        return target.values[:, 0]

    def _code_target(self, y: Any, n_rows: int) -> Floats:
        return self._read_target(y, n_rows)

    def _row_weight(self, y: Floats, weight: Floats | None) -> Floats | None:  # noqa: ARG002
        _refuse_class_weights(self)
        return weight

    def _make_loss(self, rows: Rows) -> Loss:
        if callable(self.objective):
            return CustomLoss(self.objective)
        if rows.groups is None:
            raise InputError("A ranking needs queries. Pass group or qid.")
        return LambdaRank(rows.groups)

    def _kind(self, loss: Loss) -> str:  # noqa: ARG002
        return RANKINGS

    def _default_metric(self, loss: Loss) -> str:  # noqa: ARG002
        return "ndcg"

    def predict(self, X: Any, *, n_rounds: int | None = None) -> Floats:
        """Scores; within a query, larger ones come first.

        Args:
            X: table of rows.
            n_rounds: use the first rounds only; by default the best ones, see `best_n_rounds_`.
        """
        scores: Floats = self._scores(X, n_rounds)[0]
        return scores

    def staged_predict(self, X: Any, *, n_rounds: int | None = None) -> Iterator[Floats]:
        """Scores after each round; the last ones are those of `predict`."""
        return (score[0] for score in self._staged(X, n_rounds))

    def score(self, X: Any, y: Any, *, group: Any = None, qid: Any = None, query_weight: Any = None) -> float:
        """Mean NDCG of the queries; without `group` and `qid` all rows are one query."""
        predicted = self.predict(X)
        queries = read_queries(group, qid, len(predicted))
        weight = check_weight(weight_of_rows(query_weight, queries, "query_weight"), len(predicted))
        return ndcg(self._read_target(y, len(predicted)), predicted, weight, queries)

    def __sklearn_tags__(self) -> Tags:
        """Grades are at least 0."""
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags


def _refuse_class_weights(estimator: NewtonBoosting) -> None:
    if estimator.class_weight is not None or estimator.scale_pos_weight != 1.0:
        name = "scale_pos_weight" if estimator.class_weight is None else "class_weight"
        raise ParameterError(
            f"{name}={getattr(estimator, name)!r} is for classes, but {type(estimator).__name__} has none. "
            f"Use {estimator.weight_name} of fit."
        )


def _refuse_signs(constraints: Any, n_scores: int, what: str) -> None:
    """Scores are made comparable afterwards (by a softmax, by sorting), so that rising ones need not rise any more."""
    if n_scores > 1:
        raise ParameterError(
            f"monotone_constraints={constraints!r} cannot hold for {what}, which depend on each other. "
            "Fit one model for each, or leave out monotone_constraints."
        )

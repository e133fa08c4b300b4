"""Regularised Newton boosting, with XGBoost's names of parameters."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Self, TypedDict, Unpack

from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags

from sapwood.arrays import Array
from sapwood.declaration import declared, fitted, parameter
from sapwood.errors import ParameterError
from sapwood.estimators.boosting_task import BoostingClasses, BoostingRanking, BoostingTargets
from sapwood.estimators.newton_boosting import EvalSet, NewtonBoosting
from sapwood.estimators.source_columns import given_rows, is_training_source
from sapwood.estimators.validation_sets import read_eval_set, with_queries
from sapwood.metrics.names import METRICS
from sapwood.parameters import objective_rule
from sapwood.table.queries import read_queries, weight_of_rows
from sapwood.table.weight import check_weight


@declared
class NewtonBoostingRegressor(RegressorMixin, NewtonBoosting):
    """Newton boosting for numbers, one or several in each row.

    y may have several columns, the targets; then predictions are (rows, targets), `multi_strategy` decides about the
    trees, and each target has the loss of its own. Validation compares targets by how much of their loss is left.

    With g and h the first and second derivative of the loss at a row's score, and G and H their sums over a leaf, the
    leaf value is w = -G / (H + reg_lambda), G first moved by reg_alpha towards zero, and the gain of a split is
    1/2 [G_L² / (H_L + λ) + G_R² / (H_R + λ) - G² / (H + λ)]. Parameter names are XGBoost's.

    The same numbers mean other steps than XGBoost's for objective="poisson": h is the mean, where XGBoost takes e^0.7
    of it and limits leaves to 0.7. docs/coming-from-xgboost.md has the recipes.
    """

    task: ClassVar = BoostingTargets

    objective: Any = parameter(
        *objective_rule(
            "squared_error absolute_error huber quantile poisson gamma tweedie reg:squarederror reg:absoluteerror "
            "reg:quantileerror count:poisson reg:gamma reg:tweedie",
            remedy="Use a classifier for classes, or a function of (y_true, scores).",
        ),
        default=None,
        doc="The loss to minimise; None is squared_error. A function takes (y_true, scores) and returns (gradient, "
        "hessian) of each row; its scores are predicted as they are, and start at base_score, or 0. With several "
        "targets, all of these have a column for each. It gets all rows at once; one with a true attribute `rowwise` "
        "gets blocks of rows.",
    )

    @property
    def target_names_(self) -> tuple[str, ...]:
        """Names of the targets: columns of the frame that y was, else "target 0", …; none if there is one target."""
        self._check_fitted()
        return self.task.known_to(self).targets

    @property
    def n_outputs_(self) -> int:
        """Number of targets."""
        return len(self.target_names_) or 1

    def __sklearn_tags__(self) -> Tags:
        """Several targets are supported."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


@declared
class NewtonBoostingClassifier(ClassifierMixin, NewtonBoosting):
    """Newton boosting for classes.

    With g and h the first and second derivative of the loss at a row's score, and G and H their sums over a leaf, the
    leaf value is w = -G / (H + reg_lambda), G first moved by reg_alpha towards zero, and the gain of a split is
    1/2 [G_L² / (H_L + λ) + G_R² / (H_R + λ) - G² / (H + λ)]. Parameter names are XGBoost's.

    The same numbers mean other steps than XGBoost's for more than two classes: h is p (1 - p), where XGBoost takes
    twice that, so use half its learning_rate, reg_lambda and min_child_weight. docs/coming-from-xgboost.md has more.
    """

    task: ClassVar = BoostingClasses

    objective: Any = parameter(
        *objective_rule(
            "log_loss exponential logistic multinomial binary:logistic multi:softprob multi:softmax",
            remedy="Use a regressor for numbers, or a function of (y_true, scores).",
        ),
        default=None,
        doc="The loss to minimise; None is log_loss: the logistic loss of two classes, the multinomial loss of more. "
        '"exponential" is for two classes. A function takes (y_true, scores) and returns (gradient, hessian); classes '
        "are numbered 0, 1, 2, …, and for more than two classes scores have a column for each. Scores are log-odds. "
        "It gets all rows at once; one with a true attribute `rowwise` gets blocks of rows.",
    )

    classes_: Array = fitted("The classes, in order.")
    n_classes_: int = fitted("Number of classes.")


class EvalQueries(TypedDict, total=False):
    """Validation sets of a ranking, and their queries, each a list with an item for every set."""

    eval_set: EvalSet
    eval_group: Sequence[Any] | None
    eval_qid: Sequence[Any] | None
    query_weight_eval_set: Sequence[Any] | None


@declared
class NewtonBoostingRanker(NewtonBoosting):
    """Newton boosting for rankings: LambdaMART.

    y are grades of relevance from 0 to 31, whose gain is 2^grade - 1. Rows of a query stand together, and `fit` takes
    their numbers (`group`) or labels (`qid`). Predictions are scores: within a query, larger ones come first.

    With g and h the first and second derivative of the loss at a row's score, and G and H their sums over a leaf, the
    leaf value is w = -G / (H + reg_lambda), G first moved by reg_alpha towards zero, and the gain of a split is
    1/2 [G_L² / (H_L + λ) + G_R² / (H_R + λ) - G² / (H + λ)]. Parameter names are XGBoost's.
    """

    task: ClassVar = BoostingRanking
    weight_name: ClassVar = "query_weight"

    objective: Any = parameter(
        *objective_rule("rank:ndcg lambdarank", remedy="Use objective='rank:ndcg', or a function of (y_true, scores)."),
        default=None,
        doc="The loss to minimise; None is rank:ndcg. A function takes (y_true, scores) of all rows and returns "
        "(gradient, hessian).",
    )

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any = None,
        *,
        target: str | None = None,
        group: Any = None,
        qid: Any = None,
        query_weight: Any = None,
        init_model: Any = None,
        checkpoint: Any = None,
        verbose: bool | int | None = None,
        **validation: Unpack[EvalQueries],
    ) -> Self:
        """Train.

        Args:
            X: table of rows, or a source, as for `NewtonBoostingRegressor`.
            y: grades of relevance.
            target: name of the column of a source that holds them.
            group: numbers of rows of the queries, in the order of the rows.
            qid: or a label for each row, equal for the rows of a query; of a source, the name of the column. Without
                either, all rows are one query.
            query_weight: weights of the queries, or of their rows; of a source, the name of the column. (Documents of a
                query are compared with each other, so that a weight of 2 is not two copies of a document, but of its
                query.)
            eval_set: validation sets, of which the last one decides about early stopping: a list of pairs (X, y), one
                pair, or a mapping from names to pairs.
            eval_group: numbers of rows of the queries of each of the pairs.
            eval_qid: or labels of the rows of each of the pairs.
            query_weight_eval_set: weights (or None) for each of the pairs.
            init_model: a fitted estimator, or the path of its file, that n_estimators more rounds are added to.
            checkpoint: a path, or a `Checkpoint`, where training saves its state, and resumes from.
            verbose: replaces the parameter `verbose` for this call.
        """
        if group is not None and is_training_source(X):
            raise ParameterError("group is not allowed with a source of rows. Name a column of queries: qid='query'.")
        given = given_rows(X, y, query_weight, self.weight_name, target, partial(read_queries, group, qid), qid)
        sets = []
        if validation:
            sets = read_eval_set(
                validation.get("eval_set"), validation.get("query_weight_eval_set"), "query_weight_eval_set"
            )
            sets = with_queries(sets, validation.get("eval_group"), validation.get("eval_qid"))
        return self._train(given, sets, init_model, checkpoint, verbose)

    def score(self, X: Any, y: Any, *, group: Any = None, qid: Any = None, query_weight: Any = None) -> float:
        """Mean NDCG of the queries; without `group` and `qid` all rows are one query."""
        predicted = self.predict(X)
        queries = read_queries(group, qid, len(predicted))
        weight = check_weight(weight_of_rows(query_weight, queries, "query_weight"), len(predicted))
        return METRICS["ndcg"].function(BoostingRanking().code(y, len(predicted)), predicted, weight, queries)

    def __sklearn_tags__(self) -> Tags:
        """Grades are at least 0."""
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags

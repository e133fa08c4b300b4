"""Bagging behind scikit-learn's interface: of the library's own trees, or of any estimator.

Trees are those of a forest (`ForestEstimator`) whose rows and columns are drawn as the parameters of bagging say.
Estimators of other libraries are fitted to the same draws (`_train_members`) and asked one by one (`_member_scores`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.utils import Tags, _safe_indexing
from sklearn.utils.metaestimators import available_if

from sapwood.arrays import Array, Floats
from sapwood.data_warnings import quiet
from sapwood.declaration import declared, fitted, parameter
from sapwood.errors import InputError, ParameterError
from sapwood.estimators import shared_parameters as shared
from sapwood.estimators.foreign import (
    columns_of,
    fitted_member,
    indexed,
    is_foreign,
    member_values,
    own_tree,
    seeded,
    take_input_tags,
)
from sapwood.estimators.forest import ForestEstimator
from sapwood.estimators.methods_by_task import multi_label_tags
from sapwood.estimators.tree import DecisionTree, DecisionTreeClassifier, DecisionTreeRegressor
from sapwood.estimators.tree_rows import CLASSES, NUMBERS, TreeRows
from sapwood.forest.bags import Bag, Bags, n_drawn
from sapwood.forest.forest import Forest
from sapwood.forest.out_of_bag import OutOfBag
from sapwood.model.methods import forest_model, members_model
from sapwood.model.model import Model
from sapwood.parameters import Flag, Interval
from sapwood.table.schema import Schema
from sapwood.threads import resolve_jobs, run_all


@declared
class Bagging(ForestEstimator):
    """What classifier and regressor share. Use one of them."""

    model_settings: ClassVar = ("forest_", "_members", "schema_", "unseen", "drift_warning")

    estimator: Any = parameter(shared.MEMBER, default=None, kw_only=False)
    n_estimators: int = parameter(Interval(int, low=1), default=10, doc="Number of members.", kw_only=False)
    max_samples: int | float | None = parameter(shared.MAX_SAMPLES, default=None)
    max_features: int | float = parameter(
        Interval(int, low=1),
        Interval(float, 0, 1, closed="right", integers=False),
        default=1.0,
        doc="Columns drawn for each member: a number or a fraction.",
    )
    bootstrap: bool = parameter(Flag(), default=True, doc="Draw rows with replacement.")
    bootstrap_features: bool = parameter(Flag(), default=False, doc="Draw columns with replacement.")
    oob_score: bool = parameter(Flag(), default=False, doc="Measure the ensemble on out-of-bag rows; see oob_score_.")
    warm_start: bool = parameter(shared.WARM_START, default=False)
    random_state: Any = parameter(shared.RANDOM_STATE, default=None)
    verbose: int = parameter(shared.VERBOSE, default=0)

    forest_: Forest = fitted("The trees, packed, if the members are trees of this library.")
    n_outputs_: int = fitted("Number of targets.")
    max_features_: int = fitted("Number of columns drawn for each member.")
    stopped_reason_: str = fitted("Why no more trees were grown.")
    oob_curve_: Floats = fitted("Out-of-bag error after each member, with oob_score.")
    oob_score_: float = fitted("Out-of-bag accuracy or R², with oob_score.")

    _members = None  # type: list[Any] | None  # of another library

    @property
    def unseen(self) -> Any:
        """What an unknown category does is a parameter of the trees."""
        return getattr(self.estimator, "unseen", "missing")

    def default_estimator(self) -> DecisionTree:
        """The member that estimator=None stands for."""
        kind = DecisionTreeClassifier if self.task is CLASSES else DecisionTreeRegressor
        return kind(n_jobs=self.n_jobs)

    _tree = own_tree

    def _draws(self, training: TreeRows, order: Array, given: Sequence[Bag] | None) -> Bags:
        n, self._members = training.table.n_rows, None
        if self.oob_score and not self.bootstrap and given is None:
            raise ParameterError(
                "oob_score=True needs bootstrap=True: Out of bag estimation is only available if rows are drawn with "
                "replacement. Set bootstrap=True."
            )
        size = n_drawn(self.max_samples, n)
        if not self.bootstrap and size > n:
            raise ParameterError(
                f"max_samples={self.max_samples!r} asks for {size} rows, but there are {n} to draw from without "
                "replacement. Use at most as many, or bootstrap=True."
            )
        every_column = self.max_features_ == self.n_features_in_ and not self.bootstrap_features
        return Bags(
            self._seed,
            order,
            training.weight,
            None if not self.bootstrap and size == n else size,
            replace=self.bootstrap,
            n_features=training.table.n_features,
            n_chosen=None if every_column else self.max_features_,
            repeat_columns=self.bootstrap_features,
            given=given,
        )

    def _previous(self) -> list[Any]:
        if is_foreign(self.estimator):
            return list(self._members or [])
        return super()._previous() if self._members is None else []

    def _train_members(self, X: Any, training: TreeRows, before: list[Any], checkpoint: Any) -> None:
        """Fit estimators of another library."""
        if checkpoint is not None:
            raise ParameterError(
                f"checkpoint cannot hold estimator={self.estimator!r}, which is not a tree of Sapwood. Leave it out."
            )
        self.__dict__.pop("forest_", None)
        bags, X, labels = self._bags, indexed(X, training.used), training.target.labels()
        weight = training.weights if bags.n_draws is None else np.ones(len(labels))
        numbers = range(len(before), self.n_estimators if bags.given is None else len(bags.given))
        make = partial(fitted_member, X=X, y=labels, weight=weight)
        tasks = [partial(make, seeded(self.estimator, bags.key(t)), bag=bags.bag(t)) for t in numbers]
        self._members = [*before, *run_all(tasks, resolve_jobs(self.n_jobs))]
        if self.oob_score:
            found = OutOfBag(training.target, training.given)
            for t, member in enumerate(self._members):
                outside = bags.bag(t).outside(bags.n_rows)
                if len(outside):
                    own = _safe_indexing(columns_of(X, bags.bag(t)), outside)
                    classes = getattr(training.target, "classes", [])
                    found.add(outside, member_values(member, own, classes, self._single_output))
            self.__dict__.update(self.task.measure(found, training, self.oob_score))

    def _new_model(self, **common: Any) -> Model:
        tree = own_tree(self)
        common["unseen"] = getattr(self.estimator, "unseen", "missing")
        if self._members is None and tree is not None:
            return forest_model(self.forest_, tree.criterion, self.prior_weight, **common)
        return members_model(self.n_outputs_, **common | {"begin": self._member_scores})

    def _member_scores(self, X: Any) -> Floats:
        """Mean of the predictions of the members, (outputs and classes, rows)."""
        X, options = indexed(X), {"classes": self.model_.classes, "single": self._single_output}
        tasks = [
            partial(member_values, member, columns_of(X, self._bags.bag(t)), **options)
            for t, member in enumerate(self._members or ())
        ]
        mean = np.asarray(np.mean(run_all(tasks, resolve_jobs(self.n_jobs)), axis=0))
        return mean.reshape(len(mean), -1).T

    @property
    def estimator_(self) -> Any:
        """A member that is not fitted."""
        self._check_fitted()
        return own_tree(self) if self._members is None else clone(self.estimator, safe=False)

    @property
    def estimators_(self) -> Sequence[Any]:
        """The members; those of some columns only take these."""
        self._check_fitted()
        return super().estimators_ if self._members is None else self._members

    @property
    def n_members_(self) -> int:
        """Number of members."""
        return len(self.estimators_)

    def _fitted_tree(self, t: int) -> DecisionTree:
        """A tree of some columns only knows of these."""
        tree, features = super()._fitted_tree(t), self._bags.bag(t).features
        if features is None:
            return tree
        schema, grown = self.schema_, tree.tree_
        tree._describe(Schema(tuple(schema.columns[j] for j in features), schema.named, schema.sparse_absent))
        if not np.isin(grown.feature[grown.feature >= 0], features).all():  # a file may claim other draws
            raise InputError(f"Tree {t} splits columns that its bag does not have. Load the model from another file.")
        place = np.where(grown.feature < 0, grown.feature, np.searchsorted(features, grown.feature))
        tree.tree_ = replace(grown, feature=place.astype(np.int32), n_levels=grown.n_levels[features])
        return tree


def _tags(bagging: Any) -> Tags:
    """The library's own trees take anything; other members what they take."""
    is_class = isinstance(bagging, ClassifierMixin)
    tags: Tags = multi_label_tags(bagging) if is_class else RegressorMixin.__sklearn_tags__(bagging)
    if is_foreign(bagging.estimator):
        inner = take_input_tags(tags, bagging.estimator)
        tags.target_tags = inner.target_tags
        tags.classifier_tags = inner.classifier_tags or tags.classifier_tags
        tags.regressor_tags = inner.regressor_tags or tags.regressor_tags
    return tags


@declared
class BaggingClassifier(ClassifierMixin, Bagging):
    """Bagging for classes: members on bootstrap samples, whose probabilities are averaged.

    Members without predict_proba vote. Rows are drawn by the order of a hash of their contents, so the ensemble does
    not depend on their order. Weights are probabilities of the draws, and as many rows are drawn as there are: weights
    times a constant change nothing. Any estimator with `fit` and `predict` can be a member; sparse tables reach it as
    csr or csc.
    """

    task: ClassVar = CLASSES
    __sklearn_tags__ = _tags

    classes_: Any = fitted("The classes, in order; a list of arrays if there are several outputs.")
    n_classes_: Any = fitted("Number of classes, or a list of numbers if there are several outputs.")
    oob_decision_function_: Any = fitted("Out-of-bag probabilities of the training rows, with oob_score.")

    @available_if(lambda bagging: hasattr(bagging.estimator, "decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """Mean of the members' decision functions."""
        self.model_.new_rows(X)
        X, members = indexed(X), self._members or []
        with quiet():  # members have nothing to add
            found = [m.decision_function(columns_of(X, self._bags.bag(t))) for t, m in enumerate(members)]
        return np.asarray(np.mean(found, axis=0))


@declared
class BaggingRegressor(RegressorMixin, Bagging):
    """Bagging for numbers: members on bootstrap samples, whose predictions are averaged; see `BaggingClassifier`.

    With oob_score=True, `predict_interval` gives intervals.
    """

    task: ClassVar = NUMBERS
    __sklearn_tags__ = _tags

    oob_prediction_: Floats = fitted("Out-of-bag predictions of the training rows, with oob_score.")

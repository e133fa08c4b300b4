"""Bagging behind scikit-learn's interface: of the library's own trees, or of any estimator."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import Tags, _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter

from sapwood.data_warnings import quiet
from sapwood.declaration import declared, parameter
from sapwood.errors import InputError, ParameterError, warn_user
from sapwood.estimators import shared_parameters as shared
from sapwood.estimators.foreign import check_kind, class_numbers, indexed, seeded, tags_of
from sapwood.estimators.forest import ForestEstimator
from sapwood.estimators.forest_kinds import ForestClassifier, ForestRegressor
from sapwood.estimators.given_bags import given_bags
from sapwood.estimators.tree import DecisionTree, DecisionTreeClassifier, DecisionTreeRegressor
from sapwood.estimators.tree_rows import TreeRows, unless_equal
from sapwood.forest.bags import Bag, Bags, n_drawn
from sapwood.forest.out_of_bag import OutOfBag
from sapwood.model.methods import members_model
from sapwood.model.model import Begin, Model
from sapwood.parameters import Flag, Interval
from sapwood.seed import seed_from
from sapwood.table.identifiers import warn_of_identifiers
from sapwood.table.schema import Schema
from sapwood.table.table import Table
from sapwood.table.target import ClassTarget, warn_of_column
from sapwood.threads import resolve_jobs, run_all

Floats = NDArray[np.float64]


@declared
class Bagging(ForestEstimator):
    """What classifier and regressor share. Use one of them."""

    feature_sampling: ClassVar = "tree"  # type: ignore[misc]
    oob_stop: ClassVar = False  # type: ignore[misc]
    oob_tol: ClassVar = 0.0  # type: ignore[misc]
    keep_targets: ClassVar = False  # type: ignore[misc]

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

    _members = None  # type: list[Any] | None  # of a foreign kind

    @property
    def unseen(self) -> Any:  # type: ignore[override]
        """What an unknown category does is the trees' business."""
        return getattr(self.estimator, "unseen", "missing")

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **given: Any) -> Self:
        """Fit the members, each to a sample of the rows and of the columns.

        `rows` and `features` replace the draws: for each member the rows it is fitted to, any of them many times, and
        the columns it may use. `checkpoint` is a path, or a `Checkpoint`, where growth of the library's own trees
        writes down how far it is, and goes on from.
        """
        check_kind(self, self.estimator)
        if self.estimator is None or isinstance(self.estimator, DecisionTree):
            self._members = None
            return super().fit(X, y, sample_weight, **given)
        if given.pop("checkpoint", None) is not None:
            raise ParameterError(
                f"checkpoint cannot hold estimator={self.estimator!r}, which is no tree of Sapwood. Leave it out."
            )
        return self._fit_any(X, y, sample_weight, **given)

    def default_estimator(self) -> DecisionTree:
        """The member that estimator=None stands for."""
        return self.tree_kind(n_jobs=self.n_jobs)

    def _template(self) -> DecisionTree:
        if self.estimator is None:
            return self.default_estimator()
        tree: DecisionTree = clone(self.estimator)
        tree._check_parameters()
        return tree

    def _check_sampling(self, is_given: bool) -> None:
        if self.oob_score and not self.bootstrap and not is_given:
            raise ParameterError(
                "oob_score=True needs bootstrap=True: Out of bag estimation is only available if rows are drawn with "
                "replacement. Set bootstrap=True."
            )

    def _bags_of(self, rows: TreeRows, given: Any) -> Bags:
        bags = super()._bags_of(rows, given)
        n = rows.table.n_rows
        every_column = self.max_features_ == self.n_features_in_ and not self.bootstrap_features
        size = n_drawn(self.max_samples, n)
        if not self.bootstrap and size > n:
            raise ParameterError(
                f"max_samples={self.max_samples!r} asks for {size} rows, but there are {n} to draw from without "
                "replacement. Use at most as many, or bootstrap=True."
            )
        self._bags = replace(
            bags,
            n_draws=None if not self.bootstrap and size == n else size,
            replace=self.bootstrap,
            weight=rows.weight,
            n_chosen=None if every_column else self.max_features_,
            repeat_columns=self.bootstrap_features,
        )
        return self._bags

    def _has_weights(self, rows: TreeRows) -> bool:
        return rows.weight is not None and self._bags.n_draws is None

    def _fitted_tree(self, t: int) -> DecisionTree:
        """A tree of some columns only knows of these."""
        tree = super()._fitted_tree(t)
        features = self._bags.bag(t).features
        if features is None:
            return tree
        schema = self.schema_
        tree.schema_ = Schema(tuple(schema.columns[j] for j in features), schema.named, schema.sparse_absent)
        tree.n_features_in_ = len(features)
        if schema.named:
            tree.feature_names_in_ = np.array(tree.schema_.names, dtype=object)
        grown = tree.tree_
        if not np.isin(grown.feature[grown.feature >= 0], features).all():  # a file may claim other draws
            raise InputError(f"Tree {t} splits columns that its bag does not have. Load the model from another file.")
        place = np.where(grown.feature < 0, grown.feature, np.searchsorted(features, grown.feature))
        return tree._set_tree(replace(grown, feature=place.astype(np.int32), n_levels=grown.n_levels[features]))

    def _new_model(self, **common: Any) -> Model:
        if self._members is None:
            return super()._new_model(**common)
        return members_model(self.n_outputs_, **common)

    @property
    def _begin(self) -> Begin | None:
        return None if self._members is None else self._member_scores

    # Estimators of other kinds

    def _fit_any(self, X: Any, y: Any, sample_weight: Any, rows: Any = None, features: Any = None) -> Self:
        self._check_parameters()
        self._check_sampling(rows is not None)
        warn_of_column(y)
        table = Table.from_any(X)
        warn_of_identifiers(table)
        rows_read = TreeRows.of(table, self.tree_kind()._read_target(y, table.n_rows), sample_weight)
        rows_read.refuse_overflow(self.n_estimators)
        training = replace(rows_read, weight=unless_equal(rows_read.weight), given=unless_equal(rows_read.weight))
        self._members = self._members_so_far(training)
        describer = self.tree_kind()
        describer._describe(training.table, training.target)
        self._take_description(describer)
        bags = self._bags_of(training, given_bags(rows, features, training.table))
        X = indexed(X) if training.used is None else _safe_indexing(indexed(X), training.used)
        n_members = self.n_estimators if bags.given is None else len(bags.given)
        labels = self._labels_of(training.target)
        n_jobs, first = resolve_jobs(self.n_jobs), len(self._members)
        weight = training.weights if self._has_weights(training) else np.ones(len(labels))
        tasks = [partial(self._fit_member, X, labels, weight, bags, t) for t in range(first, n_members)]
        self._members = [*self._members, *run_all(tasks, n_jobs)]
        if self.oob_score:
            self._set_out_of_bag(self._hear(X, bags, training), training)
        return self

    def _members_so_far(self, rows: TreeRows) -> list[Any]:
        members = self._members if self.warm_start and hasattr(self, "schema_") else None
        if not members:
            self._seed = seed_from(self.random_state)
            return []
        self._check_same(rows.table, rows.target)
        if len(members) > self.n_estimators:
            raise ParameterError(
                f"n_estimators={self.n_estimators} must be larger or equal to the {len(members)} members that there "
                "are when warm_start=True. Raise it, or set warm_start=False."
            )
        if len(members) == self.n_estimators:
            warn_user("Warm-start fitting without increasing n_estimators does not fit new members.")
        return members

    def _labels_of(self, target: Any) -> NDArray[Any]:
        if not isinstance(target, ClassTarget):
            values: Floats = target.values[:, 0] if target.single else target.values
            return values
        columns = [labels[target.codes[:, o]] for o, labels in enumerate(target.classes)]
        return columns[0] if target.single else np.stack(columns, axis=1)

    def _fit_member(self, X: Any, y: NDArray[Any], weight: Floats, bags: Bags, t: int) -> Any:
        bag, member = bags.bag(t), seeded(self.estimator, bags.key(t))
        own = _columns_of(X, bag)
        with quiet():
            if has_fit_parameter(member, "sample_weight"):
                drawn = np.zeros(len(y))
                drawn[bag.rows] = bag.counts
                member.fit(own, y, sample_weight=drawn * weight)
            else:
                member.fit(_safe_indexing(own, bag.drawn), _safe_indexing(y, bag.drawn))
        return member

    def _hear(self, X: Any, bags: Bags, training: TreeRows) -> OutOfBag:
        found = OutOfBag(training.target, training.given)
        assert self._members is not None
        for t, member in enumerate(self._members):
            bag = bags.bag(t)
            outside = bag.outside(bags.n_rows)
            if len(outside):
                found.add(outside, self._said(member, _safe_indexing(_columns_of(X, bag), outside)))
        return found

    def _said(self, member: Any, X: Any) -> Floats:
        """What a member says, (rows, outputs, classes or 1)."""
        raise NotImplementedError

    def _member_scores(self, X: Any) -> Floats:
        """Mean of what the members say, (outputs and classes, rows)."""
        assert self._members is not None
        X = indexed(X)
        tasks = [
            partial(self._said, member, _columns_of(X, self._bags.bag(t))) for t, member in enumerate(self._members)
        ]
        mean = np.asarray(np.mean(run_all(tasks, resolve_jobs(self.n_jobs)), axis=0))
        return mean.reshape(len(mean), -1).T

    @property
    def estimator_(self) -> Any:
        """A member that is not fitted."""
        self._check_fitted()
        return self._template() if self._members is None else clone(self.estimator, safe=False)

    @property
    def estimators_(self) -> Any:
        """The members; those of some columns only take these."""
        self._check_fitted()
        return super().estimators_ if self._members is None else self._members

    @property
    def n_members_(self) -> int:
        """Number of members."""
        self._check_fitted()
        return len(self.forest_) if self._members is None else len(self._members)

    @property
    def estimators_samples_(self) -> list[NDArray[np.int64]]:
        """For each member, the rows it was fitted to, as often as they were drawn."""
        drawn = (self._bags.bag(t).drawn for t in range(self.n_members_))
        return [own if self._rows is None else self._rows[own] for own in drawn]

    @property
    def estimators_features_(self) -> list[NDArray[np.int64]]:
        """For each member, the columns it was fitted to."""
        chosen = (self._bags.bag(t).features for t in range(self.n_members_))
        return [np.arange(self.n_features_in_) if own is None else own for own in chosen]

    def __sklearn_tags__(self) -> Tags:
        """The library's own trees take anything; other members what they take."""
        tags = super().__sklearn_tags__()
        if self.estimator is not None and not isinstance(self.estimator, DecisionTree):
            inner = tags_of(self.estimator)
            tags.input_tags.allow_nan = inner.input_tags.allow_nan
            tags.input_tags.sparse = inner.input_tags.sparse
            tags.input_tags.categorical = inner.input_tags.categorical
            tags.target_tags = inner.target_tags
            tags.classifier_tags = inner.classifier_tags or tags.classifier_tags
            tags.regressor_tags = inner.regressor_tags or tags.regressor_tags
        return tags


def _columns_of(X: Any, bag: Bag) -> Any:
    return X if bag.features is None else _safe_indexing(X, bag.features, axis=1)


def _has_decision_function(bagging: Any) -> bool:
    return hasattr(bagging.estimator, "decision_function")


@declared
class BaggingClassifier(Bagging, ForestClassifier):
    """Bagging for classes: members on bootstrap samples, whose probabilities are averaged.

    Members without predict_proba vote. Rows are drawn by the order of a hash of their contents, so the ensemble does
    not depend on their order. Weights are probabilities of the draws, and as many rows are drawn as there are: weights
    times a constant change nothing. Any estimator with `fit` and `predict` can be a member; sparse tables reach it as
    csr or csc.
    """

    tree_kind: ClassVar = DecisionTreeClassifier
    voting: ClassVar = "soft"  # type: ignore[misc]

    @quiet()
    def _said(self, member: Any, X: Any) -> Floats:
        sizes = self._sizes
        if not (hasattr(member, "predict_proba") and hasattr(member, "classes_")):
            predicted = np.asarray(member.predict(X)).reshape(-1, len(sizes))
            out = np.zeros((len(predicted), len(sizes), max(sizes)))
            for o, labels in enumerate([self.classes_] if self._single_output else self.classes_):
                out[np.arange(len(out)), o, class_numbers(labels, predicted[:, o], member)] = 1.0
            return out
        shares = member.predict_proba(X)
        parts, own = ([shares], [member.classes_]) if self._single_output else (shares, member.classes_)
        out = np.zeros((len(parts[0]), len(sizes), max(sizes)))
        for o, labels in enumerate([self.classes_] if self._single_output else self.classes_):
            out[:, o, np.searchsorted(labels, own[o])] = parts[o]
        return out

    @available_if(_has_decision_function)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """Mean of the members' decision functions."""
        self._new_rows(X)
        X = indexed(X)
        assert self._members is not None
        with quiet():  # members have nothing to add
            found = [m.decision_function(_columns_of(X, self._bags.bag(t))) for t, m in enumerate(self._members)]
        return np.asarray(np.mean(found, axis=0))


@declared
class BaggingRegressor(Bagging, ForestRegressor):
    """Bagging for numbers: members on bootstrap samples, whose predictions are averaged; see `BaggingClassifier`.

    With oob_score=True, `predict_interval` gives intervals.
    """

    tree_kind: ClassVar = DecisionTreeRegressor

    @quiet()
    def _said(self, member: Any, X: Any) -> Floats:
        predicted = np.asarray(member.predict(X), dtype=np.float64)
        return predicted.reshape(len(predicted), -1, 1)

"""AdaBoost behind scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import Tags, _safe_indexing, check_random_state
from sklearn.utils.validation import has_fit_parameter

from sapwood.adaboost.members import TreeMembers
from sapwood.adaboost.r2 import r2_step, weighted_median
from sapwood.adaboost.samme import samme_step
from sapwood.adaboost.step import OVERFLOW, Step, normalised, resampled
from sapwood.counted import counted
from sapwood.declaration import declared, fitted, parameter
from sapwood.errors import InputError, ParameterError, warn_user
from sapwood.estimators import shared_parameters as shared
from sapwood.estimators.checkpoint import Checkpoints, take_over
from sapwood.estimators.estimator import Estimator
from sapwood.estimators.foreign import check_kind, indexed, tags_of
from sapwood.estimators.learners import AnyLearner, AnyMembers, Learner, TreeLearner
from sapwood.estimators.settings import n_features_drawn
from sapwood.estimators.tree import DecisionTree, DecisionTreeClassifier, DecisionTreeRegressor
from sapwood.estimators.tree_rows import TreeRows
from sapwood.interrupts import Interrupts
from sapwood.model.methods import adaboost_model
from sapwood.model.model import Begin, Model
from sapwood.packed_tree import PackedTree
from sapwood.parameters import Flag, Interval, OneOf
from sapwood.progress_bar import ProgressBar, Shown
from sapwood.table.identifiers import warn_of_identifiers
from sapwood.table.statistics import with_statistics
from sapwood.table.table import Table
from sapwood.table.target import ClassTarget, NumberTarget, warn_of_column
from sapwood.table.text_warning import warn_of_classes

LARGEST_SEED = np.iinfo(np.int32).max
Floats = NDArray[np.float64]


@declared
class AdaBoost(Estimator):
    """What classifier and regressor share. Use one of them."""

    model_settings: ClassVar = ("_members", "schema_", "drift_warning")

    estimator: Any = parameter(shared.MEMBER, default=None, kw_only=False)
    n_estimators: int = parameter(Interval(int, low=1), default=50, doc="Maximum number of learners.")
    learning_rate: float = parameter(
        Interval(float, low=0, closed="neither"), default=1.0, doc="Factor of the weight of every learner."
    )
    random_state: Any = parameter(shared.RANDOM_STATE, default=None)
    resample: bool = parameter(
        Flag(), default=False, doc="Fit learners to rows drawn by weight instead of passing the weights to them."
    )
    verbose: int = parameter(shared.VERBOSE, default=0)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, checkpoint: Any = None) -> Self:
        """Fit learners, one after the other.

        `checkpoint` is a path, or a `Checkpoint`, where training writes down how far it is: the same call goes on from
        there after a crash, and gives the same model to the last bit. It needs trees of this library and a number as
        random_state.
        """
        self._check_parameters()
        check_kind(self, self.estimator)
        warn_of_column(y)
        own = self._own_tree()
        kinds = getattr(own, "categorical_features", "from_dtype")
        table = Table.from_any(X, categorical_features=kinds)
        warn_of_identifiers(table)
        rows = TreeRows.of(table, self._read_target(y, table.n_rows), sample_weight)
        rows.refuse_overflow(self.n_estimators)
        if rows.target.n_outputs > 1:
            raise InputError(f"y has {rows.target.n_outputs} columns, but {type(self).__name__} predicts one output.")
        self._describe(rows)
        learner = self._new_learner(own, X, rows)
        kept = None if checkpoint is None else self._checkpoints(checkpoint, learner, rows)
        if kept is not None and kept.is_finished:
            take_over(self, kept.found)
            return self
        self._members = learner.members
        self._boost(learner, rows, kept)
        if kept is not None:
            kept.finish(self)
        return self

    def _checkpoints(self, checkpoint: Any, learner: Learner, rows: TreeRows) -> Checkpoints | None:
        if not isinstance(learner, TreeLearner) or not isinstance(self.random_state, (int, np.integer)):
            raise ParameterError(
                f"checkpoint={checkpoint!r} needs trees of Sapwood and a number as random_state, so that draws can be "
                f"repeated, but estimator={self.estimator!r} and random_state={self.random_state!r}."
            )
        return Checkpoints.of(checkpoint, self, rows.digests)

    def _own_tree(self) -> DecisionTree | None:
        """The library's tree to grow, or None for a foreign estimator."""
        if self.estimator is None:
            return self.default_estimator()
        if isinstance(self.estimator, DecisionTree):
            tree: DecisionTree = clone(self.estimator)
            tree._check_parameters()
            return tree
        return None

    def _new_learner(self, own: DecisionTree | None, X: Any, rows: TreeRows) -> Learner:
        if own is not None:
            return TreeLearner(own, rows)
        if rows.used is not None:
            X = _safe_indexing(indexed(X), rows.used)
        return AnyLearner(self.estimator, X, self._labels_of(rows), self._classes_or_none(), self._draws_rows)

    @property
    def _draws_rows(self) -> bool:
        """Whether learners get rows that were drawn instead of weights."""
        return self.resample

    def _describe(self, rows: TreeRows) -> None:
        self.schema_ = schema = with_statistics(rows.table)
        self.n_features_in_ = schema.n_features
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _boost(self, learner: Learner, rows: TreeRows, kept: Checkpoints | None) -> None:
        done: list[PackedTree] = []
        if kept is not None and kept.found is not None:
            done = kept.found._members.fitted
            kept.begin(len(done))
        self.estimator_weights_ = np.zeros(self.n_estimators)
        self.estimator_errors_ = np.ones(self.n_estimators)
        self.stopped_reason_ = "all learners were fitted"
        self._seeds: list[int] = []
        draws = check_random_state(self.random_state)
        weight = rows.weights / rows.weights.sum()
        start = perf_counter()
        with Interrupts() as interrupts, ProgressBar(self.verbose) as show:
            for t in range(self.n_estimators):
                weight = normalised(weight)
                seed = int(draws.randint(LARGEST_SEED))
                self._seeds.append(seed)
                drawn = resampled(weight, draws.random_sample(len(weight))) if self._draws_rows else None
                said = learner.fit(weight, drawn, seed, done[t] if t < len(done) else None)
                step = self._step(said, rows.target, weight)
                if not self._take_up(t, step):
                    break
                errors = {"train": {"error": self.estimator_errors_[: t + 1].tolist()}}
                show(Shown(t + 1, self.n_estimators, perf_counter() - start, errors))
                if interrupts.asked is not None:
                    self.stopped_reason_ = f"{interrupts.asked} after {counted(t + 1, 'learner')}"
                    break
                if kept is not None and t + 1 < self.n_estimators:
                    kept.after(t + 1, self._so_far)
                assert step.weight is not None
                weight = step.weight

    def _so_far(self) -> Self:
        """The model in the middle of training."""
        model = copy(self)
        model._seeds = list(self._seeds)
        model.stopped_reason_ = "training goes on"
        return model

    def _take_up(self, t: int, step: Step) -> bool:
        """Note a learner's error and say; returns whether to go on."""
        if step.say is None:
            self._drop_last(step)
        else:
            self.estimator_errors_[t], self.estimator_weights_[t] = step.error, step.say
        if step.reason is not None:
            self.stopped_reason_ = step.reason
        if step.reason == OVERFLOW:
            warn_user(
                f"AdaBoost ended after {t + 1} learners: {OVERFLOW}. Use a smaller one than "
                f"learning_rate={self.learning_rate!r}."
            )
        return step.reason is None

    def _drop_last(self, step: Step) -> None:
        raise NotImplementedError

    def _step(self, said: Floats, target: Any, weight: Floats) -> Step:
        raise NotImplementedError

    def default_estimator(self) -> DecisionTree:
        """The learner that estimator=None stands for."""
        raise NotImplementedError

    def _read_target(self, y: Any, n_rows: int) -> ClassTarget | NumberTarget:
        raise NotImplementedError

    def _labels_of(self, rows: TreeRows) -> NDArray[Any]:
        raise NotImplementedError

    def _classes_or_none(self) -> NDArray[Any] | None:
        return None

    def _said(self, X: Any) -> Iterator[Floats]:
        """What each learner predicts for the rows of X."""
        table = self._new_rows(X)  # before anything else is asked of a model that may not be fitted
        return self._members.predictions(X, table)

    def _new_model(self, **common: Any) -> Model:
        own = self._members if isinstance(self._members, TreeMembers) else None
        criterion = "" if own is None else self.estimator_.criterion
        return adaboost_model(own, self.estimator_weights_[: self._n_learners], criterion, **common)

    @property
    def _begin(self) -> Begin | None:
        return None if isinstance(self._members, TreeMembers) else self._member_scores

    def _member_scores(self, X: Any) -> Floats:
        """Scores (columns, rows) by learners of other libraries."""
        raise NotImplementedError

    @property
    def _unseen_policy(self) -> Any:
        unseen = getattr(self.estimator, "unseen", "missing")
        return unseen if unseen == "error" else "missing"

    @property
    def _n_learners(self) -> int:
        return len(self._members.fitted)

    @property
    def estimator_(self) -> Any:
        """A learner that is not fitted."""
        self._check_fitted()
        own = self._own_tree()
        return clone(self.estimator, safe=False) if own is None else own

    @property
    def estimators_(self) -> list[Any]:
        """The learners."""
        self._check_fitted()
        if isinstance(self._members, AnyMembers):
            return self._members.fitted
        return [self._fitted_tree(t) for t in range(self._n_learners)]

    def __len__(self) -> int:
        """Number of learners."""
        return len(self.estimators_)

    def __getitem__(self, t: Any) -> Any:
        """Learner t."""
        return self.estimators_[t]

    def __iter__(self) -> Iterator[Any]:
        """All learners."""
        return iter(self.estimators_)

    def _fitted_tree(self, t: int) -> DecisionTree:
        own: Any = self._own_tree()
        if t < len(getattr(self, "_seeds", ())):  # older files do not know them
            own.set_params(random_state=self._seeds[t])
        for name in ("schema_", "n_features_in_", "feature_names_in_", "classes_", "n_classes_"):
            if hasattr(self, name):
                setattr(own, name, getattr(self, name))
        own.n_outputs_, own._single_output = 1, True
        own.max_features_ = n_features_drawn(own.max_features, self.n_features_in_)
        fitted: DecisionTree = own._set_tree(self._members.fitted[t].unpack())
        return fitted

    @property
    def feature_importances_(self) -> Floats:
        """Importances of the learners, averaged by their say."""
        self._check_fitted()
        say = self.estimator_weights_[: self._n_learners]
        try:
            found = [learner.feature_importances_ for learner in self.estimators_]
        except AttributeError as error:
            raise AttributeError(
                "Unable to compute feature importances since estimator does not have a feature_importances_ attribute"
            ) from error
        return np.asarray(np.average(found, axis=0, weights=say if say.any() else None))

    def __sklearn_tags__(self) -> Tags:
        """The library's own trees take anything; other learners what they take."""
        tags = super().__sklearn_tags__()
        inner = DecisionTreeClassifier() if self.estimator is None else self.estimator
        given = tags_of(inner).input_tags
        tags.input_tags.allow_nan, tags.input_tags.sparse = given.allow_nan, given.sparse
        tags.input_tags.categorical = given.categorical
        return tags


@declared
class AdaBoostClassifier(ClassifierMixin, AdaBoost):
    """AdaBoost for classes, by SAMME; with two classes it is AdaBoost.M1.

    `estimator=None` is a stump of this library, DecisionTreeClassifier(max_depth=1), whose columns are sorted once for
    all rounds. Any other estimator must take sample_weight. `stopped_reason_` tells why the last learner was the last.
    """

    classes_: NDArray[Any] = fitted("The classes, in order.")
    n_classes_: int = fitted("Number of classes.")

    def default_estimator(self) -> DecisionTree:
        """A stump."""
        return DecisionTreeClassifier(max_depth=1, n_jobs=self.n_jobs)

    def _read_target(self, y: Any, n_rows: int) -> ClassTarget:
        target = ClassTarget.from_any(y, n_rows)
        warn_of_classes(target)
        return target

    def _describe(self, rows: TreeRows) -> None:
        super()._describe(rows)
        self.classes_ = rows.target.classes[0]
        self.n_classes_ = len(self.classes_)

    def _labels_of(self, rows: TreeRows) -> NDArray[Any]:
        labels: NDArray[Any] = self.classes_[rows.target.codes[:, 0]]
        return labels

    def _classes_or_none(self) -> NDArray[Any]:
        return self.classes_

    def _step(self, said: Floats, target: Any, weight: Floats) -> Step:
        return samme_step(said != target.codes[:, 0], weight, self.n_classes_, self.learning_rate)

    def _drop_last(self, step: Step) -> None:
        self._members.fitted.pop()
        if not self._members.fitted:
            raise InputError(
                f"The first learner has a weighted error of {step.error:.3g}, which is no better than guessing: the "
                "ensemble cannot be fit. Use a stronger estimator, or check that X has to do with y."
            )

    def _member_scores(self, X: Any) -> Floats:
        *_, decision = self._decisions(self._members.predictions(X, None))
        return decision.reshape(len(decision), -1).T

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Decision function after each round."""
        return self._decisions(self._said(X))

    def _decisions(self, predictions: Iterator[Floats]) -> Iterator[Floats]:
        total, norm, n = None, 0.0, self.n_classes_
        for said, say in zip(predictions, self.estimator_weights_, strict=False):
            votes = np.where(said[:, None] == np.arange(n), say, -say / max(n - 1, 1))
            total = votes if total is None else total + votes
            norm += say
            yield self._decision(total / norm)

    def _staged(self, X: Any) -> Iterator[Floats]:
        """Scores (columns, rows) after each round."""
        return (np.ascontiguousarray(found.reshape(len(found), -1).T) for found in self.staged_decision_function(X))

    def _decision(self, mean: Floats) -> Floats:
        """scikit-learn's scale: for two classes from -2 to 2, else at most 1 for each class."""
        if self.n_classes_ == 1:
            return np.zeros((len(mean), 1))
        return np.asarray(mean[:, 1] - mean[:, 0]) if self.n_classes_ == 2 else mean

    def decision_function(self, X: Any) -> Floats:
        """What the learners say together, weighted by their say and divided by its sum."""
        scores = self._scores(X)
        if self.n_classes_ == 1:
            return np.zeros((scores.shape[1], 1))
        return scores[0] if self.n_classes_ == 2 else scores.T

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest sum of say."""
        return self.model_.predict(X, n_jobs=self.n_jobs)

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes: the softmax of the decision function / (K - 1), eq. 15 of Zhu et al."""
        found: Floats = self.model_.predict_proba(X, n_jobs=self.n_jobs)
        return found

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithm of `predict_proba`."""
        return np.log(self.predict_proba(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Classes after each round."""
        return map(self.model_.predictions, self._staged(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Probabilities after each round."""
        return map(self.model_.probabilities, self._staged(X))

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Accuracy after each round."""
        return (float(accuracy_score(y, said, sample_weight=sample_weight)) for said in self.staged_predict(X))


@declared
class AdaBoostRegressor(RegressorMixin, AdaBoost):
    """AdaBoost for numbers, by AdaBoost.R2.

    `estimator=None` is DecisionTreeRegressor(max_depth=3) of this library. With resample=True learners get the rows
    that scikit-learn draws for the same random_state; learners whose fit takes no sample_weight always get drawn rows.
    """

    loss: str = parameter(
        OneOf("linear", "square", "exponential"), default="linear", doc="Loss of a row by its absolute error."
    )

    def default_estimator(self) -> DecisionTree:
        """A tree of depth 3, as in scikit-learn."""
        return DecisionTreeRegressor(max_depth=3, n_jobs=self.n_jobs)

    @property
    def _draws_rows(self) -> bool:
        is_own = self.estimator is None or isinstance(self.estimator, DecisionTree)
        return self.resample or not (is_own or has_fit_parameter(self.estimator, "sample_weight"))

    def _read_target(self, y: Any, n_rows: int) -> NumberTarget:
        return NumberTarget.from_any(y, n_rows)

    def _labels_of(self, rows: TreeRows) -> NDArray[Any]:
        values: Floats = rows.target.values[:, 0]
        return values

    def _step(self, said: Floats, target: Any, weight: Floats) -> Step:
        return r2_step(said - target.values[:, 0], weight, self.loss, self.learning_rate)

    def _drop_last(self, step: Step) -> None:  # noqa: ARG002
        if len(self._members.fitted) > 1:  # the only learner stays, as poor as it is
            self._members.fitted.pop()

    def _member_scores(self, X: Any) -> Floats:
        return np.array(list(self._members.predictions(X, None)))

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Weighted medians after each round."""
        said: list[Floats] = []
        for one in self._said(X):
            said.append(one)
            yield weighted_median(np.array(said), self.estimator_weights_[: len(said)])

    def predict(self, X: Any) -> Floats:
        """Weighted median of what the learners say."""
        return self.model_.predict(X, n_jobs=self.n_jobs)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """R² after each round."""
        return (float(r2_score(y, said, sample_weight=sample_weight)) for said in self.staged_predict(X))

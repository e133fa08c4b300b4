"""AdaBoost behind scikit-learn's interface."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from time import perf_counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import Tags, _safe_indexing, check_random_state
from sklearn.utils.validation import has_fit_parameter

from sapwood.adaboost.r2 import r2_step, weighted_median
from sapwood.adaboost.samme import samme_step
from sapwood.adaboost.step import OVERFLOW, Step, normalised, resampled
from sapwood.counted import counted
from sapwood.declaration import declared, fitted, parameter
from sapwood.errors import InputError, InputTypeError, ParameterError, warn_user
from sapwood.estimators import shared_parameters as shared
from sapwood.estimators.boosting_rows import warn_of_column
from sapwood.estimators.checkpoint import Checkpoints, take_over
from sapwood.estimators.foreign import check_kind, indexed, no_trees, tags_of
from sapwood.estimators.identifiers import warn_of_identifiers
from sapwood.estimators.learners import AnyLearner, AnyMembers, Learner, TreeLearner, TreeMembers
from sapwood.estimators.settings import n_features_drawn
from sapwood.estimators.tree import DecisionTree, DecisionTreeClassifier, DecisionTreeRegressor
from sapwood.estimators.tree_model import OneRowProbabilities, TreeModel
from sapwood.estimators.tree_rows import TreeRows
from sapwood.grove import Grove, Member
from sapwood.interrupts import Interrupts
from sapwood.packed_tree import PackedTree
from sapwood.parameters import Flag, Interval, OneOf
from sapwood.predictor import Scorer
from sapwood.progress_bar import ProgressBar, Shown
from sapwood.table.statistics import with_statistics
from sapwood.table.table import Table
from sapwood.table.target import ClassTarget, NumberTarget
from sapwood.table.text_warning import warn_of_classes

LARGEST_SEED = np.iinfo(np.int32).max
Floats = NDArray[np.float64]


@declared
class AdaBoost(TreeModel):
    """What classifier and regressor share. Use one of them."""

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
        """What each learner says about the rows of X."""
        table = self._new_rows(X)  # before anything else is asked of a model that may not be fitted
        return self._members.said(X, table)

    def _own_members(self) -> TreeMembers:
        """The learners, if they are trees of this library."""
        self._check_fitted()
        if isinstance(self._members, TreeMembers):
            return self._members
        raise InputTypeError(no_trees(self))

    @property
    def _is_all_trees(self) -> bool:
        return isinstance(getattr(self, "_members", None), TreeMembers)

    def _scorer(self) -> Scorer:
        members = self._own_members()
        if members.scorer is None:
            members.scorer = Scorer(self._grove())
        return members.scorer

    @property
    def _answers_in_scores(self) -> bool:
        return False

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
class AdaBoostClassifier(ClassifierMixin, OneRowProbabilities, AdaBoost):
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

    def _grove(self) -> Grove:
        """Each learner says ± its say; two classes share one column, the difference of theirs."""
        members, n = self._own_members(), self.n_classes_
        say = self.estimator_weights_[: len(members.fitted)]

        def member(t: int) -> Member:
            tree = members.fitted[t].unpack()
            likely = members.values(tree.value)[:, None]
            if n == 2:
                return Member(tree, np.where(likely == 1.0, 2.0 * say[t], -2.0 * say[t]))
            return Member(tree, np.where(likely == np.arange(n), say[t], -say[t] / max(n - 1, 1)))

        return Grove(np.zeros(1 if n == 2 else n), len(say), member, float(np.cumsum(say)[-1]))

    def _score_names(self) -> list[Any]:
        labels = list(self.classes_.tolist())
        return labels[1:] if len(labels) == 2 else labels

    def _scores(self, X: Any) -> Floats:
        if self._is_all_trees:
            return super()._scores(X)
        *_, decision = self.staged_decision_function(X)
        return decision.reshape(len(decision), -1).T

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Decision function after each round."""
        total, norm = None, 0.0
        n = self.n_classes_ if hasattr(self, "n_classes_") else 0
        for said, say in zip(self._said(X), self.estimator_weights_, strict=False):
            votes = np.where(said[:, None] == np.arange(n), say, -say / max(n - 1, 1))
            total = votes if total is None else total + votes
            norm += say
            yield self._decision(total / norm)

    def _decision(self, mean: Floats) -> Floats:
        """scikit-learn's scale: for two classes from -2 to 2, else at most 1 for each class."""
        if self.n_classes_ == 1:
            return np.zeros((len(mean), 1))
        return np.asarray(mean[:, 1] - mean[:, 0]) if self.n_classes_ == 2 else mean

    def decision_function(self, X: Any) -> Floats:
        """What the learners say together, weighted by their say and divided by its sum."""
        self._check_fitted()
        return self._by_row(self._scores(X))

    def _by_row(self, scores: Floats) -> Floats:
        if self.n_classes_ == 1:
            return np.zeros((scores.shape[1], 1))
        return scores[0] if self.n_classes_ == 2 else scores.T

    def _answers(self, scores: Floats) -> NDArray[Any]:
        return self._labels(self._by_row(scores))

    def _shares(self, scores: Floats) -> Floats:
        return self._probabilities(self._by_row(scores))

    def _labels(self, decision: Floats) -> NDArray[Any]:
        if self.n_classes_ == 2:
            return np.asarray(self.classes_[(decision > 0).astype(np.int64)])
        return np.asarray(self.classes_[decision.argmax(axis=1)])

    def _probabilities(self, decision: Floats) -> Floats:
        """softmax(f / (K - 1)): eq. 15 of Zhu et al."""
        if self.n_classes_ == 2:
            return np.asarray(softmax(np.stack([-decision, decision], axis=1) / 2, axis=1))
        return np.asarray(softmax(decision / max(self.n_classes_ - 1, 1), axis=1))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest sum of say."""
        return self._labels(self.decision_function(X))

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, from the decision function."""
        return self._probabilities(self.decision_function(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithm of `predict_proba`."""
        return np.log(self.predict_proba(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Classes after each round."""
        return map(self._labels, self.staged_decision_function(X))

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Probabilities after each round."""
        return map(self._probabilities, self.staged_decision_function(X))

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

    def _grove(self) -> Grove:
        """A column for each learner: the prediction is their weighted median."""
        members = self._own_members()

        def member(t: int) -> Member:
            tree = members.fitted[t].unpack()
            return Member(tree, members.values(tree.value)[:, None], t)

        return Grove(np.zeros(len(members.fitted)), len(members.fitted), member)

    def _score_names(self) -> list[Any]:
        return [f"learner {t}" for t in range(self._n_learners)]

    def _scores(self, X: Any) -> Floats:
        return super()._scores(X) if self._is_all_trees else np.array(list(self._said(X)))

    def _median_weights(self) -> Floats:
        weights: Floats = self.estimator_weights_[: self._n_learners]
        return weights

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Weighted medians after each round."""
        said: list[Floats] = []
        for one in self._said(X):
            said.append(one)
            yield weighted_median(np.array(said), self.estimator_weights_[: len(said)])

    def predict(self, X: Any) -> Floats:
        """Weighted median of what the learners say."""
        self._check_fitted()
        return self._answers(self._scores(X))

    def _answers(self, scores: Floats) -> Floats:
        return weighted_median(scores, self.estimator_weights_[: len(scores)])

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """R² after each round."""
        return (float(r2_score(y, said, sample_weight=sample_weight)) for said in self.staged_predict(X))

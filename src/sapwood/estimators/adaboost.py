"""AdaBoost behind scikit-learn's interface.

`fit` reads the rows (`read_tree_rows`), describes them, makes a learner (`TreeLearner` for trees of this library,
`AnyLearner` for other estimators) and the step of the task (SAMME or AdaBoost.R2), trains (`adaboost.training.train`)
and keeps learners, their weights and their errors.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import has_fit_parameter

from sapwood.adaboost.members import TreeMembers
from sapwood.adaboost.r2 import r2_step, weighted_median
from sapwood.adaboost.samme import samme_step
from sapwood.adaboost.step import OVERFLOW, Step
from sapwood.adaboost.training import Learner, Training, train
from sapwood.adaboost.tree_learner import TreeLearner
from sapwood.arrays import Array, Floats
from sapwood.declaration import declared, fitted, parameter
from sapwood.errors import InputError, ParameterError, warn_user
from sapwood.estimators import shared_parameters as shared
from sapwood.estimators.checkpoint import Checkpoints, take_over
from sapwood.estimators.estimator import Estimator
from sapwood.estimators.foreign import AnyLearner, indexed, is_foreign, own_tree, take_input_tags
from sapwood.estimators.settings import class_weights, growth_options
from sapwood.estimators.tree import DecisionTree, DecisionTreeClassifier, DecisionTreeRegressor, LazyTrees, fitted_tree
from sapwood.estimators.tree_rows import CLASSES, NUMBERS, Task, TreeRows, read_tree_rows
from sapwood.growth.criteria import statistics_of
from sapwood.growth.forest_grower import ForestGrower
from sapwood.growth.rules import n_features_drawn
from sapwood.model.methods import adaboost_model
from sapwood.model.model import Model
from sapwood.parameters import Flag, Interval, OneOf
from sapwood.threads import resolve_jobs


@declared
class AdaBoost(Estimator):
    """What classifier and regressor share. Use one of them."""

    model_settings: ClassVar = ("_members", "schema_", "drift_warning")
    task: ClassVar[Task]

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

    estimator_weights_: Floats = fitted("Weight of each learner; 0 for those that were not fitted.")
    estimator_errors_: Floats = fitted("Weighted error of each learner; 1 for those that were not fitted.")
    stopped_reason_: str = fitted("Why training ended.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, checkpoint: Any = None) -> Self:
        """Fit learners, one after the other.

        `checkpoint` is a path, or a `Checkpoint`, where training saves its progress: the same call resumes from there
        after a crash, and gives the same model to the last bit. It needs trees of this library and a number as
        random_state.
        """
        tree = own_tree(self)
        rows = read_tree_rows(X, y, sample_weight, self.task, tree, weigh_classes=False, n_members=self.n_estimators)
        if rows.target.n_outputs > 1:
            raise InputError(f"y has {rows.target.n_outputs} columns, but {type(self).__name__} predicts one output.")
        self._describe(rows.table, getattr(rows.target, "classes", ()), rows.target.single)
        takes_weights = tree is not None or self.task is CLASSES or has_fit_parameter(self.estimator, "sample_weight")
        resample = self.resample or not takes_weights
        if tree is not None:
            learner: Learner = _tree_learner(tree, rows)
        else:
            learner = AnyLearner(self.estimator, indexed(X, rows.used), rows.target, resample)
        if checkpoint is not None and (tree is None or not isinstance(self.random_state, (int, np.integer))):
            raise ParameterError(
                f"checkpoint={checkpoint!r} needs trees of Sapwood and a number as random_state, so that draws can be "
                f"repeated, but estimator={self.estimator!r} and random_state={self.random_state!r}."
            )
        kept = None if checkpoint is None else Checkpoints.of(checkpoint, self, rows.digests)
        if kept is not None and kept.is_finished:
            take_over(self, kept.found)
            return self
        done = [] if kept is None or kept.found is None else kept.found._members.fitted
        draws, step = check_random_state(self.random_state), partial(self._step, rows.target)
        training = Training(learner, step, self.n_estimators, draws, resample, keeps_first=self.task is NUMBERS)
        self._members, self._seeds = learner.members, training.seeds
        self.estimator_weights_, self.estimator_errors_ = training.weights, training.errors
        if kept is not None:
            kept.begin(len(done))
            training.keep = lambda n: kept.after(n, self._so_far)
        self.stopped_reason_ = train(training, rows.weights, done, self.verbose)
        if self.stopped_reason_ == OVERFLOW:
            warn_user(
                f"AdaBoost ended after {len(self._members.fitted)} learners: {OVERFLOW}. Use a smaller one than "
                f"learning_rate={self.learning_rate!r}."
            )
        if kept is not None:
            kept.finish(self)
        return self

    def _so_far(self) -> Self:
        """The model in the middle of training."""
        model = copy(self)
        model._seeds = list(self._seeds)
        model.stopped_reason_ = "training continues"
        return model

    @abstractmethod
    def _step(self, target: Any, predicted: Floats, weight: Floats) -> Step:
        """What follows from the predictions of a learner for rows of these weights."""

    def default_estimator(self) -> DecisionTree:
        """The learner that estimator=None stands for: a stump for classes, a tree of depth 3 for numbers."""
        if self.task is CLASSES:
            return DecisionTreeClassifier(max_depth=1, n_jobs=self.n_jobs)
        return DecisionTreeRegressor(max_depth=3, n_jobs=self.n_jobs)

    def _new_model(self, **common: Any) -> Model:
        common["unseen"] = "error" if getattr(self.estimator, "unseen", "missing") == "error" else "missing"
        tree, weights = own_tree(self), self.estimator_weights_[: len(self._members.fitted)]
        if tree is not None and isinstance(self._members, TreeMembers):
            return adaboost_model(self._members, weights, tree.criterion, **common)
        return adaboost_model(None, weights, "", **common | {"begin": self._member_scores})

    @abstractmethod
    def _member_scores(self, X: Any) -> Floats:
        """Scores (columns, rows) by learners of other libraries."""

    def _predictions(self, X: Any) -> Iterator[Floats]:
        """Predictions of each learner for the rows of X."""
        return self._members.predictions(X, self.model_.new_rows(X))

    @property
    def estimator_(self) -> Any:
        """A learner that is not fitted."""
        self._check_fitted()
        return clone(self.estimator, safe=False) if is_foreign(self.estimator) else own_tree(self)

    @property
    def estimators_(self) -> Sequence[Any]:
        """The learners; trees of this library are made when they are asked for."""
        self._check_fitted()
        learners = self._members.fitted
        return LazyTrees(len(learners), self._fitted_tree) if isinstance(self._members, TreeMembers) else learners

    def _fitted_tree(self, t: int) -> DecisionTree:
        template = self.estimator_
        if t < len(getattr(self, "_seeds", ())):  # older files do not have them
            template.set_params(random_state=self._seeds[t])
        return fitted_tree(template, self, self._members.fitted[t].unpack())

    def __len__(self) -> int:
        """Number of learners."""
        return len(self.estimators_)

    def __getitem__(self, t: Any) -> Any:
        """Learner t."""
        return self.estimators_[t]

    def __iter__(self) -> Iterator[Any]:
        """All learners."""
        return iter(self.estimators_)

    @property
    def feature_importances_(self) -> Floats:
        """Mean of the importances of the learners, by their weights."""
        learners = self.estimators_
        weights = self.estimator_weights_[: len(learners)]
        try:
            found = [learner.feature_importances_ for learner in learners]
        except AttributeError as error:
            raise AttributeError(
                "Unable to compute feature importances since estimator does not have a feature_importances_ attribute"
            ) from error
        return np.asarray(np.average(found, axis=0, weights=weights if weights.any() else None))

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Accuracy or R² after each round."""
        score = accuracy_score if self.task is CLASSES else r2_score
        return (float(score(y, predicted, sample_weight=sample_weight)) for predicted in self.staged_predict(X))

    @abstractmethod
    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Predictions after each round."""

    def __sklearn_tags__(self) -> Tags:
        """The library's own trees take anything; other learners what they take."""
        tags = super().__sklearn_tags__()
        if is_foreign(self.estimator):
            take_input_tags(tags, self.estimator)
        return tags


def _tree_learner(tree: DecisionTree, rows: TreeRows) -> TreeLearner:
    """What grows trees on the rows; class weights are factors of the weights of every round."""
    table, setting = rows.table, getattr(tree, "class_weight", None)
    factor = np.ones(table.n_rows) if setting is None else class_weights(setting, rows.target, type(tree).__name__)
    statistics = statistics_of(rows.target, factor, tree.criterion)
    options = growth_options(tree, table, statistics, n_features_drawn(tree.max_features, table.n_features))
    options |= {"ccp_alpha": tree.ccp_alpha, "min_weight_share": tree.min_weight_fraction_leaf}
    n_jobs = resolve_jobs(tree.n_jobs)
    return TreeLearner(ForestGrower.of(table, statistics, max_bins=tree.max_bins, n_jobs=n_jobs, **options), table)


@declared
class AdaBoostClassifier(ClassifierMixin, AdaBoost):
    """AdaBoost for classes, by SAMME; with two classes it is AdaBoost.M1.

    `estimator=None` is a stump of this library, DecisionTreeClassifier(max_depth=1), whose columns are sorted once for
    all rounds. Any other estimator must take sample_weight. `stopped_reason_` tells why the last learner was the last.
    """

    task: ClassVar = CLASSES

    classes_: Array = fitted("The classes, in order.")
    n_classes_: int = fitted("Number of classes.")

    def _step(self, target: Any, predicted: Floats, weight: Floats) -> Step:
        return samme_step(predicted != target.codes[:, 0], weight, self.n_classes_, self.learning_rate)

    def _member_scores(self, X: Any) -> Floats:
        *_, scores = self._staged_scores(self._members.predictions(X, None))
        return scores

    def _staged_scores(self, predictions: Iterator[Floats]) -> Iterator[Floats]:
        """Scores (columns, rows) after each round, from the predictions of the learners.

        The scale is scikit-learn's: for two classes from -2 to 2, for more at most 1 for each class.
        """
        total, norm, n = None, 0.0, self.n_classes_
        for predicted, own in zip(predictions, self.estimator_weights_, strict=False):
            votes = np.where(predicted == np.arange(n)[:, None], own, -own / max(n - 1, 1))
            total = votes if total is None else total + votes
            norm += own
            mean = total / norm if n > 1 else np.zeros_like(total)
            yield mean[1:] - mean[:1] if n == 2 else mean

    def _by_row(self, scores: Floats) -> Floats:
        if self.n_classes_ == 1:
            return np.zeros((scores.shape[1], 1))
        return scores[0] if self.n_classes_ == 2 else scores.T

    def decision_function(self, X: Any) -> Floats:
        """Votes of the learners, by their weights and divided by the sum of these."""
        return self._by_row(self.model_.scores(X, n_jobs=self.n_jobs))

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """Decision function after each round."""
        return map(self._by_row, self._staged_scores(self._predictions(X)))

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Classes after each round."""
        return map(self.model_.predictions, self._staged_scores(self._predictions(X)))

    def staged_predict_proba(self, X: Any) -> Iterator[Floats]:
        """Probabilities after each round."""
        return map(self.model_.probabilities, self._staged_scores(self._predictions(X)))


@declared
class AdaBoostRegressor(RegressorMixin, AdaBoost):
    """AdaBoost for numbers, by AdaBoost.R2.

    `estimator=None` is DecisionTreeRegressor(max_depth=3) of this library. With resample=True learners get the rows
    that scikit-learn draws for the same random_state; learners whose fit takes no sample_weight always get drawn rows.
    """

    task: ClassVar = NUMBERS

    loss: str = parameter(
        OneOf("linear", "square", "exponential"), default="linear", doc="Loss of a row by its absolute error."
    )

    def _step(self, target: Any, predicted: Floats, weight: Floats) -> Step:
        return r2_step(predicted - target.values[:, 0], weight, self.loss, self.learning_rate)

    def _member_scores(self, X: Any) -> Floats:
        return np.array(list(self._members.predictions(X, None)))

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Weighted medians after each round."""
        predictions: list[Floats] = []
        for one in self._predictions(X):
            predictions.append(one)
            yield weighted_median(np.array(predictions), self.estimator_weights_[: len(predictions)])

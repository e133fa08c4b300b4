"""Friedman's gradient boosting machine, with scikit-learn's names of parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from sapwood.arrays import Array, Floats, plain
from sapwood.boosting.fitting import fit_ensemble
from sapwood.boosting.rate import learning_rate
from sapwood.boosting.stages import CURVES, Patience, Stages, stage_facts, stage_reporter
from sapwood.boosting.training import Outcome, Plan, Progress
from sapwood.cached_property import cached_property
from sapwood.declaration import declared, fitted, parameter
from sapwood.errors import ParameterError
from sapwood.estimators import shared_parameters as shared
from sapwood.estimators.boosting import Boosting, Constraints
from sapwood.estimators.boosting_rows import GivenRows, digests, read_boosting_rows
from sapwood.estimators.boosting_task import BoostingClasses, BoostingNumbers
from sapwood.estimators.checkpoint import Checkpoints, take_over
from sapwood.estimators.gradient_init import fit_init, init_scores, take_rows
from sapwood.estimators.gradient_setup import OF_TREES, gradient_loss, gradient_setup, stage_tree
from sapwood.estimators.validation_sets import hold_out
from sapwood.losses.loss import Loss
from sapwood.parameters import (
    ArrayLike,
    Beginner,
    CallableRule,
    Each,
    Flag,
    Interval,
    Nothing,
    OneOf,
    Text,
    check_parameters,
)
from sapwood.seed import seed_from
from sapwood.table.column_settings import monotone_signs, sets_that_meet
from sapwood.table.schema import Schema
from sapwood.threads import resolve_jobs

Monitor = Callable[[int, Any, dict[str, Any]], Any]
FITTED = (*CURVES, "_grown_with", "oob_score_", "init_", "_init_least", "ensemble_", "estimators_", "loss_")


@declared
class GradientBoosting(Boosting):
    """Trees fitted to negative gradients, with leaves set by the loss. Use one of the classes below it."""

    loss: str = parameter(Text(), default="squared_error", doc="The loss to minimise.")
    learning_rate: Any = parameter(
        Interval(float, low=0),
        Each((Interval(float, low=0),), "such numbers"),
        CallableRule(),
        default=0.1,
        doc="Factor of the leaf values: a number; a list with one number per stage, whose last value is reused; or a "
        "function of the stage, or of the stage and the root mean square of the gradient. learning_rates_ has the "
        "rates that were used.",
    )
    n_estimators: int = parameter(
        Interval(int, low=1), default=100, doc="Stages. Each adds a tree, or one tree for each class."
    )
    subsample: float = parameter(
        Interval(float, 0, 1, closed="right"), default=1.0, doc="Fraction of the rows drawn for each stage."
    )
    criterion: str = parameter(
        OneOf("friedman_mse", "squared_error", "deprecated"),
        default="squared_error",
        doc="Accepted for scikit-learn's sake, without effect: both names mean the squared error of the gradient.",
    )
    min_samples_split: int | float = parameter(shared.MIN_SAMPLES_SPLIT, default=2)
    min_samples_leaf: int | float = parameter(shared.MIN_SAMPLES_LEAF, default=1)
    min_weight_fraction_leaf: float = parameter(shared.MIN_WEIGHT_FRACTION_LEAF, default=0.0)
    max_depth: int | None = parameter(shared.MAX_DEPTH, default=3)
    min_impurity_decrease: float = parameter(shared.MIN_IMPURITY_DECREASE, default=0.0)
    init: Any = parameter(
        OneOf("zero"),
        Beginner(),
        Nothing(),
        default=None,
        doc='Scores to start from: None for the best constants, "zero", or an estimator, of which a clone is fitted and'
        " gets X as it was given to fit and predict. For losses of numbers above 0, predictions that are not count as "
        "a hundredth of the mean of y, and a warning says so.",
    )
    max_features: int | float | str | None = parameter(shared.MAX_FEATURES, default=None)
    verbose: bool | int = parameter(
        Flag(), Interval(int, low=0), default=0, doc="Print scikit-learn's table of stages, or more of it above 1."
    )
    max_leaf_nodes: int | None = parameter(shared.MAX_LEAF_NODES, default=None)
    warm_start: bool = parameter(shared.WARM_START, default=False)
    validation_fraction: float | None = parameter(
        Interval(float, 0, 1, closed="neither"),
        Nothing(),
        default=0.1,
        doc="Fraction of the rows to hold out for validation if n_iter_no_change is set; validation_score_ has their "
        "losses.",
    )
    n_iter_no_change: int | None = parameter(
        Interval(int, low=1),
        Nothing(),
        default=None,
        doc="Stop if the validation loss has not improved by tol for so many stages; None trains all stages.",
    )
    tol: float = parameter(Interval(float, low=0), default=1e-4, doc="Improvement that n_iter_no_change asks for.")
    ccp_alpha: float = parameter(shared.CCP_ALPHA, default=0.0)
    max_bins: int = parameter(
        Interval(int, 2, 65535),
        default=255,
        doc="Bins of a numeric column; a column with no more distinct values is split exactly. More than 256 take more "
        "time and memory. Category levels are not limited by it.",
    )
    line_search: bool = parameter(
        Flag(), default=False, doc="Multiply each tree by the step length that is best for all training rows."
    )
    monotonic_cst: Any = parameter(shared.MONOTONIC, default=None)
    interaction_cst: Any = parameter(
        OneOf("pairwise", "no_interactions"),
        ArrayLike(),
        Nothing(),
        default=None,
        doc="Columns that may occur together on a path of a tree: lists of columns, all pairs, or none.",
    )

    init_: Any = fitted("The fitted clone of init, or None.")
    learning_rates_: Floats = fitted("Learning rate of each stage.")
    n_trees_per_iteration_: int = fitted("Trees of a stage.")
    max_features_: int = fitted("Number of columns that a split may choose from.")
    train_score_: Floats = fitted("Loss of the training rows after each stage; with subsample, of those it drew.")
    oob_scores_: Floats = fitted("Loss of the rows that each stage did not draw, with subsample.")
    oob_improvement_: Floats = fitted("Decrease of that loss by each stage, with subsample.")
    oob_score_: float = fitted("The last of oob_scores_.")
    validation_score_: Floats = fitted("Loss of the validation rows after each stage, with n_iter_no_change.")

    _init_least = None  # type: float | None
    _n_rows = 0  # of a weight above zero

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, monitor: Monitor | None = None, *, checkpoint: Any = None
    ) -> Self:
        """Train.

        Args:
            X: table of rows.
            y: a number or a class for each row.
            sample_weight: weights of the rows.
            monitor: called after each stage as `monitor(i, model, facts)`, where `model` is a copy that can already
                predict (the estimator itself stays as it was until training has ended) and `facts` has scikit-learn's
                names (`y`, `raw_predictions`, `sample_mask`, …); True stops training.
            checkpoint: a path, or a `Checkpoint`, where training saves its state. After a crash, the same call resumes
                from there and gives the same model, bit for bit.
        """
        check_parameters(type(self).__name__, {"monitor": (CallableRule(), Nothing())}, {"monitor": monitor})
        start = self if self.warm_start and "ensemble_" in self.__dict__ else None
        if start is None:
            for name in FITTED:
                self.__dict__.pop(name, None)
            self._seed = seed_from(self.random_state)
        rows, task = read_boosting_rows(self, GivenRows(X, y, sample_weight), start)
        loss = self._loss(rows, task)
        if start is not None:
            self._check_continued(start, loss)
        self._describe(rows.table, () if task.classes is None else [task.classes])
        if task.factors is not None:
            self._factors = task.factors
        kept = None if checkpoint is None else Checkpoints.of(checkpoint, self, lambda: digests([rows], start))
        if kept is not None and kept.is_finished:
            take_over(self, kept.found)
            return self
        found = None if kept is None else kept.found
        self._seed = self._seed if found is None else found._seed
        settings = {name: plain(getattr(self, name)) for name in OF_TREES}
        first = 0 if start is None else start.ensemble_.n_rounds
        self._grown_with = [*self.__dict__.get("_grown_with", ()), {"first": first} | settings]
        held_out = None
        if self.n_iter_no_change is not None and self.validation_fraction is not None:
            classes = None if task.classes is None else rows.y
            held_out = hold_out(len(rows.y), self.validation_fraction, classes, None, self._seed)
        if start is None:
            base, offset = fit_init(self, X, rows, held_out, loss)
        else:
            base = np.zeros(loss.n_scores)
            offset = self._begin_scores(take_rows(X, rows.index)) if self._has_init else None
        if kept is not None and offset is not None:
            raise ParameterError(
                f"checkpoint={checkpoint!r} cannot hold init={self.init!r}, an estimator of another library. "
                "Use init=None."
            )
        rows = replace(rows, offset=offset)
        stages = Stages.after(found or start, rows, held_out, self.subsample)
        setup = replace(self._setup(rows, loss, start, held_out), base=base)
        setup = replace(setup, plan=self._plan_of_stages(setup.plan, stages, monitor, found is not None))
        if kept is not None:
            setup = self._resumed(setup, kept, partial(self._stages_so_far, stages))
        outcome = fit_ensemble(rows, [], setup)
        self._keep(outcome, loss if stages.loss is None else stages.loss, stages)
        if kept is not None:
            kept.finish(self)
        return self

    def _check_continued(self, start: Any, loss: Loss) -> None:
        if start.loss_.name != loss.name:
            raise ParameterError(
                f"loss={self.loss!r} cannot continue a model of the loss {start.loss_.name!r}. "
                "Use the same loss, or set warm_start=False."
            )
        done = start.ensemble_.n_rounds
        if self.n_estimators < done:
            raise ParameterError(
                f"n_estimators={self.n_estimators} is less than the {done} stages the model has, and warm_start=True "
                f"keeps them. Use n_estimators={done} or more, or set warm_start=False."
            )

    _loss = gradient_loss
    _setup = gradient_setup

    def _constraints(self, schema: Schema) -> Constraints:
        return monotone_signs(self.monotonic_cst, schema, "monotonic_cst"), sets_that_meet(self.interaction_cst, schema)

    def _plan_of_stages(self, plan: Plan, stages: Stages, monitor: Monitor | None, resumes: bool) -> Plan:
        """A plan that measures every stage, reports it, and asks whether to continue."""
        callbacks: list[Any] = [stages]
        if self.verbose:
            callbacks.append(stage_reporter(stages, int(self.verbose), self.subsample < 1.0))
        if monitor is not None:
            callbacks.append(partial(self._ask, monitor, stages))
        if stages.held_out is not None and self.n_iter_no_change is not None:
            known = stages.validation if resumes else ()
            callbacks.append(Patience(stages, int(self.n_iter_no_change), self.tol, known))
        return replace(plan, rate=stages.noting(plan.rate), callbacks=[*callbacks, *plan.callbacks])

    def _ask(self, monitor: Monitor, stages: Stages, progress: Progress) -> bool:
        """Call the user's monitor with the model so far."""
        self._keep(progress.outcome("training goes on"), progress.rounds.loss, stages)
        stops = bool(monitor(progress.round - 1, self, {"self": self, **stage_facts(progress)}))
        if stops:
            stages.reason = "the monitor asked to stop"
        return stops

    def _stages_so_far(self, stages: Stages, progress: Progress) -> Self:
        model = copy(self)
        model._keep(progress.outcome("training goes on"), progress.rounds.loss, stages)
        return model

    def _keep(self, outcome: Outcome, loss: Loss, stages: Stages | None = None) -> None:
        super()._keep(outcome, loss)
        self.n_trees_per_iteration_ = outcome.ensemble.n_scores
        self.__dict__.pop("estimators_", None)
        if stages is None:  # trained by cross-validation
            rate = learning_rate(1.0 if callable(self.learning_rate) else self.learning_rate)
            self.learning_rates_ = np.array([rate(stage, lambda: np.nan) for stage in range(outcome.ensemble.n_rounds)])
            return
        self.__dict__.update(stages.curves())
        if self.subsample < 1.0 and stages.oob:
            self.oob_score_ = stages.oob[-1]
        self.evals_result_ = {"train": {"loss": list(stages.train)}}
        if stages.validation:
            self.evals_result_["validation"] = {"loss": list(stages.validation)}
        self.stopped_reason_ = stages.reason or outcome.stopped_reason

    def _begin_scores(self, X: Any) -> Floats:
        return init_scores(self.init_, X, self.loss_, self.__dict__.get("n_classes_"), self._init_least)

    @cached_property
    def estimators_(self) -> Array:
        """Trees as estimators of their own, (stages, scores); like scikit-learn's, before the learning rate."""
        self._check_fitted()
        found = np.empty((self.ensemble_.n_rounds, self.ensemble_.n_scores), dtype=object)
        for stage, trees in enumerate(self.ensemble_.rounds):
            for k, tree in enumerate(trees):
                found[stage, k] = stage_tree(self, tree, float(self.learning_rates_[stage]), stage)
        return found


@declared
class GradientBoostingClassifier(ClassifierMixin, GradientBoosting):
    """Gradient boosting for classes, with scikit-learn's parameters and more.

    Each stage fits a tree to the negative gradient by least squares, then sets its leaves by Newton's step of the loss.
    """

    task: ClassVar = BoostingClasses
    second_of_equals: ClassVar = True

    loss: str = parameter(
        OneOf("log_loss", "exponential"),
        default="log_loss",
        doc='"log_loss" is the binomial deviance of two classes and the multinomial deviance of more, with a tree for '
        'each class in a stage. "exponential" is AdaBoost\'s loss, for two classes.',
    )
    init: Any = parameter(
        OneOf("zero"),
        Beginner(("fit", "predict_proba")),
        Nothing(),
        default=None,
        doc='Scores to start from: None for the best constants, "zero", or an estimator, of which a clone is fitted and'
        " gets X as it was given to fit and predict.",
    )
    class_weight: Any = parameter(shared.CLASS_WEIGHT, default=None)
    undo_class_weight: bool = parameter(shared.UNDO_CLASS_WEIGHT, default=True)

    classes_: Array = fitted("The classes, in order.")
    n_classes_: int = fitted("Number of classes.")

    def staged_decision_function(self, X: Any, *, n_rounds: int | None = None) -> Iterator[Floats]:
        """Scores (rows, 1) of two classes, (rows, classes) of more, after each stage."""
        return (score.T for score in self._staged(X, n_rounds))

    def apply(self, X: Any, *, n_rounds: int | None = None) -> Array:
        """Leaf of every row in every tree, (rows, stages, classes); of two classes there is one tree in a stage."""
        return self.ensemble_.leaves(self.model_.new_rows(X), self._n_rounds(n_rounds), resolve_jobs(self.n_jobs))


@declared
class GradientBoostingRegressor(RegressorMixin, GradientBoosting):
    """Gradient boosting for numbers, with scikit-learn's parameters and more.

    Each stage fits a tree to the negative gradient by least squares, then sets its leaves by the loss: means, medians,
    quantiles, Huber's step from the median, or Newton's step.
    """

    task: ClassVar = BoostingNumbers

    loss: str = parameter(
        OneOf("squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"),
        default="squared_error",
        doc="The loss to minimise. The last three have a logarithmic link: predictions are above 0.",
    )
    alpha: float = parameter(
        Interval(float, 0, 1, closed="neither"),
        default=0.9,
        doc='The quantile of loss="quantile", or of the absolute residuals beyond which loss="huber" is linear.',
    )
    tweedie_variance_power: float = parameter(shared.TWEEDIE_POWER, default=1.5)

"""Friedman's gradient boosting machine: what its classifier and its regressor share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from sapwood.boosting.columns import ColumnOptions
from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.fitting import Rows, Setup, fit_ensemble
from sapwood.boosting.options import NO_LIMIT, TreeOptions
from sapwood.boosting.rate import learning_rate
from sapwood.boosting.rounds import RoundOptions
from sapwood.boosting.stages import Patience, Stages, stage_facts, stage_reporter
from sapwood.boosting.training import Callback, Outcome, Plan, Progress
from sapwood.cached_property import cached_property
from sapwood.data_warnings import quiet
from sapwood.declaration import declared, fitted
from sapwood.errors import ParameterError
from sapwood.estimators import gradient_init as beginning
from sapwood.estimators.boosting_rows import digests, hold_out
from sapwood.estimators.boosting_settings import bins_of
from sapwood.estimators.checkpoint import Checkpoints, take_over
from sapwood.estimators.constraints import monotone_signs
from sapwood.estimators.gradient_parameters import GradientParameters
from sapwood.estimators.gradient_parts import sets_that_meet, stage_tree, tree_settings
from sapwood.estimators.settings import n_features_drawn, rows_at_least
from sapwood.losses.loss import Loss
from sapwood.model.model import Begin
from sapwood.parameters import CallableRule, Nothing, check_parameters
from sapwood.seed import seed_from
from sapwood.table.schema import Schema
from sapwood.threads import resolve_jobs

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Monitor = Callable[[int, Any, dict[str, Any]], Any]

CURVES = ("train_score_", "oob_scores_", "oob_improvement_", "validation_score_", "learning_rates_")
DEFAULT_METRICS = {
    "squared_error": "rmse",
    "absolute_error": "mae",
    "huber": "mae",
    "logistic": "logloss",
    "multinomial": "mlogloss",
}


@declared
class GradientBoosting(GradientParameters):
    """Trees fitted to negative gradients, with leaves set by the loss. Use one of the classes below it."""

    # What other boosting estimators are told by parameters
    early_stopping_rounds = None
    eval_metric = None
    base_score = None

    init_: Any = fitted("The fitted clone of init, or None.")
    _init_least = None  # type: float | None  # what predictions of an estimator `init_` count as that are not above 0
    learning_rates_: Floats = fitted("Learning rate of each stage.")

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
            checkpoint: a path, or a `Checkpoint`, where training writes down how far it is. The same call goes on from
                there after a crash, and gives the same model to the last bit.
        """
        self._fit_stages(X, y, sample_weight, monitor, checkpoint)
        return self

    def _fit_stages(self, X: Any, y: Any, sample_weight: Any, monitor: Monitor | None, checkpoint: Any) -> None:
        self._check_parameters()
        check_parameters(type(self).__name__, {"monitor": (CallableRule(), Nothing())}, {"monitor": monitor})
        start = self if self.warm_start and hasattr(self, "ensemble_") else None
        if start is None:
            self._forget()
            self._seed = seed_from(self.random_state)
        rows = self._training_rows(X, y, sample_weight, None, start)
        loss = self._make_loss(rows)
        loss.check_target(rows.y)
        self._check_continued(start, loss)
        self._describe(rows.table)
        kept = Checkpoints.of(checkpoint, self, lambda: digests([rows], start))
        if kept is not None and kept.is_finished:
            take_over(self, kept.found)
            return
        done = 0 if start is None else start.ensemble_.n_rounds
        self._grown_with = [*(getattr(self, "_grown_with", ()) if done else ()), tree_settings(self, done)]
        found = None if kept is None else kept.found
        self._seed = self._seed if found is None else found._seed
        held_out = self._held_out(rows)
        base, offset = self._first_scores(X, rows, held_out, loss, start)
        if kept is not None and offset is not None:
            raise ParameterError(
                f"checkpoint={checkpoint!r} cannot hold init={self.init!r}, which is no tree of Sapwood. Use init=None."
            )
        rows = replace(rows, offset=offset)
        stages = self._stages(rows, held_out, found or start)
        if found is not None:
            stages.loss = found.loss_
        setup = self._setup(rows, loss, start, True)
        plan = self._watched(setup.plan, stages, monitor, found is not None)
        setup = replace(setup, metrics=(), base=base, held_out=held_out, plan=plan)
        outcome = fit_ensemble(rows, [], self._resumed(setup, kept, partial(self._stages_so_far, stages)))
        self._keep(outcome, self.loss_ if stages.loss is None else stages.loss)
        self._keep_stages(stages)
        self.stopped_reason_ = stages.reason or outcome.stopped_reason
        if kept is not None:
            kept.finish(self)

    def _stages_so_far(self, stages: Stages, progress: Progress) -> Self:
        model = self._so_far(progress)
        model._keep_stages(stages)
        return model

    def _forget(self) -> None:
        names = (*CURVES, "_grown_with", "oob_score_", "init_", "_init_least", "ensemble_", "estimators_", "loss_")
        for name in names:
            self.__dict__.pop(name, None)

    def _check_continued(self, start: Any, loss: Loss) -> None:
        if start is None:
            self.loss_ = loss
            return
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

    def _held_out(self, rows: Rows) -> Numbers | None:
        """Rows that only watch."""
        if self.n_iter_no_change is None or self.validation_fraction is None:
            return None
        classes = rows.y if is_classifier(self) else None
        return hold_out(len(rows.y), self.validation_fraction, classes, None, self._seed)

    def _first_scores(
        self, X: Any, rows: Rows, held_out: Numbers | None, loss: Loss, start: Any
    ) -> tuple[Floats | None, Floats | None]:
        """The constants and the rows' own scores that the first stage starts from; sets `init_` unless there is one."""
        given = beginning.take_rows(X, rows.index) if self._init_is_estimator(start) else None
        if start is None:
            own = None if held_out is None else np.setdiff1d(np.arange(len(rows.y)), held_out)
            of = slice(None) if own is None else own
            y, weight = rows.y[of], None if rows.weight is None else rows.weight[of]
            is_class, self._has_init = is_classifier(self), given is not None
            if given is not None:
                with quiet():
                    self.init_ = beginning.fit_init(self.init, beginning.take_rows(given, own), y, weight, is_class)
                self._init_least = beginning.least_start(self.init_, given, loss, y, weight)
            elif self.init is None:
                base = beginning.constant_start(loss, y, weight)
                self.init_ = beginning.constant_estimator(loss, base, y, weight, is_class)
                return base, None
            else:
                self.init_ = self.init
        offset = None if given is None else self._init_scores(given, loss)
        return np.zeros(loss.n_scores), offset

    def _init_is_estimator(self, start: Any) -> bool:
        return hasattr(self.init, "fit") if start is None else self._has_init

    def _init_scores(self, X: Any, loss: Loss) -> Floats:
        return beginning.init_scores(self.init_, X, loss, getattr(self, "n_classes_", None), self._init_least)

    def _stages(self, rows: Rows, held_out: Numbers | None, start: Any) -> Stages:
        """The curves so far; stages of which something was not measured have 0 there."""
        stages = Stages(rows, held_out)
        if start is None:
            return stages
        before = np.zeros(start.ensemble_.n_rounds)
        measures = dict.fromkeys(CURVES, True)
        measures |= dict.fromkeys(("oob_scores_", "oob_improvement_"), self.subsample < 1.0)
        measures["validation_score_"] = held_out is not None
        curves = [list(getattr(start, name, before if measures[name] else ())) for name in CURVES]
        stages.train, stages.oob, stages.improvement, stages.validation, stages.rates = curves
        stages.knows_oob = bool(stages.oob and stages.oob[-1] != 0.0)
        return stages

    def _setup(self, rows: Rows, loss: Loss, start: Any, watched: bool) -> Setup:
        if self._init_is_estimator(start) and rows.offset is None:
            raise ParameterError(
                f"init={type(self.init).__name__} is an estimator, which only `fit` can start from. Use init=None."
            )
        self._n_rows = len(rows.y) if rows.weight is None else int(np.count_nonzero(rows.weight))
        return super()._setup(rows, loss, start, watched)

    def _base(self, loss: Loss) -> Floats | None:
        return None if self.init is None else np.zeros(loss.n_scores)

    def _max_bins(self) -> int:
        return bins_of(self.max_bins)

    def _default_metric(self, loss: Loss) -> str:
        return DEFAULT_METRICS.get(loss.name, "loss")

    def _plan(self) -> Plan:
        done = self.ensemble_.n_rounds if hasattr(self, "ensemble_") else 0
        rate, callbacks = learning_rate(self.learning_rate), list(() if self.callbacks is None else self.callbacks)
        return Plan(int(self.n_estimators) - done, rate, None, self.max_seconds, callbacks)

    def _round_options(self, schema: Schema, seed: int) -> RoundOptions:
        self.max_features_ = n_features_drawn(self.max_features, schema.n_features)
        least = rows_at_least(self.min_samples_leaf, self._n_rows, 1)
        tree = TreeOptions(
            max_depth=int(self.max_depth or 0),
            max_leaves=int(self.max_leaf_nodes or 0),
            leaf_wise=self.max_leaf_nodes is not None,
            reg_lambda=0.0,
            min_child_weight=0.0,
            min_child_rows=least,
            min_split_rows=max(rows_at_least(self.min_samples_split, self._n_rows, 2), 2 * least),
            min_child_share=self.min_weight_fraction_leaf,
            min_decrease=self.min_impurity_decrease,
            ccp_alpha=self.ccp_alpha,
            max_cat_to_onehot=1,  # levels in order of their mean gradients: the best subset is among them
            max_cat_threshold=NO_LIMIT,
            signs=self._signs(schema),
        )
        together = sets_that_meet(self.interaction_cst, schema)
        by_node = self.max_features_ / schema.n_features
        return RoundOptions(
            tree,
            ColumnOptions(schema.n_features, by_node=by_node, together=together),
            self.subsample,
            counted=True,
            line_search=bool(self.line_search),
            unit_hessian=True,
            seed=seed,
            n_jobs=resolve_jobs(self.n_jobs),
        )

    def _signs(self, schema: Schema) -> NDArray[np.int8] | None:
        return monotone_signs(self.monotonic_cst, schema, "monotonic_cst")

    def _watched(self, plan: Plan, stages: Stages, monitor: Monitor | None, goes_on: bool) -> Plan:
        """A plan that measures every stage, reports it, and asks whether to go on."""

        def rate(stage: int, norm: Callable[[], float]) -> float:
            stages.rates.append(plan.rate(stage, norm))
            return stages.rates[-1]

        callbacks: list[Callback] = [stages]
        if self.verbose:
            callbacks.append(stage_reporter(stages, int(self.verbose), self.subsample < 1.0))
        if monitor is not None:
            callbacks.append(self._ask(monitor, stages))
        if stages.held_out is not None and self.n_iter_no_change is not None:
            known = stages.validation if goes_on else ()
            callbacks.append(Patience(stages, int(self.n_iter_no_change), self.tol, known))
        return replace(plan, rate=rate, callbacks=[*callbacks, *plan.callbacks])

    def _ask(self, monitor: Monitor, stages: Stages) -> Callback:
        def ask(progress: Progress) -> bool:
            self._show(progress.ensemble, progress.rounds.loss)
            self._keep_stages(stages)
            wants_end = bool(monitor(progress.round - 1, self, {"self": self, **stage_facts(progress)}))
            if wants_end:
                stages.reason = "the monitor asked to stop"
            return wants_end

        return ask

    def _show(self, ensemble: Ensemble, loss: Loss) -> None:
        """Be the model so far."""
        self.ensemble_, self.loss_, self._best = ensemble, loss, None
        self.n_estimators_ = self.n_iter_ = ensemble.n_rounds
        self.n_trees_per_iteration_ = ensemble.n_scores
        self.__dict__.pop("estimators_", None)

    def _keep(self, outcome: Outcome, loss: Loss) -> None:
        super()._keep(outcome, loss)
        self._show(outcome.ensemble, loss)
        if not hasattr(self, "learning_rates_"):  # training was not in the hands of `fit`
            rate = learning_rate(1.0 if callable(self.learning_rate) else self.learning_rate)
            self.learning_rates_ = np.array([rate(stage, lambda: np.nan) for stage in range(outcome.ensemble.n_rounds)])

    def _keep_stages(self, stages: Stages) -> None:
        done = len(stages.train)
        measured = (stages.train, stages.oob, stages.improvement, stages.validation, stages.rates)
        for name, curve in zip(CURVES, measured, strict=True):
            if curve:
                setattr(self, name, np.array([*curve, *[0.0] * (done - len(curve))]))
        if self.subsample < 1.0 and stages.oob:
            self.oob_score_ = stages.oob[-1]
        curves = {"train": {"loss": list(stages.train)}}
        if stages.validation:
            curves["validation"] = {"loss": list(stages.validation)}
        self.evals_result_ = curves

    @property
    def _begin(self) -> Begin | None:
        return self._rows_begin if getattr(self, "_has_init", False) else None

    def _rows_begin(self, X: Any) -> Floats:
        return self._init_scores(X, self.loss_)

    @cached_property
    def estimators_(self) -> NDArray[Any]:
        """Trees as estimators of their own, (stages, scores); like scikit-learn's, before the learning rate."""
        self._check_fitted()
        found = np.empty((self.ensemble_.n_rounds, self.ensemble_.n_scores), dtype=object)
        for stage, trees in enumerate(self.ensemble_.rounds):
            for k, tree in enumerate(trees):
                found[stage, k] = stage_tree(self, tree, float(self.learning_rates_[stage]), stage)
        return found

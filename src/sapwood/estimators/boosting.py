"""Boosting: what all boosting estimators share, from rows to an ensemble, and from an ensemble to predictions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from sapwood.arrays import Array, Floats, Ints
from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.fitting import Rows, Setup
from sapwood.boosting.training import Outcome, Progress
from sapwood.declaration import declared, fitted, parameter
from sapwood.errors import ParameterError
from sapwood.estimators import shared_parameters as shared
from sapwood.estimators.boosting_task import BoostingTask
from sapwood.estimators.checkpoint import Checkpoints
from sapwood.estimators.estimator import Estimator
from sapwood.estimators.methods_by_task import of_classifiers
from sapwood.losses.loss import Loss
from sapwood.model.methods import boosting_model
from sapwood.model.model import Model
from sapwood.parameters import Interval, Nothing, check_parameters
from sapwood.table.column_settings import interaction_sets, monotone_signs
from sapwood.table.schema import Schema
from sapwood.threads import resolve_jobs

if TYPE_CHECKING:
    from sapwood.explain.certificate import Certificate

Constraints = tuple[Array | None, tuple[frozenset[int], ...] | None]


@declared
class Boosting(Estimator):
    """Boosted trees. Use one of the classes below it."""

    model_settings: ClassVar = ("ensemble_", "schema_", "unseen", "drift_warning", "undo_class_weight")
    task: ClassVar[type[BoostingTask]]
    weight_name: ClassVar[str] = "sample_weight"
    second_of_equals: ClassVar[bool] = False
    """Whether a score of zero means the second of two classes, as in scikit-learn."""

    categorical_features: Any = parameter(shared.CATEGORICAL_FEATURES, default="from_dtype")
    unseen: Literal["missing", "error"] = parameter(shared.UNSEEN, default="missing")
    callbacks: Any = parameter(shared.CALLBACKS, default=None)
    max_seconds: float | None = parameter(shared.MAX_SECONDS, default=None)
    random_state: Any = parameter(shared.RANDOM_STATE, default=None)
    n_jobs: int | None = -1

    ensemble_: Ensemble = fitted("The trees of all rounds, and the scores they start from.")
    loss_: Loss = fitted("The loss that was minimised.")
    evals_result_: dict[str, dict[str, list[float]]] = fitted("Metrics of the validation sets; see evals_result().")
    n_estimators_: int = fitted("Number of rounds that were trained.")
    n_iter_: int = fitted("The same number, by the name that scikit-learn has for it.")
    best_iteration_: int = fitted("The round, counted from 0, of the best metric, if there was a validation set.")
    best_score_: float = fitted("The metric in that round.")
    stopped_reason_: str = fitted("Why training ended.")

    _has_init = False  # an estimator of another library that training started from

    @abstractmethod
    def _loss(self, rows: Rows, task: BoostingTask) -> Loss:
        """The loss that the parameters ask for."""

    @abstractmethod
    def _setup(self, rows: Rows, loss: Loss, start: Any = None, held_out: Ints | None = None) -> Setup:
        """Everything that decides how the ensemble is trained, but metrics."""

    def _begin_scores(self, X: Any) -> Floats:
        """Scores that an estimator `init_` gives to rows before the first stage."""
        raise NotImplementedError

    @abstractmethod
    def _constraints(self, schema: Schema) -> Constraints:
        """Signs of columns, and sets of columns that may occur together on a path."""

    def _resumed(self, setup: Setup, kept: Checkpoints, so_far: Callable[[Progress], Any]) -> Setup:
        """Continue from what a checkpoint holds, and write further ones."""

        def keep(progress: Progress) -> None:
            scores = None if setup.statistics is None else progress.rounds.score
            kept.after(progress.round, lambda: so_far(progress), scores)

        done, curves = (None, {}) if kept.found is None else (kept.found.ensemble_, kept.found.evals_result_)
        scores = None if setup.statistics is None or kept.found is None else kept.scores_of_rows()
        before = setup.start if done is None else done
        kept.begin(0 if before is None else before.n_rounds)
        plan = replace(setup.plan, keep=keep)
        return replace(setup, done=done, done_curves=curves, done_scores=scores, plan=plan)

    def _so_far(self, progress: Progress) -> Self:
        """The model as it is in the middle of training."""
        model = copy(self)
        model._keep(progress.outcome("training goes on"), progress.rounds.loss)
        return model

    def _keep(self, outcome: Outcome, loss: Loss) -> None:
        """Set the fitted attributes that tell of training."""
        self.ensemble_, self.loss_ = outcome.ensemble, loss
        self.evals_result_ = outcome.history.curves
        self.stopped_reason_ = outcome.stopped_reason
        self.n_estimators_ = self.n_iter_ = outcome.ensemble.n_rounds
        self._best: int | None = None
        for name in ("best_iteration_", "best_score_"):
            self.__dict__.pop(name, None)
        curve = outcome.history.deciding
        if outcome.best_round is not None and curve is not None:
            self.best_iteration_ = outcome.best_round
            self.best_score_ = curve[outcome.best_round - (outcome.ensemble.n_rounds - len(curve))]
            if getattr(self, "early_stopping_rounds", None) is not None:
                self._best = outcome.best_round + 1

    def _new_model(self, **common: Any) -> Model:
        n_rounds = self.ensemble_.n_rounds if self._best is None else self._best
        factors = self._factors if common["classes"] and self.undo_class_weight else None
        if self._has_init:
            common["begin"] = self._begin_scores
        return boosting_model(self.ensemble_, n_rounds, self.loss_, factors, self.second_of_equals, **common)

    # What is known of the training

    def evals_result(self) -> dict[str, dict[str, list[float]]]:
        """Metrics after every round: `result[rows][metric][round]`.

        Rows are "validation_0", "validation_1", … for the pairs of `eval_set`, its names if it is a mapping, or
        "validation" for those that `validation_fraction` holds out.
        """
        self._check_fitted()
        return self.evals_result_

    @property
    def best_iteration(self) -> int:
        """The best round, counted from 0; XGBoost's name of `best_iteration_`."""
        return self.best_iteration_

    @property
    def best_score(self) -> float:
        """The deciding metric in the best round; XGBoost's name of `best_score_`."""
        return self.best_score_

    @property
    def best_n_rounds_(self) -> int:
        """Rounds that prediction uses: up to the best one if early stopping watched for it, else all."""
        self._check_fitted()
        return self.ensemble_.n_rounds if self._best is None else self._best

    @property
    def feature_importances_(self) -> Floats:
        """Share of each column in the total gain of all splits, in the rounds that prediction uses."""
        self._check_fitted()
        gains = self.ensemble_.gains(self.n_features_in_, self.best_n_rounds_)
        total = gains.sum()
        return gains / total if total > 0 else gains

    def certify(self, *, monotone_constraints: Any = None, interaction_constraints: Any = None) -> Certificate:
        """Prove that every tree keeps the constraints, or find rows that show that the model does not.

        Args:
            monotone_constraints: constraints to check; by default those the model was trained with.
            interaction_constraints: likewise. If either one is given, nothing else is checked.
        """
        from sapwood.explain.certificate import certify  # models need no proofs until they are asked for one

        if self.model_.begin is not None:
            raise ParameterError("certify() cannot analyse a model with a custom init. Use init=None.")
        if monotone_constraints is None and interaction_constraints is None:
            signs, together = self._constraints(self.schema_)
        else:
            signs = monotone_signs(monotone_constraints, self.schema_)
            together = interaction_sets(interaction_constraints, self.schema_)
        return certify(self.model_, signs, together)

    # Prediction

    def predict(self, X: Any, *, output_margin: bool = False, n_rounds: int | None = None) -> Array:
        """Predictions: numbers, the most probable classes, or scores of a ranking, of which larger ones come first.

        Several quantiles are (rows, quantiles), several targets (rows, targets). Of classes of equal score the first
        one is predicted, and weights of classes count.

        Args:
            X: table of rows.
            output_margin: return the scores, before the response (such as the exponential of Poisson's loss).
            n_rounds: use the first rounds only; by default the best ones, see `best_n_rounds_`.
        """
        if n_rounds is None and not output_margin:
            return self.model_.predict(X, n_jobs=self.n_jobs)
        scores = self._scores(X, n_rounds)
        return _by_row(scores) if output_margin else self.model_.predictions(scores)

    def staged_predict(self, X: Any, *, n_rounds: int | None = None) -> Iterator[Array]:
        """Predictions after each round; the last ones are those of `predict`."""
        return map(self.model_.predictions, self._staged(X, n_rounds))

    @of_classifiers
    def predict_proba(self, X: Any, *, n_rounds: int | None = None) -> Floats:
        """Probability of every class (rows, classes); `n_rounds` as in `predict`."""
        found: Floats = self.model_.probabilities(self._scores(X, n_rounds))
        return found

    @of_classifiers
    def predict_log_proba(self, X: Any, *, n_rounds: int | None = None) -> Floats:
        """Logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, n_rounds=n_rounds))

    @of_classifiers
    def staged_predict_proba(self, X: Any, *, n_rounds: int | None = None) -> Iterator[Floats]:
        """Probabilities after each round; the last ones are those of `predict_proba`."""
        return map(self.model_.probabilities, self._staged(X, n_rounds))

    @of_classifiers
    def decision_function(self, X: Any, *, n_rounds: int | None = None) -> Floats:
        """Scores: of the second class (rows,), or of all classes (rows, classes)."""
        return _by_row(self._scores(X, n_rounds))

    @of_classifiers
    def staged_decision_function(self, X: Any, *, n_rounds: int | None = None) -> Iterator[Floats]:
        """Scores after each round; the last ones are those of `decision_function`."""
        return map(_by_row, self._staged(X, n_rounds))

    def apply(self, X: Any, *, n_rounds: int | None = None) -> Array:
        """Leaf of every row in every tree, (rows, rounds), or (rows, rounds, scores) if each score has its own."""
        table = self.model_.new_rows(X)
        leaves = self.ensemble_.leaves(table, self._n_rounds(n_rounds), resolve_jobs(self.n_jobs))
        return leaves[:, :, 0] if self.ensemble_.round_size == 1 else leaves

    def _n_rounds(self, n_rounds: int | None) -> int:
        """Rounds to use, from what the user asked for."""
        rules = {"n_rounds": (Interval(int, 1, self.ensemble_.n_rounds), Nothing())}
        check_parameters(f"this {type(self).__name__}", rules, {"n_rounds": n_rounds})
        return self.best_n_rounds_ if n_rounds is None else int(n_rounds)

    def _scores(self, X: Any, n_rounds: int | None = None) -> Floats:
        """Scores (n_scores, rows) of the best rounds, or of the first `n_rounds`."""
        model = self.model_
        if n_rounds is None:
            return model.scores(X, n_jobs=self.n_jobs)
        begin = None if model.begin is None else model.begin(X)
        return self.ensemble_.scores(model.new_rows(X), self._n_rounds(n_rounds), resolve_jobs(self.n_jobs), begin)

    def _staged(self, X: Any, n_rounds: int | None = None) -> Iterator[Floats]:
        """Scores after each round; the last ones are those of `_scores`."""
        table, begin = self.model_.new_rows(X), self.model_.begin
        stages = self.ensemble_.staged_scores(table, resolve_jobs(self.n_jobs), None if begin is None else begin(X))
        return islice(stages, self._n_rounds(n_rounds))


def _by_row(scores: Floats) -> Floats:
    return scores[0] if len(scores) == 1 else scores.T

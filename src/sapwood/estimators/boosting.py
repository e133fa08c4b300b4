"""What all boosting estimators share: data in, an ensemble out, scores from it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Floats, Ints
from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.fitting import Rows, Setup, fit_ensemble
from sapwood.boosting.rounds import RoundOptions
from sapwood.boosting.training import Outcome, Plan, Progress
from sapwood.errors import ParameterError
from sapwood.estimators.boosting_rows import (
    EvalRows,
    digests,
    hold_out,
    naming,
    remaining_queries,
    take_rows,
    warn_of_column,
    weight_of_rows,
)
from sapwood.estimators.boosting_settings import (
    check_continued,
    check_size,
    continued,
    find_metrics,
    start_scores,
    warn_of_direction,
    warn_of_no_split,
)
from sapwood.estimators.checkpoint import Checkpoints, take_over
from sapwood.estimators.constraints import interaction_sets, monotone_signs
from sapwood.estimators.estimator import Estimator
from sapwood.estimators.identifiers import warn_of_identifiers
from sapwood.losses.loss import Loss
from sapwood.metrics.metric import Metric
from sapwood.model.methods import boosting_model
from sapwood.model.model import Model
from sapwood.parameters import Interval, Nothing, check_parameters
from sapwood.seed import seed_from
from sapwood.table.schema import Schema
from sapwood.table.statistics import with_statistics
from sapwood.table.table import Table
from sapwood.table.weight import check_weight
from sapwood.threads import resolve_jobs

if TYPE_CHECKING:
    from sapwood.explain.certificate import Certificate

ReadQueries = Callable[[int], Ints]  # from the number of rows to the rows of each query


class Boosting(Estimator):
    """Boosted trees. Use one of the classes below it."""

    model_settings: ClassVar = ("ensemble_", "schema_", "unseen", "drift_warning", "undo_class_weight")
    weight_name: ClassVar[str] = "sample_weight"
    second_of_equals: ClassVar[bool] = False
    """Whether a score of zero means the second of two classes, as in scikit-learn."""

    categorical_features: Any
    sparse_absent: Literal["zero", "missing"] = "zero"
    unseen: Literal["missing", "error"]
    n_jobs: int | None
    random_state: Any
    early_stopping_rounds: int | None
    eval_metric: Any
    base_score: float | None
    validation_fraction: float | None
    verbose: bool | int

    _factors: Floats
    ensemble_: Ensemble
    schema_: Schema
    loss_: Loss

    @property
    def _undoes_weights(self) -> bool:
        """Whether probabilities undo the weights of classes."""
        return False

    @abstractmethod
    def _read_target(self, y: Any, n_rows: int) -> Floats:
        """Numbers or codes of classes; describes them in fitted attributes when it is called by `fit`."""

    @abstractmethod
    def _code_target(self, y: Any, n_rows: int) -> Floats:
        """The target of an evaluation set, as training coded it."""

    @abstractmethod
    def _make_loss(self, rows: Rows) -> Loss:
        """The loss that the parameters ask for."""

    @abstractmethod
    def _round_options(self, schema: Schema, seed: int) -> RoundOptions:
        """Options of trees, columns and samples."""

    @abstractmethod
    def _plan(self) -> Plan:
        """How long to train."""

    @abstractmethod
    def _kind(self, loss: Loss) -> str:
        """What is predicted, in the words of `metrics.metric`."""

    @abstractmethod
    def _default_metric(self, loss: Loss) -> str:
        """The metric if the user names none."""

    def _continue_target(self, start: Any, y: Any, n_rows: int) -> Floats:  # noqa: ARG002 - a hook
        """The target of rows that continue a model."""
        return self._read_target(y, n_rows)

    def _keep_target(self, y: Floats, rows: NDArray[np.intp]) -> Floats:
        """The target of some rows, as if the others had never been there."""
        return y[rows]

    def _row_weight(self, y: Floats, weight: Floats | None) -> Floats | None:  # noqa: ARG002 - a hook
        """Weights of rows, those of their classes included."""
        return weight

    def _max_bins(self) -> int:
        return 255

    def _boost(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        eval_sets: Sequence[EvalRows],
        init_model: Any,
        queries: ReadQueries | None = None,
        eval_queries: Sequence[ReadQueries] | None = None,
        checkpoint: Any = None,
        verbose: bool | int | None = None,
    ) -> Self:
        """Train; sets everything that ends in an underscore."""
        own = self.verbose
        self.verbose = own if verbose is None else verbose
        self._train(X, y, sample_weight, eval_sets, init_model, queries, eval_queries, checkpoint)
        self.verbose = own
        return self

    def _train(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        eval_sets: Sequence[EvalRows],
        init_model: Any,
        queries: ReadQueries | None,
        eval_queries: Sequence[ReadQueries] | None,
        checkpoint: Any,
    ) -> None:
        self._check_parameters()
        self._seed = seed_from(self.random_state)
        start = continued(init_model, self)
        rows = self._training_rows(X, y, sample_weight, queries, start)
        loss = self._make_loss(rows)
        loss.check_target(rows.y)
        check_continued(start, loss)
        self._describe(rows.table)
        evals = []
        for i, given in enumerate(eval_sets):
            with naming(given.argument):
                read = None if eval_queries is None else eval_queries[i]
                evals.append(self._evaluation_rows(given, read, loss))
        kept = Checkpoints.of(checkpoint, self, lambda: digests([rows, *evals], start))
        if kept is not None and kept.is_finished:
            take_over(self, kept.found)
            return
        self._seed = self._seed if kept is None or kept.found is None else kept.found._seed
        setup = self._setup(rows, loss, start, bool(evals))
        if self.early_stopping_rounds is not None:
            warn_of_direction(setup.metrics[-1])
        self._keep(fit_ensemble(rows, evals, self._resumed(setup, kept, self._so_far)), loss)
        own = rows.y if setup.held_out is None else np.delete(rows.y, setup.held_out)
        warn_of_no_split(self.ensemble_.rounds, setup.rounds.tree.min_child_weight, own)
        if kept is not None:
            kept.finish(self)

    def _resumed(self, setup: Setup, kept: Checkpoints | None, so_far: Callable[[Progress], Any]) -> Setup:
        """Go on from what a checkpoint holds, and write further ones."""
        if kept is None:
            return setup

        def keep(progress: Progress) -> None:
            kept.after(progress.round, lambda: so_far(progress))

        done, curves = (None, {}) if kept.found is None else (kept.found.ensemble_, kept.found.evals_result_)
        before = setup.start if done is None else done
        kept.begin(0 if before is None else before.n_rounds)
        return replace(setup, done=done, done_curves=curves, plan=replace(setup.plan, keep=keep))

    def _so_far(self, progress: Progress) -> Self:
        """The model as it is in the middle of training."""
        model = copy(self)
        model._keep(progress.outcome("training goes on"), progress.rounds.loss)
        return model

    def _training_table(self, X: Any, start: Any) -> Table:
        if start is None:
            table = Table.from_any(X, categorical_features=self.categorical_features, sparse_absent=self.sparse_absent)
            warn_of_identifiers(table)
            return table
        return start.schema_.match(X, unseen="error", owner=type(self).__name__)  # type: ignore[no-any-return]

    def _training_rows(self, X: Any, y: Any, sample_weight: Any, read_queries: ReadQueries | None, start: Any) -> Rows:
        """Rows to train on; those of weight zero are removed before anything else looks at them."""
        table = self._training_table(X, start)
        warn_of_column(y)
        target = self._read_target(y, table.n_rows) if start is None else self._continue_target(start, y, table.n_rows)
        groups = None if read_queries is None else read_queries(table.n_rows)
        weight = self._read_weight(sample_weight, table.n_rows, groups)
        take = Table.take if start is None else take_rows
        index = None
        if weight is not None and not weight.all():
            index = used = np.flatnonzero(weight)
            target = target[used] if start is not None else self._keep_target(target, used)
            table, weight = take(table, used), weight[used]
            groups = None if groups is None else remaining_queries(groups, used)
        own = self._row_weight(target, weight)
        measured = None
        if own is not weight:  # metrics know nothing of the weights of classes
            measured = np.ones(len(target)) if weight is None else weight
        if own is not None and not own.all():  # a class of weight zero remains a class, but its rows count for nothing
            used = np.flatnonzero(own)
            table, target, own = take(table, used), target[used], own[used]
            index = used if index is None else index[used]
            measured = None if measured is None else measured[used]
        check_size(target, own, self.weight_name)
        return Rows(table, target, own, groups, measured=measured, index=index)

    def _read_weight(self, weight: Any, n_rows: int, groups: Ints | None) -> Floats | None:
        if groups is None:
            return check_weight(weight, n_rows)
        given = weight_of_rows(weight, groups, self.weight_name)
        with naming(self.weight_name):
            return check_weight(given, n_rows)

    def _evaluation_rows(self, given: EvalRows, read_queries: ReadQueries | None, loss: Loss) -> Rows:
        table = self.schema_.match(given.X, unseen="missing", owner=type(self).__name__)
        target = self._code_target(given.y, table.n_rows)
        Loss.check_target(loss, target)  # losses ask more of the rows of training
        groups = None if read_queries is None else read_queries(table.n_rows)
        return Rows(table, target, self._read_weight(given.weight, table.n_rows, groups), groups, given.name)

    def _setup(self, rows: Rows, loss: Loss, start: Any, watched: bool) -> Setup:
        options = self._round_options(rows.table.schema, self._seed)
        held_out = None
        if self.validation_fraction is not None and not watched:
            classes = rows.y if hasattr(self, "classes_") else None
            held_out = hold_out(len(rows.y), self.validation_fraction, classes, rows.groups, self._seed)
        if self.early_stopping_rounds is not None and not watched and held_out is None:
            raise ParameterError(
                f"early_stopping_rounds={self.early_stopping_rounds} needs rows to watch. Pass eval_set=[(X, y)] to "
                "fit, or set validation_fraction=0.1."
            )
        return Setup(
            loss,
            options,
            self._plan(),
            self._max_bins(),
            self._metrics(loss),
            self._base(loss),
            None if start is None else start.ensemble_.upto(start.best_n_rounds_),
            held_out,
        )

    def _base(self, loss: Loss) -> Floats | None:
        """Scores to start from, or None for the best constants."""
        return start_scores(self.base_score, loss)

    def _metrics(self, loss: Loss) -> list[Metric]:
        return find_metrics(self.eval_metric, self._default_metric(loss), loss, self._kind(loss), type(self).__name__)

    def _describe(self, table: Table) -> None:
        self.schema_ = with_statistics(table, resolve_jobs(self.n_jobs))
        self.n_features_in_ = table.n_features
        if table.schema.named:
            self.feature_names_in_ = np.array(table.schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _keep(self, outcome: Outcome, loss: Loss) -> None:
        self.ensemble_, self.loss_ = outcome.ensemble, loss
        self.evals_result_ = outcome.history.curves
        self.stopped_reason_ = outcome.stopped_reason
        self.n_estimators_ = self.n_iter_ = outcome.ensemble.n_rounds
        self._best = None
        for name in ("best_iteration_", "best_score_"):
            if hasattr(self, name):
                delattr(self, name)
        curve = outcome.history.deciding
        if outcome.best_round is not None and curve is not None:
            self.best_iteration_ = outcome.best_round
            self.best_score_ = curve[outcome.best_round - (outcome.ensemble.n_rounds - len(curve))]
            if self.early_stopping_rounds is not None:
                self._best = outcome.best_round + 1

    def evals_result(self) -> dict[str, dict[str, list[float]]]:
        """What the metrics said after every round: `result[rows][metric][round]`.

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

    def _n_rounds(self, n_rounds: int | None) -> int:
        """Rounds to use, from what the user asked for."""
        rules = {"n_rounds": (Interval(int, 1, self.ensemble_.n_rounds), Nothing())}
        check_parameters(f"this {type(self).__name__}", rules, {"n_rounds": n_rounds})
        return self.best_n_rounds_ if n_rounds is None else int(n_rounds)

    def _scores(self, X: Any, n_rounds: int | None = None) -> Floats:
        """Scores (n_scores, rows) of the best rounds, or of the first `n_rounds`."""
        if n_rounds is None:
            return super()._scores(X)
        table = self._new_rows(X)
        starts = None if self._begin is None else self._begin(X)
        return self.ensemble_.scores(table, self._n_rounds(n_rounds), resolve_jobs(self.n_jobs), starts)

    def _staged(self, X: Any, n_rounds: int | None = None) -> Iterator[Floats]:
        """Scores after each round; the last ones are those of `_scores`."""
        table = self._new_rows(X)
        starts = None if self._begin is None else self._begin(X)
        stages = self.ensemble_.staged_scores(table, resolve_jobs(self.n_jobs), starts)
        return islice(stages, self._n_rounds(n_rounds))

    def _new_model(self, **common: Any) -> Model:
        common["single"] = self.ensemble_.n_scores == 1 or bool(common["classes"])
        factors = self._factors if common["classes"] and self._undoes_weights else None
        return boosting_model(self.ensemble_, self.best_n_rounds_, self.loss_, factors, self.second_of_equals, **common)

    def apply(self, X: Any, *, n_rounds: int | None = None) -> NDArray[np.int32]:
        """Leaf of every row in every tree, (rows, rounds), or (rows, rounds, scores) if there are several scores."""
        table = self._new_rows(X)
        leaves = self.ensemble_.leaves(table, self._n_rounds(n_rounds), resolve_jobs(self.n_jobs))
        return leaves[:, :, 0] if self.ensemble_.n_scores == 1 else leaves

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

        self._check_fitted()
        if getattr(self, "_has_init", False):
            raise ParameterError("certify() cannot analyse a model with a custom init. Use init=None.")
        if monotone_constraints is None and interaction_constraints is None:
            options = self._round_options(self.schema_, 0)
            signs, together = options.tree.signs, options.columns.together
        else:
            signs = monotone_signs(monotone_constraints, self.schema_)
            together = interaction_sets(interaction_constraints, self.schema_)
        return certify(self.ensemble_.upto(self.best_n_rounds_), self.schema_, signs, together)

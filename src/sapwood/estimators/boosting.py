"""What all boosting estimators share: data in, an ensemble out, scores from it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from sklearn.utils import Tags

from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.fitting import Rows, Setup, fit_ensemble, score_of
from sapwood.boosting.rounds import RoundOptions
from sapwood.boosting.training import Outcome, Plan
from sapwood.errors import InputError, ParameterError
from sapwood.estimators.base import RuledEstimator, seed_from
from sapwood.losses.custom import CustomLoss
from sapwood.losses.loss import Loss
from sapwood.metrics.metric import Metric
from sapwood.metrics.names import custom_metric, find_metric
from sapwood.table.schema import Schema
from sapwood.table.table import Table
from sapwood.table.weight import check_weight
from sapwood.threads import resolve_jobs

Floats = NDArray[np.float64]


class Boosting(RuledEstimator):
    """Boosted trees. Use one of the classes below it."""

    categorical_features: Any
    unseen: Literal["missing", "error"]
    n_jobs: int | None
    random_state: Any
    early_stopping_rounds: int | None
    eval_metric: Any
    base_score: float | None
    validation_fraction: float | None

    ensemble_: Ensemble
    schema_: Schema

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
    def _default_metric(self, loss: Loss) -> str:
        """The metric if the user names none."""

    def _row_weight(self, y: Floats, weight: Floats | None) -> Floats | None:  # noqa: ARG002 - a hook
        """Weights of rows, those of their classes included."""
        return weight

    def _boost(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        eval_set: Sequence[tuple[Any, Any]] | None,
        sample_weight_eval_set: Sequence[Any] | None,
        init_model: Any,
        groups: NDArray[np.int64] | None = None,
        eval_groups: Sequence[NDArray[np.int64]] | None = None,
    ) -> Self:
        """Train; sets everything that ends in an underscore."""
        self._check_parameters()
        self._seed = seed_from(self.random_state)
        start = _continued(init_model, self)
        table = self._training_table(X, start)
        rows = self._training_rows(table, y, sample_weight, groups)
        loss = self._make_loss(rows)
        loss.check_target(rows.y)
        self._describe(rows.table)
        evals = self._evaluation_rows(eval_set, sample_weight_eval_set, eval_groups, loss)
        setup = self._setup(rows, loss, start, bool(evals))
        self._keep(fit_ensemble(rows, evals, setup), loss)
        return self

    def _training_table(self, X: Any, start: Any) -> Table:
        if start is None:
            return Table.from_any(X, categorical_features=self.categorical_features)
        return start.schema_.match(X, unseen="error", owner=type(self).__name__)  # type: ignore[no-any-return]

    def _training_rows(self, table: Table, y: Any, sample_weight: Any, groups: NDArray[np.int64] | None) -> Rows:
        target = self._read_target(y, table.n_rows)
        weight = self._row_weight(target, check_weight(sample_weight, table.n_rows))
        rows = Rows(table, target, weight, groups)
        if weight is None or weight.all() or groups is not None:
            return rows
        return rows.take(np.flatnonzero(weight))

    def _setup(self, rows: Rows, loss: Loss, start: Any, watched: bool) -> Setup:
        options = self._round_options(rows.table.schema, self._seed)
        held_out = None
        if self.validation_fraction is not None and not watched:
            held_out = self._hold_out(rows)
        if self.early_stopping_rounds is not None and not watched and held_out is None:
            raise ParameterError(
                f"early_stopping_rounds={self.early_stopping_rounds} needs rows to watch. Pass eval_set=[(X, y)] to fit, "
                "or set validation_fraction=0.1."
            )
        return Setup(
            loss,
            options,
            self._plan(),
            self._max_bins(),
            self._metrics(loss),
            None if self.base_score is None else score_of(loss, float(self.base_score)),
            None if start is None else start.ensemble_,
            held_out,
        )

    def _max_bins(self) -> int:
        return 255

    def _hold_out(self, rows: Rows) -> NDArray[np.int64]:
        """Rows that only watch; classes are represented as in all rows where they can be."""
        n = len(rows.y)
        share = self.validation_fraction or 0.0
        classes = rows.y if hasattr(self, "classes_") and np.bincount(rows.y.astype(int)).min() > 1 else None
        seed = self._seed % 2**32
        try:
            _, held_out = train_test_split(np.arange(n), test_size=share, random_state=seed, stratify=classes)
        except ValueError as error:
            raise InputError(
                f"validation_fraction={share} of {n} rows leaves too few rows to train or to watch. Use more rows, "
                "another share, or pass eval_set to fit."
            ) from error
        return np.sort(held_out)

    def _metrics(self, loss: Loss) -> list[Metric]:
        given = self.eval_metric
        if given is None:
            given = "loss" if isinstance(loss, CustomLoss) else self._default_metric(loss)
        several = given if isinstance(given, (list, tuple)) else [given]
        return [custom_metric(item) if callable(item) else find_metric(item, loss.losses) for item in several]

    def _evaluation_rows(
        self,
        eval_set: Sequence[tuple[Any, Any]] | None,
        weights: Sequence[Any] | None,
        groups: Sequence[NDArray[np.int64]] | None,
        loss: Loss,
    ) -> list[Rows]:
        if eval_set is None:
            return []
        _check_eval_set(eval_set, weights)
        found = []
        for i, (X, y) in enumerate(eval_set):
            table = self.schema_.match(X, unseen="missing", owner=type(self).__name__)
            target = self._code_target(y, table.n_rows)
            loss.check_target(target, owner=f"y of eval_set[{i}]")
            weight = None if weights is None else check_weight(weights[i], table.n_rows)
            own = None if groups is None else groups[i]
            found.append(Rows(table, target, weight, own, f"validation_{i}"))
        return found

    def _describe(self, table: Table) -> None:
        self.schema_ = table.schema
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
        """What the metrics said after every round: `result[rows][metric][round]`."""
        self._check_fitted()
        return self.evals_result_

    @property
    def best_n_rounds_(self) -> int:
        """Rounds that prediction uses: up to the best one if training watched for it, else all."""
        self._check_fitted()
        return self.ensemble_.n_rounds if self._best is None else self._best

    def _scores(self, X: Any, n_rounds: int | None = None) -> Floats:
        """Scores (n_scores, rows) of the best rounds, or of the first `n_rounds`."""
        table = self._table(X)
        wanted = self.best_n_rounds_ if n_rounds is None else n_rounds
        return self.ensemble_.scores(table, wanted, resolve_jobs(self.n_jobs))

    def _staged(self, X: Any) -> Iterator[Floats]:
        return self.ensemble_.staged_scores(self._table(X), resolve_jobs(self.n_jobs))

    def _table(self, X: Any) -> Table:
        self._check_fitted()
        return self.schema_.match(X, unseen=self.unseen, owner=type(self).__name__)

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Leaf of every row in every tree, (rows, rounds), or (rows, rounds, scores) if there are several scores."""
        leaves = self.ensemble_.leaves(self._table(X), self.best_n_rounds_, resolve_jobs(self.n_jobs))
        return leaves[:, :, 0] if self.ensemble_.n_scores == 1 else leaves

    @property
    def feature_importances_(self) -> Floats:
        """Share of each column in the total gain."""
        self._check_fitted()
        gains = self.ensemble_.gains(self.n_features_in_, self.best_n_rounds_)
        total = gains.sum()
        return gains / total if total > 0 else gains

    def __sklearn_tags__(self) -> Tags:
        """What scikit-learn may expect: missing values, categories and sparse input are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        return tags


def _continued(init_model: Any, owner: Boosting) -> Any:
    """The model to continue from, checked."""
    if init_model is None:
        return None
    if not isinstance(init_model, type(owner)):
        raise ParameterError(
            f"init_model is a {type(init_model).__name__}, but only a fitted {type(owner).__name__} can be continued. "
            "Pass the fitted estimator itself."
        )
    init_model._check_fitted()
    return init_model


def _check_eval_set(eval_set: Any, weights: Sequence[Any] | None) -> None:
    if isinstance(eval_set, tuple) and len(eval_set) == 2 and not isinstance(eval_set[0], tuple):
        raise InputError("eval_set is one pair (X, y). Pass a list of pairs: eval_set=[(X, y)].")
    for i, pair in enumerate(eval_set):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise InputError(f"eval_set[{i}] is not a pair (X, y). Pass a list of pairs: eval_set=[(X, y)].")
    if weights is not None and len(weights) != len(eval_set):
        raise InputError(
            f"sample_weight_eval_set has {len(weights)} elements, but eval_set has {len(eval_set)}. "
            "Pass one array of weights for each pair."
        )

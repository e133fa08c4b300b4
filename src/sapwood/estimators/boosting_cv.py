"""Cross-validation of boosting at each round: the best number of rounds comes out of a single run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal, TypedDict, Unpack

import numpy as np
from sklearn.base import clone, is_classifier

from sapwood.arrays import Array, Floats, Ints
from sapwood.boosting.cross_validation import TEST, TRAIN, FoldCurve, Split, begin_folds, train_folds, within_one_error
from sapwood.boosting.eval_metrics import warn_of_direction
from sapwood.boosting.fitting import Rows, Setup, statistics_of_levels
from sapwood.boosting.limits import warn_of_no_split
from sapwood.data_warnings import quiet
from sapwood.errors import ParameterTypeError
from sapwood.estimators.boosting import Boosting
from sapwood.estimators.boosting_rows import weight_by_query
from sapwood.estimators.boosting_task import BoostingRanking, BoostingTask
from sapwood.estimators.splits import check_classes, inner_split, read_groups, read_splits, runs
from sapwood.keywords import answering
from sapwood.parameters import Flag, Interval, Nothing, OneOf, check_parameters
from sapwood.plot.boosting_cv import plot_boosting_cv
from sapwood.result import Part, Result
from sapwood.seed import seed_from
from sapwood.table.identifiers import warn_of_identifiers
from sapwood.table.storage import Absent
from sapwood.table.table import Table
from sapwood.table.weight import check_weight
from sapwood.threads import JOBS, resolve_jobs

Rule = Literal["min", "1se"]

WATCHING = ("early_stopping_rounds", "n_iter_no_change", "validation_fraction")  # parameters of who watches for an end
_RULES: dict[str, tuple[Any, ...]] = {
    "rule": (OneOf("min", "1se"),),
    "early_stopping_rounds": (Interval(int, low=1), Nothing()),
    "refit": (Flag(),),
    "n_jobs": JOBS,
    "verbose": (Flag(), Interval(int, low=0)),
}


class CVOptions(TypedDict, total=False):
    """Options of `cross_validate_boosting` with their defaults in `DEFAULTS`."""

    rule: Rule
    early_stopping_rounds: int | None
    refit: bool
    n_jobs: int | None
    verbose: bool | int


DEFAULTS: CVOptions = {"rule": "min", "early_stopping_rounds": None, "refit": False, "n_jobs": None, "verbose": 0}


@dataclass(frozen=True, eq=False, repr=False)
class BoostingCV(Result):
    """The result of `cross_validate_boosting`. Rounds are counted from 0, so `best_round + 1` trees are the best.

    Attributes:
        test_curve, train_curve: the metric after every round: `mean`, `standard_error`, and `values[fold, round]`.
        metric, larger_is_better: what they measure.
        curves: such curves of every metric, where several were asked for: `curves["test"]["merror"]`,
            `curves["train"]["merror"]`. The last metric is the one above, and decides.
        top_round: the round of the best mean.
        best_round: the round that the rule chose.
        rule: "min" or "1se".
        splits: rows (train, test) of every fold.
        estimators: the fitted estimator of every fold, up to the best round.
        oof_prediction: for every row the prediction of the fold that held it out, at the best round; where several
            did, the mean, or the class of the mean score; NaN or None where none did.
        oof_probability: the same of probabilities (rows, classes); None for numbers.
        oof_score: the same of scores (n_scores, rows).
        oof_count: how many folds held each row out.
        refit_: the estimator trained on all rows for `best_round + 1` rounds, if `refit` was asked for.
        stopped_reason: why training ended.
    """

    curves: dict[str, dict[str, FoldCurve]]
    metric: str
    larger_is_better: bool
    top_round: int
    best_round: int
    rule: Rule
    splits: tuple[tuple[Ints, Ints], ...]
    estimators: tuple[Any, ...]
    oof_prediction: Array
    oof_probability: Floats | None
    oof_score: Floats
    oof_count: Ints
    refit_: Any
    stopped_reason: str

    @property
    def test_curve(self) -> FoldCurve:
        """The deciding metric of the held-out rows after every round."""
        return self.curves[TEST][self.metric]

    @property
    def train_curve(self) -> FoldCurve:
        """The deciding metric of the training rows after every round."""
        return self.curves[TRAIN][self.metric]

    def _parts(self) -> Iterator[Part]:
        """The choice in one line, and why training ended."""
        n_folds, n_rounds = self.test_curve.values.shape
        yield (
            f"BoostingCV({self.metric} {self.best_mean:.6g} ± {self.best_standard_error:.2g} after "
            f"{self.best_n_rounds} of {n_rounds} rounds in {n_folds} folds, rule={self.rule!r})"
        )
        yield f"  {self.stopped_reason}"

    @property
    def best_n_rounds(self) -> int:
        """How many rounds the best round makes."""
        return self.best_round + 1

    @property
    def best_mean(self) -> float:
        """Mean of the metric of the held-out rows at the best round."""
        return float(self.test_curve.mean[self.best_round])

    @property
    def best_standard_error(self) -> float:
        """Its standard error."""
        return float(self.test_curve.standard_error[self.best_round])

    def plot(self, ax: Any = None) -> Any:
        """Draw the curves with their standard errors, the best round marked; returns the Axes."""
        return plot_boosting_cv(self, ax=ax)


@answering
def cross_validate_boosting(
    estimator: Boosting,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    groups: Any = None,
    sample_weight: Any = None,
    metric: Any = None,
    **options: Unpack[CVOptions],
) -> BoostingCV:
    """Train `estimator` in all folds at once, round by round, and say how many rounds are best.

    The columns are cut into bins once, by all rows, and all folds share them. Training ends after `n_estimators`
    rounds, after `max_seconds`, on Ctrl-C, or when a callback of the estimator returns True; callbacks are given a
    `FoldsProgress` after each round of all folds, and a `Progress` after each round of the refitted model.

    Args:
        estimator: a boosting classifier, regressor or ranker; it is cloned.
        X: table of rows.
        y: targets.
        cv: number of folds (stratified for classes), a scikit-learn splitter, or an iterable of (train, test) rows.
        groups: a label for each row; rows of one label stay together. For a ranker these are its queries.
        sample_weight: weights of the rows, used in training and in the metric.
        metric: name of a metric, a function of (y_true, y_pred), or a list of them, of which the last decides; by
            default the estimator's `eval_metric`.
        rule: "min" for the round of the best mean, "1se" for the fewest rounds within one standard error of it.
        early_stopping_rounds: stop if the mean was not better for so many rounds; by default the estimator's own.
        refit: whether to train on all rows afterwards, for the best number of rounds.
        n_jobs: threads for everything; None is the estimator's own `n_jobs`. Folds run side by side first.
        verbose: 0 is silent; else a progress bar on the standard error, or a line every so many rounds in a file.
    """
    chosen = DEFAULTS | options
    if not isinstance(estimator, Boosting):
        raise ParameterTypeError(
            f"estimator={estimator!r} is not boosting. Pass for example a NewtonBoostingClassifier or "
            "NewtonBoostingRegressor."
        )
    check_parameters("cross_validate_boosting", _RULES, chosen)
    run = _Run(estimator, X, y, groups, sample_weight, cv, metric, chosen["n_jobs"])
    patience = chosen["early_stopping_rounds"] or run.plan.early_stopping_rounds
    plan = replace(run.plan, early_stopping_rounds=patience, verbose=int(chosen["verbose"]))
    warn_of_direction(run.metric, "eval_metric" if metric is None else "metric")
    curves, top, reason = train_folds(run.folds, plan, run.at_once)
    name, larger_is_better, best = run.metric.name, run.metric.larger_is_better, top
    if chosen["rule"] == "1se":
        best = within_one_error(curves[TEST][name], top, larger_is_better)
    for model, fold in zip(run.models, run.folds, strict=True):
        model._keep(fold.outcome(best, reason), fold.loss)
    first = run.folds[0].rounds
    warn_of_no_split(run.models[0].ensemble_.rounds, first.options.tree.min_child_weight, first.y[first.rows])
    return BoostingCV(
        curves,
        name,
        larger_is_better,
        top,
        best,
        chosen["rule"],
        tuple(run.splits),
        run.models,
        *_out_of_fold(run),
        refit_=run.refit(best + 1) if chosen["refit"] else None,
        stopped_reason=reason,
    )


class _Run:
    """The data of one cross-validation, and a model for each fold."""

    def __init__(
        self, estimator: Boosting, X: Any, y: Any, groups: Any, weight: Any, cv: Any, metric: Any, n_jobs: int | None
    ) -> None:
        self._given, self._metric = (estimator, X, y, groups, weight), metric
        self._is_ranker = estimator.task is BoostingRanking
        self.n_jobs = resolve_jobs(estimator.n_jobs if n_jobs is None else n_jobs)
        self._read(_fresh(estimator), X, y, groups, weight, cv)
        parameters = estimator.get_params(deep=False) | {"metric": metric, "callbacks": None}
        lists = [value if isinstance(value, Sequence) else [value] for value in parameters.values()]
        # What the user wrote is called by one thread only; callbacks are so anyhow.
        self.at_once = 1 if any(map(callable, chain(*lists))) else min(self.n_jobs, len(self.splits))
        prepared = [self._prepare(number, split) for number, split in enumerate(self._inner, start=1)]
        self.models, rows, setups = zip(*prepared, strict=True)
        self.folds = begin_folds(rows, self._inner, setups, self.n_jobs)
        self.plan, self.metric = setups[0].plan, setups[0].metrics[-1]

    def _read(self, whole: Boosting, X: Any, y: Any, groups: Any, weight: Any, cv: Any) -> None:
        """Check everything; rows of weight zero are removed before anything but the folds looks at them."""
        whole._check_parameters()
        self._seed = seed_from(whole.random_state)
        absent: Absent = getattr(whole, "sparse_absent", "zero")
        table = Table.from_any(X, categorical_features=whole.categorical_features, sparse_absent=absent)
        warn_of_identifiers(table)
        task, coded = whole.task.read(y, table.n_rows)
        labels = _labels(task, coded)
        groups = read_groups(groups, table.n_rows, self._is_ranker)
        if self._is_ranker:
            weight = weight_by_query(weight, table.n_rows, runs(groups), whole.weight_name)
        else:
            weight = check_weight(weight, table.n_rows)
        queries = groups if self._is_ranker else None
        self.splits = read_splits(cv, labels, groups, is_classifier(whole), queries)
        used = np.arange(table.n_rows) if weight is None else np.flatnonzero(weight)
        self.everything = self._table = table
        if len(used) < table.n_rows:
            self._table = table.take(used)
            self.everything = self._table.schema.match(X, unseen="missing", owner=type(whole).__name__)
        self._weight = None if weight is None else weight[used]
        self._task, self._y = task.take(coded, used)
        queries = None if queries is None else queries[used]
        self._queries = None if queries is None else runs(queries)
        self._inner = [inner_split(number, split, used, queries) for number, split in enumerate(self.splits, start=1)]

    def _prepare(self, number: int, split: Split) -> tuple[Any, Rows, Setup]:
        """A model without its trees, and all rows to grow them on; those held out have a weight of zero."""
        model = _fresh(self._given[0])
        model._seed = self._seed
        task, target = self._task.take(self._y, split.train)
        check_classes(number, task.classes, self._task.classes)
        task, own = task.weigh(model, target, None if self._weight is None else self._weight[split.train])
        weight = np.zeros(self._table.n_rows)
        weight[split.train] = 1.0 if own is None else own
        rows = Rows(table=self._table, y=self._y, weight=weight, groups=self._queries, measured=self._weight)
        loss = model._loss(rows, task)
        model._describe(self._table, () if task.classes is None else [task.classes])
        if task.factors is not None:
            model._factors = task.factors
        metric = getattr(model, "eval_metric", None) if self._metric is None else self._metric
        setup: Setup = model._setup(rows, loss)
        if setup.statistics is not None:
            model.target_statistics_ = statistics_of_levels(rows, setup)
        rounds = replace(setup.rounds, n_jobs=max(1, round(self.n_jobs / self.at_once)))
        return model, rows, replace(setup, metrics=task.metrics(metric, loss, model), rounds=rounds)

    def refit(self, n_rounds: int) -> Boosting:
        """The estimator on all rows; it needs nothing to watch any more."""
        estimator, X, y, groups, weight = self._given
        model = _fresh(estimator).set_params(n_estimators=n_rounds)
        model.set_params(**{name: None for name in WATCHING if hasattr(model, name)})
        more = {model.weight_name: weight} | ({"qid": groups} if self._is_ranker else {})
        with quiet():
            return model.fit(X, y, **more)  # type: ignore[no-any-return]


def _labels(task: BoostingTask, coded: Floats) -> Array:
    """Targets as the user gave them."""
    return coded if task.classes is None else task.classes[coded.astype(np.intp)]


def _fresh(estimator: Boosting) -> Any:
    """A clone with the same callbacks: a copy of one would keep what it is told to itself."""
    parameters = estimator.get_params(deep=False)
    callbacks = parameters.pop("callbacks", None)
    return clone(type(estimator)(**parameters)).set_params(callbacks=callbacks)


def _out_of_fold(run: _Run) -> tuple[Array, Floats | None, Floats, Ints]:
    """Predictions, probabilities, scores and counts of held-out rows."""
    first, n_rows = run.models[0], run.everything.n_rows
    n_scores, classes = first.ensemble_.n_scores, getattr(first, "classes_", None)
    score, count = np.zeros((n_scores, n_rows)), np.zeros(n_rows, dtype=np.int64)
    predicted = np.zeros((n_rows, n_scores if classes is None else len(classes)))
    for model, (_, test) in zip(run.models, run.splits, strict=True):
        own = model.ensemble_.scores(run.everything.take_within(test), n_jobs=run.n_jobs)
        score[:, test] += own
        predicted[test] += model.loss_.response(own).T if classes is None else model.model_.probabilities(own)
        count[test] += 1
    with np.errstate(invalid="ignore"):
        score, predicted = score / count, predicted / count[:, None]
    if classes is None:
        return (predicted[:, 0] if n_scores == 1 else predicted), None, score, count
    labels = first.model_.predictions(score)
    if not count.all():
        labels = np.where(count > 0, labels.astype(object), None)
    return labels, predicted, score, count

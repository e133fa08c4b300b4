"""What forests for classes, and forests for numbers, have of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags

from sapwood.errors import InputError, ParameterError
from sapwood.estimators.forest import ForestEstimator
from sapwood.estimators.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sapwood.estimators.tree_rows import TreeRows
from sapwood.forest.forest import Vote
from sapwood.forest.leaf_targets import forest_quantiles
from sapwood.forest.out_of_bag import OutOfBag
from sapwood.threads import resolve_jobs

Floats = NDArray[np.float64]


class ForestClassifier(ClassifierMixin, ForestEstimator):
    """Forests for classes."""

    tree_kind: ClassVar = DecisionTreeClassifier
    keep_targets: bool = False
    _is_classifier: ClassVar[bool] = True
    voting: str
    class_weight: Any
    classes_: Any
    n_classes_: Any

    def _vote(self) -> Vote:
        return Vote(self.voting == "hard", tuple(self._sizes))

    @property
    def _sizes(self) -> list[int]:
        return [self.n_classes_] if self._single_output else self.n_classes_

    def predict_proba(self, X: Any) -> Any:
        """Probability of every class; a list of arrays if there are several outputs."""
        return self.model_.predict_proba(X, n_jobs=self.n_jobs)

    def _by_output(self, shares: Floats) -> Any:
        found = [shares[:, o, :size] for o, size in enumerate(self._sizes)]
        return found[0] if self._single_output else found

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            found = self.predict_proba(X)
            return np.log(found) if self._single_output else [np.log(one) for one in found]

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of every row; the first of equals."""
        return self.model_.predict(X, n_jobs=self.n_jobs)

    def _labels(self, shares: Floats) -> NDArray[Any]:
        classes = [self.classes_] if self._single_output else self.classes_
        columns = [labels[shares[:, o, : len(labels)].argmax(axis=1)] for o, labels in enumerate(classes)]
        return columns[0] if self._single_output else np.stack(columns, axis=1)

    def _set_oob_predictions(self, found: OutOfBag, rows: TreeRows) -> None:
        said = found.predictions()
        everywhere = self._among_all(said)
        alike = not self._single_output and len(set(self._sizes)) == 1  # scikit-learn's shape: (rows, classes, outputs)
        self.oob_decision_function_ = everywhere.transpose(0, 2, 1) if alike else self._by_output(everywhere)
        seen = found.counts > 0
        truth = [labels[rows.target.codes[seen, o]] for o, labels in enumerate(rows.target.classes)]
        predicted = self._labels(said[seen])
        if self._single_output:
            weight = None if rows.given is None else rows.given[seen]
            self.oob_score_ = self._oob_score_of(truth[0], predicted, weight)
        elif callable(self.oob_score):
            self.oob_score_ = float(self.oob_score(np.stack(truth, axis=1), predicted))
        else:  # all outputs right, as `score` counts
            self.oob_score_ = float(np.mean((np.stack(truth, axis=1) == predicted).all(axis=1)))

    def __sklearn_tags__(self) -> Tags:
        """Classes of several outputs are fine."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class ForestRegressor(RegressorMixin, ForestEstimator):
    """Forests for numbers."""

    tree_kind: ClassVar = DecisionTreeRegressor
    _is_classifier: ClassVar[bool] = False

    def _vote(self) -> Vote:
        return Vote()

    def predict(self, X: Any) -> Floats:
        """Mean of what the trees predict."""
        return self.model_.predict(X, n_jobs=self.n_jobs)

    def _set_oob_predictions(self, found: OutOfBag, rows: TreeRows) -> None:
        said = found.predictions()[:, :, 0]
        everywhere = self._among_all(said)
        self.oob_prediction_ = everywhere[:, 0] if self._single_output else everywhere
        seen = found.counts > 0
        truth = rows.target.values[seen]
        weight = None if rows.given is None else rows.given[seen]
        self.oob_score_ = self._oob_score_of(truth, said[seen], weight)
        self._oob_residuals = np.sort(truth - said[seen], axis=0)

    def predict_quantiles(self, X: Any, quantiles: float | Sequence[float] = (0.1, 0.5, 0.9)) -> Floats:
        """Quantiles of the training targets in the leaves of each row, (rows, quantiles).

        Each tree spreads a weight of 1 over the rows of the leaf; the mean of this distribution is what `predict`
        says. Several outputs: (rows, outputs, quantiles). A single quantile gives (rows,). Needs keep_targets=True.
        """
        table = self._new_rows(X)
        if not self._leaf_targets or self._training_target is None:
            raise ParameterError(
                "predict_quantiles needs the training targets of each leaf, which this forest has not kept. Fit it "
                "with keep_targets=True."
            )
        wanted = _shares(quantiles, "quantiles")
        n_jobs = resolve_jobs(self.n_jobs)
        leaves = self.forest_.leaves(table, n_jobs=n_jobs)
        columns = [forest_quantiles(self._leaf_targets, leaves, y, wanted, n_jobs) for y in self._training_target.T]
        found = columns[0] if self._single_output else np.stack(columns, axis=1)
        return found[..., 0] if np.ndim(quantiles) == 0 else found

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """Interval that holds the target with this probability, (rows, 2): prediction plus out-of-bag residuals.

        Residuals of rows predicted by trees that did not see them are those of new rows: their lower and upper
        quantiles, widened for the finite number of rows, are added to every prediction. Several outputs: (rows,
        outputs, 2). Needs oob_score=True (or oob_stop=True).
        """
        self._check_fitted()
        if not hasattr(self, "_oob_residuals"):
            raise ParameterError(
                "predict_interval needs out-of-bag residuals, which this forest does not have. Fit it with "
                "oob_score=True."
            )
        (share,) = _shares(coverage, "coverage")
        n = len(self._oob_residuals)
        tail = (1.0 - share) / 2.0
        below = int(np.floor(tail * (n + 1))) - 1
        if below < 0:
            raise InputError(
                f"coverage={coverage!r} needs at least {int(np.ceil(1.0 / tail))} rows with an out-of-bag prediction, "
                f"but there are {n}. Ask for less coverage."
            )
        residuals = self._oob_residuals[[below, n - 1 - below]]  # (2, outputs)
        mean = self._scores(X).T
        found: Floats = mean[:, :, None] + residuals.T[None]
        return found[:, 0] if self._single_output else found


def _shares(given: Any, name: str) -> Floats:
    """Numbers between 0 and 1."""
    try:
        wanted = np.atleast_1d(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError):
        wanted = np.empty(0)
    if wanted.ndim != 1 or not len(wanted) or not ((wanted > 0) & (wanted < 1)).all():
        raise InputError(f"{name}={given!r} is not allowed. Give numbers between 0 and 1, such as 0.9.")
    return wanted

"""Choosing how much to prune, by cross-validation, in one call.

The pruning path of the tree on all rows gives alphas a_0 = 0 < a_1 < … < a_L. Between two of them the best subtree
does not change, so each interval is represented by its geometric middle sqrt(a_k a_(k+1)) (Breiman et al. 1984,
section 3.4). In every fold one tree is grown and pruned at each of these; their held-out errors give a mean and a
standard error for each alpha.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing

from sapwood.arrays import Floats, Ints
from sapwood.counted import counted
from sapwood.data_warnings import quiet
from sapwood.elementary import log
from sapwood.errors import InputError, ParameterError, ParameterTypeError
from sapwood.estimators.tree import DecisionTree, DecisionTreeClassifier
from sapwood.growth.prune import ancestors_at, collapse, pruning_path
from sapwood.keywords import answering
from sapwood.parameters import Interval, OneOf, check_parameters
from sapwood.plot.pruning import plot_pruning
from sapwood.result import Part, Result, TextTable
from sapwood.show.number import plain_number
from sapwood.table.frame import make_frame
from sapwood.table.weight import check_weight
from sapwood.threads import JOBS, resolve_jobs, run_all

Rule = Literal["min", "1se"]

SHOWN_ALPHAS = 15  # in print
ERRORS = {  # by criterion; those of classes all have the same
    "squared_error": "mean squared error",
    "friedman_mse": "mean squared error",
    "absolute_error": "mean absolute error",
    "poisson": "mean Poisson deviance",
}
TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False, repr=False)
class PruningChoice(Result):
    """The pruned tree and how it was chosen: cross-validated error (mean, standard error) at every alpha."""

    estimator: DecisionTree
    alphas: Floats
    mean: Floats
    standard_error: Floats
    n_leaves: Ints
    best: int  # index of the least mean error
    chosen: int
    rule: Rule
    score_name: str

    @property
    def alpha(self) -> float:
        """The chosen alpha."""
        return float(self.alphas[self.chosen])

    def to_frame(self) -> Any:
        """A data frame with one line for each alpha: leaves, mean error and its standard error."""
        columns = {"alpha": self.alphas, "leaves": self.n_leaves, "mean": self.mean}
        return make_frame(columns | {"standard_error": self.standard_error})

    def _parts(self) -> Iterator[Part]:
        """The choice, and a table of alphas, the whole tree first; of many, some that are spread evenly."""
        size = counted(int(self.n_leaves[self.chosen]), "leaf")
        error = f"{self.score_name} {self._error(self.chosen)}"
        yield f"Pruned at alpha = {self.alpha:.6g} to {size} by rule {self.rule!r}: {error}"
        spread = np.linspace(0, len(self.alphas) - 1, SHOWN_ALPHAS).round().astype(int)
        shown = sorted({*spread.tolist(), self.best, self.chosen})
        rest = len(self.alphas) - len(shown)
        marks = {self.best: "<- least error", self.chosen: "<- chosen"}
        rows = [(f"{self.alphas[k]:.6g}", str(self.n_leaves[k]), self._error(k), marks.get(k, "")) for k in shown]
        yield TextTable(("alpha", "leaves", self.score_name, ""), rows, f"{rest} more" if rest else "", "rrrl")

    def _error(self, k: int) -> str:
        error = plain_number(float(f"{self.standard_error[k]:.2g}"), 6)
        return f"{self.mean[k]:.6g} ± {error}"

    def plot(self, ax: Any = None) -> Any:
        """Draw the error against alpha, with the choice marked; returns the Axes."""
        return plot_pruning(self, ax=ax)


@answering
def prune_by_cv(
    estimator: DecisionTree,
    X: Any,
    y: Any,
    *,
    cv: Any = 5,
    rule: Rule = "1se",
    scoring: str | None = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> PruningChoice:
    """Grow `estimator` on all rows and prune it at the alpha that cross-validation prefers.

    Args:
        estimator: a DecisionTreeClassifier or DecisionTreeRegressor; it is cloned, and its ccp_alpha is not used.
        X: table of rows.
        y: targets.
        cv: number of folds, a scikit-learn splitter, or an iterable of (train, test) indices.
        rule: "min" for the least mean error, "1se" for the smallest tree within one standard error of it.
        scoring: a scikit-learn scorer's name; the error is then its negative. By default the misclassification rate,
            mean squared error, mean absolute error or mean Poisson deviance, by the estimator's criterion.
        sample_weight: weights of the rows, used in growing and in the error.
        n_jobs: how many folds at once.
    """
    if not isinstance(estimator, DecisionTree):
        raise ParameterTypeError(
            f"estimator={estimator!r} cannot be pruned. Pass a DecisionTreeClassifier or DecisionTreeRegressor."
        )
    rules = {"rule": (OneOf("min", "1se"),), "n_jobs": JOBS}
    check_parameters("prune_by_cv", rules, {"rule": rule, "n_jobs": n_jobs})
    if scoring is not None:
        try:
            get_scorer(scoring)
        except (ValueError, TypeError) as error:
            raise ParameterError(
                f"scoring={scoring!r} is not the name of a scikit-learn scorer. "
                "Use None, or a name from sklearn.metrics.get_scorer_names()."
            ) from error
    whole = clone(estimator).set_params(ccp_alpha=0.0).fit(X, y, sample_weight=sample_weight)
    path = pruning_path(whole.tree_)
    alphas = np.unique(np.concatenate(([0.0], np.maximum(path.alphas, 0.0))))
    middles = np.append(np.sqrt(alphas[:-1] * alphas[1:]), np.inf)
    n_rows = int(X.shape[0]) if hasattr(X, "shape") else len(X)
    weight = check_weight(sample_weight, n_rows)
    of_fold = partial(_fold_errors, whole, X, y, weight, middles=middles, scoring=scoring)
    tasks = [partial(of_fold, *fold) for fold in _folds(cv, n_rows, y, isinstance(estimator, DecisionTreeClassifier))]
    errors = np.array(run_all(tasks, resolve_jobs(n_jobs)))
    mean, standard_error = errors.mean(axis=0), errors.std(axis=0, ddof=1) / np.sqrt(len(errors))
    tie = mean.min() + 1e-12 * abs(mean.min())  # errors of scikit-learn's scorers are below 0
    best = int(np.flatnonzero(mean <= tie)[-1])  # of equal errors the smallest tree
    chosen = best if rule == "min" else int(np.flatnonzero(mean <= mean[best] + standard_error[best])[-1])
    leaves, grown = np.flatnonzero(whole.tree_.is_leaf), whole.tree_
    n_leaves = np.array([len(np.unique(ancestors_at(grown, path, alpha)[leaves])) for alpha in alphas])
    alpha = float(alphas[chosen])
    whole.set_params(ccp_alpha=alpha).tree_ = collapse(grown, ancestors_at(grown, path, alpha))
    name = scoring or ERRORS.get(estimator.criterion, "misclassification rate")
    return PruningChoice(whole, alphas, mean, standard_error, n_leaves, best, chosen, rule, name)


def _folds(cv: Any, n_rows: int, y: Any, classifier: bool) -> list[tuple[Any, Any]]:
    if isinstance(cv, int):
        check_parameters("prune_by_cv", {"cv": (Interval(int, low=2),)}, {"cv": cv})
    try:
        folds = list(check_cv(cv, y, classifier=classifier).split(np.zeros(n_rows), y))
    except ValueError as error:
        raise ParameterError(
            f"cv={cv!r} cannot divide these rows: {str(error).rstrip('.')}. Use a smaller number of folds, from 2 on, "
            "or a scikit-learn splitter."
        ) from error
    if len(folds) < 2:
        raise InputError(f"cv={cv!r} gives {len(folds)} fold(s). Pass at least 2, which a standard error needs.")
    return folds


@quiet()
def _fold_errors(
    whole: Any, X: Any, y: Any, weight: Floats | None, train: Any, test: Any, middles: Floats, scoring: str | None
) -> Floats:
    """Held-out error at each alpha, from a tree grown on the other rows."""
    of_train, of_test = (None if weight is None else weight[rows] for rows in (train, test))
    tree = clone(whole).fit(_safe_indexing(X, train), _safe_indexing(y, train), sample_weight=of_train)
    X, y, grown, path = _safe_indexing(X, test), _safe_indexing(y, test), tree.tree_, pruning_path(tree.tree_)
    kept = (ancestors_at(grown, path, alpha) for alpha in middles)
    if scoring is None:
        losses, leaves = _losses(tree, tree.task.read(y, len(test))), tree.apply(X)
        return np.array([np.average(losses(nodes[leaves]), weights=of_test) for nodes in kept])
    errors = []
    for nodes in kept:
        tree.tree_ = collapse(grown, nodes)
        errors.append(-get_scorer(scoring)(tree, X, y))
    return np.array(errors)


def _losses(tree: Any, truth: Any) -> Callable[[Ints], Floats]:
    """A function from the node that each row ends in to its loss, by the criterion of the tree."""
    if isinstance(tree, DecisionTreeClassifier):  # any output's class is wrong; a fold may not have every class
        likely = tree.tree_.value.argmax(axis=2)
        predicted = [labels[likely[:, o]] for o, labels in enumerate(tree.model_.classes)]
        actual = [labels[truth.codes[:, o]] for o, labels in enumerate(truth.classes)]
        return lambda nodes: np.any([p[nodes] != a for p, a in zip(predicted, actual, strict=True)], axis=0)
    y, values = truth.values, tree.tree_.value[:, :, 0]
    if tree.criterion == "absolute_error":
        return lambda nodes: np.abs(values[nodes] - y).mean(axis=1)
    if tree.criterion == "poisson":
        return lambda nodes: _deviance(y, np.maximum(values[nodes], TINY)).mean(axis=1)  # infinite at a rate of zero
    return lambda nodes: ((values[nodes] - y) ** 2).mean(axis=1)


def _deviance(y: Floats, rate: Floats) -> Floats:
    return 2 * (np.where(y > 0, y * log(np.maximum(y, TINY) / rate), 0) - y + rate)

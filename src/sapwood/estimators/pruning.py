"""Choosing how much to prune, by cross-validation, in one call.

The pruning path of the tree on all rows gives alphas a_0 = 0 < a_1 < … < a_L. Between two of them the best subtree
does not change, so each interval is represented by its geometric middle sqrt(a_k a_(k+1)) (Breiman et al. 1984,
section 3.4). In every fold one tree is grown and pruned at each of these; their held-out errors give a mean and a
standard error for each alpha.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing

from sapwood.arrays import Floats, Ints
from sapwood.data_warnings import quiet
from sapwood.elementary import log
from sapwood.errors import InputError, ParameterError, ParameterTypeError
from sapwood.estimators.tree import DecisionTree, DecisionTreeClassifier
from sapwood.growth.prune import PruningPath, ancestors_at, collapse, pruning_path
from sapwood.keywords import answering
from sapwood.parameters import Interval, OneOf, check_parameters
from sapwood.plot.pruning import plot_pruning
from sapwood.result import Part, Result, TextTable
from sapwood.show.number import plain_number
from sapwood.table.frame import make_frame
from sapwood.table.weight import check_weight
from sapwood.threads import JOBS, resolve_jobs, run_all
from sapwood.tree import Tree

Rule = Literal["min", "1se"]

SHOWN_ALPHAS = 15  # in print


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
        leaves = int(self.n_leaves[self.chosen])
        size = f"{leaves} leaves" if leaves != 1 else "1 leaf"
        error = f"{self.score_name} {self._error(self.chosen)}"
        yield f"Pruned at alpha = {self.alpha:.6g} to {size} by rule {self.rule!r}: {error}"
        spread = np.linspace(0, len(self.alphas) - 1, SHOWN_ALPHAS).round().astype(int)
        shown = sorted({*spread.tolist(), self.best, self.chosen})
        rest = len(self.alphas) - len(shown)
        rows = [(f"{self.alphas[k]:.6g}", str(self.n_leaves[k]), self._error(k), self._mark(k)) for k in shown]
        yield TextTable(("alpha", "leaves", self.score_name, ""), rows, f"{rest} more" if rest else "", "rrrl")

    def _error(self, k: int) -> str:
        error = plain_number(float(f"{self.standard_error[k]:.2g}"), 6)
        return f"{self.mean[k]:.6g} ± {error}"

    def _mark(self, k: int) -> str:
        return "<- chosen" if k == self.chosen else "<- least error" if k == self.best else ""

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
    _check_arguments(estimator, rule, scoring, n_jobs)
    whole = clone(estimator).set_params(ccp_alpha=0.0).fit(X, y, sample_weight=sample_weight)
    path = pruning_path(whole.tree_)
    alphas = np.unique(np.concatenate(([0.0], np.maximum(path.alphas, 0.0))))
    weight = check_weight(sample_weight, _n_rows(X))
    folds = _folds(cv, X, y, isinstance(estimator, DecisionTreeClassifier))
    middles = np.append(np.sqrt(alphas[:-1] * alphas[1:]), np.inf)

    def one_fold(train: Any, test: Any) -> Floats:
        with quiet():
            return _fold_errors(clone(whole), X, y, weight, train, test, middles, scoring)

    tasks = [lambda fold=fold: one_fold(*fold) for fold in folds]
    errors = np.array(run_all(tasks, resolve_jobs(n_jobs)))
    mean, standard_error = errors.mean(axis=0), errors.std(axis=0, ddof=1) / np.sqrt(len(errors))
    best = int(np.flatnonzero(mean <= mean.min() * (1 + 1e-12))[-1])  # of equal errors the smallest tree
    chosen = best if rule == "min" else int(np.flatnonzero(mean <= mean[best] + standard_error[best])[-1])
    n_leaves = _leaves_at(whole.tree_, path, alphas)
    kept = ancestors_at(whole.tree_, path, float(alphas[chosen]))
    whole.set_params(ccp_alpha=float(alphas[chosen])).tree_ = collapse(whole.tree_, kept)
    name = scoring or _default_error(estimator)[0]
    return PruningChoice(whole, alphas, mean, standard_error, n_leaves, best, chosen, rule, name)


def _check_arguments(estimator: Any, rule: Any, scoring: Any, n_jobs: Any) -> None:
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


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _folds(cv: Any, X: Any, y: Any, classifier: bool) -> list[tuple[Any, Any]]:
    try:
        if isinstance(cv, int):
            check_parameters("prune_by_cv", {"cv": (Interval(int, low=2),)}, {"cv": cv})
        splitter = check_cv(cv, y, classifier=classifier)
        folds = list(splitter.split(np.zeros(_n_rows(X)), y))
    except ParameterError:
        raise
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
    tree: Any, X: Any, y: Any, weight: Floats | None, train: Any, test: Any, middles: Floats, scoring: str | None
) -> Floats:
    """Held-out error at each alpha, from a tree grown on the other rows."""
    part = [None if weight is None else weight[rows] for rows in (train, test)]
    tree.fit(_safe_indexing(X, train), _safe_indexing(y, train), sample_weight=part[0])
    path = pruning_path(tree.tree_)
    if scoring is not None:
        return _scored_errors(tree, path, _safe_indexing(X, test), _safe_indexing(y, test), middles, scoring)
    truth = tree.task.read(_safe_indexing(y, test), len(test))
    nodes = tree.apply(_safe_indexing(X, test))
    losses = _default_error(tree)[1](tree, truth)
    rows = np.arange(len(test))
    return np.array(
        [np.average(losses(ancestors_at(tree.tree_, path, a)[nodes], rows), weights=part[1]) for a in middles]
    )


def _scored_errors(tree: Any, path: PruningPath, X: Any, y: Any, middles: Floats, scoring: str) -> Floats:
    scorer, grown = get_scorer(scoring), tree.tree_
    errors = []
    for alpha in middles:
        tree.tree_ = collapse(grown, ancestors_at(grown, path, alpha))
        errors.append(-scorer(tree, X, y))
    return np.array(errors)


def _default_error(tree: Any) -> tuple[str, Any]:
    """Name of the error that fits the criterion, and its loss by node and row."""
    if isinstance(tree, DecisionTreeClassifier):
        return "misclassification rate", _class_losses
    return {
        "squared_error": ("mean squared error", _squared_losses),
        "friedman_mse": ("mean squared error", _squared_losses),
        "absolute_error": ("mean absolute error", _absolute_losses),
        "poisson": ("mean Poisson deviance", _poisson_losses),
    }[tree.criterion]


def _class_losses(tree: Any, truth: Any) -> Any:
    """Whether any output's class is wrong; labels are compared, because a fold may not have every class."""
    likely = tree.tree_.value.argmax(axis=2)
    predicted = [labels[likely[:, o]] for o, labels in enumerate(tree.model_.classes)]
    actual = [labels[truth.codes[:, o]] for o, labels in enumerate(truth.classes)]
    return lambda nodes, rows: np.any([p[nodes] != a[rows] for p, a in zip(predicted, actual, strict=True)], axis=0)


def _squared_losses(tree: Any, truth: Any) -> Any:
    return lambda nodes, rows: ((tree.tree_.value[nodes, :, 0] - truth.values[rows]) ** 2).mean(axis=1)


def _absolute_losses(tree: Any, truth: Any) -> Any:
    return lambda nodes, rows: np.abs(tree.tree_.value[nodes, :, 0] - truth.values[rows]).mean(axis=1)


def _poisson_losses(tree: Any, truth: Any) -> Any:
    """2 (y log(y / mu) - y + mu); a leaf's rate is kept above zero, where the deviance is infinite."""

    def losses(nodes: Any, rows: Any) -> Any:
        y, mu = truth.values[rows], np.maximum(tree.tree_.value[nodes, :, 0], np.finfo(float).tiny)
        return (2 * (np.where(y > 0, y * log(np.maximum(y, np.finfo(float).tiny) / mu), 0) - y + mu)).mean(axis=1)

    return losses


def _leaves_at(tree: Tree, path: PruningPath, alphas: Floats) -> Ints:
    """Leaves of the subtree at each alpha."""
    leaves = np.flatnonzero(tree.is_leaf)
    return np.array([len(np.unique(ancestors_at(tree, path, alpha)[leaves])) for alpha in alphas])

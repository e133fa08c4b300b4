"""The decision path of one row: through a single tree, or through the trees that matter most for its prediction."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sapwood.arrays import Floats
from sapwood.data_warnings import quiet
from sapwood.explain.model_output import classes_of_tree, first_prediction, prediction_values, score_title
from sapwood.keywords import answering
from sapwood.model import Model, model_of
from sapwood.one_line import one_line
from sapwood.parameters import Interval, check_parameters
from sapwood.predictor import Descent
from sapwood.result import Part, Result
from sapwood.show.number import percent, plain_number
from sapwood.show.one_tree import OneTree, tree_number
from sapwood.show.row_path import Step, follow_row, path_lines
from sapwood.show.value import level_text
from sapwood.table.one_row import as_one_row
from sapwood.tree_sum import Term

_RULES = {"most": (Interval(int, low=1),)}
_SHOWN_CLASSES = 5


@dataclass(frozen=True, repr=False)
class TreePath(Result):
    """The path of the row through one tree, and the value of its leaf compared with the mean of the tree.

    `value` is the value of the leaf for the row and `expected` the mean over the training rows, both for the predicted
    class or number; for boosting, what the tree adds to the score that `about` names, or to several on average.
    """

    tree: int
    round: int | None
    about: str | None
    steps: tuple[Step, ...]
    value: float
    expected: float

    @property
    def difference(self) -> float:
        """Value of the leaf minus the mean of the tree."""
        return self.value - self.expected

    def _parts(self) -> Iterator[Part]:
        about = "" if self.about is None else f" for {self.about}"
        value, mean = plain_number(self.value, 3), plain_number(self.expected, 3)
        yield f"Tree {self.tree} predicts {value}{about}, {mean} on average:"
        yield from (f"  {step.description}" for step in self.steps)


@dataclass(frozen=True, repr=False)
class DecisionPath(Result):
    """A prediction and the paths that lead to it; as a string, all of it as text."""

    prediction: Any
    probabilities: dict[Any, float] | None
    n_trees: int
    paths: tuple[TreePath, ...]
    lines: tuple[str, ...]

    def _parts(self) -> Iterator[Part]:
        yield from self.lines


@answering
@quiet()
def decision_path(model: object, row: object, *, tree: object = None, most: int = 5) -> DecisionPath:
    """Explain the prediction for one row by its path through the trees.

    For a single tree this is the path from the root to the leaf. For many trees it is the prediction, and the paths
    through the trees with the strongest effect on it: those whose leaf value differs most from the mean of
    the tree over its training rows. For classes, the value is that of the predicted class.

    Args:
        model: any fitted model of trees of this library.
        row: a sequence of values, a dictionary from column names to values, or a table of one row.
        tree: look at one tree only: its number or, for boosting, (round, score), the score by number or class name.
        most: maximum number of trees.
    """
    check_parameters("decision_path", _RULES, {"most": most})
    model = model_of(model)
    n_trees = len(model.require_trees())
    table, values = as_one_row(row, model.schema)
    codes = np.asarray(model.match(table).block(0, 1)[0], dtype=np.float64)
    prediction, shares = first_prediction(model, table), _probabilities(model, table)
    paths = _Paths(model, codes, values, _weights_of_scores(model, prediction))
    head = list(_headline(model, prediction, shares))
    if tree is None and n_trees > 1:
        n_involved, found = paths.leading(most)
        head.append(f"{n_trees} trees" + ("" if n_involved == n_trees else f", {n_involved} of them about this class"))
        lines = [*head, *(line for path in found for line in paths.describe(path))]
    else:
        number = 0 if tree is None else tree_number(tree, model)
        found = [paths.path(number, model.trees.term(number))]
        lines = paths.describe_alone(found[0], head)
    return DecisionPath(prediction, shares, n_trees, tuple(found), tuple(lines))


@dataclass(frozen=True, eq=False)
class _Paths:
    """Paths of one row through the trees of a model."""

    model: Model
    codes: Floats
    values: list[object]
    weights: Floats  # 1 for scores that the prediction is about, else 0

    def path(self, t: int, term: Term) -> TreePath:
        """The path through a tree."""
        steps, values = follow_row(self._one(term), self.codes, self.values), self._node_values(term)
        round_size = self.model.trees.round_size
        number = t // round_size if round_size else None
        value = self._value(term, values, steps[-1].node)
        return TreePath(t, number, self._title(term), tuple(steps), value, _expected(term, values))

    def leading(self, most: int) -> tuple[int, list[TreePath]]:
        """How many trees contribute to the prediction, and the paths through those farthest from their mean."""
        found, trees = [], self.model.trees
        for t, term in enumerate(trees):
            if self._weights(term).any():
                values = self._node_values(term)
                value = self._value(term, values, self._leaf(term))
                found.append((-abs(value - _expected(term, values)), t))
        return len(found), [self.path(t, trees.term(t)) for _, t in heapq.nsmallest(most, found)]

    def _value(self, term: Term, values: Floats, leaf: int) -> float:
        """The value of the row's leaf, with its lines."""
        linear = term.tree.linear
        return float(values[leaf]) + (0.0 if linear is None else linear.of_row(leaf, self.codes))

    def describe(self, path: TreePath) -> list[str]:
        """The value of the tree, and its splits one by one."""
        splits = path.steps[:-1] if path.steps[-1].feature is None else path.steps
        return [f"{self._summary(path)}:", *(f"  {n}. {step.description}" for n, step in enumerate(splits, 1))]

    def describe_alone(self, path: TreePath, head: list[str]) -> list[str]:
        """A tree by itself: with the prediction of each of its nodes, if they have one."""
        trees = self.model.trees
        if trees.round_size:
            return [*head, *self.describe(path)]
        lines = path_lines(self._one(trees.term(path.tree)), path.steps)
        return lines if len(trees) == 1 else [*head, f"Tree {path.tree} by itself:", *lines]

    @property
    def _is_vote(self) -> bool:
        return self.model.is_classifier and self.model.response.is_identity

    def _one(self, term: Term) -> OneTree:
        return OneTree(term.tree, self.model.schema, classes_of_tree(self.model, term.tree), self.model.unseen)

    def _leaf(self, term: Term) -> int:
        descent = Descent.of(term.tree, np.dtype(np.float64))
        return int(descent.leaves(self.codes[None], self.model.unseen == "node")[0])

    def _weights(self, term: Term) -> Floats:
        return self.weights[term.column : term.column + term.values.shape[1]]

    def _node_values(self, term: Term) -> Floats:
        """The values of the nodes for the prediction; those of boosting for the score of the tree, or their mean."""
        if term.values.shape[1] == 1 and self.model.trees.round_size:
            return term.values[:, 0]
        weights = self._weights(term)
        return np.asarray(term.values @ (weights / weights.sum() if self.model.trees.round_size else weights))

    def _title(self, term: Term) -> str | None:
        """The score that the tree adds to, or the class that it is a share of."""
        chosen = np.flatnonzero(self.weights)
        if self.model.trees.round_size:
            own = chosen if term.values.shape[1] > 1 else [term.column]
            return score_title(self.model, int(own[0])) if len(own) == 1 else f"mean of {len(own)} scores"
        if not self.model.is_classifier or len(chosen) > 1:
            return None
        name = one_line(self.model.score_names[chosen[0]])
        return name if self._is_vote else f"score of {name}"

    def _summary(self, path: TreePath) -> str:
        more = "more" if path.difference >= 0 else "less"
        if self._is_vote and path.about is not None:
            gap = f"{plain_number(100 * abs(path.difference), 1)} points {more} than on average"
            return f"Tree {path.tree} predicts {percent(path.value)} for {path.about}, {gap}"
        gap = f"{plain_number(abs(path.difference), 3)} {more} than on average"
        if path.about is None:
            return f"Tree {path.tree} predicts {plain_number(path.value, 3)}, {gap}"
        where = "" if path.round is None else f" (round {path.round})"
        sign = "+" if path.value >= 0 else ""
        return f"Tree {path.tree}{where} adds {sign}{plain_number(path.value, 3)} to the {path.about}, {gap}"


def _expected(term: Term, values: Floats) -> float:
    """The mean of the leaf values over the training rows."""
    leaves = np.flatnonzero(term.tree.is_leaf)
    weight = term.tree.weighted_n_node_samples[leaves]
    return float(np.average(values[leaves], weights=weight if weight.any() else None))


def _weights_of_scores(model: Model, prediction: object) -> Floats:
    """Which columns of the scores the prediction is about, as 0 and 1; two classes may share one score."""
    n_columns = model.trees.n_columns
    if not model.classes or n_columns == 1:
        return np.ones(n_columns)
    weights = np.zeros(n_columns)
    for labels, own, label in zip(model.classes, model.groups, prediction_values(prediction), strict=True):
        weights[own[labels.tolist().index(label)]] = 1.0  # a list, since NumPy cuts NULs off texts that it compares
    return weights


def _probabilities(model: Model, table: object) -> dict[Any, float] | None:
    if len(model.classes) != 1:
        return None
    return dict(zip(model.classes[0].tolist(), model.predict_proba(table)[0].tolist(), strict=True))


def _headline(model: Model, prediction: object, shares: dict[Any, float] | None) -> Iterator[str]:
    values = prediction_values(prediction)
    yield f"Prediction: {', '.join(level_text(v) if model.is_classifier else plain_number(v, 3) for v in values)}"
    if shares is not None:
        order = sorted(shares, key=lambda label: -shares[label])
        text = ", ".join(f"{level_text(label)} {percent(shares[label])}" for label in order[:_SHOWN_CLASSES])
        rest = len(order) - _SHOWN_CLASSES
        yield f"Probabilities: {text}" + (f", … +{rest} more" if rest > 0 else "")

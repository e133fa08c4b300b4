"""The way to one prediction, in words: the path through a tree, or through the trees of many that say most."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.data_warnings import quiet
from sapwood.explain.column_numbers import classes_of_tree, plain, score_title, scores_per_round
from sapwood.explain.tree_number import member_number
from sapwood.keywords import answering
from sapwood.parameters import Interval, check_parameters
from sapwood.predictor import Descent
from sapwood.result import Part, Result
from sapwood.show.fitted import OneTree, classes_by_output, require_model
from sapwood.show.names import one_line
from sapwood.show.number import percent, plain_number
from sapwood.show.value import level_text
from sapwood.show.words import Step, told, walk
from sapwood.table.one_row import as_one_row
from sapwood.tree_sum import Term, TreeSum

Floats = NDArray[np.float64]

_RULES = {"most": (Interval(int, low=1),)}
_SHOWN_CLASSES = 5


@dataclass(frozen=True, repr=False)
class TreePath(Result):
    """The way of the row through one tree, and what its leaf says of the prediction compared with the tree's average.

    `says` and `expected` are about the predicted class or number; of boosting, what the tree adds to the score that
    `about` names.
    """

    tree: int
    round: int | None
    about: str | None
    steps: tuple[Step, ...]
    says: float
    expected: float

    @property
    def difference(self) -> float:
        """What the row gains in this tree over an average row of training."""
        return self.says - self.expected

    def _parts(self) -> Iterator[Part]:
        about = "" if self.about is None else f" about {self.about}"
        yield f"Tree {self.tree} says {plain_number(self.says, 3)}{about}, {plain_number(self.expected, 3)} on average:"
        yield from (f"  {step.words}" for step in self.steps)


@dataclass(frozen=True, repr=False)
class DecisionPath(Result):
    """A prediction and the ways that lead to it; as a string, all of it in words."""

    prediction: Any
    probabilities: dict[Any, float] | None
    n_trees: int
    paths: tuple[TreePath, ...]
    lines: tuple[str, ...]

    def _parts(self) -> Iterator[Part]:
        yield from self.lines


@answering
@quiet()
def decision_path(model: Any, row: Any, *, tree: Any = None, most: int = 5) -> DecisionPath:
    """Tell in words how a model comes to its prediction for one row.

    Of a single tree it is the way from the root to the leaf. Of many trees it is the prediction, and the ways through
    the trees that say most for or against it: those whose leaf is farthest from what the tree says on average over
    its training rows. For classes, that is about the predicted class.

    Args:
        model: any fitted model whose terms are trees of this library.
        row: a sequence of values, a dictionary from column names to values, or a table of one row.
        tree: look at one tree only: its number or, for boosting, (round, score), the score by number or class name.
        most: so many trees at most.
    """
    check_parameters("decision_path", _RULES, {"most": most})
    require_model(model)
    n_trees = len(model._tree_sum())
    table, values = as_one_row(row, model.schema_)
    codes = np.asarray(model._match(table).block(0, 1)[0], dtype=np.float64)
    guide = _Guide(model, codes, values, _focus(model, table))
    answer, shares = plain_prediction(model, table), _probabilities(model, table)
    head = list(_headline(answer, shares, hasattr(model, "classes_")))
    if tree is None and n_trees > 1:
        n_speaking, paths = guide.leading(most)
        head.append(f"{n_trees} trees" + ("" if n_speaking == n_trees else f", {n_speaking} of them about this class"))
        lines = [*head, *(line for path in paths for line in guide.tell(path))]
    else:
        number = 0 if tree is None else member_number(tree, model)
        paths = [guide.path(number, model._tree_sum().term(number))]
        lines = guide.tell_alone(paths[0], head)
    return DecisionPath(answer, shares, n_trees, tuple(paths), tuple(lines))


class _Guide:
    """Follows one row through the trees of a model."""

    def __init__(self, model: Any, codes: Floats, values: list[Any], focus: Floats) -> None:
        self._model, self._codes, self._values, self._focus = model, codes, values, focus
        self._tree_sum: TreeSum = model._tree_sum()
        self._per_round = scores_per_round(model)
        self._is_vote = hasattr(model, "classes_") and model._answers_in_scores

    def path(self, t: int, term: Term) -> TreePath:
        """The way through a tree."""
        steps, words = walk(self._one(term), self._codes, self._values), self._about(term)
        turn = None if self._per_round is None else t // self._per_round
        says, expected = float(words[steps[-1].node]), _expected(term, words)
        return TreePath(t, turn, self._title(term), tuple(steps), says, expected)

    def leading(self, most: int) -> tuple[int, list[TreePath]]:
        """How many trees have a say in the prediction, and the ways through those farthest from their average."""
        found = []
        for t, term in enumerate(self._tree_sum):
            if self._focus[term.column : term.column + term.values.shape[1]].any():
                words = self._about(term)
                found.append((-abs(words[self._leaf(term)] - _expected(term, words)), t))
        return len(found), [self.path(t, self._tree_sum.term(t)) for _, t in heapq.nsmallest(most, found)]

    def tell(self, path: TreePath) -> list[str]:
        """What the tree says, and its questions with their answers."""
        questions = path.steps[:-1] if path.steps[-1].feature is None else path.steps
        return [f"{self._says(path)}:", *(f"  {n}. {step.words}" for n, step in enumerate(questions, 1))]

    def tell_alone(self, path: TreePath, head: list[str]) -> list[str]:
        """A tree by itself: with what each of its nodes says, if that is a prediction."""
        if self._per_round is not None:
            return [*head, *self.tell(path)]
        lines = told(self._one(self._tree_sum.term(path.tree)), list(path.steps))
        return lines if len(self._tree_sum) == 1 else [*head, f"Tree {path.tree} by itself:", *lines]

    def _one(self, term: Term) -> OneTree:
        labels = classes_of_tree(self._model, term.tree)
        return OneTree(term.tree, self._model.schema_, labels, self._model._unseen_policy)

    def _leaf(self, term: Term) -> int:
        way = Descent.of(term.tree, np.dtype(np.float64))
        return int(way.leaves(self._codes[None], self._model._unseen_policy == "node")[0])

    def _about(self, term: Term) -> Floats:
        """What each node says of the prediction; a tree of boosting speaks of its own score."""
        width = term.values.shape[1]
        if self._per_round is not None:
            return term.values[:, 0]
        return np.asarray(term.values @ self._focus[term.column : term.column + width])

    def _title(self, term: Term) -> str | None:
        """The score that the tree adds to, or the class that it is a share of."""
        if self._per_round is not None:
            return score_title(self._model, term.column)
        focus = np.flatnonzero(self._focus)
        if not hasattr(self._model, "classes_") or len(focus) > 1:
            return None
        name = one_line(self._model._score_names()[focus[0]])
        return name if self._is_vote else f"score of {name}"

    def _says(self, path: TreePath) -> str:
        more = "more" if path.difference >= 0 else "less"
        if self._is_vote and path.about is not None:
            gap = plain_number(100 * abs(path.difference), 1)
            return f"Tree {path.tree} says {percent(path.says)} for {path.about}, {gap} points {more} than on average"
        gap = f"{plain_number(abs(path.difference), 3)} {more} than on average"
        if path.about is None:
            return f"Tree {path.tree} says {plain_number(path.says, 3)}, {gap}"
        turn = "" if path.round is None else f" (round {path.round})"
        sign = "+" if path.says >= 0 else ""
        return f"Tree {path.tree}{turn} adds {sign}{plain_number(path.says, 3)} to the {path.about}, {gap}"


def _expected(term: Term, words: Floats) -> float:
    """What the tree says on average over its training rows."""
    leaves = np.flatnonzero(term.tree.is_leaf)
    weight = term.tree.weighted_n_node_samples[leaves]
    return float(np.average(words[leaves], weights=weight if weight.any() else None))


def _focus(model: Any, table: Any) -> Floats:
    """Which columns of the scores the prediction is about, as 0 and 1; of two classes there may be one score only."""
    n_columns = model._tree_sum().n_columns
    classes = classes_by_output(model)
    if not classes or n_columns == 1:
        return np.ones(n_columns)
    predicted = np.asarray(model.predict(table)).reshape(-1).tolist()
    # as lists, since numpy takes the end off a text of NULs that is compared with an array
    chosen = [labels.tolist().index(label) for labels, label in zip(classes, predicted, strict=True)]
    focus = np.zeros(n_columns)
    width = n_columns // len(classes)
    focus[np.arange(len(classes)) * width + chosen] = 1.0
    return focus


def plain_prediction(model: Any, table: Any) -> Any:
    """The class or number that is predicted for the first row; a tuple if there are several."""
    found = np.asarray(model.predict(table))[0]
    return tuple(found.tolist()) if np.ndim(found) else plain(found)


def _probabilities(model: Any, table: Any) -> dict[Any, float] | None:
    classes = classes_by_output(model)
    if len(classes) != 1:
        return None
    return dict(zip(classes[0].tolist(), model.predict_proba(table)[0].tolist(), strict=True))


def _headline(answer: Any, shares: dict[Any, float] | None, is_class: bool) -> Iterator[str]:
    answers = answer if isinstance(answer, tuple) else (answer,)
    yield f"Prediction: {', '.join(level_text(a) if is_class else plain_number(a, 3) for a in answers)}"
    if shares is not None:
        order = sorted(shares, key=lambda label: -shares[label])
        words = ", ".join(f"{level_text(label)} {percent(shares[label])}" for label in order[:_SHOWN_CLASSES])
        rest = len(order) - _SHOWN_CLASSES
        yield f"Probabilities: {words}" + (f", … +{rest} more" if rest > 0 else "")

"""The way of one row through a tree, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.keywords import answering
from sapwood.result import Part, Result
from sapwood.show.condition import Wording, wording
from sapwood.show.fitted import Column, OneTree
from sapwood.show.names import one_line
from sapwood.show.number import percent, plain_number
from sapwood.show.prediction import class_shares, predicted
from sapwood.show.value import level_text, value_text
from sapwood.table.one_row import as_one_row
from sapwood.tree import LEAF, Tree

_UNSEEN = -2.0
_SHOWN_CLASSES = 5


@dataclass(frozen=True, repr=False)
class Step(Result):
    """One node on the way of a row; at the last one, the leaf, `feature`, `value` and `went_left` are None.

    With unseen="node" the last one may be an inner node, whose `feature` has an unseen level in this row.
    """

    node: int
    feature: str | None
    words: str
    value: Any
    went_left: bool | None
    n_rows: int
    weight: float
    prediction: Any
    shares: tuple[tuple[float, ...], ...] | None
    """Shares of the classes, one tuple per output; None for a regressor."""

    def _parts(self) -> Iterator[Part]:
        yield f"node {self.node}: {self.words}  [{_node_words(self)}]"


@answering
def decision_steps(estimator: Any, x: Any) -> list[Step]:
    """Nodes a row passes from the root to its leaf, with what is asked and predicted there.

    `x` is a sequence of values, a dictionary from feature names to values, or a table of one row.
    """
    one = OneTree.of(estimator)
    table, values = as_one_row(x, one.schema)
    return walk(one, one.codes(table), values)


def walk(one: OneTree, codes: NDArray[np.float64], values: list[Any]) -> list[Step]:
    """The way of a row given by its codes and by its own values."""
    steps: list[Step] = []
    node = 0
    while one.tree.children_left[node] != LEAF:
        feature = int(one.tree.feature[node])
        if one.unseen == "node" and one.tree.is_subset_split(node) and codes[feature] == _UNSEEN:
            return [*steps, _last_step(one, node, values[feature])]
        steps.append(_inner_step(one, node, codes, values))
        children = one.tree.children_left if steps[-1].went_left else one.tree.children_right
        node = int(children[node])
    return [*steps, _step(one, node, None, "leaf", None, None)]


@answering
def explain_row(estimator: Any, x: Any) -> str:
    """Explain in words how a tree comes to its prediction for one row.

    `x` is a sequence of values, a dictionary from feature names to values, or a table of one row.
    """
    one = OneTree.of(estimator)
    table, values = as_one_row(x, one.schema)
    steps = walk(one, one.codes(table), values)
    return "\n".join(told(one, steps))


def told(one: OneTree, steps: list[Step]) -> list[str]:
    """The lines that tell a way: where it starts, what is asked, and the answer."""
    start = f"Start: {_node_words(steps[0])}"
    way = [f"{number}. {step.words} → {_node_words(after)}" for number, (step, after) in enumerate(pairwise(steps), 1)]
    end = [] if steps[-1].feature is None else [f"{len(steps)}. {steps[-1].words}"]
    return [start, *way, *end, *_answer(one, steps[-1])]


def _step(one: OneTree, node: int, feature: str | None, words: str, value: Any, went_left: bool | None) -> Step:
    tree = one.tree
    shares = tuple(tuple(row.tolist()) for row in class_shares(tree, node)) if one.classes else None
    rows, weight = int(tree.n_node_samples[node]), float(tree.weighted_n_node_samples[node])
    return Step(node, feature, words, value, went_left, rows, weight, predicted(tree, one.classes, node), shares)


def _inner_step(one: OneTree, node: int, codes: Any, values: list[Any]) -> Step:
    tree = one.tree
    feature = int(tree.feature[node])
    column, code, value = one.schema.columns[feature], float(codes[feature]), values[feature]
    went_left = goes_left(tree, node, code)
    if _is_absent(tree, node, code):
        words = _absent_words(column, code, value, went_left)
    else:
        words = _present_words(one, node, code, went_left)
    return _step(one, node, column.name, words, None if math.isnan(code) else value, went_left)


def _last_step(one: OneTree, node: int, value: Any) -> Step:
    """The node where an unseen level ends the way."""
    name = one.schema.columns[int(one.tree.feature[node])].name
    words = f"{one_line(name)} = {level_text(value)} was not seen in training, so the way ends here"
    return _step(one, node, name, words, value, None)


def goes_left(tree: Tree, node: int, code: float) -> bool:
    """Say whether a value goes left; missing values and unseen levels go where missing values go."""
    if _is_absent(tree, node, code):
        return bool(tree.missing_go_to_left[node])
    if tree.is_subset_split(node):
        return int(code) in tree.left_levels(node)
    return code <= float(tree.threshold[node])


def _is_absent(tree: Tree, node: int, code: float) -> bool:
    return math.isnan(code) or (tree.is_subset_split(node) and code == _UNSEEN)


def _present_words(one: OneTree, node: int, code: float, went_left: bool) -> str:
    tree = one.tree
    column = one.schema.columns[int(tree.feature[node])]
    gap = _distance(code, float(tree.threshold[node]))
    split = wording(tree, one.schema, node, gap=gap, trim=True)
    operator, operand = _side(split, went_left)
    if column.kind == "boolean":
        return f"{split.name} {operator} {operand}"
    if column.kind == "category":
        return f"{split.name} = {value_text(column, code)} is {operator} {operand}"
    # Rounded by itself, a value equal to the threshold could seem to exceed it
    own = operand if code == tree.threshold[node] else value_text(column, code, gap=gap)
    return f"{split.name} = {own} {operator} {operand}"


def _distance(code: float, threshold: float) -> float:
    """Distance that must be visible in print; infinite if there is none."""
    distance = abs(code - threshold)
    return distance if distance > 0 else math.inf


def _side(split: Wording, left: bool) -> tuple[str, str]:
    return (split.left_operator, split.left_operand) if left else (split.right_operator, split.right_operand)


def _absent_words(column: Column, code: float, value: Any, went_left: bool) -> str:
    name, side = one_line(column.name), "left" if went_left else "right"
    if code == _UNSEEN:
        return f"{name} = {level_text(value)} was not seen in training, goes {side} as missing values do"
    if column.has_missing:
        return f"{name} is missing, goes {side} because rows that miss it went {side} in training"
    return f"{name} is missing, goes {side} by default because no training row missed it"


def _node_words(step: Step) -> str:
    rows = f"{step.n_rows} row{'s' if step.n_rows != 1 else ''}"
    weight = (
        "" if math.isclose(step.weight, step.n_rows, rel_tol=1e-9) else f" of weight {plain_number(step.weight, 2)}"
    )
    return f"{rows}{weight}, {_prediction_words(step)}"


def _prediction_words(step: Step) -> str:
    answers = step.prediction if isinstance(step.prediction, tuple) else (step.prediction,)
    if step.shares is None:
        return f"predicts {', '.join(plain_number(answer, 3) for answer in answers)}"
    shares = [max(row) for row in step.shares]
    return ", ".join(
        f"{'' if index else 'predicts '}{level_text(answer)} ({percent(share)})"
        for index, (answer, share) in enumerate(zip(answers, shares, strict=True))
    )


def _answer(one: OneTree, leaf: Step) -> list[str]:
    answers = leaf.prediction if isinstance(leaf.prediction, tuple) else (leaf.prediction,)
    if leaf.shares is None:
        return [f"Prediction: {', '.join(plain_number(answer, 3) for answer in answers)}"]
    lines = [f"Prediction: {', '.join(level_text(answer) for answer in answers)}"]
    for labels, shares in zip(one.classes, leaf.shares, strict=True):
        lines.append(f"Probabilities: {_probabilities(labels.tolist(), shares)}")
    return lines


def _probabilities(labels: list[Any], shares: tuple[float, ...]) -> str:
    order = sorted(range(len(labels)), key=lambda index: -shares[index])
    words = [f"{level_text(labels[index])} {percent(shares[index])}" for index in order[:_SHOWN_CLASSES]]
    rest = len(order) - len(words)
    return ", ".join(words) + (f", … +{rest} more" if rest else "")

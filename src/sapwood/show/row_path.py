"""The path of one row through a tree, as steps and as text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sapwood.arrays import Floats
from sapwood.counted import counted
from sapwood.errors import InputTypeError
from sapwood.keywords import answering
from sapwood.model import model_of
from sapwood.one_line import one_line
from sapwood.result import Part, Result
from sapwood.show.condition import split_text
from sapwood.show.number import percent, plain_number
from sapwood.show.one_tree import OneTree, pick_tree
from sapwood.show.prediction import class_shares, predicted
from sapwood.show.value import level_text, value_text
from sapwood.table.one_row import as_one_row
from sapwood.table.schema import ColumnSchema
from sapwood.tree import LEAF, Tree

_UNSEEN = -2.0
_SHOWN_CLASSES = 5


@dataclass(frozen=True, repr=False)
class Step(Result):
    """One node on the path of a row; at the last one, the leaf, `feature`, `value` and `went_left` are None.

    With unseen="node" the last one may be an inner node, whose `feature` has an unseen level in this row.
    """

    node: int
    feature: str | None
    description: str
    value: Any
    went_left: bool | None
    n_rows: int
    weight: float
    prediction: Any
    shares: tuple[tuple[float, ...], ...] | None
    """Shares of the classes, one tuple per output; None for a regressor."""

    def _parts(self) -> Iterator[Part]:
        yield f"node {self.node}: {self.description}  [{_node_text(self)}]"


@answering
def decision_steps(estimator: object, x: Any) -> list[Step]:
    """Nodes on the path of a row from the root to its leaf, with the condition and the prediction of each.

    Args:
        estimator: a fitted model of one tree.
        x: a sequence of values, a dictionary from column names to values, or a table of one row.
    """
    return _followed(estimator, x)[1]


@answering
def explain_row(estimator: object, x: Any) -> str:
    """Explain how a tree predicts one row.

    Args:
        estimator: a fitted model of one tree.
        x: a sequence of values, a dictionary from column names to values, or a table of one row.
    """
    return "\n".join(path_lines(*_followed(estimator, x)))


def _followed(estimator: object, x: Any) -> tuple[OneTree, list[Step]]:
    model = model_of(estimator, "estimator")
    trees = model.require_trees()
    # Scores of boosting and votes of AdaBoost are not what the model predicts
    if len(trees) != 1 or trees.round_size or not model.response.is_identity:
        raise InputTypeError(
            f"{model.estimator} does not predict by one tree, but one is wanted. Use "
            "sapwood.explain.decision_path(model, row), which takes any model."
        )
    one = pick_tree(model)
    table, values = as_one_row(x, model.schema)
    return one, follow_row(one, model.match(table).block(0, 1)[0], values)


def follow_row(one: OneTree, codes: Floats, values: Sequence[Any]) -> list[Step]:
    """The path of a row, given as the codes that the tree compares and as the caller's own values."""
    steps: list[Step] = []
    node = 0
    while one.tree.children_left[node] != LEAF:
        feature = int(one.tree.feature[node])
        if one.unseen == "node" and one.tree.is_subset_split(node) and codes[feature] == _UNSEEN:
            return [*steps, _last_step(one, node, values[feature])]
        steps.append(_inner_step(one, node, float(codes[feature]), values[feature]))
        children = one.tree.children_left if steps[-1].went_left else one.tree.children_right
        node = int(children[node])
    return [*steps, _step(one, node, None, "leaf", None, None)]


def path_lines(one: OneTree, steps: Sequence[Step]) -> list[str]:
    """A path as lines of text: its start, the condition of each node, and the prediction."""
    start = f"Start: {_node_text(steps[0])}"
    path = [f"{n}. {step.description} → {_node_text(after)}" for n, (step, after) in enumerate(pairwise(steps), 1)]
    end = [] if steps[-1].feature is None else [f"{len(steps)}. {steps[-1].description}"]
    return [start, *path, *end, *_prediction_lines(one, steps[-1])]


def _step(one: OneTree, node: int, feature: str | None, description: str, value: Any, went_left: bool | None) -> Step:
    tree = one.tree
    shares = tuple(tuple(row.tolist()) for row in class_shares(tree, node)) if one.classes else None
    rows, weight = int(tree.n_node_samples[node]), float(tree.weighted_n_node_samples[node])
    return Step(node, feature, description, value, went_left, rows, weight, predicted(tree, one.classes, node), shares)


def _inner_step(one: OneTree, node: int, code: float, value: Any) -> Step:
    tree, column = one.tree, one.schema.columns[int(one.tree.feature[node])]
    went_left = goes_left(tree, node, code)
    if _is_absent(tree, node, code):
        text = _absent_text(column, code, value, went_left)
    else:
        text = _condition_text(one, node, code, went_left)
    return _step(one, node, column.name, text, None if math.isnan(code) else value, went_left)


def _last_step(one: OneTree, node: int, value: Any) -> Step:
    """The node where an unseen level ends the path."""
    name = one.schema.columns[int(one.tree.feature[node])].name
    text = f"{one_line(name)} = {level_text(value)} was not seen in training, so the path ends here"
    return _step(one, node, name, text, value, None)


def goes_left(tree: Tree, node: int, code: float) -> bool:
    """Whether a value goes left; missing values and unseen levels go where missing values go."""
    if _is_absent(tree, node, code):
        return bool(tree.missing_go_to_left[node])
    if tree.is_subset_split(node):
        return int(code) in tree.left_levels(node)
    return code <= float(tree.threshold[node])


def _is_absent(tree: Tree, node: int, code: float) -> bool:
    return math.isnan(code) or (tree.is_subset_split(node) and code == _UNSEEN)


def _condition_text(one: OneTree, node: int, code: float, went_left: bool) -> str:
    tree = one.tree
    column = one.schema.columns[int(tree.feature[node])]
    gap = _distance(code, float(tree.threshold[node]))
    split = split_text(tree, one.schema, node, gap=gap, trim=True)
    left, right = (split.left_operator, split.left_operand), (split.right_operator, split.right_operand)
    operator, operand = left if went_left else right
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


def _absent_text(column: ColumnSchema, code: float, value: object, went_left: bool) -> str:
    name, side = one_line(column.name), "left" if went_left else "right"
    if code == _UNSEEN:
        return f"{name} = {level_text(value)} was not seen in training, goes {side} as missing values do"
    if column.has_missing:
        return f"{name} is missing, goes {side} because rows that miss it went {side} in training"
    return f"{name} is missing, goes {side} by default because no training row missed it"


def _node_text(step: Step) -> str:
    is_plain = math.isclose(step.weight, step.n_rows, rel_tol=1e-9)
    weight = "" if is_plain else f" of weight {plain_number(step.weight, 2)}"
    labels = _predictions(step)
    if step.shares is not None:
        labels = [f"{label} ({percent(max(row))})" for label, row in zip(labels, step.shares, strict=True)]
    return f"{counted(step.n_rows, 'row')}{weight}, predicts {', '.join(labels)}"


def _predictions(step: Step) -> list[str]:
    found = step.prediction if isinstance(step.prediction, tuple) else (step.prediction,)
    return [plain_number(own, 3) if step.shares is None else level_text(own) for own in found]


def _prediction_lines(one: OneTree, leaf: Step) -> list[str]:
    shares = zip(one.classes, leaf.shares or (), strict=True)
    probabilities = [f"Probabilities: {_probabilities(labels.tolist(), own)}" for labels, own in shares]
    return [f"Prediction: {', '.join(_predictions(leaf))}", *probabilities]


def _probabilities(labels: list[object], shares: tuple[float, ...]) -> str:
    order = sorted(range(len(labels)), key=lambda index: -shares[index])
    shown = [f"{level_text(labels[index])} {percent(shares[index])}" for index in order[:_SHOWN_CLASSES]]
    rest = len(order) - len(shown)
    return ", ".join(shown) + (f", … +{rest} more" if rest else "")

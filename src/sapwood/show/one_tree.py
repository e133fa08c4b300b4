"""One tree of a model, with what its text and its picture are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from sapwood.arrays import Array
from sapwood.counted import counted
from sapwood.errors import InputTypeError, ParameterError
from sapwood.model.model import Model
from sapwood.one_line import one_line
from sapwood.table.names import shorten
from sapwood.table.schema import Schema, Unseen
from sapwood.tree import Tree

GAIN = "gain"  # in place of a criterion: the nodes of a boosted tree show what their splits gain

TreeNumber = int | tuple[int, int | str] | None


@dataclass(frozen=True)
class OneTree:
    """`classes` are the labels of each output; empty if the values of the nodes are numbers."""

    tree: Tree
    schema: Schema
    classes: Sequence[Array] = ()
    unseen: Unseen = "missing"
    criterion: str = ""
    title: str = ""  # which tree of the model it is


def pick_tree(model: Model, tree: TreeNumber = None) -> OneTree:
    """The only tree of a model, or the one of this number; see `tree_number`."""
    trees = model.require_trees()
    if tree is None and len(trees) != 1:
        raise InputTypeError(f"{model.estimator} has many trees, but one is wanted. {_remedy(model)}")
    number = 0 if tree is None else tree_number(tree, model)
    is_boosted = trees.round_size > 0
    return OneTree(
        trees.term(number).tree,
        model.schema,
        () if is_boosted else model.classes,
        model.unseen,
        GAIN if is_boosted else trees.criterion or "impurity",
        _title(model, number),
    )


def tree_number(tree: object, model: Model) -> int:
    """Number of a tree, counted from 0, negative ones from the end; or the tree of a pair of a round and a score."""
    n_trees, names = len(model.trees), _round_names(model)
    number = _from_pair(tree, n_trees, names) if isinstance(tree, (tuple, list)) else tree
    if _is_integer(number) and -n_trees <= number < n_trees:
        return int(number) % n_trees
    raise ParameterError(
        f"tree={tree!r} is not allowed: the model has {counted(n_trees, 'tree')}, so it must be an integer from 0 to "
        f"{n_trees - 1}{_about_pairs(model, names)}. Use tree=0 for the first one."
    )


def _round_names(model: Model) -> list[str]:
    """Names of the scores that the trees of a round add to; none without rounds, or if one tree adds to all scores."""
    has_own = model.trees.round_size == len(model.score_names)
    return [one_line(name) for name in model.score_names] if has_own else []


def _from_pair(pair: Sequence[object], n_trees: int, names: Sequence[str]) -> int | None:
    """The number that (round, score) stands for, or None."""
    if not names or len(pair) != 2:
        return None
    number, k, n_rounds = pair[0], _score_number(pair[1], names), n_trees // len(names)
    if k is None or not _is_integer(number) or not -n_rounds <= number < n_rounds:
        return None
    return int(number) % n_rounds * len(names) + k


def _score_number(score: object, names: Sequence[str]) -> int | None:
    """Integers are positions even if classes are integers, too; their names are strings such as "2" then."""
    if _is_integer(score):
        return int(score) if 0 <= score < len(names) else None
    name = one_line(score.item() if isinstance(score, np.generic) else score)
    return names.index(name) if name in names else None


def _is_integer(value: object) -> TypeGuard[int]:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _about_pairs(model: Model, names: Sequence[str]) -> str:
    if not names:
        return ", the number of a round, whose one tree adds to all scores" if model.trees.round_size else ""
    numbers, n_rounds = "0" if len(names) == 1 else f"0 to {len(names) - 1}", len(model.trees) // len(names)
    return f", or a pair of a round (0 to {n_rounds - 1}) and a score ({numbers}, or of {shorten(names)})"


def _remedy(model: Model) -> str:
    names = _round_names(model)
    pair = f", or tree=(0, {names[0]!r}) for a round and a score" if len(names) > 1 else ""
    return f"Use tree=0 for the first of them{pair}."


def _title(model: Model, number: int) -> str:
    n_trees, names = len(model.trees), _round_names(model)
    if names:
        turn, score = divmod(number, len(names))
        about = f", {names[score]}" if len(names) > 1 else ""
        return f"round {turn} (of 0 to {n_trees // len(names) - 1}){about}"
    if model.trees.round_size:
        return f"round {number} (of 0 to {n_trees - 1}), values for {shorten([*map(one_line, model.score_names)])}"
    return f"tree {number} (of 0 to {n_trees - 1})" if n_trees > 1 else ""

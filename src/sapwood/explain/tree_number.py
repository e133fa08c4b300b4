"""One tree of a model: which one a user means, the classes in its nodes, and the score that it adds to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

import numpy as np

from sapwood.arrays import Array
from sapwood.errors import ParameterError
from sapwood.explain.column_values import plain
from sapwood.model import Model
from sapwood.one_line import one_line
from sapwood.table.names import shorten
from sapwood.tree import Tree


def tree_number(tree: object, model: Model) -> int:
    """Number of a tree, counted from 0 (negative ones from the end), or of the pair (round, score) of boosting."""
    n_trees, names = len(model.trees), _names_of_scores(model)
    number = _from_pair(tree, n_trees, names) if isinstance(tree, (tuple, list)) else tree
    if _is_number(number) and -n_trees <= number < n_trees:
        return int(number) % n_trees
    raise ParameterError(
        f"tree={tree!r} is not allowed: the model has {n_trees} trees, so it must be an integer from 0 to "
        f"{n_trees - 1}{_allowed_pairs(n_trees, names)}. Use tree=0 for the first one."
    )


def score_title(model: Model, k: int) -> str:
    """What column k of the scores is called: "score", "score 1" or "score of setosa"."""
    name = one_line(model.score_names[k])
    return f"score of {name}" if model.is_classifier else name


def classes_of_tree(model: Model, tree: Tree) -> list[Array]:
    """Classes of every output, if the nodes of the tree hold shares of classes; else none."""
    return list(model.classes) if tuple(map(len, model.classes)) == tree.n_classes else []


def _names_of_scores(model: Model) -> list[str]:
    """Names of the scores of a round, each on one line; none for models without rounds."""
    return [one_line(name) for name in model.score_names] if model.trees.round_size else []


def _allowed_pairs(n_trees: int, names: list[str]) -> str:
    if not names:
        return ""
    numbers = "0" if len(names) == 1 else f"0 to {len(names) - 1}"
    return f", or a pair of a round (0 to {n_trees // len(names) - 1}) and a score ({numbers}, or of {shorten(names)})"


def _from_pair(pair: Sequence[object], n_trees: int, names: list[str]) -> int | None:
    """The number that (round, score) stands for, or None."""
    if not names or len(pair) != 2 or not _is_number(pair[0]):
        return None
    t, k, n_rounds = pair[0], _score_number(pair[1], names), n_trees // len(names)
    return None if k is None or not -n_rounds <= t < n_rounds else int(t) % n_rounds * len(names) + k


def _score_number(score: object, names: list[str]) -> int | None:
    """Integers are positions even if classes are integers, too; their names are strings such as "2" then."""
    if _is_number(score):
        return int(score) if 0 <= score < len(names) else None
    name = one_line(plain(score))
    return names.index(name) if name in names else None


def _is_number(value: object) -> TypeGuard[int]:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)

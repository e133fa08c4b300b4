"""Which tree is meant: a number, or a round and a score of boosting."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood.errors import ParameterError
from sapwood.explain.column_numbers import plain, scores_per_round
from sapwood.show.names import one_line
from sapwood.table.names import shorten


def member_number(tree: Any, model: Any) -> int:
    """Number of a tree, counted from 0; negative ones count from the end. A score is a number or a name."""
    n_trees, names = len(model._tree_sum()), _names_of_scores(model)
    number: Any = _from_pair(tree, n_trees, names) if isinstance(tree, (tuple, list)) else tree
    if _is_number(number) and -n_trees <= number < n_trees:
        return int(number) % n_trees
    raise ParameterError(
        f"tree={tree!r} is not allowed: the model has {n_trees} trees, so it must be an integer from 0 to "
        f"{n_trees - 1}{_about_pairs(n_trees, names)}. Use tree=0 for the first one."
    )


def _names_of_scores(model: Any) -> list[str]:
    """What the scores of a round are called, on one line as in all print; none for models without rounds."""
    return [] if scores_per_round(model) is None else [one_line(name) for name in model._score_names()]


def _about_pairs(n_trees: int, names: list[str]) -> str:
    if not names:
        return ""
    numbers = "0" if len(names) == 1 else f"0 to {len(names) - 1}"
    return f", or a pair of a round (0 to {n_trees // len(names) - 1}) and a score ({numbers}, or of {shorten(names)})"


def _from_pair(pair: Any, n_trees: int, names: list[str]) -> int | None:
    """The number that (round, score) stands for, or None."""
    if not names or len(pair) != 2 or not _is_number(pair[0]):
        return None
    t, k, n_rounds = pair[0], _score_number(pair[1], names), n_trees // len(names)
    return None if k is None or not -n_rounds <= t < n_rounds else int(t) % n_rounds * len(names) + k


def _score_number(score: Any, names: list[str]) -> int | None:
    """Integers are positions even if classes are integers, too; their names are strings such as "2" then."""
    if _is_number(score):
        return int(score) if 0 <= score < len(names) else None
    name = one_line(plain(score))
    return names.index(name) if name in names else None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)

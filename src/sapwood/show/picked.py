"""One tree of a model, picked by its number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sapwood.errors import InputTypeError, NotFittedError, ParameterError
from sapwood.parameters import Interval, check_parameters
from sapwood.show.card import GAIN
from sapwood.show.chosen_output import chosen_output
from sapwood.show.fitted import require_model
from sapwood.show.names import one_line
from sapwood.tree import Tree


@dataclass(frozen=True)
class Picked:
    """What is drawn: anything with a `tree_`, a `schema_` and a `criterion`; the title says which tree it is."""

    estimator: Any
    title: str = ""


@dataclass(frozen=True)
class BoostedTree:
    """A tree of boosting, whose values are what it adds to a score."""

    tree_: Tree
    schema_: Any
    criterion: str = GAIN


def picked_tree(model: Any, tree: Any, argument: str = "model") -> Picked:
    """The tree of a single tree, or one of those of an ensemble: its number or, for boosting, (round, score)."""
    require_model(model, argument)
    if hasattr(model, "tree_"):
        if tree is not None:
            raise ParameterError(f"tree={tree!r} is not allowed: {type(model).__name__} is one tree. Leave it out.")
        return Picked(model)
    owner = type(model).__name__
    if tree is None:
        raise InputTypeError(f"{owner} has many trees, but one is wanted. {_remedy(model)}")
    if hasattr(model, "ensemble_"):
        return _boosted(model, owner, tree)
    if hasattr(model, "estimators_"):
        return _member(model, owner, tree)
    raise NotFittedError(f"This {owner} has no trees yet. Call fit(X, y) first.")


def _remedy(model: Any) -> str:
    """What to write for one of many trees."""
    first = "Use tree=0 for the first of them"
    if not hasattr(model, "ensemble_") or model.ensemble_.n_scores == 1:
        return f"{first}."
    return f"{first}, or tree=(0, {one_line(model._score_names()[0])!r}) for a round and a score."


def _boosted(model: Any, owner: str, tree: Any) -> Picked:
    rounds, n_scores = model.ensemble_.rounds, model.ensemble_.n_scores
    names = [one_line(name) for name in model._score_names()]
    if isinstance(tree, tuple):
        number, score = _round_and_score(owner, tree, len(rounds), names)
    else:
        _check_number(owner, "tree", tree, len(rounds) * n_scores)
        number, score = divmod(int(tree), n_scores)
    title = f"round {number} (of 0 to {len(rounds) - 1})" + (f", {names[score]}" if n_scores > 1 else "")
    return Picked(BoostedTree(rounds[number][score], model.schema_), title)


def _round_and_score(owner: str, tree: tuple[Any, ...], n_rounds: int, names: list[str]) -> tuple[int, int]:
    if len(tree) != 2:
        raise ParameterError(f"tree={tree!r} is not allowed: it must be a number, or a round and a score, as (0, 0).")
    _check_number(owner, "round", tree[0], n_rounds)
    return int(tree[0]), chosen_output(tree[1], names, "score")


def _member(model: Any, owner: str, tree: Any) -> Picked:
    count = len(model.estimators_)
    _check_number(owner, "tree", tree, count)
    member = model.estimators_[int(tree)]
    if not (hasattr(member, "tree_") and hasattr(member, "schema_")):
        raise InputTypeError(
            f"tree={tree} of this {owner} is a {type(member).__name__}, which is no tree of Sapwood. Draw a model with "
            "estimator=None or a DecisionTree of Sapwood."
        )
    return Picked(member, f"tree {int(tree)} (of 0 to {count - 1})")


def _check_number(owner: str, name: str, number: Any, count: int) -> None:
    check_parameters(f"this {owner}", {name: (Interval(int, 0, count - 1),)}, {name: number})

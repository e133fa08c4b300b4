"""Trees as rules: one for each leaf, IF conditions THEN the prediction of the leaf."""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sapwood.counted import counted
from sapwood.explain.leaf_conditions import Conditions
from sapwood.explain.model_output import classes_of_tree, prediction_values, score_title
from sapwood.keywords import answering
from sapwood.model import Model, model_of
from sapwood.one_line import one_line
from sapwood.parameters import Interval, Nothing, check_parameters
from sapwood.result import Part, Result
from sapwood.show.line_text import line_texts
from sapwood.show.names import feature_names_for
from sapwood.show.number import percent, plain_number
from sapwood.show.one_tree import tree_number
from sapwood.show.prediction import class_shares, predicted
from sapwood.show.value import level_text
from sapwood.table.frame import make_frame
from sapwood.tree_sum import Term

_RULES = {
    "decimals": (Interval(int, low=0),),
    "most": (Interval(int, low=1), Nothing(remedy="Use most=None for all rules.")),
}
_ENTITY, _TAG, _MARK = re.compile(r"&(?=#?\w+;)"), re.compile(r"<(?=[A-Za-z/!?])"), re.compile(r"[\\|`*\[\]]")


@dataclass(frozen=True, repr=False)
class Rule(Result):
    """A leaf: the conditions that lead to it, its number of training rows, and its prediction.

    `prediction` is a class or number (a tuple if there are several outputs) and `shares` are those of the classes, one
    tuple for each output. A tree of boosting adds its number to a score, or its numbers to all of them: see `about`.
    """

    tree: int
    leaf: int
    conditions: tuple[str, ...]
    prediction: Any
    shares: tuple[tuple[float, ...], ...] | None
    about: str | None
    n_rows: int
    weight: float
    share: float
    """Share of the tree's training rows, by weight."""
    lines: tuple[str, ...] = ()
    """What a linear leaf adds to its number."""

    @property
    def condition(self) -> str:
        """All conditions in one sentence."""
        return " AND ".join(self.conditions) or "always"

    @property
    def prediction_text(self) -> str:
        """The prediction as text."""
        values = prediction_values(self.prediction)
        if self.shares is not None:
            largest = [max(row) for row in self.shares]
            return ", ".join(f"{level_text(v)} ({percent(s)})" for v, s in zip(values, largest, strict=True))
        if self.about is None:
            return ", ".join(plain_number(value, 3) for value in values)
        texts = [("+" if value >= 0 else "") + plain_number(value, 3) for value in values]
        return f"{' '.join([', '.join(texts), *self.lines])} to the {self.about}"

    def _parts(self) -> Iterator[Part]:
        yield f"IF {self.condition} THEN {self.prediction_text}  [{counted(self.n_rows, 'row')}, {percent(self.share)}]"


@dataclass(frozen=True, repr=False)
class Rules(Result, Sequence[Rule]):
    """Rules of one or more trees, leaves from left to right, or those of most rows first."""

    rules: tuple[Rule, ...]
    class_names: tuple[tuple[Any, ...], ...] = ()

    def __len__(self) -> int:
        return len(self.rules)

    def __getitem__(self, at: Any) -> Any:
        return self.rules[at]

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def _parts(self) -> Iterator[Part]:
        """One line for each rule, with the number of its tree if there are several."""
        several = len({rule.tree for rule in self.rules}) > 1
        yield from (f"tree {rule.tree}: {rule}" if several else str(rule) for rule in self.rules)

    def to_frame(self) -> Any:
        """Rules as a data frame, ready for a file."""
        return make_frame({name: [row[name] for row in self._rows()] for name in self._heads()})

    def to_markdown(self) -> str:
        """Rules as a table in Markdown."""
        heads = ["tree", "if", "then", "n_rows", "share"]
        lines = [[*(str(row[head]) for head in heads[:4]), percent(row["share"])] for row in self._rows()]
        escaped = [[_marked_down(cell) for cell in line] for line in lines]
        return "\n".join(f"| {' | '.join(line)} |" for line in [heads, ["---"] * len(heads), *escaped])

    def _heads(self) -> list[str]:
        shares = [f"share of {name}" for names in self._share_names() for name in names]
        return ["tree", "leaf", "if", "then", "prediction", "n_rows", "weight", "share", *shares]

    def _share_names(self) -> list[list[str]]:
        several = len(self.class_names) > 1
        return [
            [f"output {o}: {label}" if several else str(label) for label in labels]
            for o, labels in enumerate(self.class_names)
        ]

    def _rows(self) -> Iterator[dict[str, Any]]:
        for rule in self.rules:
            row = {"tree": rule.tree, "leaf": rule.leaf, "if": rule.condition, "then": rule.prediction_text}
            row |= {"prediction": rule.prediction, "n_rows": rule.n_rows, "weight": rule.weight, "share": rule.share}
            for names, shares in zip(self._share_names(), rule.shares or (), strict=False):
                row |= {f"share of {name}": share for name, share in zip(names, shares, strict=True)}
            yield row


def _marked_down(cell: str) -> str:
    """Text that Markdown shows as it is, without columns, tags, entities, links or code."""
    return _MARK.sub(r"\\\g<0>", _TAG.sub("&lt;", _ENTITY.sub("&amp;", cell)))


@answering
def trees_as_rules(
    model: object, *, tree: object = None, feature_names: object = None, decimals: int = 2, most: int | None = None
) -> Rules:
    """One rule for each leaf: "IF a <= 3 AND b in {x, y} THEN yes (80 %)".

    Conditions on the same column are merged into one. "or missing" appears only for columns that had missing values in
    training; levels that were unknown to training go where missing values go.

    Args:
        model: any fitted model of trees of this library.
        tree: number of one tree, or (round, score) for boosting, the score by number or class name; None takes all.
        feature_names: names to use instead of those seen in fit.
        decimals: minimum number of decimals of thresholds; they get more where fewer would make two look alike.
        most: maximum number of rules; those with the largest share of the rows of their tree come first.
    """
    check_parameters("trees_as_rules", _RULES, {"decimals": decimals, "most": most})
    model = model_of(model)
    names = feature_names_for(feature_names, model.schema)
    trees = model.require_trees()
    chosen = range(len(trees)) if tree is None else [tree_number(tree, model)]
    found = (rule for t in chosen for rule in _rules_of(model, t, trees.term(t), names, decimals))
    rules = tuple(found) if most is None else tuple(heapq.nsmallest(most, found, key=lambda rule: -rule.share))
    labels = classes_of_tree(model, trees.term(chosen[0]).tree)
    return Rules(rules, tuple(tuple(own.tolist()) for own in labels))


def _scores_of(model: Model, term: Term) -> str:
    """The score that a tree of boosting adds to, or all of them."""
    if term.values.shape[1] == 1:
        return score_title(model, term.column)
    names = ", ".join(map(one_line, model.score_names))
    return f"scores of {names}" if model.is_classifier else names


def _rules_of(model: Model, t: int, term: Term, names: list[str], decimals: int) -> Iterator[Rule]:
    tree, labels = term.tree, classes_of_tree(model, term.tree)
    conditions = Conditions(tree, model.schema, names, decimals)
    about = _scores_of(model, term) if model.trees.round_size else None
    for k, leaf in enumerate(conditions.boxes.leaves.tolist()):
        shares = tuple(tuple(row.tolist()) for row in class_shares(tree, leaf)) if labels else None
        weight = float(tree.weighted_n_node_samples[leaf])
        yield Rule(
            t,
            leaf,
            conditions.of_leaf(k),
            predicted(tree, labels, leaf),
            shares,
            about,
            int(tree.n_node_samples[leaf]),
            weight,
            weight / float(tree.weighted_n_node_samples[0]),
            tuple(line_texts(tree, model.schema, leaf, names, max(decimals, 3))),
        )

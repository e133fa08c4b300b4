"""Certificates: proof that a fitted ensemble keeps its constraints, or rows that show that it does not.

Monotone in a column: two leaves of a tree whose boxes overlap in all other columns are parted by splits on this column
alone; a tree is monotone if the values of all such pairs are in order. A sum of monotone trees is monotone, and so is
its rounding, addition by addition. Missing values of the column have no place in its order and are not compared.

Interactions: the columns on each path from the root to a leaf, and of its lines, lie in one of the allowed sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Mask
from sapwood.counted import counted
from sapwood.errors import ParameterError
from sapwood.explain.counter_example import CounterExample, CounterExampleSearch, Violation
from sapwood.explain.leaf_boxes import Boxes, find_cells, subtree_ends
from sapwood.model import Model
from sapwood.result import Part, Result
from sapwood.table.schema import Schema
from sapwood.tree import Tree
from sapwood.tree_sum import Term

Sets = tuple[frozenset[int], ...]
WIDTH = 110  # of the argument in print
MOST_VIOLATIONS = 50  # for which counter-examples are searched


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Result):
    """What `certify` found; true if all constraints are kept.

    Attributes:
        ok: whether all constraints are kept by every tree.
        checked: the constraints as text.
        n_trees, n_leaf_pairs, n_paths: what was checked.
        proof: the argument as text; or what is wrong, if `ok` is false.
        counter_example: rows that show it, if `ok` is false.
    """

    ok: bool
    checked: tuple[str, ...]
    n_trees: int
    n_leaf_pairs: int
    n_paths: int
    proof: str
    counter_example: CounterExample | None = None

    def __bool__(self) -> bool:
        """Whether all constraints are kept."""
        return self.ok

    def _parts(self) -> Iterator[Part]:
        """The verdict, the constraints, the argument, and rows that show what is wrong."""
        yield f"Certificate: the constraints are {'kept' if self.ok else 'BROKEN'} ({self.n_trees} trees)"
        yield from (f"  {constraint}" for constraint in self.checked)
        yield from wrap(self.proof, WIDTH)
        if self.counter_example is not None:
            yield from self.counter_example._parts()


def certify(model: Model, signs: NDArray[np.int8] | None, together: Sets | None) -> Certificate:
    """Check every tree of boosting: monotone constraints (a sign for each column), sets of columns that may meet."""
    schema = model.schema
    checked = (*_describe_signs(signs, schema), *_describe_sets(together, schema))
    if not checked:
        raise ParameterError(
            "There is nothing to certify: the model has no constraints. Pass monotone_constraints or "
            "interaction_constraints to certify, or train with them."
        )
    if signs is not None and model.trees.is_linear:
        raise ParameterError(
            f"monotone_constraints cannot be certified for this {model.estimator}, whose leaves are linear functions "
            "of columns. Train with linear_tree=False, or with monotone_constraints, which leave linear leaves out."
        )
    check = _Check(model)
    wrong_pairs = [] if signs is None else check.monotone(signs)
    wrong_paths = [] if together is None else check.interactions(together)
    violations = wrong_pairs or wrong_paths
    example = CounterExampleSearch(model, check.cells).best(violations) if violations else None
    proof = check.proof(signs is not None, together is not None) if example is None else _describe_violation(example)
    return Certificate(example is None, checked, check.n_trees, check.n_pairs, check.n_paths, proof, example)


class _Check:
    """Checks all trees, and counts what it checks."""

    def __init__(self, model: Model) -> None:
        size = model.trees.round_size
        self._terms = [(t // size, t % size, term) for t, term in enumerate(model.trees)]
        self.cells = find_cells((term.tree for _, _, term in self._terms), model.schema)
        self.n_trees, self.n_pairs, self.n_paths = len(self._terms), 0, 0

    def monotone(self, signs: NDArray[np.int8]) -> list[Violation]:
        """Pairs of leaves in the wrong order, the worst ones first."""
        found: list[Violation] = []
        for t, k, term in self._terms:
            for score in range(term.values.shape[1]):
                found += self._wrong_pairs(t, k, term, score, signs)
        return sorted(found, key=lambda violation: -violation.size)[:MOST_VIOLATIONS]

    def _wrong_pairs(self, t: int, k: int, term: Term, score: int, signs: NDArray[np.int8]) -> Iterator[Violation]:
        """The worst pair of leaves below each split on a constrained column, of its left side against its right."""
        tree, own = term.tree, term.values[:, score]
        leaves, ends, boxes = np.flatnonzero(tree.is_leaf), subtree_ends(tree), None
        inner = np.flatnonzero(~tree.is_leaf)
        for node in inner[signs[tree.feature[inner]] != 0]:
            j = int(tree.feature[node])
            start, middle, stop = np.searchsorted(leaves, [node, tree.children_right[node], ends[node]])
            self.n_pairs += int((middle - start) * (stop - middle))
            value = signs[j] * own[leaves]
            left, right = slice(start, middle), slice(middle, stop)
            if value[left].max() <= value[right].min():
                continue  # all pairs are in order, whether they overlap or not
            boxes = Boxes.of(tree, self.cells) if boxes is None else boxes
            excess = np.where(_comparable(boxes, j, left, right), value[left, None] - value[None, right], 0.0)
            a, b = np.unravel_index(np.argmax(excess), excess.shape)
            if excess[a, b] > 0:
                pair = int(start + a), int(middle + b)
                where = t, k, tree, term.column + score, own
                yield Violation(*where, (j,), int(signs[j]), boxes, pair, float(excess[a, b]))

    def interactions(self, together: Sets) -> list[Violation]:
        """Paths whose columns lie in no set."""
        found: list[Violation] = []
        for t, k, term in self._terms:
            boxes, tree = None, term.tree
            for position, (leaf, splits) in enumerate(_paths(tree)):
                self.n_paths += 1
                path = splits if tree.linear is None else splits.union(tree.linear.of_node(leaf)["column"].tolist())
                if len(path) < 2 or any(path <= group for group in together):
                    continue
                if len(found) < MOST_VIOLATIONS:
                    boxes = Boxes.of(tree, self.cells) if boxes is None else boxes
                    score, columns = int(np.argmax(np.abs(term.values[leaf]))), _forbidden_columns(path, together)
                    where, own = (t, k, tree, term.column + score), term.values[:, score]
                    size = abs(float(own[leaf]))
                    found.append(Violation(*where, own, columns, 0, boxes, (position, position), size))
        return sorted(found, key=lambda violation: (len(violation.columns), -violation.size))

    def proof(self, monotone: bool, interactions: bool) -> str:
        """Why the constraints are kept."""
        parts = []
        if monotone:
            parts.append(
                f"In each of {counted(self.n_trees, 'tree')}, of any two leaves that a row can pass between when a "
                f"constrained column alone changes from one number to another, the values are in order ({self.n_pairs} "
                "pairs of leaves examined). So each tree is monotone in these columns, and so are the scores, which "
                "add the trees up; rounding keeps the order. Missing values have no place in the order and are not "
                "compared."
            )
        if interactions:
            parts.append(
                f"On each of {self.n_paths} paths from a root to a leaf, all columns lie in one allowed set. So each "
                "tree, and their sum, is a sum of functions of one set of columns each."
            )
        return " ".join(parts)


def _comparable(boxes: Boxes, j: int, left: slice, right: slice) -> Mask:
    """Pairs of leaves between which a row can pass when column j alone changes from one number to another."""
    has_number = boxes.sides[j].has_cells
    found = has_number[left, None] & has_number[None, right]
    for other, side in boxes.sides.items():
        if other != j:
            found &= side.overlaps(left, right)
    return np.asarray(found)


def _paths(tree: Tree) -> Iterator[tuple[int, frozenset[int]]]:
    """Leaves from left to right with the columns above them."""
    above: dict[int, frozenset[int]] = {0: frozenset()}
    for node in range(tree.node_count):
        own = above.pop(node)
        if tree.children_left[node] < 0:
            yield node, own
        else:
            path = own | {int(tree.feature[node])}
            above[int(tree.children_left[node])] = above[int(tree.children_right[node])] = path


def _forbidden_columns(path: frozenset[int], together: Sets) -> tuple[int, ...]:
    """Two columns of a path that may not meet; the whole path, if any two may."""
    ordered = sorted(path)
    for i, a in enumerate(ordered):
        for b in ordered[i + 1 :]:
            if not any({a, b} <= group for group in together):
                return a, b
    return tuple(ordered)


def _describe_signs(signs: NDArray[np.int8] | None, schema: Schema) -> list[str]:
    if signs is None:
        return []
    return [
        f"the score {'rises' if sign > 0 else 'falls'} or stays as {name!r} rises"
        for name, sign in zip(schema.names, signs, strict=True)
        if sign
    ]


def _describe_sets(together: Sets | None, schema: Schema) -> list[str]:
    if together is None:
        return []
    groups = ["{" + ", ".join(repr(schema.names[j]) for j in sorted(group)) + "}" for group in together]
    return [f"columns interact only within {', '.join(groups) if groups else 'no set'}"]


def _describe_violation(example: CounterExample) -> str:
    """The violation as text."""
    where = f"tree {example.tree} of round {example.round}"
    names = " and ".join(map(repr, example.columns))
    if example.kind == "interaction":
        first = f"Columns {names} meet on a path of {where}, which no allowed set permits."
        if not example.in_model:
            return f"{first} In the rows that were tried, the model's scores do not show it."
        before, after = example.scores[1] - example.scores[0], example.scores[3] - example.scores[2]
        return (
            f"{first} The same change of {example.columns[0]!r} moves the {example.about} by {before:.6g}, but by "
            f"{after:.6g} once {example.columns[1]!r} is another."
        )
    low, high = (row[example.columns[0]] for row in example.rows)
    change = f"{names} rises from {low!r} to {high!r} and nothing else changes"
    if example.in_model:
        return (
            f"When {change}, the {example.about} goes from {example.scores[0]:.6g} to {example.scores[1]:.6g}: the "
            f"wrong way. The order is broken by {where}."
        )
    return (
        f"When {change}, {where} goes from {example.tree_values[0]:.6g} to {example.tree_values[1]:.6g}: the wrong "
        "way. In the rows that were tried, other trees compensate for it: the tree breaks the constraint, but no row "
        "was found for which the model does."
    )

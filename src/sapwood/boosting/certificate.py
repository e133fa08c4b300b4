"""Certificates: proof that a fitted ensemble keeps its constraints, or rows that show that it does not.

Monotone in a column: two leaves of a tree whose boxes overlap in all other columns are parted by splits on this column
alone; a tree is monotone if the values of all such pairs are in order. A sum of monotone trees is monotone, and so is
its rounding, addition by addition. Missing values of the column have no place in its order and are not compared.

Interactions: the columns on each path from the root to a leaf lie in one of the allowed sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Mask
from sapwood.boosting.boxes import Boxes, find_cells, subtree_ends
from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.witness import Breach, Witnesses
from sapwood.counted import counted
from sapwood.errors import ParameterError
from sapwood.one_line import one_line
from sapwood.result import Part, Result, TextTable
from sapwood.table.schema import Schema
from sapwood.tree import Tree

Sets = tuple[frozenset[int], ...]
WIDTH = 110  # of the argument in print
MOST_BREACHES = 50  # of which witnesses are sought


@dataclass(frozen=True, eq=False, repr=False)
class CounterExample(Result):
    """Rows that show that a constraint is broken.

    Attributes:
        kind: "monotone" or "interaction".
        columns: the constrained column; or two columns that should not interact (all columns of the path, if any two
            of them may meet, but not all).
        rows: for "monotone", two rows that differ in the column alone, the lower value first. For "interaction", four:
            a row, the same with the first column changed, with the second one changed, and with both; or one row that
            takes the path, if the model's scores do not show the breach.
        scores: of the rows. Two are in the wrong order; of four, the change by the first column depends on the second.
        round, tree: where the breach was found.
        in_model: whether `scores`, those of the whole model, show the breach. If not, other trees make up for it in
            all rows that were tried, and only the tree's own values show it.
        tree_values: what the tree alone says for the rows.
    """

    kind: str
    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    scores: tuple[float, ...]
    round: int
    tree: int
    in_model: bool
    tree_values: tuple[float, ...]

    def _parts(self) -> Iterator[Part]:
        """The rows, with what they get: their own columns first, since other columns are alike in all of them."""
        yield f"Counter-example ({self.kind}) in tree {self.tree} of round {self.round}:"
        names = [*self.columns, *(name for name in self.rows[0] if name not in self.columns)]
        heads = ["score", "value of the tree", *map(one_line, names)]
        numbers = zip(self.rows, self.scores, self.tree_values, strict=False)
        yield TextTable(
            heads,
            [[f"{s:.6g}", f"{v:.6g}", *(one_line(row[name]) for name in names)] for row, s, v in numbers],
            sides="r",
        )


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Result):
    """What `certify` found; true if all constraints are kept.

    Attributes:
        ok: whether all constraints are kept by every tree.
        checked: the constraints, in words.
        n_trees, n_leaf_pairs, n_paths: what was looked at.
        proof: the argument in words; or what is wrong, if `ok` is false.
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


def certify(ensemble: Ensemble, schema: Schema, signs: NDArray[np.int8] | None, together: Sets | None) -> Certificate:
    """Check every tree against monotone constraints (a sign for each column) and sets of columns that may meet."""
    checked = (*_said_signs(signs, schema), *_said_sets(together, schema))
    if not checked:
        raise ParameterError(
            "There is nothing to certify: the model has no constraints. Pass monotone_constraints or "
            "interaction_constraints to certify, or train with them."
        )
    check = _Check(ensemble, schema)
    disorder = [] if signs is None else check.monotone(signs)
    strangers = [] if together is None else check.interactions(together)
    found = Witnesses(ensemble, schema, check.cells).best(disorder or strangers) if disorder or strangers else None
    example = None if found is None else CounterExample(*found)
    proof = check.proof(signs is not None, together is not None) if example is None else _indictment(example)
    return Certificate(example is None, checked, check.n_trees, check.n_pairs, check.n_paths, proof, example)


class _Check:
    """Goes through all trees, and counts what it looks at."""

    def __init__(self, ensemble: Ensemble, schema: Schema) -> None:
        self._trees = [(t, k, tree) for t, trees in enumerate(ensemble.rounds) for k, tree in enumerate(trees)]
        self.cells = find_cells((tree for _, _, tree in self._trees), schema)
        self.n_trees, self.n_pairs, self.n_paths = len(self._trees), 0, 0

    def monotone(self, signs: NDArray[np.int8]) -> list[Breach]:
        """Pairs of leaves in the wrong order, the worst ones first."""
        found: list[Breach] = []
        for t, k, tree in self._trees:
            found += self._disorder(t, k, tree, signs)
        return sorted(found, key=lambda breach: -breach.size)[:MOST_BREACHES]

    def _disorder(self, t: int, k: int, tree: Tree, signs: NDArray[np.int8]) -> Iterator[Breach]:
        """The worst pair of leaves below each split on a constrained column, of its left side against its right."""
        leaves, ends, boxes = np.flatnonzero(tree.is_leaf), subtree_ends(tree), None
        for node in np.flatnonzero(~tree.is_leaf & (signs[tree.feature] != 0)):
            j = int(tree.feature[node])
            start, middle, stop = np.searchsorted(leaves, [node, tree.children_right[node], ends[node]])
            self.n_pairs += int((middle - start) * (stop - middle))
            value = signs[j] * tree.value[leaves, 0, 0]
            left, right = slice(start, middle), slice(middle, stop)
            if value[left].max() <= value[right].min():
                continue  # all pairs are in order, whether they overlap or not
            boxes = Boxes.of(tree, self.cells) if boxes is None else boxes
            excess = np.where(_comparable(boxes, j, left, right), value[left, None] - value[None, right], 0.0)
            a, b = np.unravel_index(np.argmax(excess), excess.shape)
            if excess[a, b] > 0:
                pair = int(start + a), int(middle + b)
                yield Breach(t, k, tree, (j,), int(signs[j]), boxes, pair, float(excess[a, b]))

    def interactions(self, together: Sets) -> list[Breach]:
        """Paths whose columns lie in no set."""
        found: list[Breach] = []
        for t, k, tree in self._trees:
            boxes = None
            for position, (leaf, path) in enumerate(_paths(tree)):
                self.n_paths += 1
                if len(path) < 2 or any(path <= group for group in together):
                    continue
                if len(found) < MOST_BREACHES:
                    boxes = Boxes.of(tree, self.cells) if boxes is None else boxes
                    size, columns = abs(float(tree.value[leaf, 0, 0])), _strangers(path, together)
                    found.append(Breach(t, k, tree, columns, 0, boxes, (position, position), size))
        return sorted(found, key=lambda breach: (len(breach.columns), -breach.size))

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


def _strangers(path: frozenset[int], together: Sets) -> tuple[int, ...]:
    """Two columns of a path that may not meet; the whole path, if any two may."""
    ordered = sorted(path)
    for i, a in enumerate(ordered):
        for b in ordered[i + 1 :]:
            if not any({a, b} <= group for group in together):
                return a, b
    return tuple(ordered)


def _said_signs(signs: NDArray[np.int8] | None, schema: Schema) -> list[str]:
    if signs is None:
        return []
    return [
        f"the score {'rises' if sign > 0 else 'falls'} or stays as {name!r} rises"
        for name, sign in zip(schema.names, signs, strict=True)
        if sign
    ]


def _said_sets(together: Sets | None, schema: Schema) -> list[str]:
    if together is None:
        return []
    groups = ["{" + ", ".join(repr(schema.names[j]) for j in sorted(group)) + "}" for group in together]
    return [f"columns interact only within {', '.join(groups) if groups else 'no set'}"]


def _indictment(example: CounterExample) -> str:
    """What is wrong, in words."""
    where = f"tree {example.tree} of round {example.round}"
    names = " and ".join(map(repr, example.columns))
    if example.kind == "interaction":
        first = f"Columns {names} meet on a path of {where}, which no allowed set permits."
        if not example.in_model:
            return f"{first} In the rows that were tried, the model's scores do not show it."
        before, after = example.scores[1] - example.scores[0], example.scores[3] - example.scores[2]
        return (
            f"{first} The same change of {example.columns[0]!r} moves the score by {before:.6g}, but by {after:.6g} "
            f"once {example.columns[1]!r} is another."
        )
    low, high = (row[example.columns[0]] for row in example.rows)
    change = f"{names} rises from {low!r} to {high!r} and nothing else changes"
    if example.in_model:
        return (
            f"When {change}, the score goes from {example.scores[0]:.6g} to {example.scores[1]:.6g}: the wrong way. "
            f"The order is broken by {where}."
        )
    return (
        f"When {change}, {where} goes from {example.tree_values[0]:.6g} to {example.tree_values[1]:.6g}: the wrong "
        "way. In the rows that were tried, other trees make up for it, so the tree breaks the constraint, and the "
        "model as a whole was not seen to."
    )

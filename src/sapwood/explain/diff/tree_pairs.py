"""The trees of two models side by side, by position: which are the same, and how the others change the scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Floats, Mask
from sapwood.cached_property import cached_property
from sapwood.explain.diff.column_pairs import ColumnPairs
from sapwood.explain.diff.line_steps import line_steps
from sapwood.explain.diff.matching_nodes import MatchingNodes, SplitComparison, matching_nodes
from sapwood.explain.editable_rows import EditableRows
from sapwood.model import Model
from sapwood.predictor import Descent, find
from sapwood.predictor.lines import add_lines_of
from sapwood.result import Part, Result, TextTable
from sapwood.table.table import Table
from sapwood.tree_sum import Term, TreeSum

Leaves = NDArray[np.int32]

SAME, VALUES, STRUCTURE = "same", "other values", "other structure"
BEFORE, AFTER = "only before", "only after"


@dataclass(frozen=True)
class TreeChange:
    """What became of the tree at one position.

    `status` is "same", "other values" (the same splits, but other leaf values), "other structure" (other splits, or
    values for other scores: one class or all of them), "only before" or "only after". `leaves_kept` are leaves that the
    same splits lead to in both trees, `leaves_same` those of them that also have the same value, and the same lines if
    leaves are linear; `largest_step` is the largest change of the value of a kept leaf, and of what its lines add.
    """

    tree: int
    status: str
    leaves_before: int
    leaves_after: int
    leaves_kept: int = 0
    leaves_same: int = 0
    largest_step: float = 0.0


@dataclass(frozen=True, eq=False, repr=False)
class ScoreParts(Result):
    """Why the scores of rows move, (rows, outputs) each; the sum of the parts is the move.

    | part | moves because of |
    |---|---|
    | start | other scores before the first tree |
    | values | other leaf values in trees of the same structure |
    | structure | trees of other structure, trees that came or went, and the weight of a tree among them |
    """

    start: Floats
    values: Floats
    structure: Floats
    output_names: tuple[object, ...]

    def mean_abs(self) -> dict[str, float]:
        """Mean size of each part over the rows; sizes of outputs are added up."""
        return {name: float(np.abs(own).sum(axis=1).mean()) for name, own in self.by_name().items()}

    def _parts(self) -> Iterator[Part]:
        yield f"Moves of the scores of {len(self.start)} rows, {len(self.output_names)} outputs"
        yield TextTable(("part", "mean size"), [(name, f"{size:.4g}") for name, size in self.mean_abs().items()])

    def by_name(self) -> dict[str, Floats]:
        """The parts by name."""
        return {"start": self.start, "values": self.values, "structure": self.structure}


@dataclass(frozen=True, eq=False, repr=False)
class TreePairs(Result):
    """What became of each tree; which rows are in the same leaves of all trees that both models have; and the parts."""

    trees: tuple[TreeChange, ...]
    same_leaves: Mask
    parts: ScoreParts | None

    def _parts(self) -> Iterator[Part]:
        """How many trees there are of each status, and all trees."""
        yield f"Trees: {', '.join(f'{n} {status}' for status, n in self.counts.items() if n)}"
        heads = ("tree", "status", "leaves before", "leaves after", "leaves kept", "leaves same", "largest step")
        yield TextTable(heads, [_cells(tree) for tree in self.trees], sides="rlr")

    @cached_property
    def n_first_same(self) -> int:
        """How many trees are the same before the first one that is not."""
        return next((tree.tree for tree in self.trees if tree.status != SAME), len(self.trees))

    @cached_property
    def counts(self) -> dict[str, int]:
        """Number of trees by status."""
        found = Counter(tree.status for tree in self.trees)
        return {status: found[status] for status in (SAME, VALUES, STRUCTURE, BEFORE, AFTER)}


def _cells(change: TreeChange) -> list[str]:
    numbers = (change.leaves_before, change.leaves_after, change.leaves_kept, change.leaves_same)
    return [str(change.tree), change.status, *map(str, numbers), f"{change.largest_step:.4g}"]


def pair_trees(
    models: Sequence[Model], rows: Sequence[EditableRows], pairs: ColumnPairs, *, with_parts: bool, n_jobs: int
) -> TreePairs:
    """Compare trees by position, on rows; parts only if the scores of both models are on the same scale."""
    before, after = (
        _Reader(model.trees, own.table, model.unseen == "node", n_jobs) for model, own in zip(models, rows, strict=True)
    )
    comparison = SplitComparison(pairs, (before.stops, after.stops))
    moved = _Moved(*np.zeros((2, before.table.n_rows, before.tree_sum.n_columns))) if with_parts else None
    changes, same_leaves = [], np.ones(before.table.n_rows, dtype=np.bool_)
    for t in range(max(len(before.tree_sum), len(after.tree_sum))):
        old, new = before.read(t), after.read(t)
        match = None
        if old is None or new is None:
            changes.append(_alone(t, old, new))
        else:
            match = matching_nodes(old.term.tree, new.term.tree, comparison)
            same_leaves &= match.node[old.leaves] == new.leaves
            changes.append(_change(t, old.term, new.term, match, pairs, before.stops))
        if moved is not None:
            moved.add(old, new, match is not None and match.is_complete)
    return TreePairs(tuple(changes), same_leaves, None if moved is None else _parts(models, rows, moved))


@dataclass(frozen=True, eq=False)
class _Read:
    """A tree, the leaves of the rows in it, the divisor of its values, and what lines of linear leaves add to rows."""

    term: Term
    leaves: Leaves
    divisor: float
    lines: Floats | None

    @property
    def columns(self) -> slice:
        """Scores that the tree adds to."""
        return slice(self.term.column, self.term.column + self.term.values.shape[1])

    @property
    def row_values(self) -> Floats:
        """The value of the tree for each row, before the division."""
        values = np.asarray(self.term.values[self.leaves])
        return values if self.lines is None else values + self.lines[:, None]


@dataclass(frozen=True, eq=False)
class _Moved:
    """Sums over the trees of their changes of the scores, (rows, columns)."""

    values: Floats
    structure: Floats

    @np.errstate(over="ignore", invalid="ignore")
    def add(self, old: _Read | None, new: _Read | None, same_structure: bool) -> None:
        """Add a pair of trees; differences of values that are not finite may be NaN."""
        if same_structure and old is not None and new is not None and old.columns == new.columns:
            kept = old.row_values / new.divisor  # values of the old tree among the new ones
            self.values[:, new.columns] += new.row_values / new.divisor - kept
            self.structure[:, new.columns] += kept - old.row_values / old.divisor
            return
        if new is not None:
            self.structure[:, new.columns] += new.row_values / new.divisor
        if old is not None:
            self.structure[:, old.columns] -= old.row_values / old.divisor


@dataclass(frozen=True, eq=False)
class _Reader:
    """Rows as one of the models reads them."""

    tree_sum: TreeSum
    table: Table
    stops: bool
    n_jobs: int

    def read(self, t: int) -> _Read | None:
        """Tree t, if there is one."""
        if t >= len(self.tree_sum):
            return None
        term = self.tree_sum.term(t)
        leaves = find(
            Descent.of(term.tree, self.table.dtype), self.table, stop_at_unseen=self.stops, n_jobs=self.n_jobs
        )
        lines = None if term.tree.linear is None else np.zeros(self.table.n_rows)
        if lines is not None:
            add_lines_of(term.tree, leaves, self.table, lines, self.n_jobs)
        return _Read(term, leaves, self.tree_sum.divisor, lines)


def _alone(t: int, old: _Read | None, new: _Read | None) -> TreeChange:
    leaves = [0 if one is None else one.term.tree.n_leaves for one in (old, new)]
    return TreeChange(t, AFTER if old is None else BEFORE, *leaves)


def _change(t: int, old: Term, new: Term, match: MatchingNodes, pairs: ColumnPairs, stops: bool) -> TreeChange:
    """Compare a tree with the one at its position; where rows may stop at inner nodes, these count, too."""
    at = np.flatnonzero((match.node >= 0) & old.tree.is_leaf)
    at = at[new.tree.is_leaf[match.node[at]]]
    if old.column != new.column or old.values.shape[1] != new.values.shape[1]:  # values of other scores
        return TreeChange(t, STRUCTURE, old.tree.n_leaves, new.tree.n_leaves, len(at))
    opposite = match.node[at]
    steps = _steps(old, at, new, opposite) + line_steps(old.tree, at, new.tree, opposite, pairs.places)
    same = match.is_complete and not steps.any()
    if same and stops:
        same = not _steps(old, np.arange(len(match.node)), new, match.node).any()
    status = SAME if same else VALUES if match.is_complete else STRUCTURE
    return TreeChange(
        t,
        status,
        old.tree.n_leaves,
        new.tree.n_leaves,
        len(at),
        int(np.count_nonzero(steps == 0)),
        float(steps.max(initial=0.0)),
    )


def _steps(old: Term, at: NDArray[np.intp], new: Term, opposite: NDArray[np.intp]) -> Floats:
    """By how much the values of nodes change."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(np.abs(new.values[opposite] - old.values[at]).max(axis=1))


def _parts(models: Sequence[Model], rows: Sequence[EditableRows], moved: _Moved) -> ScoreParts:
    old, new = (_start(model, own) for model, own in zip(models, rows, strict=True))
    kept = models[1].kept_scores
    names = tuple(models[1].score_names[k] for k in kept)
    return ScoreParts((new - old)[:, kept], moved.values[:, kept], moved.structure[:, kept], names)


def _start(model: Model, rows: EditableRows) -> Floats:
    """Scores (rows, columns) before the first tree."""
    start = np.repeat(model.trees.base[None, :], rows.table.n_rows, axis=0)
    start = start if model.begin is None else start + model.begin(rows.X).T
    return np.asarray(start / model.trees.divisor)

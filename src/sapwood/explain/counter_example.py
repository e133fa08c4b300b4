"""Counter-examples: rows that show that a constraint is broken, looked for near the leaves that break it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sapwood.arrays import Floats
from sapwood.explain.column_values import python_value
from sapwood.explain.leaf_boxes import Boxes, Cells
from sapwood.explain.model_output import score_title
from sapwood.model import Model
from sapwood.one_line import one_line
from sapwood.predictor import Predictor
from sapwood.result import Part, Result, TextTable
from sapwood.table.column import MISSING, Column
from sapwood.table.schema import ColumnSchema
from sapwood.table.storage import ColumnStorage
from sapwood.table.table import Table
from sapwood.tree import Tree

TRIES = 16  # rows tried for each violation
MOST_ROWS = 1 << 18  # to be scored at a time
NOISE = 1e-9  # of the scores: a smaller change of a change may be rounding


@dataclass(frozen=True, eq=False, repr=False)
class CounterExample(Result):
    """Rows that show that a constraint is broken.

    Attributes:
        kind: "monotone" or "interaction".
        columns: the constrained column; or two columns that should not interact (all columns of the path, if any two
            of them may meet, but not all).
        rows: for "monotone", two rows that differ in the column alone, the lower value first. For "interaction", four:
            a row, the same with the first column changed, with the second one changed, and with both; or one row that
            takes the path, if the model's scores do not show the violation.
        scores: of the rows. Two are in the wrong order; of four, the change by the first column depends on the second.
        round, tree: where the violation was found.
        about: the score, such as "score of setosa" where each class has one.
        in_model: whether `scores`, those of the whole model, show the violation. If not, other trees compensate for it
            in all rows that were tried, and only the tree's own values show it.
        tree_values: values of the tree for the rows, for the score that `scores` are of.
    """

    kind: str
    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    scores: tuple[float, ...]
    round: int
    tree: int
    in_model: bool
    tree_values: tuple[float, ...]
    about: str = "score"

    def _parts(self) -> Iterator[Part]:
        """The rows with their scores: their own columns first, since other columns are the same in all of them."""
        yield f"Counter-example ({self.kind}) in tree {self.tree} of round {self.round}:"
        names = [*self.columns, *(name for name in self.rows[0] if name not in self.columns)]
        heads = [self.about, "value of the tree", *map(one_line, names)]
        numbers = zip(self.rows, self.scores, self.tree_values, strict=False)
        yield TextTable(
            heads,
            [[f"{s:.6g}", f"{v:.6g}", *(one_line(row[name]) for name in names)] for row, s, v in numbers],
            sides="r",
        )


@dataclass(frozen=True, eq=False)
class Violation:
    """Two leaves (by position) of a tree in the wrong order of a column; or a leaf with too many columns above it."""

    round: int
    place: int  # of the tree in its round
    tree: Tree
    score: int  # that it is about
    values: Floats  # of the nodes, for this score
    columns: tuple[int, ...]
    sign: int  # 0 for interactions
    boxes: Boxes
    leaves: tuple[int, int]
    size: float


class CounterExampleSearch:
    """Searches rows at which the whole model shows a violation."""

    def __init__(self, model: Model, cells: list[Cells]) -> None:
        self._model, self._schema, self._cells = model, model.schema, cells
        self._random = np.random.default_rng(0)
        self._missing = np.array([MISSING if column.kind == "category" else np.nan for column in model.schema.columns])

    def best(self, violations: Sequence[Violation]) -> CounterExample:
        """Rows for the first violation that the model shows; else for the first one, which only the tree shows."""
        find_rows = self._order if violations[0].sign else self._interaction
        for violation in violations:
            rows, scores = find_rows(violation)
            if rows is not None:
                return self._found(violation, rows, scores, True)
        rows = self._tree_rows(violations[0])
        return self._found(violations[0], rows, self._scores(violations[0], rows), False)

    def _found(self, violation: Violation, rows: Floats, scores: Floats, in_model: bool) -> CounterExample:
        names = tuple(self._schema.names[j] for j in violation.columns)
        leaves = Predictor(violation.tree).leaves(self._table(rows))
        values = violation.values[leaves]
        return CounterExample(
            "monotone" if violation.sign else "interaction",
            names,
            tuple(self._readable(row) for row in rows),
            tuple(map(float, scores)),
            violation.round,
            violation.place,
            in_model,
            tuple(map(float, values)),
            "score" if self._model.trees.n_columns == 1 else score_title(self._model, violation.score),
        )

    def _draw(self, violation: Violation, n_rows: int) -> Floats:
        """Rows that both leaves admit, but for the columns themselves; elsewhere anything."""
        rows = np.empty((n_rows, len(self._cells)))
        for j, cells in enumerate(self._cells):
            values = cells.values
            if j in violation.boxes.sides:
                values = values[violation.boxes.sides[j].common(*violation.leaves)]
            # Leaves that share no value share the missing ones.
            rows[:, j] = self._random.choice(values, n_rows) if len(values) else self._missing[j]
        return rows

    def _order(self, violation: Violation) -> tuple[Floats | None, Floats]:
        """Two neighbouring values of the column at which the score moves the wrong way, by as much as can be found."""
        (j,) = violation.columns
        values = self._cells[j].values
        tries = self._draw(violation, max(1, min(TRIES, MOST_ROWS // len(values))))
        swept = np.repeat(tries, len(values), axis=0)
        swept[:, j] = np.tile(values, len(tries))
        scores = (violation.sign * self._scores(violation, swept)).reshape(len(tries), len(values))
        drops = np.maximum.accumulate(scores, axis=1) - scores
        row, high = divmod(int(np.argmax(drops)), len(values))
        if drops[row, high] <= 0:
            return None, scores
        low = int(np.argmax(scores[row, :high]))
        pair = swept[[row * len(values) + low, row * len(values) + high]]
        return pair, self._scores(violation, pair)

    def _interaction(self, violation: Violation) -> tuple[Floats | None, Floats]:
        """Four rows at which the change by one column depends on another one."""
        if len(violation.columns) != 2:
            return None, np.empty(0)
        four = self._corners(violation, 16 * TRIES)
        scores = self._scores(violation, four.reshape(-1, four.shape[2])).reshape(4, -1)
        mixed = np.abs(scores[3] - scores[2] - scores[1] + scores[0])
        best = int(np.argmax(mixed))
        if mixed[best] <= NOISE * np.abs(scores).max():
            return None, scores
        return four[:, best], scores[:, best]

    def _corners(self, violation: Violation, n_rows: int) -> Floats:
        """(4, rows, columns): rows of the leaf, with either or both of two columns set to anything."""
        four = np.repeat(self._draw(violation, n_rows)[None], 4, axis=0)
        for j, changed in zip(violation.columns, ((1, 3), (2, 3)), strict=True):
            cells = self._cells[j]
            other = self._random.choice(cells.values, n_rows) if cells.count else np.full(n_rows, self._missing[j])
            for corner in changed:
                four[corner, :, j] = other
        return four

    def _tree_rows(self, violation: Violation) -> Floats:
        """Rows that show the violation in the tree: in both leaves, or in the one leaf."""
        if not violation.sign:
            return self._draw(violation, 1)
        (j,) = violation.columns
        rows = np.repeat(self._draw(violation, 1), 2, axis=0)
        side = violation.boxes.sides[j]
        a, b = violation.leaves
        rows[:, j] = self._cells[j].values[[side.last[a], side.first[b]]]
        return rows

    def _scores(self, violation: Violation, rows: Floats) -> Floats:
        return np.asarray(self._model.scores(self._table(rows))[violation.score])

    def _table(self, rows: Floats) -> Table:
        columns = [
            Column(c.kind, rows[:, j].astype(np.int32) if c.kind == "category" else rows[:, j], c.levels)
            for j, c in enumerate(self._schema.columns)
        ]
        return Table(self._schema, ColumnStorage(columns))

    def _readable(self, row: Floats) -> dict[str, object]:
        """Values as users write them."""
        return {column.name: _value(column, float(x)) for column, x in zip(self._schema.columns, row, strict=True)}


def _value(column: ColumnSchema, x: float) -> object:
    is_missing = x < 0 if column.kind == "category" else np.isnan(x)
    return None if is_missing and column.kind != "number" else python_value(x, column)

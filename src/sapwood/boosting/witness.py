"""Witnesses: rows that show that a constraint is broken, sought near the leaves that break it."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sapwood.arrays import Floats
from sapwood.boosting.boxes import Boxes, Cells
from sapwood.boosting.ensemble import Ensemble
from sapwood.predictor import Predictor
from sapwood.table.column import MISSING, Column
from sapwood.table.schema import ColumnSchema, Schema
from sapwood.table.storage import ColumnStorage
from sapwood.table.table import Table
from sapwood.tree import Tree

TRIES = 16  # rows tried for each breach
MOST_ROWS = 1 << 18  # to be scored at a time
NOISE = 1e-9  # of the scores: a smaller change of a change may be rounding
MICROSECONDS = 1e6
EPOCH = datetime.datetime(1970, 1, 1)

Found = tuple[str, tuple[str, ...], tuple[dict[str, Any], ...], tuple[float, ...], int, int, bool, tuple[float, ...]]


@dataclass(frozen=True, eq=False)
class Breach:
    """Two leaves (by position) of a tree in the wrong order of a column; or one leaf with columns too many above it."""

    round: int
    score: int
    tree: Tree
    columns: tuple[int, ...]
    sign: int  # 0 for interactions
    boxes: Boxes
    leaves: tuple[int, int]
    size: float


class Witnesses:
    """Looks for rows at which the whole model shows a breach."""

    def __init__(self, ensemble: Ensemble, schema: Schema, cells: list[Cells]) -> None:
        self._ensemble = ensemble
        self._schema = schema
        self._cells = cells
        self._random = np.random.default_rng(0)
        self._missing = np.array([MISSING if column.kind == "category" else np.nan for column in schema.columns])

    def best(self, breaches: Sequence[Breach]) -> Found:
        """Rows for the first breach that the model shows; else for the first one, of which only the tree tells."""
        seek = self._order if breaches[0].sign else self._interaction
        for breach in breaches:
            rows, scores = seek(breach)
            if rows is not None:
                return self._found(breach, rows, scores, True)
        rows = self._tree_rows(breaches[0])
        return self._found(breaches[0], rows, self._scores(breaches[0], rows), False)

    def _found(self, breach: Breach, rows: Floats, scores: Floats, in_model: bool) -> Found:
        names = tuple(self._schema.names[j] for j in breach.columns)
        leaves = Predictor(breach.tree).leaves(self._table(rows))
        values = breach.tree.value[leaves, 0, 0]
        return (
            "monotone" if breach.sign else "interaction",
            names,
            tuple(self._readable(row) for row in rows),
            tuple(map(float, scores)),
            breach.round,
            breach.score,
            in_model,
            tuple(map(float, values)),
        )

    def _draw(self, breach: Breach, n_rows: int) -> Floats:
        """Rows that both leaves admit, but for the columns themselves; elsewhere anything."""
        rows = np.empty((n_rows, len(self._cells)))
        for j, cells in enumerate(self._cells):
            values = cells.values
            if j in breach.boxes.sides:
                values = values[breach.boxes.sides[j].common(*breach.leaves)]
            # Leaves that share no value share the missing ones.
            rows[:, j] = self._random.choice(values, n_rows) if len(values) else self._missing[j]
        return rows

    def _order(self, breach: Breach) -> tuple[Floats | None, Floats]:
        """Two neighbouring values of the column at which the score moves the wrong way, by as much as can be found."""
        (j,) = breach.columns
        values = self._cells[j].values
        tries = self._draw(breach, max(1, min(TRIES, MOST_ROWS // len(values))))
        swept = np.repeat(tries, len(values), axis=0)
        swept[:, j] = np.tile(values, len(tries))
        scores = (breach.sign * self._scores(breach, swept)).reshape(len(tries), len(values))
        drops = np.maximum.accumulate(scores, axis=1) - scores
        row, high = divmod(int(np.argmax(drops)), len(values))
        if drops[row, high] <= 0:
            return None, scores
        low = int(np.argmax(scores[row, :high]))
        pair = swept[[row * len(values) + low, row * len(values) + high]]
        return pair, self._scores(breach, pair)

    def _interaction(self, breach: Breach) -> tuple[Floats | None, Floats]:
        """Four rows at which the change by one column depends on another one."""
        if len(breach.columns) != 2:
            return None, np.empty(0)
        four = self._corners(breach, 16 * TRIES)
        scores = self._scores(breach, four.reshape(-1, four.shape[2])).reshape(4, -1)
        mixed = np.abs(scores[3] - scores[2] - scores[1] + scores[0])
        best = int(np.argmax(mixed))
        if mixed[best] <= NOISE * np.abs(scores).max():
            return None, scores
        return four[:, best], scores[:, best]

    def _corners(self, breach: Breach, n_rows: int) -> Floats:
        """(4, rows, columns): rows of the leaf, with either or both of two columns set to anything."""
        four = np.repeat(self._draw(breach, n_rows)[None], 4, axis=0)
        for j, changed in zip(breach.columns, ((1, 3), (2, 3)), strict=True):
            cells = self._cells[j]
            other = self._random.choice(cells.values, n_rows) if cells.count else np.full(n_rows, self._missing[j])
            for corner in changed:
                four[corner, :, j] = other
        return four

    def _tree_rows(self, breach: Breach) -> Floats:
        """Rows that show what the tree does: in both leaves, or in the one leaf."""
        if not breach.sign:
            return self._draw(breach, 1)
        (j,) = breach.columns
        rows = np.repeat(self._draw(breach, 1), 2, axis=0)
        side = breach.boxes.sides[j]
        a, b = breach.leaves
        rows[:, j] = self._cells[j].values[[side.last[a], side.first[b]]]
        return rows

    def _scores(self, breach: Breach, rows: Floats) -> Floats:
        return np.asarray(self._ensemble.scores(self._table(rows))[breach.score])

    def _table(self, rows: Floats) -> Table:
        columns = [
            Column(c.kind, rows[:, j].astype(np.int32) if c.kind == "category" else rows[:, j], c.levels)
            for j, c in enumerate(self._schema.columns)
        ]
        return Table(self._schema, ColumnStorage(columns))

    def _readable(self, row: Floats) -> dict[str, Any]:
        """Values as users write them."""
        return {column.name: _value(column, float(x)) for column, x in zip(self._schema.columns, row, strict=True)}


def _value(column: ColumnSchema, x: float) -> Any:
    if column.kind == "category":
        return None if x < 0 else column.levels[int(x)]
    if np.isnan(x):
        return None if column.kind != "number" else x
    if column.kind == "boolean":
        return bool(x)
    if column.kind in ("date", "duration"):
        span = datetime.timedelta(microseconds=round(x * MICROSECONDS))
        return span if column.kind == "duration" else EPOCH + span
    return x

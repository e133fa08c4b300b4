"""The check of an import: rows at every decision of the model, answered by both libraries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.data_warnings import quiet
from sapwood.errors import ModelFileError
from sapwood.estimators.estimator import Estimator
from sapwood.interchange.boundary import MOST_ROWS, boundary_cells
from sapwood.table.column import MISSING, UNSEEN, Column
from sapwood.table.schema import Schema
from sapwood.table.storage import ColumnStorage
from sapwood.table.table import Table
from sapwood.tree_sum import TreeSum

Floats = NDArray[np.float64]
Scores = Callable[[Floats], Floats]  # from cells to scores (columns, rows)

LEAST = float(np.finfo(np.float32).tiny)
MOST_ROWS_SLOWLY = 500  # of an interpreter in plain Python


@dataclass(frozen=True)
class Domain:
    """The cells that the other library accepts."""

    largest: float = np.inf  # in size
    missing: bool = True
    unseen: bool = True

    def restrict(self, cells: Floats, schema: Schema) -> Floats:
        """Rows whose cells are all accepted; numbers that are too large become the largest."""
        is_category = schema.n_levels > 0
        kept = np.ones(len(cells), dtype=np.bool_)
        if not self.missing:
            kept &= ~np.isnan(cells).any(axis=1)
        if not self.unseen:
            kept &= ~(cells[:, is_category] == UNSEEN).any(axis=1)
        return np.clip(cells[kept], -self.largest, self.largest)


EVERYTHING = Domain()


@quiet()
def check_agreement(
    model: Estimator,
    theirs: Scores,
    library: str,
    *,
    rounding: float = 1e-12,
    domain: Domain = EVERYTHING,
    most_rows: int = MOST_ROWS,
) -> None:
    """Compare scores on boundary rows; they may differ by `rounding`, relative to the largest scores there can be."""
    schema, tree_sum = model.schema_, model._tree_sum()
    cells = domain.restrict(boundary_cells(tree_sum, schema, most_rows=most_rows), schema)
    if not len(cells):
        return
    ours = model._scores(table_of(cells, schema))
    others = theirs(cells)
    apart = ~(np.abs(ours - others) <= rounding * _largest_scores(tree_sum)[:, None] + LEAST)
    if apart.any():
        row = int(np.argmax(apart.any(axis=0)))
        raise ModelFileError(
            f"The imported model does not agree with {library}, so it is not returned. For the row "
            f"{_shown(cells[row], schema)} {library} says {others[:, row].tolist()}, and the imported model "
            f"{ours[:, row].tolist()}. Please report this."
        )


def _largest_scores(tree_sum: TreeSum) -> Floats:
    """What each score can be at most, in size."""
    most = np.abs(tree_sum.base)
    for member in tree_sum:
        most[member.column : member.column + member.values.shape[1]] += np.abs(member.values).max(axis=0)
    return most / tree_sum.divisor


def table_of(cells: Floats, schema: Schema) -> Table:
    """Rows as a table; categories are numbers of levels, NaN is missing, and -2 unseen."""
    columns = []
    for own, column in zip(cells.T, schema.columns, strict=True):
        if column.kind == "category":
            codes = np.nan_to_num(own, nan=MISSING).astype(np.int32)
            columns.append(Column("category", codes, column.levels))
        else:
            columns.append(Column(column.kind, np.ascontiguousarray(own)))
    return Table(schema, ColumnStorage(columns))


def _shown(row: Floats, schema: Schema) -> dict[str, Any]:
    """The cells of a row that are not zero, by name."""
    found: dict[str, Any] = {}
    for cell, column in zip(row.tolist(), schema.columns, strict=True):
        if column.kind == "category" and cell >= 0:
            found[column.name] = column.levels[int(cell)]
        elif cell != 0:
            found[column.name] = "an unseen category" if column.kind == "category" and cell == UNSEEN else cell
    return found

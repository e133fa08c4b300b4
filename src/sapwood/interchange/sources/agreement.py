"""The check of an import: both libraries predict rows at every decision of the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sapwood.arrays import Floats
from sapwood.errors import ModelFileError
from sapwood.interchange.boundary import MOST_ROWS, boundary_cells
from sapwood.interchange.cells import as_table, describe_row, has_unseen
from sapwood.model import Model
from sapwood.table.schema import Schema
from sapwood.tree_sum import TreeSum

Scores = Callable[[Floats], Floats]  # from cells to scores (columns, rows)

LARGEST = float(np.finfo(np.float32).max)
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
        kept = np.ones(len(cells), dtype=np.bool_)
        if not self.missing:
            kept &= ~np.isnan(cells).any(axis=1)
        if not self.unseen:
            kept &= ~has_unseen(cells, schema)
        return np.clip(cells[kept], -self.largest, self.largest)


EVERYTHING = Domain()


def check_agreement(
    model: Model,
    theirs: Scores,
    library: str,
    *,
    rounding: float = 1e-12,
    domain: Domain = EVERYTHING,
    most_rows: int = MOST_ROWS,
) -> None:
    """Compare scores on boundary rows; they may differ by `rounding`, relative to the largest possible scores."""
    cells = domain.restrict(boundary_cells(model.trees, model.schema, most_rows=most_rows), model.schema)
    if not len(cells):
        return
    ours, others = model.scores(as_table(cells, model.schema)), theirs(cells)
    apart = ~(np.abs(ours - others) <= rounding * _largest_scores(model.trees)[:, None] + LEAST)
    if apart.any():
        row = int(np.argmax(apart.any(axis=0)))
        raise ModelFileError(
            f"The imported model does not agree with {library}, so it is not returned. For the row "
            f"{describe_row(cells[row], model.schema)} the scores of {library} are {others[:, row].tolist()}; those "
            f"of the imported model {ours[:, row].tolist()}. Please report this."
        )


def _largest_scores(trees: TreeSum) -> Floats:
    """What each score can be at most, in size."""
    most = np.abs(trees.base)
    for term in trees:
        most[term.column : term.column + term.values.shape[1]] += np.abs(term.values).max(axis=0)
    return most / trees.divisor

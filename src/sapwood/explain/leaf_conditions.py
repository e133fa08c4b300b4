"""The conditions of a leaf: one for each column, however often its path splits it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sapwood.cached_property import cached_property
from sapwood.explain.leaf_boxes import Boxes, Cells, Side, find_cells
from sapwood.show.value import level_text, threshold_text
from sapwood.table.schema import Schema
from sapwood.tree import Tree


@dataclass(frozen=True, eq=False)
class Conditions:
    """The boxes of the leaves of one tree as text."""

    tree: Tree
    schema: Schema
    names: Sequence[str]
    decimals: int = 2

    @cached_property
    def boxes(self) -> Boxes:
        """The leaves from left to right, and what they admit."""
        return Boxes.of(self.tree, self._cells)

    @cached_property
    def _cells(self) -> list[Cells]:
        return find_cells([self.tree], self.schema)

    def of_leaf(self, k: int) -> tuple[str, ...]:
        """The conditions of leaf k, counted from the left; none for a lone root."""
        found = (self._of_column(j, side, k) for j, side in self.boxes.sides.items())
        return tuple(text for text in found if text is not None)

    def _of_column(self, j: int, side: Side, k: int) -> str | None:
        """The condition on a column, or None if the leaf admits every value."""
        cells, name, missing = self._cells[j], self.names[j], bool(side.missing[k])
        text = self._levels(cells, side, k) if cells.is_category else self._interval(cells, side, k)
        if not side.has_cells[k]:
            return f"{name} is missing"
        if text is None:
            return None if missing else f"{name} is not missing"
        text = text.replace("\0", name, 1)
        return f"({text} or missing)" if missing and self.schema.columns[j].has_missing else text

    def _levels(self, cells: Cells, side: Side, k: int) -> str | None:
        """The shorter list: levels that are admitted, or the others."""
        assert side.levels is not None
        admitted = side.levels[k]
        if admitted.all():
            return None
        few = 2 * np.count_nonzero(admitted) <= len(admitted)
        levels = [cells.column.levels[code] for code in np.flatnonzero(admitted if few else ~admitted)]
        return f"\0 {'in' if few else 'not in'} {{{', '.join(map(level_text, levels))}}}"

    def _interval(self, cells: Cells, side: Side, k: int) -> str | None:
        first, last = int(side.first[k]), int(side.last[k])
        low = self._cut(cells, first - 1) if first > 0 else None
        high = self._cut(cells, last) if last < len(cells.cuts) and cells.cuts[last] < math.inf else None
        if low is None and high is None:
            return None
        if cells.column.kind == "boolean":
            return f"\0 is {'false' if low is None else 'true'}"
        if low is None:
            return f"\0 <= {high}"
        return f"\0 > {low}" if high is None else f"{low} < \0 <= {high}"

    def _cut(self, cells: Cells, at: int) -> str:
        """A threshold with enough digits to distinguish it from its neighbours."""
        cuts = cells.cuts
        gaps = np.diff(cuts[max(at - 1, 0) : at + 2])
        gap = float(gaps.min()) if len(gaps) else math.inf
        return threshold_text(cells.column, float(cuts[at]), self.decimals, gap, trim=True)

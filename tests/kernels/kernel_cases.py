"""Small nodes for kernels: rows, weights, targets and one column in each of its forms.

All numbers are eighths, so sums are exact whatever their order and kernels can be compared with `==`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from sapwood.kernels.groups import MISSING, NOTHING, VALUE
from sapwood.kernels.records import COLUMN, LIMITS

Array = NDArray[Any]
IMPLICIT_VALUE = 0.0


@dataclass(frozen=True)
class Node:
    """The node's rows are some of the table's rows; NaN is missing."""

    rows: Array
    values: Array  # by row of the table
    wy: Array  # by row of the table: weight, targets

    @property
    def is_missing(self) -> Array:
        return np.isnan(self.values[self.rows])

    @property
    def present(self) -> Array:
        return self.rows[~self.is_missing]

    @property
    def missing(self) -> Array:
        return self.rows[self.is_missing]

    def groups(self) -> list[Array]:
        """Rows of each value, in ascending order of value."""
        present = self.present
        return [present[self.values[present] == value] for value in np.unique(self.values[present])]


@dataclass(frozen=True)
class Lists:
    """A node's rows (list 0) and the lists of its column, as growth keeps them."""

    column: np.void
    entries: Array
    lo: Array
    hi: Array

    def rows(self, member: int) -> Array:
        return self.entries[self.lo[member] : self.hi[member]] >> 1


def eighths(low: int, high: int) -> st.SearchStrategy[float]:
    return st.integers(8 * low, 8 * high).map(lambda k: k / 8)


@st.composite
def nodes(draw: st.DrawFn, n_outputs: int = 1, n_classes: int = 0) -> Node:
    """One to 20 rows, some of them in the node; many ties, zeros and missing values."""
    n = draw(st.integers(1, 20))
    cell = st.sampled_from([-np.inf, -2.0, -1.0, 0.0, 0.0, 0.0, 1.0, 2.5, np.inf, np.nan])
    target = st.integers(0, n_classes - 1).map(float) if n_classes else eighths(-4, 4)
    values = np.array(draw(st.lists(cell, min_size=n, max_size=n)))
    columns = [draw(st.lists(weights(), min_size=n, max_size=n))]
    columns += [draw(st.lists(target, min_size=n, max_size=n)) for _ in range(n_outputs)]
    chosen = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    chosen[draw(st.integers(0, n - 1))] = True
    return Node(np.flatnonzero(chosen), values, np.column_stack(columns))


def weights() -> st.SearchStrategy[float]:
    return st.integers(1, 24).map(lambda k: k / 8)


implicits = st.sampled_from([NOTHING, VALUE, MISSING])


def arrange(node: Node, implicit: int, keep_empty: bool) -> Lists:
    """The lists of a sorted column; an empty one is either kept or absent (all absent ones share the last)."""
    present, values = node.present, node.values
    order = present[np.argsort(values[present], kind="stable")]
    parts = {"below": order, "above": order[:0], "missing": node.missing}
    if implicit == VALUE:
        parts["below"] = order[values[order] < IMPLICIT_VALUE]
        parts["above"] = order[values[order] > IMPLICIT_VALUE]
    if implicit == MISSING:
        parts["missing"] = order[:0]
    return _joined(node.rows, parts, values, implicit, keep_empty)


def _joined(rows: Array, parts: dict[str, Array], values: Array, implicit: int, keep_empty: bool) -> Lists:
    column = np.zeros(1, dtype=COLUMN)
    column["code_row"], column["implicit"] = -1, implicit
    lists = [rows.astype(np.uint32) << np.uint32(1)]
    for name, members in parts.items():
        column[name] = len(lists) if len(members) or keep_empty else -1
        if column[name][0] >= 0:
            lists.append(with_tie_bits(members, values))
    for name in parts:
        if column[name][0] < 0:
            column[name] = len(lists)
    lists.append(lists[0][:0])
    ends = np.cumsum([len(part) for part in lists])
    return Lists(column[0], np.concatenate(lists), np.append(0, ends[:-1]), ends)


def with_tie_bits(rows: Array, values: Array) -> Array:
    """Entries `row << 1 | tied`."""
    entries = [int(row) << 1 | int(i > 0 and values[row] == values[rows[i - 1]]) for i, row in enumerate(rows)]
    return np.array(entries, dtype=np.uint32)


def scratch(n_groups: int) -> tuple[Array, Array]:
    """Floats and integers by group, full of rubbish as growth leaves them."""
    return np.full((8, n_groups + 2), np.nan), np.full((5, n_groups + 2), -99, dtype=np.int64)


def limits(criterion: int, max_exhaustive: int = 10) -> np.void:
    """Rules that forbid nothing."""
    record = np.zeros(1, dtype=LIMITS)
    record["criterion"], record["max_exhaustive"], record["min_rows_leaf"] = criterion, max_exhaustive, 1
    return record[0]

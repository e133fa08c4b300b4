"""Small nodes for kernels: rows, weights, targets and one column in each of its forms.

All numbers are eighths, so sums are exact whatever their order and kernels can be compared with `==`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from sapwood.kernels.tree_frame import COLUMN, FRAME, MISSING, NOTHING, VALUE

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


class Frame:
    """A frame, and the arrays that it has the addresses of, as attributes."""

    def __init__(self, **values: Any) -> None:
        self.values = values  # keeps the arrays alive
        self.record = FRAME.fill(**values)[0]

    def __getattr__(self, name: str) -> Any:
        return self.values[name]


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


def group_arrays(n_rows: int, n_sums: int = 1) -> dict[str, Array]:
    """Room for the groups of so many rows, full of rubbish as growth leaves it."""
    arrays: dict[str, Array] = {name: np.full(n_rows + 2, -99, dtype=np.int64) for name in ("cum_rows", "code")}
    arrays |= {"cum_weight": np.full(n_rows + 2, np.nan), "cum_sums": np.full((n_rows + 2, n_sums), np.nan)}
    return arrays | {"cum_sum": arrays["cum_sums"][:, 0] if n_sums == 1 else np.full(n_rows + 2, np.nan)}


def node_frame(node: Node, lists: Lists, **more: Any) -> Frame:
    """The node in slot 0, with room for the groups of a column."""
    wy, lo, hi = np.ascontiguousarray(node.wy), lists.lo[None], lists.hi[None]
    return Frame(wy=wy, entries=lists.entries, lo=lo, hi=hi, **(group_arrays(len(node.rows)) | more))


def limits(criterion: int, max_exhaustive: int = 10) -> dict[str, int]:
    """Rules that forbid nothing."""
    return {"criterion": criterion, "max_exhaustive": max_exhaustive, "min_child_rows": 1}

"""Groups of a node's rows by value, with their sums up to each group: what kernels must find."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from kernel_cases import Frame, Node, eighths, nodes
from numba import njit
from numpy.typing import NDArray

from sapwood.kernels.code_list import FLAT
from sapwood.kernels.criteria import GINI, SQUARED
from sapwood.kernels.statistic import coded_groups, drawn_groups, sorted_groups
from sapwood.kernels.tree_frame import COLUMN, Groups, Totals

Array = NDArray[Any]
N_CLASSES = 3


@njit
def find_sorted_groups(stat: Any, column: Any, totals: Any) -> Any:
    return sorted_groups(stat, column, totals, 0)


@njit
def find_coded_groups(stat: Any, codes: Any, column: Any) -> Any:
    return coded_groups(stat, codes, column, 0)


@njit
def find_drawn_groups(stat: Any, gathered: Any, totals: Any, n_missing: int, threshold: float) -> Any:
    return drawn_groups(stat, gathered, totals, n_missing, threshold, 0)


def coded_column(deep: bool) -> Any:
    """A coded column, whose bitmap has one level or two."""
    column = np.zeros(1, dtype=COLUMN)
    column["n_codes"] = FLAT + 1 if deep else FLAT
    return column[0]


def cumulated(parts: list[Array]) -> list[Any]:
    """The specification: totals over all groups up to each one."""
    return np.cumsum(np.array(parts), axis=0).tolist() if parts else []


def weight(node: Node, rows: Array) -> float:
    return float(node.wy[rows, 0].sum())


def pair_sum(node: Node, rows: Array, center: float) -> float:
    return float((node.wy[rows, 0] * (node.wy[rows, 1] - center)).sum())


def vector_sum(node: Node, rows: Array, criterion: int, centers: Array) -> Array:
    """Weight of each class of each output, or the weighted sum of each output."""
    w, targets = node.wy[rows, 0], node.wy[rows, 1:]
    if criterion == GINI:
        return np.array([w[y == k].sum() for y in targets.T for k in range(N_CLASSES)])
    return ((targets - centers) * w[:, None]).sum(axis=0)


def pair_totals(node: Node, center: float) -> Totals:
    return Totals(len(node.rows), weight(node, node.rows), pair_sum(node, node.rows, center), 0.0, center, 0.0)


def vector_totals(node: Node) -> Totals:
    return Totals(len(node.rows), weight(node, node.rows), 0.0, 0.0, 0.0, 0.0)


def check_rows_and_weights(node: Node, found: Groups, frame: Frame) -> None:
    groups = node.groups()
    assert found[:3] == (len(groups), len(node.missing), weight(node, node.missing))
    assert frame.cum_rows[: len(groups)].tolist() == cumulated([len(rows) for rows in groups])
    assert frame.cum_weight[: len(groups)].tolist() == cumulated([weight(node, rows) for rows in groups])


def check_pairs(node: Node, center: float, found: Groups, frame: Frame) -> None:
    check_rows_and_weights(node, found, frame)
    groups = node.groups()
    assert frame.cum_sum[: len(groups)].tolist() == cumulated([pair_sum(node, rows, center) for rows in groups])
    assert found.missing_sum == pair_sum(node, node.missing, center)


@st.composite
def codings(draw: st.DrawFn, node: Node) -> tuple[Array, int]:
    """Codes in the order of the values, with gaps, and the largest code there may be; 0 is missing."""
    levels = np.unique(node.values[~np.isnan(node.values)])
    n_codes = draw(st.sampled_from([10, 63, 64, 130, 5000, 9000]))
    used = sorted(draw(st.sets(st.integers(1, n_codes), min_size=len(levels), max_size=len(levels))))
    position = np.searchsorted(levels, node.values)
    codes = [0 if np.isnan(value) else used[at] for value, at in zip(node.values, position, strict=True)]
    return np.array(codes, dtype=np.uint16), n_codes


def check_codes(node: Node, codes: Array, frame: Frame) -> None:
    groups = node.groups()
    assert frame.code[: len(groups)].tolist() == [codes[rows[0]] for rows in groups]


def bitmap(n_codes: int) -> dict[str, Array]:
    """Words of a bitmap, and its summary."""
    n_words = (n_codes + 1) // 64 + 1
    return {"occupied": np.zeros(n_words, dtype=np.uint64), "summary": np.zeros(n_words // 64 + 1, dtype=np.uint64)}


def is_clean(*arrays: Array) -> bool:
    """Left as it was for the next column."""
    return not any(array.any() for array in arrays)


def tallies_of(data: Any, node: Node, n_classes: int) -> tuple[Node, Array]:
    """The node with whole-number weights and classes, and the same as tallies."""
    n = len(node.wy)
    weights = data.draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
    classes = data.draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n))
    wy = np.column_stack([weights, classes]).astype(np.float64).reshape(n, 2)
    return replace(node, wy=wy), (wy[:, 0] * 256 + wy[:, 1]).astype(np.uint32)


def vector_arrays(node: Node, criterion: int, centers: Array) -> dict[str, Any]:
    """What vectors of sums need, full of rubbish but for the node's own sums."""
    n_outputs = node.wy.shape[1] - 1
    width = N_CLASSES if criterion == GINI else 1
    n_sums = width * n_outputs
    arrays = {name: np.full(n_sums, np.nan) for name in ("left_sums", "right_sums", "missing_sums", "centers")}
    if criterion == SQUARED:
        arrays["centers"][:] = centers
    arrays["node_sums"] = vector_sum(node, node.rows, criterion, centers)
    starts = width * np.arange(n_outputs + 1, dtype=np.int64)
    cum_sums = np.full((len(node.rows) + 2, n_sums), np.nan)
    return {"criterion": criterion, "output_start": starts, "cum_sums": cum_sums, **arrays}


def check_vectors(node: Node, centers: Array, found: Groups, frame: Frame) -> None:
    check_rows_and_weights(node, found, frame)
    sums = [vector_sum(node, rows, frame.criterion, centers) for rows in node.groups()]
    assert frame.cum_sums[: found.count].tolist() == cumulated(sums)
    assert frame.missing_sums.tolist() == vector_sum(node, node.missing, frame.criterion, centers).tolist()


@st.composite
def vector_nodes(draw: st.DrawFn) -> tuple[Node, int, Array]:
    """Two outputs: classes, or centred numbers."""
    criterion = draw(st.sampled_from([GINI, SQUARED]))
    node = draw(nodes(n_outputs=2, n_classes=N_CLASSES if criterion == GINI else 0))
    return node, criterion, np.array([draw(eighths(-2, 2)), draw(eighths(-2, 2))])

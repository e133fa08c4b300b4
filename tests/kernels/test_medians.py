"""Rows of a column in order, for the absolute error, against grouping by value."""

from __future__ import annotations

from typing import Any

import numpy as np
from group_cases import Array, check_codes, check_rows_and_weights, codings
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import Frame, Node, arrange, node_frame, nodes

from sapwood.kernels.medians import coded_rows, sorted_rows, weigh_groups
from sapwood.kernels.tree_frame import NOTHING
from strategies import examples


def row_arrays(node: Node) -> dict[str, Array]:
    return {name: np.zeros(len(node.values), dtype=np.uint32) for name in ("ordered", "missing_rows")}


def check_rows(node: Node, frame: Frame) -> None:
    in_order = [row for rows in node.groups() for row in rows]
    assert frame.ordered[: len(in_order)].tolist() == in_order
    assert frame.missing_rows[: len(node.missing)].tolist() == node.missing.tolist()


@examples
@given(nodes(), st.booleans())
def test_sorted_rows(node: Node, keep_empty: bool) -> None:
    lists = arrange(node, NOTHING, keep_empty)
    frame = node_frame(node, lists, **row_arrays(node))
    groups = weigh_groups(frame.record, *sorted_rows(frame.record, lists.column, 0))
    check_rows_and_weights(node, groups, frame)
    check_rows(node, frame)


@examples
@given(st.data(), nodes())
def test_coded_rows(data: Any, node: Node) -> None:
    codes, n_codes = data.draw(codings(node))
    hist = np.zeros((n_codes + 1, 3))
    frame = node_frame(node, arrange(node, NOTHING, True), hist=hist, **row_arrays(node))
    groups = weigh_groups(frame.record, *coded_rows(frame.record, codes, n_codes, 0))
    check_rows_and_weights(node, groups, frame)
    check_rows(node, frame)
    check_codes(node, codes, frame)
    assert not hist.any()

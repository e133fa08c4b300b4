"""Groups of vectors, from lists, from codes and on two sides of a threshold, against grouping by value."""

from __future__ import annotations

from typing import Any

import numpy as np
from group_cases import (
    Array,
    bitmap,
    check_codes,
    check_vectors,
    coded_column,
    codings,
    find_coded_groups,
    find_drawn_groups,
    find_sorted_groups,
    is_clean,
    vector_arrays,
    vector_nodes,
    vector_sum,
    vector_totals,
    weight,
)
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import Node, arrange, implicits, node_frame

from sapwood.kernels.statistic import Vectors
from sapwood.kernels.tree_frame import NOTHING
from strategies import examples


@examples
@given(vector_nodes(), implicits, st.booleans())
def test_sorted_vectors(case: tuple[Node, int, Array], implicit: int, keep_empty: bool) -> None:
    node, criterion, centers = case
    lists = arrange(node, implicit, keep_empty)
    frame = node_frame(node, lists, **vector_arrays(node, criterion, centers))
    found = find_sorted_groups(Vectors(frame.record), lists.column, vector_totals(node))
    check_vectors(node, centers, found, frame)


@examples
@given(st.data(), vector_nodes(), st.booleans())
def test_coded_vectors(data: Any, case: tuple[Node, int, Array], deep: bool) -> None:
    node, criterion, centers = case
    codes, n_codes = data.draw(codings(node))
    arrays = vector_arrays(node, criterion, centers)
    hist = np.zeros((n_codes + 1, 2 + len(arrays["node_sums"])))
    frame = node_frame(node, arrange(node, NOTHING, True), hist=hist, **arrays, **bitmap(n_codes))
    found = find_coded_groups(Vectors(frame.record), codes, coded_column(deep))
    check_vectors(node, centers, found, frame)
    check_codes(node, codes, frame)
    assert is_clean(hist, frame.occupied, frame.summary)


@examples
@given(st.data(), vector_nodes())
def test_two_sides_of_a_threshold(data: Any, case: tuple[Node, int, Array]) -> None:
    node, criterion, centers = case
    own = node.values[node.rows]
    threshold = data.draw(st.sampled_from([*own[~np.isnan(own)].tolist(), 0.5]))
    frame = node_frame(node, arrange(node, NOTHING, True), **vector_arrays(node, criterion, centers))
    missing = find_drawn_groups(Vectors(frame.record), own, vector_totals(node), len(node.missing), threshold)
    assert missing == (weight(node, node.missing), 0.0)
    sides = [node.rows[own <= threshold], node.present]
    assert frame.cum_rows[:2].tolist() == [len(rows) for rows in sides]
    assert frame.cum_weight[:2].tolist() == [weight(node, rows) for rows in sides]
    for found, rows in zip([*frame.cum_sums[:2], frame.missing_sums], [*sides, node.missing], strict=True):
        assert found.tolist() == vector_sum(node, rows, criterion, centers).tolist()

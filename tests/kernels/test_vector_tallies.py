"""Groups of tallies of several classes, from lists and from codes, against grouping by value."""

from __future__ import annotations

from typing import Any

import numpy as np
from group_cases import (
    N_CLASSES,
    bitmap,
    check_codes,
    check_vectors,
    coded_column,
    codings,
    find_coded_groups,
    find_sorted_groups,
    is_clean,
    tallies_of,
    vector_arrays,
    vector_totals,
)
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import Node, arrange, implicits, node_frame, nodes

from sapwood.kernels.criteria import GINI
from sapwood.kernels.statistic import VectorTallies
from sapwood.kernels.tallies import fill_tallies
from sapwood.kernels.tree_frame import NOTHING
from strategies import examples


@examples
@given(st.data(), nodes(), st.booleans())
def test_tallied_vectors(data: Any, node: Node, deep: bool) -> None:
    codes, n_codes = data.draw(codings(node))
    node, tally = tallies_of(data, node, N_CLASSES)
    counts, local = np.zeros((n_codes + 1, N_CLASSES), dtype=np.uint64), np.empty(len(node.rows), dtype=np.uint32)
    arrays = {"tally": tally, "local_tally": local, "counts": counts, **bitmap(n_codes)}
    frame = node_frame(node, arrange(node, NOTHING, True), **arrays, **vector_arrays(node, GINI, np.zeros(1)))
    fill_tallies(frame.record, 0)
    found = find_coded_groups(VectorTallies(frame.record), codes, coded_column(deep))
    check_vectors(node, np.zeros(1), found, frame)
    check_codes(node, codes, frame)
    assert is_clean(counts, frame.occupied, frame.summary)


@examples
@given(st.data(), nodes(), implicits, st.booleans())
def test_sorted_vectors_of_tallies(data: Any, node: Node, implicit: int, keep_empty: bool) -> None:
    node, tally = tallies_of(data, node, N_CLASSES)
    lists = arrange(node, implicit, keep_empty)
    frame = node_frame(node, lists, tally=tally, **vector_arrays(node, GINI, np.zeros(1)))
    found = find_sorted_groups(VectorTallies(frame.record), lists.column, vector_totals(node))
    check_vectors(node, np.zeros(1), found, frame)

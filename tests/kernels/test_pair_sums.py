"""Groups of pairs, from lists and from codes, against grouping by value."""

from __future__ import annotations

from typing import Any

import numpy as np
from group_cases import (
    bitmap,
    check_codes,
    check_pairs,
    coded_column,
    codings,
    find_coded_groups,
    find_sorted_groups,
    is_clean,
    pair_totals,
)
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import Node, arrange, eighths, implicits, node_frame, nodes

from sapwood.kernels.pair_sums import fill_local
from sapwood.kernels.statistic import Pairs
from sapwood.kernels.tree_frame import NOTHING
from strategies import examples


@examples
@given(nodes(), implicits, st.booleans(), eighths(-2, 2))
def test_sorted_pairs(node: Node, implicit: int, keep_empty: bool, center: float) -> None:
    lists = arrange(node, implicit, keep_empty)
    frame = node_frame(node, lists)
    check_pairs(node, center, find_sorted_groups(Pairs(frame.record), lists.column, pair_totals(node, center)), frame)


@examples
@given(st.data(), nodes(), eighths(-2, 2), st.booleans())
def test_coded_pairs(data: Any, node: Node, center: float, deep: bool) -> None:
    codes, n_codes = data.draw(codings(node))
    hist, local = np.zeros((n_codes + 1, 3)), np.empty((len(node.rows), 2))
    frame = node_frame(node, arrange(node, NOTHING, True), hist=hist, local=local, **bitmap(n_codes))
    fill_local(frame.record, 0, center)
    found = find_coded_groups(Pairs(frame.record), codes, coded_column(deep))
    check_pairs(node, center, found, frame)
    check_codes(node, codes, frame)
    assert is_clean(hist, frame.occupied, frame.summary)

"""Groups of tallies of two classes, from lists and from codes, against grouping by value."""

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
    tallies_of,
)
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import Node, arrange, node_frame, nodes

from sapwood.kernels.statistic import PairTallies
from sapwood.kernels.tallies import fill_tallies
from sapwood.kernels.tree_frame import NOTHING
from strategies import examples


@examples
@given(st.data(), nodes(), st.booleans())
def test_tallied_pairs(data: Any, node: Node, deep: bool) -> None:
    codes, n_codes = data.draw(codings(node))
    node, tally = tallies_of(data, node, 2)
    counts, local = np.zeros((n_codes + 1, 2), dtype=np.uint64), np.empty(len(node.rows), dtype=np.uint32)
    arrays = {"tally": tally, "local_tally": local, "counts": counts, **bitmap(n_codes)}
    frame = node_frame(node, arrange(node, NOTHING, True), **arrays)
    fill_tallies(frame.record, 0)
    found = find_coded_groups(PairTallies(frame.record), codes, coded_column(deep))
    check_pairs(node, 0.0, found, frame)
    check_codes(node, codes, frame)
    assert is_clean(counts, frame.occupied, frame.summary)


@examples
@given(st.data(), nodes(), st.booleans())
def test_sorted_pairs_of_tallies(data: Any, node: Node, keep_empty: bool) -> None:
    node, tally = tallies_of(data, node, 2)
    lists = arrange(node, NOTHING, keep_empty)
    frame = node_frame(node, lists, tally=tally)
    check_pairs(node, 0.0, find_sorted_groups(PairTallies(frame.record), lists.column, pair_totals(node, 0.0)), frame)

"""Two sides of a drawn threshold against comparing every value."""

from __future__ import annotations

from typing import Any

import numpy as np
from group_cases import pair_sum, pair_totals, tallies_of, weight
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import Node, arrange, eighths, node_frame, nodes
from numba import njit

from sapwood.kernels.drawn import gather_present, gather_values
from sapwood.kernels.pair_sums import fill_local
from sapwood.kernels.statistic import Pairs, PairTallies, drawn_groups
from sapwood.kernels.tallies import fill_tallies
from sapwood.kernels.tree_frame import NOTHING, Totals
from strategies import examples


@njit
def run(stat: Any, gathered: Any, totals: Totals, n_missing: int, threshold: float) -> Any:
    return drawn_groups(stat, gathered, totals, n_missing, threshold, 0)


@examples
@given(st.data(), nodes(), eighths(-2, 2), st.booleans())
def test_two_sides_of_a_threshold(data: Any, node: Node, center: float, tallied: bool) -> None:
    arrays: dict[str, Any] = {"local": np.empty((len(node.rows), 2))}
    if tallied:
        (node, tally), center = tallies_of(data, node, 2), 0.0
        arrays = {"tally": tally, "local_tally": np.empty(len(node.rows), dtype=np.uint32)}
    frame, own = node_frame(node, arrange(node, NOTHING, True), **arrays), np.empty(len(node.rows))
    low, high, n_missing = gather_present(frame.record, node.values, own, 0)
    present = node.values[node.rows][~np.isnan(node.values[node.rows])]
    assert n_missing == len(node.missing)
    assert (low, high) == ((present.min(), present.max()) if len(present) else (np.inf, -np.inf))
    if n_missing == 0:
        assert gather_values(frame.record, node.values, own, 0) == (low, high)
    threshold = data.draw(st.sampled_from([*present.tolist(), 0.5]))
    if tallied:
        fill_tallies(frame.record, 0)
    else:
        fill_local(frame.record, 0, center)
    stat = PairTallies(frame.record) if tallied else Pairs(frame.record)
    missing = run(stat, own, pair_totals(node, center), n_missing, threshold)
    sides = [node.rows[node.values[node.rows] <= threshold], node.rows[~np.isnan(node.values[node.rows])]]
    assert frame.cum_rows[:2].tolist() == [len(rows) for rows in sides]
    assert frame.cum_weight[:2].tolist() == [weight(node, rows) for rows in sides]
    assert frame.cum_sum[:2].tolist() == [pair_sum(node, rows, center) for rows in sides]
    assert missing == (weight(node, node.missing), pair_sum(node, node.missing, center))

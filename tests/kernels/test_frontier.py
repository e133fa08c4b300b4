"""The frontier against a sorted list and a plain stack."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import Frame

from sapwood.kernels.frontier import pop, push
from sapwood.kernels.tree_frame import OPEN
from strategies import examples

decreases = st.lists(st.integers(0, 3).map(float) | st.floats(0.0, 1.0), min_size=1, max_size=20)


def open_nodes(decrease: list[float], nodes: list[int], max_leaves: int) -> Frame:
    """A slot for each node, in any order."""
    slots = np.zeros(len(decrease), dtype=OPEN)
    slots["decrease"], slots["node"] = decrease, nodes
    return Frame(slots=slots, frontier=np.full(len(decrease), -99), max_leaves=max_leaves)


@examples
@given(decreases, st.data())
def test_best_first_takes_the_largest_decrease_and_of_equal_ones_the_older_node(decrease: Any, data: Any) -> None:
    nodes = data.draw(st.permutations(range(len(decrease))))
    frame = open_nodes(decrease, nodes, max_leaves=100)
    waiting: list[tuple[float, int, int]] = []
    to_come = list(range(len(decrease)))
    while to_come or waiting:
        if to_come and (not waiting or data.draw(st.booleans())):
            slot = to_come.pop()
            push(frame.record, len(waiting), slot)
            heapq.heappush(waiting, (-decrease[slot], nodes[slot], slot))
        else:
            slot = pop(frame.record, len(waiting))
            assert slot == heapq.heappop(waiting)[2]
        assert sorted(frame.frontier[: len(waiting)]) == sorted(slot for _, _, slot in waiting)


@examples
@given(decreases, st.data())
def test_depth_first_takes_the_node_opened_last(decrease: Any, data: Any) -> None:
    frame = open_nodes(decrease, list(range(len(decrease))), max_leaves=0)
    waiting: list[int] = []
    for slot in range(len(decrease)):
        push(frame.record, len(waiting), slot)
        waiting.append(slot)
        while waiting and data.draw(st.booleans()):
            assert pop(frame.record, len(waiting)) == waiting.pop()
    assert frame.frontier[: len(waiting)].tolist() == waiting

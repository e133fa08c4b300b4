"""The frontier against a sorted list."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sapwood.kernels.boosting_records import NODE
from sapwood.kernels.frontier import best_without_children, pop, push
from strategies import examples

gains = st.integers(0, 3).map(float) | st.floats(0.0, 1.0, width=16)
nodes = st.lists(st.tuples(gains, st.integers(0, 2)), min_size=1, max_size=20)


def records(given: list[tuple[float, int]], keys: list[int]) -> np.ndarray:
    """Nodes of these gains and depths, without children."""
    found = np.zeros(len(given), dtype=NODE)
    found["gain"], found["depth"] = np.array(given).T
    found["key"], found["left"] = keys, -1
    return found


def order_of(node: Any) -> tuple[float, int, int]:
    """What sorts nodes: larger gains, lower depths, smaller keys first."""
    return -float(node["gain"]), int(node["depth"]), int(node["key"])


@examples
@given(nodes, st.data())
def test_the_best_node_is_taken_first(given: Any, data: Any) -> None:
    found = records(given, data.draw(st.permutations(range(len(given)))))
    heap = np.full(len(given), -99)
    waiting: list[tuple[tuple[float, int, int], int]] = []
    to_come = list(range(len(given)))
    while to_come or waiting:
        if to_come and (not waiting or data.draw(st.booleans())):
            node = to_come.pop()
            push(found, heap, len(waiting), node)
            heapq.heappush(waiting, (order_of(found[node]), node))
        else:
            size = len(waiting)
            node = pop(found, heap, size)
            assert node == heapq.heappop(waiting)[1] == heap[size - 1]
        assert sorted(heap[: len(waiting)]) == sorted(node for _, node in waiting)


def test_last_bits_of_a_gain_do_not_decide() -> None:
    found = records([(1.0 + 2.0**-40, 2), (1.0, 1)], [0, 1])
    heap = np.zeros(2, dtype=np.int64)
    push(found, heap, 0, 0)
    push(found, heap, 1, 1)
    assert pop(found, heap, 2) == 1


@examples
@given(nodes, st.data())
def test_the_best_nodes_without_children_stay_in_the_heap(given: Any, data: Any) -> None:
    found = records(given, data.draw(st.permutations(range(len(given)))))
    found["left"] = data.draw(st.lists(st.sampled_from([-1, 5]), min_size=len(given), max_size=len(given)))
    heap, out, most = np.zeros(len(given), dtype=np.int64), np.zeros(20, dtype=np.int64), data.draw(st.integers(1, 6))
    for node in range(len(given)):
        push(found, heap, node, node)
    count = best_without_children(found, heap, len(given), most, out)
    ranked = sorted(range(len(given)), key=lambda node: order_of(found[node]))
    assert out[:count].tolist() == [node for node in ranked if found["left"][node] < 0][:most]
    assert [pop(found, heap, size) for size in range(len(given), 0, -1)] == ranked

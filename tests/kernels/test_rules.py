"""Rules of growth: each one alone decides, and its limit itself is allowed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_cases import Frame

from sapwood.kernels.grow import is_splittable
from sapwood.kernels.rules import are_large_enough, in_order, is_worth_it, narrow
from sapwood.kernels.tree_frame import NODE, OPEN, Bounds, Totals

LIMITS = {
    "max_depth": 3,
    "min_split_rows": 6,
    "min_child_rows": 2,
    "min_child_weight": 1.5,
    "impurity_threshold": 0.25,
}


def node_of(n_rows: int = 10, weight: float = 8.0, mass: float = 4.0) -> np.ndarray:
    nodes = np.zeros(1, dtype=NODE)
    nodes["n_rows"], nodes["weight"], nodes["mass"] = n_rows, weight, mass
    return nodes


@pytest.mark.parametrize(
    ("limits", "node", "depth", "constant", "allowed"),
    [
        ({}, {}, 2, False, True),
        ({}, {}, 2, True, False),
        ({}, {}, 3, False, False),
        ({}, {"n_rows": 6}, 0, False, True),
        ({}, {"n_rows": 5}, 0, False, False),
        ({"min_child_rows": 5}, {"n_rows": 10}, 0, False, True),
        ({"min_child_rows": 5}, {"n_rows": 9}, 0, False, False),
        ({}, {"weight": 3.0}, 0, False, True),
        ({}, {"weight": 2.875}, 0, False, False),
        ({}, {"mass": 2.125}, 0, False, True),
        ({}, {"mass": 2.0}, 0, False, False),  # the impurity must be above the threshold
    ],
)
def test_a_node_may_be_split(limits: Any, node: Any, depth: int, constant: bool, allowed: bool) -> None:
    frame = Frame(**{**LIMITS, **limits}, nodes=node_of(**node))
    assert is_splittable(frame.record, 0, depth, constant) == allowed


@pytest.mark.parametrize(
    ("n_left", "w_left", "allowed"),
    [
        (2, 1.5, True),
        (8, 6.5, True),
        (1, 4.0, False),
        (9, 4.0, False),
        (5, 1.375, False),
        (5, 6.625, False),
    ],
)
def test_both_children_are_large_enough(n_left: int, w_left: float, allowed: bool) -> None:
    frame, totals = Frame(**LIMITS), Totals(10, 8.0, 0.0, 4.0, 0.0, 0.0)
    assert are_large_enough(frame.record, totals, n_left, w_left) == allowed


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize(
    ("lower", "upper", "in_bounds"),
    [(-np.inf, np.inf, True), (1.0, 2.0, True), (1.5, 2.0, False), (1.0, 1.5, False), (3.0, 4.0, False)],
)
def test_in_order(sign: int, lower: float, upper: float, in_bounds: bool) -> None:
    bounds = Bounds(sign, lower, upper)
    assert in_order(bounds, 1.0, 2.0) == (in_bounds and sign == 1)
    assert in_order(bounds, 2.0, 1.0) == (in_bounds and sign == -1)
    assert in_order(bounds, 1.0, 1.0) == (lower <= 1.0 <= upper)


@pytest.mark.parametrize(("gain", "is_enough"), [(2.0, True), (2.5, True), (1.999, False), (-np.inf, False)])
def test_a_split_must_gain_the_least_gain(gain: float, is_enough: bool) -> None:
    assert is_worth_it(Frame(least_gain=2.0).record, gain) == is_enough


@pytest.mark.parametrize(
    ("sign", "left", "right"),
    [(1, (0.0, 2.5), (2.5, 4.0)), (-1, (2.5, 4.0), (0.0, 2.5)), (0, (0.0, 4.0), (0.0, 4.0))],
)
def test_children_do_not_cross_the_border(sign: int, left: tuple[float, float], right: tuple[float, float]) -> None:
    slots = np.zeros(2, dtype=OPEN)
    slots["upper"] = 4.0
    narrow(sign, 2.5, slots[0], slots[1])
    assert [(slot["lower"], slot["upper"]) for slot in slots] == [left, right]

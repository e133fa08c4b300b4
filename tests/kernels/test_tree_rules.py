"""Rules of growth: each one alone decides, and its limit itself is allowed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_cases import Frame

from sapwood.kernels.tree_frame import NODE, OPEN, Bounds, Totals
from sapwood.kernels.tree_rules import in_order, is_large_enough, is_worth_it, may_split, narrow

LIMITS = {
    "max_depth": 3,
    "min_rows_split": 6,
    "min_rows_leaf": 2,
    "min_weight_leaf": 1.5,
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
        ({"min_rows_leaf": 5}, {"n_rows": 10}, 0, False, True),
        ({"min_rows_leaf": 5}, {"n_rows": 9}, 0, False, False),
        ({}, {"weight": 3.0}, 0, False, True),
        ({}, {"weight": 2.875}, 0, False, False),
        ({}, {"mass": 2.125}, 0, False, True),
        ({}, {"mass": 2.0}, 0, False, False),  # the impurity must be above the threshold
    ],
)
def test_may_split(limits: Any, node: Any, depth: int, constant: bool, allowed: bool) -> None:
    frame, nodes = Frame(**{**LIMITS, **limits}), node_of(**node)
    assert may_split(frame.record, nodes[0], depth, constant) == allowed


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
    assert is_large_enough(frame.record, totals, n_left, w_left) == allowed


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


@pytest.mark.parametrize(("decrease", "is_enough"), [(2.0, True), (2.0 - 1e-13, True), (1.999, False), (0.0, False)])
def test_the_least_decrease_is_a_share_of_the_weight_of_the_tree(decrease: float, is_enough: bool) -> None:
    frame = Frame(min_decrease=0.25, nodes=node_of(weight=8.0))
    assert is_worth_it(frame.record, decrease) == is_enough


def test_without_a_least_decrease_a_split_may_be_worse_by_rounding() -> None:
    frame = Frame(min_decrease=0.0, nodes=node_of())
    assert is_worth_it(frame.record, -1e-12)


@pytest.mark.parametrize(
    ("sign", "left", "right"),
    [(1, (0.0, 2.5), (2.5, 4.0)), (-1, (2.5, 4.0), (0.0, 2.5)), (0, (0.0, 4.0), (0.0, 4.0))],
)
def test_children_do_not_cross_the_border(sign: int, left: tuple[float, float], right: tuple[float, float]) -> None:
    slots = np.zeros(2, dtype=OPEN)
    slots["upper"] = 4.0
    narrow(sign, 2.5, slots[0], slots[1])
    assert [(slot["lower"], slot["upper"]) for slot in slots] == [left, right]

"""Newton's formulas against a numeric minimiser, and what children inherit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from histogram_cases import blank_nodes, rules
from hypothesis import given, settings
from hypothesis import strategies as st
from scan_twin import leaf, objective
from scipy.optimize import minimize_scalar

from sapwood.boosting.options import TreeOptions
from sapwood.kernels.branching import branch
from sapwood.kernels.draws import mix
from sapwood.kernels.newton import leaf_weight, score
from strategies import EXAMPLES, examples

many = settings(examples, max_examples=5 * EXAMPLES)
penalties = st.fixed_dictionaries(
    {
        "reg_lambda": st.sampled_from([0.0, 0.5, 1.0, 10.0]),
        "reg_alpha": st.sampled_from([0.0, 0.5, 3.0]),
        "max_delta_step": st.sampled_from([0.0, 0.3, 2.0]),
    }
)
bounds = st.tuples(st.sampled_from([-np.inf, -1.0, 0.125]), st.sampled_from([0.125, 0.75, np.inf]))
sums = st.tuples(st.integers(-80, 80).map(lambda k: k / 8), st.integers(1, 80).map(lambda k: k / 8))


def slow_minimiser(G: float, H: float, penalty: Any, low: float, high: float) -> float:
    """Where a bounded search ends; leaves of a convex objective lie within |G| / H."""
    step = float(penalty["max_delta_step"]) or np.inf
    reach = 1.0 + abs(G) / H
    low, high = np.clip([low, high], *np.clip([-reach, reach], -step, step))
    if low == high:
        return float(low)
    return float(minimize_scalar(lambda w: objective(G, H, penalty, w), bounds=(low, high), method="bounded").x)


@many
@given(sums, penalties, bounds)
def test_a_leaf_minimises_the_objective(pair: tuple[float, float], penalty: dict, bound: tuple[float, float]) -> None:
    record = rules(**penalty)
    w = leaf_weight(*pair, record, *bound)
    assert bound[0] <= w <= bound[1]
    found = slow_minimiser(*pair, record, *bound)
    if not penalty["max_delta_step"] or bound[0] <= penalty["max_delta_step"]:
        assert objective(*pair, record, w) <= objective(*pair, record, found) + 1e-9
    assert w == leaf(*pair, record, *bound)


@many
@given(sums, penalties, bounds)
def test_worth_is_minus_twice_the_least_objective(
    pair: tuple[float, float], penalty: dict, bound: tuple[float, float]
) -> None:
    record = rules(**penalty, is_plain=False)
    expected = -2 * objective(*pair, record, leaf(*pair, record, *bound))
    assert score(*pair, record, *bound) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@many
@given(sums, st.sampled_from([0.0, 0.5, 10.0]))
def test_the_short_formula_is_the_long_one_without_penalties(pair: tuple[float, float], reg_lambda: float) -> None:
    short, long = (rules(reg_lambda=reg_lambda, is_plain=plain) for plain in (True, False))
    found = score(*pair, short, -np.inf, np.inf)
    assert found == pytest.approx(score(*pair, long, -np.inf, np.inf), rel=1e-12)
    assert found == pytest.approx(pair[0] ** 2 / (pair[1] + reg_lambda), rel=1e-12)


@pytest.mark.parametrize("is_plain", [False, True])
def test_without_curvature_a_leaf_says_nothing(is_plain: bool) -> None:
    record = rules(is_plain=is_plain)
    assert leaf_weight(3.0, 0.0, record, -np.inf, np.inf) == 0.0
    assert leaf_weight(3.0, 0.0, record, 0.5, 1.0) == 0.5
    assert score(3.0, 0.0, record, -np.inf, np.inf) == 0.0


@examples
@given(st.lists(sums, min_size=1, max_size=9), penalties, bounds)
def test_leaves_of_a_tree_are_those_of_the_kernel(pairs: list, penalty: dict, bound: tuple[float, float]) -> None:
    G, H = np.array(pairs).T
    lower, upper = np.full(len(G), bound[0]), np.full(len(G), bound[1])
    found = TreeOptions(**penalty).leaf_weights(G, H, lower, upper)
    assert found.tolist() == [leaf_weight(g, h, rules(**penalty), *bound) for g, h in pairs]


def family(sign: int, lower: float = -np.inf, upper: float = np.inf) -> np.ndarray:
    """A root with G = 2, H = 8 is split into (-6, 4) and (8, 4)."""
    nodes = blank_nodes(5)
    for name, value in {"gradient": 2, "hessian": 8, "left_gradient": -6, "left_hessian": 4, "feature": 1}.items():
        nodes[name][0] = value
    nodes["key"][0], nodes["depth"][0], nodes["lower"][0], nodes["upper"][0] = 99, 3, lower, upper
    branch(np.array([0]), 3, np.array([0, sign], dtype=np.int8), rules(is_plain=not sign), nodes)
    return nodes


def test_children_share_what_their_parent_has() -> None:
    nodes = family(0, -5.0, 5.0)
    assert (nodes["left"][0], nodes["right"][0]) == (3, 4)
    left, right = nodes[3], nodes[4]
    assert (left["gradient"], left["hessian"]) == (-6, 4)
    assert (right["gradient"], right["hessian"]) == (8, 4)
    for k, child in enumerate((left, right)):
        assert child["key"] == mix(np.uint64(99), k + 1)
        assert (child["depth"], child["left"], child["right"], child["slot"]) == (4, -1, -1, -1)
        assert (child["lower"], child["upper"]) == (-5.0, 5.0)


def test_children_of_a_falling_column_meet_in_the_middle_of_their_leaves() -> None:
    nodes = family(-1)  # leaves 1.5 and -2
    assert (nodes["lower"][3], nodes["upper"][3]) == (-0.25, np.inf)
    assert (nodes["lower"][4], nodes["upper"][4]) == (-np.inf, -0.25)


def test_bounds_of_the_parent_hold_for_the_children() -> None:
    nodes = family(-1, -1.0, 1.0)  # leaves 1.5 and -2, clipped to 1 and -1
    assert (nodes["lower"][3], nodes["upper"][3]) == (0.0, 1.0)
    assert (nodes["lower"][4], nodes["upper"][4]) == (-1.0, 0.0)

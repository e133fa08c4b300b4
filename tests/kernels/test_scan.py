"""The scan of histograms against every split, one by one."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from histogram_cases import blank_nodes, rules
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scan_twin import Column, Node, Split, ordered_levels

from sapwood.kernels.branching import write_table
from sapwood.kernels.newton import NO_GAIN
from sapwood.kernels.scan import Columns, new_lanes, scan_nodes
from strategies import EXAMPLES, examples

Array = NDArray[Any]
STARTS = np.array([0, 256, 512])
many = settings(examples, max_examples=8 * EXAMPLES)


def scan(node: Node, counts: bool = True, usable: Array | None = None) -> np.void:
    """What the kernel writes into the node."""
    columns = node.columns
    pool = np.full((2, 256 * len(columns), 3 if counts else 2), 10**9, dtype=np.int64)
    for j, column in enumerate(columns):
        pool[1, 256 * j : 256 * (j + 1)] = column.sums[:, : pool.shape[2]]
    lanes, _arrays = new_lanes()
    nodes = blank_nodes(3)
    nodes["slot"][1], nodes["lower"][1], nodes["upper"][1] = 1, node.lower, node.upper
    nodes["gradient"][1], nodes["hessian"][1], nodes["n_rows"][1] = node.total
    scan_nodes(
        pool,
        np.array([1]),
        np.ones((1, len(columns)), dtype=np.bool_) if usable is None else usable[None, :],
        Columns(
            256 * np.arange(len(columns) + 1),
            np.array([column.n_codes for column in columns]),
            np.array([column.is_category for column in columns]),
            np.array([column.sign for column in columns], dtype=np.int8),
        ),
        node.rules,
        lanes[0],
        nodes,
    )
    return nodes[1]


def table_of(found: np.void) -> Array:
    table = np.empty((1, 256), dtype=np.uint8)
    write_table(found, table[0])
    return table[0]


def left_codes(found: np.void, column: Column) -> tuple[int, ...]:
    """Codes with rows in the node that go left."""
    some = [code for code in range(column.n_codes + 1) if column.sums[code, :2].any()]
    return tuple(code for code in some if table_of(found)[code])


def check(node: Node, found: np.void, splits: list[Split]) -> None:
    """The kernel's split is among the best, and none like it comes before it."""
    if not splits:
        assert found["gain"] == NO_GAIN
        assert found["feature"] == -1
        return
    best = max(split.gain for split in splits)
    column = node.columns[found["feature"]]
    chosen = left_codes(found, column)
    at = [k for k, s in enumerate(splits) if s.feature == found["feature"] and set(s.left) == set(chosen)]
    assert at, (found, chosen)
    split = splits[at[0]]
    assert split.gain == pytest.approx(best, rel=1e-9)
    assert found["gain"] == pytest.approx(best, rel=1e-9)
    assert (found["left_gradient"], found["left_hessian"]) == split.sums[:2]
    parts = {split.sums, tuple(int(s) for s in node.total - split.sums)}
    assert not any(earlier.sums in parts for earlier in splits[: at[0]])  # of equal ones the first
    check_description(found, column, split)


def check_description(found: np.void, column: Column, split: Split) -> None:
    """The code or the subset, and where rows without a value go."""
    larger_left = 2 * split.sums[1] > found["hessian"]
    assert found["missing_left"] == (0 in split.left if column.some_missing else larger_left)
    table = table_of(found)
    assert table[0] == found["missing_left"]
    if column.is_category:
        absent = [code for code in range(256) if code > column.n_codes or not column.sums[code].any()]
        assert (table[absent] == found["missing_left"]).all()
        return
    right = [code for code in column.present if code not in split.left]
    assert found["code"] == max(split.left)
    assert found["next_code"] == (right[0] if right else 0)


@st.composite
def columns(draw: st.DrawFn, rows: Array, n_features: int, **options: Any) -> tuple[Column, ...]:
    """Columns of the same rows (gradient, hessian, 1) with few codes, some of them empty."""
    made = []
    for _ in range(n_features):
        n_codes = draw(st.sampled_from([1, 2, 3, 6, 40, 255]))
        codes = st.integers(draw(st.integers(0, 1)), min(n_codes, 9)).map(lambda c, n=n_codes: n if c == 9 else c)
        sums = np.zeros((256, 3), dtype=np.int64)
        np.add.at(sums, draw(st.lists(codes, min_size=len(rows), max_size=len(rows))), rows)
        is_category = draw(st.booleans())
        sign = 0 if is_category or not options.get("signs") else draw(st.integers(-1, 1))
        made.append(Column(sums, n_codes, is_category, sign))
    return tuple(made)


@st.composite
def some_rows(draw: st.DrawFn, least_hessian: int = 1) -> Array:
    n = draw(st.integers(1, 25))
    row = st.tuples(st.integers(-6, 6), st.integers(least_hessian, 4), st.just(1))
    return np.array(draw(st.lists(row, min_size=n, max_size=n)), dtype=np.int64)


penalties = st.fixed_dictionaries(
    {"reg_lambda": st.sampled_from([0.0, 1.0, 0.5])},
    optional={
        "reg_alpha": st.sampled_from([0.5, 3.0]),
        "max_delta_step": st.sampled_from([0.25, 1.0]),
        "min_child_weight": st.sampled_from([1.0, 3.0, 10.0]),
        "min_child_rows": st.integers(1, 6),
        "cat_smooth": st.sampled_from([0.5, 10.0]),
        "max_cat_to_onehot": st.integers(0, 6),
        "max_cat_threshold": st.integers(1, 3),
        "gradient_unit": st.sampled_from([0.125, 4.0]),
        "hessian_unit": st.sampled_from([0.5, 2.0]),
    },
)


@many
@given(st.data(), penalties, st.integers(1, 4))
def test_the_best_split_of_a_node(data: st.DataObject, penalty: dict[str, Any], n_features: int) -> None:
    node = Node(data.draw(columns(data.draw(some_rows()), n_features)), rules(**penalty))
    check(node, scan(node), list(node.splits()))


@many
@given(st.data(), penalties, st.sampled_from([-np.inf, -1.0, -0.25, 0.0]), st.sampled_from([0.0, 0.5, np.inf]))
def test_monotone_columns_within_bounds(
    data: st.DataObject, penalty: dict[str, Any], lower: float, upper: float
) -> None:
    made = data.draw(columns(data.draw(some_rows()), 3, signs=True))
    node = Node(made, rules(**penalty, is_plain=False), lower, upper)
    check(node, scan(node), list(node.splits()))


@many
@given(st.data(), penalties, st.sampled_from([(0.25, 1.0), (-2.0, -0.5), (0.5, 0.5)]))
def test_bounds_that_exclude_zero(data: st.DataObject, penalty: dict[str, Any], bounds: tuple[float, float]) -> None:
    made = data.draw(columns(data.draw(some_rows()), 2, signs=True))
    node = Node(made, rules(**penalty, is_plain=False), *bounds)
    check(node, scan(node), list(node.splits()))


@many
@given(st.data(), penalties)
def test_rows_without_hessian(data: st.DataObject, penalty: dict[str, Any]) -> None:
    rows = data.draw(some_rows(least_hessian=0))
    node = Node(data.draw(columns(rows, 2)), rules(**penalty | {"min_child_rows": 0}))
    if node.total[1] > 0:
        check(node, scan(node, counts=False), list(node.splits()))


@examples
@given(st.data(), penalties)
def test_counts_of_rows_change_nothing_else(data: st.DataObject, penalty: dict[str, Any]) -> None:
    penalty = penalty | {"min_child_rows": 0}
    node = Node(data.draw(columns(data.draw(some_rows()), 3)), rules(**penalty))
    with_counts, without = scan(node), scan(node, counts=False)
    for name in ("gain", "feature", "left_gradient", "left_hessian"):
        assert with_counts[name] == without[name]


@examples
@given(st.data(), penalties)
def test_only_usable_columns_are_split(data: st.DataObject, penalty: dict[str, Any]) -> None:
    node = Node(data.draw(columns(data.draw(some_rows()), 4)), rules(**penalty))
    usable = np.array(data.draw(st.lists(st.booleans(), min_size=4, max_size=4)))
    check(node, scan(node, usable=usable), list(node.splits(usable)))


@many
@given(st.data(), st.booleans())
def test_ordered_levels_find_the_best_of_all_subsets(data: st.DataObject, grouped: bool) -> None:
    """Without a penalty the best subset is a beginning of the order (Fisher 1958)."""
    n = data.draw(st.integers(2, 7))
    row = st.tuples(st.integers(-6, 6), st.integers(1, 4), st.just(1))
    sums = np.zeros((256, 3), dtype=np.int64)
    sums[1 : n + 1] = data.draw(st.lists(row, min_size=n, max_size=n))
    column = Column(sums, n, is_category=True)
    node = Node((column,), rules(max_cat_to_onehot=0))
    found = scan(node)
    sides = (side for size in range(1, n) for side in combinations(range(1, n + 1), size))
    gains = [split.gain for side in sides if (split := node.split(0, side)) is not None]
    assert max(found["gain"], 0.0) == pytest.approx(max(gains, default=0.0), rel=1e-9)


def one_column(*sums: tuple[int, int], is_category: bool = False) -> Column:
    """Sums of missing rows, then of each code."""
    table = np.zeros((256, 3), dtype=np.int64)
    table[: len(sums), :2] = sums
    table[: len(sums), 2] = [h > 0 for _, h in sums]
    return Column(table, len(sums) - 1, is_category)


def test_of_equal_columns_the_lowest_wins() -> None:
    column = one_column((0, 0), (-3, 1), (3, 1))
    assert scan(Node((column, column, column), rules()))["feature"] == 0
    assert scan(Node((column, column, column), rules()), usable=np.array([False, True, True]))["feature"] == 1


def test_of_equal_cuts_the_lowest_code_wins() -> None:
    node = Node((one_column((0, 0), (-2, 1), (0, 1), (0, 1), (2, 1)),), rules())
    symmetric = scan(node)
    assert (symmetric["code"], symmetric["next_code"]) == (1, 2)


def test_of_equal_directions_missing_rows_go_right() -> None:
    node = Node((one_column((0, 2), (-4, 2), (4, 2)),), rules())
    assert not scan(node)["missing_left"]


def test_empty_codes_are_passed_over() -> None:
    node = Node((one_column((0, 0), (0, 0), (-4, 2), (0, 0), (0, 0), (4, 2)),), rules())
    found = scan(node)
    assert (found["code"], found["next_code"]) == (2, 5)


def test_missing_rows_alone_can_be_split_off() -> None:
    node = Node((one_column((9, 3), (-1, 3), (-1, 3)),), rules())
    found = scan(node)
    assert (found["code"], found["next_code"], found["missing_left"]) == (2, 0, False)
    assert (found["left_gradient"], found["left_hessian"]) == (-2, 6)


@pytest.mark.parametrize(("sums", "expected"), [([(-8, 4), (2, 1)], True), ([(-2, 1), (8, 4)], False)])
def test_without_missing_rows_they_will_follow_the_heavier_child(sums: list, expected: bool) -> None:
    assert scan(Node((one_column((0, 0), *sums),), rules()))["missing_left"] == expected


def test_no_split_without_gain() -> None:
    equal = one_column((1, 1), (1, 1), (2, 2))
    assert scan(Node((equal,), rules()))["gain"] == NO_GAIN
    assert scan(Node((one_column((0, 0), (5, 1)),), rules()))["gain"] == NO_GAIN


def test_no_split_without_gain_where_bounds_exclude_zero() -> None:
    node = Node((one_column((0, 0), (0, 1), (0, 1)),), rules(is_plain=False), 0.5, 1.0)
    assert scan(node)["gain"] == NO_GAIN


def test_of_equal_columns_the_lowest_wins_where_bounds_exclude_zero() -> None:
    column = one_column((0, 0), (-1, 1), (0, 22))
    node = Node((column, column), rules(reg_lambda=0.5, is_plain=False), 0.25, 1.0)
    assert scan(node)["feature"] == 0


@pytest.mark.parametrize(("most", "size"), [(64, 4), (3, 3), (1, 1)])
def test_max_cat_threshold_limits_the_smaller_side(most: int, size: int) -> None:
    column = one_column((0, 0), *[(-4, 1)] * 4, *[(4, 1)] * 5, is_category=True)
    node = Node((column,), rules(max_cat_threshold=most))
    assert left_codes(scan(node), column) == tuple(range(1, size + 1))  # of like levels the first


@pytest.mark.parametrize(("most", "size"), [(6, 1), (5, 3)])
def test_up_to_max_cat_to_onehot_levels_one_is_split_off(most: int, size: int) -> None:
    column = one_column((0, 0), *[(-4, 1), (4, 1)] * 3, is_category=True)
    found = scan(Node((column,), rules(max_cat_to_onehot=most)))
    assert len(left_codes(found, column)) == size


def test_smoothing_changes_the_order_of_levels() -> None:
    column = one_column((0, 0), (-3, 1), (-8, 4), is_category=True)
    assert ordered_levels(column, rules()) == [1, 2]
    assert ordered_levels(column, rules(cat_smooth=10.0)) == [2, 1]


def test_each_node_may_have_its_own_columns() -> None:
    column = one_column((0, 0), (-3, 1), (3, 1))
    pool = np.zeros((2, 512, 2), dtype=np.int64)
    pool[:, :256] = pool[:, 256:] = column.sums[:, :2]
    nodes = blank_nodes(2)
    nodes["slot"], nodes["gradient"], nodes["hessian"], nodes["n_rows"] = [0, 1], 0, 2, 2
    usable = np.array([[False, True], [True, False]])
    nothing = np.zeros(2, dtype=np.bool_), np.zeros(2, dtype=np.int8)
    lanes, _arrays = new_lanes()
    scan_nodes(pool, np.array([0, 1]), usable, Columns(STARTS, np.array([2, 2]), *nothing), rules(), lanes[0], nodes)
    assert nodes["feature"].tolist() == [1, 0]

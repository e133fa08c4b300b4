"""Columns of many codes: sums of the rows of a node against a dictionary, and against the scan of histograms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from histogram_cases import HALF, blank_nodes, rules
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from wide_twin import best_set

from sapwood.kernels.boosting_records import IN_SET
from sapwood.kernels.exact import goes_left
from sapwood.kernels.newton import NO_GAIN
from sapwood.kernels.scan import new_lanes, scan_nodes
from sapwood.kernels.wide_columns import (
    WideColumns,
    WideRows,
    new_code_sums,
    search_pairs,
    sort_codes,
    take_best,
)
from strategies import EXAMPLES, examples

Array = NDArray[Any]
many = settings(examples, max_examples=4 * EXAMPLES)


def one_column(n_codes: int, is_category: bool = True, doubt: float = 0.0, sign: int = 0) -> WideColumns:
    signs = np.array([sign], dtype=np.int8)
    return WideColumns(
        np.array([3]), np.array([0]), np.array([n_codes]), np.array([is_category]), signs, np.array([doubt])
    )


def root(g: Array, h: Array) -> Array:
    nodes = blank_nodes(1)
    nodes["gradient"], nodes["hessian"], nodes["n_rows"] = g.sum(), h.sum(), len(g)
    return nodes


def search(codes: Array, g: Array, h: Array, own: Any, column: WideColumns, n_shards: int = 1) -> tuple[Any, Array]:
    """The split of a node with all rows, whose rows lie in some shards; and the set of its levels."""
    parts = np.array_split(np.arange(len(codes)), n_shards)
    records = tuple(np.arange(len(part), dtype=np.uint64) << HALF for part in parts)
    ranges = tuple(np.array([[0, len(part)]]) for part in parts)
    rows = WideRows(records, tuple(codes[part].astype(np.uint16)[None, :] for part in parts), ranges)
    quanta = tuple(np.column_stack([g[part], h[part]]).astype(np.int64) for part in parts)
    found, n_codes = root(g, h)[:, None], int(column.n_codes[0])
    sets, room = np.full((1, 1, n_codes // 32 + 1), 77, dtype=np.uint32), new_code_sums(n_codes)
    search_pairs(np.array([[0, 0]]), rows, quanta, column, 0, own, room, found, sets)
    assert not room.sums.any()
    return found[0, 0], sets[0]


def left_codes(found: Any, sets: Array, codes: Array) -> frozenset[int]:
    node = np.array([found])
    if found["code"] == IN_SET:
        node["subset"][0, 0] = 0
    return frozenset(int(code) for code in np.unique(codes) if goes_left(node[0], int(code), sets))


@st.composite
def levels_of_rows(draw: st.DrawFn, n_codes: int, most: int = 50) -> tuple[Array, Array, Array]:
    """Codes, whole gradients and hessians of some rows; some are missing, some rows count for nothing."""
    n, rng = draw(st.integers(2, most)), np.random.default_rng(draw(st.integers(0, 2**32)))
    codes = rng.integers(0, n_codes, n, endpoint=True)
    if draw(st.booleans()):
        codes = np.maximum(codes, 1)
    effect = rng.integers(-9, 9, n_codes + 1)[codes] if draw(st.booleans()) else 0
    g, h = effect + rng.integers(-3, 3, n, endpoint=True), rng.integers(1, 4, n)
    nothing = rng.random(n) < 0.1
    return codes, np.where(nothing, 0, g), np.where(nothing, 0, h)


OPTIONS = st.fixed_dictionaries(
    {
        "reg_lambda": st.sampled_from([0.5, 1.0]),
        "cat_smooth": st.sampled_from([0.0, 2.0]),
        "max_cat_to_onehot": st.sampled_from([1, 4]),
        "max_cat_threshold": st.sampled_from([2, 64]),
        "min_child_weight": st.sampled_from([0.0, 5.0]),
    }
)


@examples
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(1, 500)), max_size=60, unique_by=lambda pair: pair[1]))
def test_codes_are_sorted_by_key_then_code(pairs: list[tuple[int, int]]) -> None:
    room = new_code_sums(500)
    for i, (key, code) in enumerate(pairs):
        room.keys[i], room.order[i] = key, code
    sort_codes(len(pairs), room)
    assert list(zip(room.keys[: len(pairs)], room.order[: len(pairs)], strict=True)) == sorted(pairs)


@many
@given(levels_of_rows(300), OPTIONS, st.sampled_from([0.0, 0.5, 1.0, 2.0]), st.integers(1, 3))
def test_the_best_set_of_levels_is_that_of_trying_all(
    rows: tuple[Array, Array, Array], options: dict[str, Any], doubt: float, n_shards: int
) -> None:
    codes, g, h = rows
    own, column = rules(**options), one_column(300, doubt=doubt)
    if h.sum() == 0:
        return
    found, sets = search(codes, g, h, own, column, n_shards)
    best = best_set(codes, g, h, own, doubt)
    if best is None:
        assert found["gain"] < 1e-6 if found["gain"] > NO_GAIN else True
        return
    assert found["code"] == IN_SET
    assert found["gain"] == pytest.approx(best.gain, rel=1e-6, abs=1e-6)
    counted = np.array([g[codes == code].any() or h[codes == code].any() for code in codes])
    inside = np.isin(codes, list(left_codes(found, sets, codes)))
    assert found["left_gradient"] == g[inside & counted].sum()
    assert found["left_hessian"] == h[inside & counted].sum()


@many
@given(levels_of_rows(12), OPTIONS, st.booleans(), st.booleans(), st.integers(-1, 1))
def test_a_narrow_column_has_the_split_of_its_histogram(
    rows: tuple[Array, Array, Array], options: dict[str, Any], is_category: bool, counts: bool, sign: int
) -> None:
    codes, g, h = rows
    own = rules(min_child_rows=3 if counts else 1, is_plain=sign == 0, **options)
    found, sets = search(codes, g, h, own, one_column(12, is_category, sign=sign))
    hist = np.zeros((256, 3 if counts else 2), dtype=np.int64)
    for code, *sums in zip(codes, g, h, np.ones_like(g), strict=True):
        hist[code] += sums[: hist.shape[1]]
    nodes, one = root(g, h), np.ones((1, 1), dtype=np.bool_)
    nodes["slot"] = 0
    of = np.array([0, 256]), np.array([12]), np.array([is_category]), np.array([sign], dtype=np.int8)
    scan_nodes(hist[None], np.array([0]), one, 0, 1, *of, own, new_lanes(), nodes)
    assert found["gain"] == nodes["gain"][0]
    if found["gain"] > NO_GAIN:
        for name in ("missing_left", "left_gradient", "left_hessian", "next_code"):
            assert found[name] == nodes[name][0], name
        every = np.arange(13)
        assert left_codes(found, sets, every) == left_codes(nodes[0], sets, every)


def test_levels_that_a_node_does_not_have_go_where_missing_rows_go() -> None:
    codes, g = np.repeat([0, 1, 2, 3, 4, 5], 4), np.repeat([-5, -5, -5, 5, 5, 5], 4)
    found, sets = search(codes, g, np.ones_like(g), rules(reg_lambda=1.0), one_column(300))
    assert found["missing_left"]
    left = left_codes(found, sets, np.arange(301))
    assert left == frozenset(range(301)) - {3, 4, 5}


@pytest.mark.parametrize("scale", [1.0, 2.0])  # normal gradients, and such with heavy tails
def test_an_identifier_gains_nothing(scale: float) -> None:
    rng = np.random.default_rng(0)
    own = rules(reg_lambda=1.0, max_cat_threshold=1 << 20)
    for n in (300, 3000):
        g = (np.sign(z := rng.normal(size=n)) * np.abs(1000 * z) ** scale).round().astype(int)
        free, _ = search(np.arange(1, n + 1), g, np.full(n, 1), own, one_column(n))
        doubted, _ = search(np.arange(1, n + 1), g, np.full(n, 1), own, one_column(n, doubt=1.0))
        assert free["gain"] > 0
        assert doubted["gain"] == NO_GAIN


def test_levels_whose_rows_agree_lose_little() -> None:
    codes = np.repeat(np.arange(1, 301), 50)
    g = np.where(codes % 2, 1000, -1000) + np.random.default_rng(0).integers(-100, 100, len(codes))
    own = rules(reg_lambda=1.0, max_cat_threshold=1 << 20)
    free, _ = search(codes, g, np.ones_like(g), own, one_column(300))
    doubted, sets = search(codes, g, np.ones_like(g), own, one_column(300, doubt=1.0))
    assert 0.95 * free["gain"] < doubted["gain"] < free["gain"]
    assert left_codes(doubted, sets, codes) == frozenset(range(2, 301, 2))


def nodes_with(feature: int, gain: float) -> Array:
    nodes = root(np.array([1, -1]), np.array([1, 1]))
    nodes["feature"], nodes["gain"], nodes["code"] = feature, gain, 7
    return nodes


@pytest.mark.parametrize(
    ("feature", "gain", "gains", "winner"),
    [
        (2, 1.0, (1.0, 1.0), 0),
        (0, 1.0, (1.0, 1.0), -1),
        (0, 1.0, (1.0, 1.1), 1),
        (4, 1.0, (0.9, 1.0), -1),
        (9, 1.0, (0.9, 1.0), 1),
        (-1, NO_GAIN, (NO_GAIN, NO_GAIN), -1),
        (-1, NO_GAIN, (NO_GAIN, 0.1), 1),
        (9, 1.0, (0.5, NO_GAIN), -1),
    ],
)
def test_of_equal_splits_that_of_the_lowest_column_wins(
    feature: int, gain: float, gains: tuple[float, float], winner: int
) -> None:
    nodes, found = nodes_with(feature, gain), np.repeat(blank_nodes(1)[:, None], 2, axis=1)
    found["gain"], found["feature"], found["code"] = gains, (1, 5), IN_SET
    columns = one_column(300)._replace(features=np.array([1, 5]))
    winners = np.empty(1, dtype=np.int64)
    take_best(np.array([0]), found, columns, rules(reg_lambda=1.0), nodes, winners)
    assert winners[0] == winner
    assert nodes["feature"][0] == (feature if winner < 0 else (1, 5)[winner])
    assert nodes["gain"][0] == (gain if winner < 0 else gains[winner])

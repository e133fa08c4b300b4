"""Groups of levels: sums by half, how far effects are believed, and rows that move when their codes change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sapwood.boosting.level_groups import group_levels
from sapwood.kernels.boosting_records import NODE, RULES
from sapwood.kernels.level_groups import (
    Moves,
    bound_nodes,
    code_effects,
    cut_levels,
    find_effects,
    half_of,
    recount,
    reroute,
    shrinkage,
    sum_levels,
    write_effects,
    write_group_codes,
)

Array = NDArray[Any]
KEYS = [np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)]


def by_halves(levels: Array, g: Array, h: Array, n_levels: int, key: np.uint64) -> Array:
    """Sums (halves, levels + 1, 2), row by row."""
    sums = np.zeros((2, n_levels + 1, 2), dtype=np.int64)
    for row, level in enumerate(levels):
        sums[int(half_of(row, key)), level] += g[row], h[row]
    return sums


@pytest.mark.parametrize("key", KEYS)
def test_half_of_the_rows_are_in_each_half(key: np.uint64) -> None:
    halves = np.array([half_of(row, key) for row in range(10_000)])
    assert abs(halves.mean() - 0.5) < 0.02
    assert np.abs(np.corrcoef(halves[1:], halves[:-1])[0, 1]) < 0.9


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("dtype", [np.uint16, np.uint32])
def test_sums_of_levels(packed: bool, dtype: Any) -> None:
    rng, n = np.random.default_rng(0), 500
    levels, g, h = rng.integers(0, 41, n).astype(dtype), rng.integers(-99, 99, n), rng.integers(0, 50, n)
    rows = rng.permutation(n)[:300].astype(np.uint64)
    records = rows << np.uint64(32)
    if packed:
        records |= (g[rows].astype(np.uint64) & np.uint64(0xFFFF)) << np.uint64(16) | h[rows].astype(np.uint64)
    quantized = None if packed else np.column_stack([g, h])
    found = np.zeros((2, 41, 2), dtype=np.int64)
    sum_levels(records, 0, 300, quantized, levels, 0, KEYS[0], found.reshape(-1, 2))
    inside = np.isin(np.arange(n), rows)
    np.testing.assert_array_equal(found, by_halves(levels, g * inside, h * inside, 40, KEYS[0]))


def test_an_offset_is_that_of_the_first_row() -> None:
    rng = np.random.default_rng(1)
    levels, codes = rng.integers(0, 300, 100).astype(np.uint16), rng.integers(0, 256, (2, 300)).astype(np.uint8)
    whole, part = np.zeros(100, np.uint8), np.zeros(60, np.uint8)
    write_group_codes(levels, codes, 0, KEYS[0], 0, 100, whole, None, 0)
    rows = np.zeros((60, 8), np.uint8)
    write_group_codes(levels[40:], codes, 40, KEYS[0], 0, 60, part, rows, 3)
    np.testing.assert_array_equal(part, whole[40:])
    np.testing.assert_array_equal(rows[:, 3], part)
    assert not rows[:, [0, 1, 2, 4, 5, 6, 7]].any()


class TestShrinkage:
    def test_a_worked_example(self) -> None:
        """Two levels of d = 3, 3 and -3, -3 in the halves, hessian 2 each: t = 18 / 8, and 36 - t 16 = 0 is chance."""
        sums = np.array([[[0, 0], [3, 2], [-3, 2]], [[0, 0], [3, 2], [-3, 2]]])
        assert shrinkage(sums, 0.0) == 0.0
        sums[1, :, 0] = [0, 1, -1]  # t = 6 / 8; chance is (9 + 9 + 1 + 1 - 6 / 8 * 16) / 8 = 1
        assert shrinkage(sums, 0.0) == pytest.approx(1.0 / (6 / 8))

    def test_halves_that_disagree_show_no_effect(self) -> None:
        sums = np.array([[[0, 0], [3, 2], [-3, 2]], [[0, 0], [-3, 2], [3, 2]]])
        assert shrinkage(sums, 0.0) == np.inf
        assert group_levels(sums).tolist() == [[0, 1, 1]] * 3

    def test_levels_of_one_row_show_no_effect(self) -> None:
        rng, n = np.random.default_rng(0), 2000
        g = rng.integers(-1000, 1000, n)
        sums = by_halves(np.arange(1, n + 1), g - int(g.mean()), np.full(n, 100), n, KEYS[0])
        codes = group_levels(sums)
        assert len(np.unique(codes[:2])) <= 2  # missing, and one group

    def test_variance_of_effects_is_estimated_without_bias(self) -> None:
        """Effects of variance 4, chance of variance 25 per row: half of an effect is believed at 25 / 4 rows."""
        rng, n_levels, n = np.random.default_rng(0), 3000, 60_000
        levels = rng.integers(1, n_levels + 1, n)
        g = np.rint(1000 * (rng.normal(0, 2, n_levels + 1)[levels] + rng.normal(0, 5, n))).astype(np.int64)
        sums = by_halves(levels, g, np.ones(n, dtype=np.int64), n_levels, KEYS[0])
        assert shrinkage(sums, g.mean()) == pytest.approx(25 / 4, rel=0.1)


def test_effects_for_a_half_come_from_the_other() -> None:
    sums = np.array([[[0, 0], [8, 2], [0, 0]], [[0, 0], [-4, 1], [6, 3]]])
    effects = np.empty((3, 3), dtype=np.float32)
    write_effects(sums, 1.0, 2.0, effects)
    for row, of in enumerate((sums[1], sums[0], sums[0] + sums[1])):
        expected = [(g - h) / (h + 2.0) if h else 0.0 for g, h in of.tolist()]
        np.testing.assert_allclose(effects[row], expected, rtol=1e-6)


def test_codes_of_effects_are_those_of_searching() -> None:
    rng = np.random.default_rng(0)
    for n_cuts in (0, 1, 100, 254):  # 255 groups have 254 cuts
        cuts = np.full(255, np.inf, dtype=np.float32)
        cuts[:n_cuts] = np.sort(rng.normal(size=n_cuts))
        effects = np.concatenate([rng.normal(size=500).astype(np.float32), cuts[:n_cuts]])[None, :].repeat(2, axis=0)
        codes = np.empty(effects.shape, dtype=np.uint8)
        code_effects(effects, cuts, codes)
        expected = 1 + np.searchsorted(cuts[:n_cuts], effects[0])
        expected[0] = 0
        np.testing.assert_array_equal(codes[1], expected)


@pytest.mark.parametrize("n_levels", [4, 7, 300, 3000])
@pytest.mark.parametrize("spread", [2, 10_000])
def test_cuts_are_those_of_sorted_effects(n_levels: int, spread: int) -> None:
    """With a small spread, many effects are equal; some levels have no rows."""
    rng = np.random.default_rng(n_levels)
    sums = np.zeros((2, n_levels + 1, 2), dtype=np.int64)
    sums[:, :, 1] = rng.integers(0, 3, n_levels + 1) * 50
    sums[:, :, 0] = sums[:, :, 1] * rng.integers(-spread, spread + 1, n_levels + 1)
    effects, keys = np.empty((3, n_levels + 1), dtype=np.float32), np.empty(n_levels, dtype=np.uint64)
    assert find_effects(sums, effects, effects[2].view(np.uint32), keys)
    keys.sort()
    order = np.argsort(effects[2, 1:], kind="stable")
    np.testing.assert_array_equal(effects[2][keys & np.uint64(0xFFFFFFFF)], effects[2, 1:][order])
    cuts, codes = np.full(255, np.inf, dtype=np.float32), np.zeros((3, n_levels + 1), dtype=np.uint8)
    cut_levels(keys, sums, effects[2], cuts)
    code_effects(effects, cuts, codes)
    weight = sums[:, 1:, 1].sum(axis=0)[order]
    ends = np.cumsum(weight)
    group = np.minimum(((ends - 0.5 * weight) * (255 / ends[-1])).astype(np.int64), 254)
    expected = np.unique(effects[2, 1:][order][:-1][np.diff(group) > 0])
    assert len(expected) > 0
    np.testing.assert_array_equal(cuts[: len(expected)], expected)
    assert np.isinf(cuts[len(expected) :]).all()
    np.testing.assert_array_equal(codes[2, 1:], 1 + np.searchsorted(expected, effects[2, 1:]))
    assert codes[2, 0] == 0


def test_groups_are_in_order_and_of_about_equal_weight() -> None:
    rng, n_levels, n = np.random.default_rng(0), 2000, 100_000
    levels = rng.integers(1, n_levels + 1, n)
    effect = rng.normal(0, 3000, n_levels + 1)
    g = np.rint(effect[levels] + rng.normal(0, 1000, n)).astype(np.int64)
    codes = group_levels(by_halves(levels, g, np.ones(n, dtype=np.int64), n_levels, KEYS[0]))
    for own in codes[:, 1:]:
        assert np.corrcoef(own, effect[1:])[0, 1] > 0.9
    weights = np.bincount(codes[2][levels])[1:]
    assert len(weights) > 200
    assert weights.max() < 5 * n / 255


def tree_of(code: int, inner: int) -> tuple[Array, Array]:
    """Node 0 is split on column 0, its children 1 and 2 on column 1, into 3 to 6."""
    nodes = np.zeros(7, dtype=NODE)
    nodes["left"], nodes["right"] = [1, 3, 5, -1, -1, -1, -1], [2, 4, 6, -1, -1, -1, -1]
    nodes["code"][:3], nodes["feature"][1:3] = (code, inner, inner + 2), 1
    nodes["lower"], nodes["upper"] = -np.inf, np.inf
    return nodes, np.array([True] * 3 + [False] * 4)


def leaves_of(columns: Array, nodes: Array, splits: Array) -> Array:
    found = []
    for row in range(columns.shape[1]):
        at = 0
        while splits[at]:
            node = nodes[at]
            code = columns[node["feature"], row]
            left = node["missing_left"] if code == 0 else code <= node["code"]
            at = int(node["left"] if left else node["right"])
        found.append(at)
    return np.array(found)


@pytest.mark.parametrize("grouped", [(0,), (1,), (0, 1)], ids=str)
def test_rows_move_to_the_leaves_of_their_new_codes(grouped: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 12, (2, 400)).astype(np.uint8)
    nodes, splits = tree_of(5, 4)
    before = leaves_of(columns, nodes, splits)
    leaf_of = before.astype(np.uint16)
    leaf_of[:20] = np.iinfo(np.uint16).max  # rows outside of the tree stay there
    levels, codes = np.zeros((len(grouped), 400), np.uint16), rng.integers(1, 12, (len(grouped), 301)).astype(np.uint8)
    codes[:, 0] = 0
    place_of, new = np.full(2, -1), columns.copy()
    for place, j in enumerate(grouped):
        place_of[j], levels[place] = place, np.where(columns[j] == 0, 0, rng.integers(1, 301, 400))
        new[j] = codes[place][levels[place]]
    bounds = np.full(7, -1), np.zeros((len(grouped), 7), np.uint8), np.full((len(grouped), 7), 255, np.uint8)
    moves, moved = Moves(nodes, splits, place_of, codes, *bounds), np.zeros(7, np.int64)
    assert bound_nodes(moves)
    reroute(moves, columns, levels, 0, 400, leaf_of, moved)
    assert (leaf_of[:20] == np.iinfo(np.uint16).max).all()
    after = leaves_of(new, nodes, splits)
    np.testing.assert_array_equal(leaf_of[20:], after[20:])
    gained = np.bincount(after[20:], minlength=7) - np.bincount(before[20:], minlength=7)
    np.testing.assert_array_equal(moved, gained)


@pytest.mark.parametrize("last", [9, 255])
def test_missing_rows_stay_in_a_child_of_their_own(last: int) -> None:
    """Node 2 has codes of 6 to `last`; all of them go left and missing rows right, where column 1 is split too."""
    nodes, splits = np.zeros(9, dtype=NODE), np.array([True, False, True, False, True, True, False, False, False])
    nodes["left"], nodes["right"] = [1, -1, 3, -1, 5, 6, -1, -1, -1], [2, -1, 4, -1, 8, 7, -1, -1, -1]
    nodes["code"][[0, 2, 4, 5]], nodes["feature"][[4, 5]] = (5, last, 6, 3), 1
    columns = np.array([[2, 7, last, last, 0, 0, 0], [1, 1, 1, 9, 1, 4, 9]], dtype=np.uint8)
    levels, codes = np.array([[1, 2, 3, 4, 0, 0, 0]], np.uint16), np.array([[0, 8, 3, last, 1]], np.uint8)
    leaf_of, moved = leaves_of(columns, nodes, splits).astype(np.uint16), np.zeros(9, np.int64)
    assert leaf_of.tolist() == [1, 3, 3, 3, 6, 7, 8]
    bounds = np.full(9, -1), np.zeros((1, 9), np.uint8), np.full((1, 9), 255, np.uint8)
    moves = Moves(nodes, splits, np.array([0, -1]), codes, *bounds)
    assert bound_nodes(moves)
    reroute(moves, columns, levels, 0, 7, leaf_of, moved)
    assert leaf_of.tolist() == [3, 1, 3, 1, 6, 7, 8]
    assert moved.tolist() == [0, 1, 0, -1, 0, 0, 0, 0, 0]


def test_no_row_moves_in_a_tree_without_a_split_on_a_grouped_column() -> None:
    nodes, splits = tree_of(5, 4)
    bounds = np.full(7, -1), np.zeros((1, 7), np.uint8), np.full((1, 7), 255, np.uint8)
    assert not bound_nodes(Moves(nodes, splits, np.array([-1, -1, 0]), np.zeros((1, 9), np.uint8), *bounds))


def rules_with(**options: Any) -> Any:
    rules = np.zeros(1, dtype=RULES)
    rules["gradient_unit"] = rules["hessian_unit"] = rules["reg_lambda"] = 1.0
    rules["is_plain"] = True
    for name, value in options.items():
        rules[name] = value
    return rules[0]


def leaf_sums(nodes: Array) -> tuple[Array, Array]:
    """Sums of 4, -1, 6, -9 (gradients, in quarters) and 2, 3, 5, 4 (hessians, in halves); as many rows, one moved."""
    sums = np.zeros((7, 2), dtype=np.int64)
    sums[3:] = [[16, 4], [-4, 6], [24, 10], [-36, 8]]
    nodes["n_rows"] = [14, 6, 8, 3, 3, 5, 3]
    return sums, np.array([0, 0, 0, -1, 0, 0, 1])


def test_sums_and_gains_are_counted_anew() -> None:
    nodes, splits = tree_of(5, 4)
    sums, moved = leaf_sums(nodes)
    recount(nodes, splits, sums, (0.25, 0.5), moved, rules_with())
    assert splits[:3].all()
    assert nodes[["gradient", "hessian", "n_rows"]].tolist()[:3] == [(0, 14, 14), (3, 5, 5), (-3, 9, 9)]
    assert nodes["gain"][1] == pytest.approx(0.5 * (16 / 3 + 1 / 4 - 9 / 6))
    assert nodes["gain"][0] == pytest.approx(0.5 * (9 / 6 + 9 / 10))
    assert (nodes["left_gradient"][0], nodes["left_hessian"][0]) == (3, 5)
    assert sums[:3].tolist() == [[0, 28], [12, 10], [-12, 18]]


@pytest.mark.parametrize(
    ("options", "kept"),
    [({"min_child_weight": 2.5}, [True, False, True]), ({"min_child_rows": 5}, [True, False, False])],
    ids=str,
)
def test_splits_with_small_children_are_undone(options: dict[str, Any], kept: list[bool]) -> None:
    nodes, splits = tree_of(5, 4)
    sums, moved = leaf_sums(nodes)
    recount(nodes, splits, sums, (0.25, 0.5), moved, rules_with(**options))
    assert splits[:3].tolist() == kept
    assert nodes["n_rows"][0] == 14

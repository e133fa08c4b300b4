"""The order of candidate splits is total: blocks of columns, cut and merged in any way, give the same winner."""

from __future__ import annotations

from functools import cmp_to_key
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from histogram_cases import blank_nodes, rules
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.float_bits import to_30_bits
from sapwood.kernels.newton import NO_GAIN
from sapwood.kernels.scan import Columns, new_lanes, scan_nodes
from sapwood.kernels.split_order import begin_search, take_over_all
from strategies import examples

Array = NDArray[Any]
CLOSE = [1.0, 1.0 + 0.8e-9, 1.0 + 1.5e-9, 1.0 + 1e-15, 1.0 - 1e-15, 2.0]
numbers = st.one_of(st.floats(allow_nan=False, min_value=0.0), st.sampled_from(CLOSE))


@lean_kernel
def round_all(x, out):
    for i in range(len(x)):
        out[i] = to_30_bits(x[i])


def rounded_all(*x: float) -> list[float]:
    out = np.empty(len(x))
    round_all(np.array(x), out)
    return out.tolist()


@examples
@given(numbers, numbers, st.integers(-40, 40))
def test_rounding_keeps_the_order_and_powers_of_two(a: float, b: float, exponent: int) -> None:
    low, high = rounded_all(*sorted((a, b)))
    assert low <= high
    if 1e-200 < a < 1e200:
        assert rounded_all(np.ldexp(a, exponent)) == [np.ldexp(rounded_all(a)[0], exponent)]
        assert rounded_all(a)[0] == pytest.approx(a, rel=2.0**-30)
        assert int(np.float64(rounded_all(a)[0]).view(np.int64)) % (1 << 23) == 0


def test_infinities_stay() -> None:
    assert rounded_all(-np.inf, np.inf, 0.0) == [-np.inf, np.inf, 0.0]


def found_nodes(scores: list[float]) -> Array:
    """The best splits of some columns, column j with the j-th score."""
    found = blank_nodes(len(scores))
    found["gain"], found["score"], found["feature"] = scores, rounded_all(*scores), np.arange(len(scores))
    return found


def merged(found: Array, blocks: list[list[int]]) -> int:
    """The winning column if the columns of each block are merged first, then the winners."""
    best = blank_nodes(len(blocks) + 1)
    best["score"] = NO_GAIN
    for k, block in enumerate(blocks):
        for j in block:
            take_over_all(found[j : j + 1], np.array([k]), best)
    for k in range(len(blocks)):
        take_over_all(best[k : k + 1].copy(), np.array([len(blocks)]), best)
    return int(best["feature"][-1])


@examples
@given(st.lists(st.sampled_from(CLOSE), min_size=1, max_size=8), st.data())
def test_blocks_in_any_order_give_the_same_column(scores: list[float], data: st.DataObject) -> None:
    found = found_nodes(scores)
    whole = merged(found, [list(range(len(scores)))])
    order = data.draw(st.permutations(range(len(scores))))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(scores)))) | {0, len(scores)})
    assert merged(found, [order[a:b] for a, b in pairwise(cuts)]) == whole


def test_three_close_gains_in_every_cut_and_order() -> None:
    winners = set()
    for order in permutations(range(3)):
        for cut in (1, 2, 3):
            found = found_nodes([1.0, 1.0 + 0.8e-9, 1.0 + 1.5e-9])
            winners.add(merged(found, [list(order[:cut]), list(order[cut:])]))
    assert len(winners) == 1


def compare(a: tuple[float, int], b: tuple[float, int]) -> int:
    """The specification: larger rounded score, then lower column."""
    (score_a, column_a), (score_b, column_b) = a, b
    if score_a != score_b:
        return -1 if score_a > score_b else 1
    return column_a - column_b


@examples
@given(st.lists(numbers, min_size=1, max_size=6))
def test_the_winner_is_first_by_score_and_column(scores: list[float]) -> None:
    keys = [(score, j) for j, score in enumerate(rounded_all(*scores))]
    assert merged(found_nodes(scores), [list(range(len(scores)))]) == min(keys, key=cmp_to_key(compare))[1]


def test_a_split_that_gains_nothing_does_not_come_before_no_split() -> None:
    nodes = blank_nodes(1)
    nodes["gradient"], nodes["hessian"] = 12345, 6789
    own = begin_search(nodes[0], rules())
    assert own * (1 + 2.0**-30) < nodes["score"][0] < own * (1 + 2e-9)


@examples
@given(st.integers(0, 2**32), st.data())
def test_columns_scanned_in_blocks(seed: int, data: st.DataObject) -> None:
    """Duplicates, mirrored columns and equal gradients: whole or in blocks, the same split."""
    rng = np.random.default_rng(seed)
    n = 8
    sums = np.zeros((n, 256, 2), dtype=np.int64)
    sums[:, 1:9] = rng.integers(1, 4, size=(8, 2)) * [data.draw(st.sampled_from([-1, 1])), 1]
    if data.draw(st.booleans()):
        sums[:, 1:9, 0] = rng.integers(-3, 4, size=8)
    sums[1::3, 1:9] = sums[1::3, 8:0:-1]
    pool = sums.reshape(1, 256 * n, 2)

    def scan(usable: Array) -> Array:
        nodes, (lanes, _arrays) = blank_nodes(1), new_lanes()
        nodes["gradient"], nodes["hessian"] = sums[0].sum(axis=0)
        nodes["slot"], nodes["n_rows"], nodes["subset"] = 0, 8, 0
        own = np.full(n, 8), np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.int8)
        columns = Columns(256 * np.arange(n + 1), *own)
        scan_nodes(pool, np.array([0]), usable[None, :], columns, rules(), lanes[0], nodes)
        return nodes

    whole = scan(np.ones(n, dtype=np.bool_))
    block = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    best = blank_nodes(1)
    best["score"] = NO_GAIN
    for k in data.draw(st.permutations(range(3))):
        take_over_all(scan(block == k), np.array([0]), best)
    for name in ("feature", "gain") if whole["feature"][0] < 0 else ("feature", "gain", "code", "left_gradient"):
        assert best[name] == whole[name]

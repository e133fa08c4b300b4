"""A shard against plain sets of rows, on one thread and on many."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shard_cases import Array, Case, histograms, split

from sapwood.shard import shard as module
from sapwood.shard.shard import Shard
from strategies import examples

JOBS = (1, 2, 5)


@pytest.fixture(autouse=True)
def threads_for_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut even the smallest nodes between threads, and passes over all rows into blocks."""
    monkeypatch.setattr(module, "ROWS_PER_THREAD", 1)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    n = draw(st.sampled_from([1, 2, 7, 40, 150]))
    return Case.random(draw(st.integers(0, 2**32)), n, *(draw(st.booleans()) for _ in range(3)))


def split_twice(case: Case, shard: Shard, seed: int) -> dict[int, Array]:
    """Split the root into 1 and 2, and those into 3 to 6; returns the rows of each node by plain means."""
    tables = (np.random.default_rng(seed).random((3, 256)) < 0.4).astype(np.uint8)
    rows = {0: case.members}
    for level, start in (([0], 0), ([1, 2], 1)):
        children, features = [(2 * node + 1, 2 * node + 2) for node in level], [(node + 1) % 5 for node in level]
        counts = split(shard, level, children, features, tables[start : start + len(level)])
        for node, feature, count in zip(level, features, counts, strict=True):
            goes_left = tables[node, case.codes[rows[node], feature]] == 1
            rows[2 * node + 1], rows[2 * node + 2] = rows[node][goes_left], rows[node][~goes_left]
            assert count == goes_left.sum()
    return rows


@pytest.mark.parametrize("n_jobs", JOBS)
@examples
@given(cases(), st.integers(0, 99))
def test_rows_move_to_their_children_in_order(n_jobs: int, case: Case, seed: int) -> None:
    shard = case.shard(n_jobs)
    rows = split_twice(case, shard, seed)
    leaves = [3, 4, 5, 6]
    shard.settle(leaves, 7)
    for node in leaves:
        np.testing.assert_array_equal(np.flatnonzero(shard.leaf_of == node), rows[node])


@pytest.mark.parametrize("n_jobs", JOBS)
@examples
@given(cases(), st.integers(0, 99))
def test_histograms_of_the_root_and_of_leaves(n_jobs: int, case: Case, seed: int) -> None:
    shard = case.shard(n_jobs)
    np.testing.assert_array_equal(histograms(shard, [0])[0], case.slow_histogram(case.members))
    rows = split_twice(case, shard, seed)
    for node, found in zip((5, 3, 6), histograms(shard, [5, 3, 6]), strict=True):
        np.testing.assert_array_equal(found, case.slow_histogram(rows[node]))


@pytest.mark.parametrize("n_jobs", JOBS)
@examples
@given(cases(), st.integers(0, 99))
def test_leaves_sum_up_and_are_added_to_scores(n_jobs: int, case: Case, seed: int) -> None:
    shard = case.shard(n_jobs)
    rows = split_twice(case, shard, seed)
    leaves, values = [1, 5, 6], np.array([0, 0.5, 0, 0, 0, -1.0, 2.0])  # a node that was split serves as a leaf, too
    fine = case.whole(case.units.fine_gradient_unit, case.units.fine_hessian_unit)
    shard.settle(leaves, 7)
    for leaf, sums in enumerate(shard.leaf_sums(7, case.units)):
        if leaf not in leaves:
            assert not sums.any()
            continue
        np.testing.assert_array_equal(sums, fine[rows[leaf]].sum(axis=0))
    if case.rows is None:
        score = np.full(len(case.codes), 0.25)
        shard.add_to(score, values)
        for leaf in leaves:
            assert (score[rows[leaf]] == 0.25 + values[leaf]).all()


def test_more_leaves_than_sixteen_bits_can_number() -> None:
    case = Case.random(0, 40, False, False, False)
    shard = case.shard()
    rows = split_twice(case, shard, 0)
    last = 2**16 + 7
    split(shard, [3], [(7, last)], [0], np.zeros((1, 256), dtype=np.uint8))  # node 7 is empty
    shard.settle([7, last, 4, 5, 6], last + 1)
    score = np.zeros(40)
    shard.add_to(score, np.arange(last + 1.0))
    for leaf, place in ((3, last), (4, 4), (5, 5), (6, 6)):
        assert (score[rows[leaf]] == place).all()


@examples
@given(cases(), st.integers(0, 99))
def test_rows_of_nodes_that_were_cut_off_belong_to_the_leaf_above(case: Case, seed: int) -> None:
    shard = case.shard()
    rows = split_twice(case, shard, seed)
    shard.settle([3, 4, 5, 6], 7)
    shard.merge_leaves(np.array([0, 1, 2, 1, 1, 5, 6]))
    for node in (1, 5, 6):
        np.testing.assert_array_equal(np.flatnonzero(shard.leaf_of == node), rows[node])


@examples
@given(cases(), st.integers(0, 99), st.data())
def test_histograms_of_shards_add_up(case: Case, seed: int, data: st.DataObject) -> None:
    whole = case.shard()
    split_twice(case, whole, seed)
    cut = data.draw(st.integers(0, len(case.codes)))
    total = np.zeros_like(histograms(whole, [3, 4]))
    for start, stop in ((0, cut), (cut, len(case.codes))):
        shard = Shard(whole.table.part(start, stop), 2, offset=start)
        own = case.part(shard)
        shard.gradient, shard.hessian, shard.weight = own.gradient, own.hessian, own.weight
        shard.begin(case.units, own.rows)
        split_twice(own, shard, seed)
        total += histograms(shard, [3, 4])
    np.testing.assert_array_equal(total, histograms(whole, [3, 4]))


def test_a_shard_begins_anew_with_every_tree() -> None:
    first, second = (Case.random(seed, 60, False, False, chosen) for seed, chosen in ((0, False), (1, True)))
    shard = first.shard(2)
    split_twice(first, shard, 0)
    again = Case(first.codes, second.gradient, second.hessian, None, second.rows, True)
    again.begin(shard)
    np.testing.assert_array_equal(histograms(shard, [0])[0], again.slow_histogram(again.members))


@pytest.mark.parametrize("n_jobs", JOBS)
def test_packed_sums_of_the_largest_gradients(n_jobs: int) -> None:
    n = 1 << 17
    gradient, hessian = np.where(np.arange(n) < n // 2, -1.0, 1.0), np.ones(n)
    case = Case(np.where(gradient < 0, 3, 9).astype(np.uint8)[:, None], gradient, hessian, None, None, True)
    most = int(case.whole(case.units.gradient_unit, case.units.hessian_unit)[0, 1])
    found = histograms(case.shard(n_jobs), [0])[0]
    assert found[3].tolist() == [-most * n // 2, most * n // 2]
    assert found[9].tolist() == [most * n // 2, most * n // 2]

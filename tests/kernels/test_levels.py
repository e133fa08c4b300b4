"""Subsets of levels against trying every subset."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from kernel_cases import Frame, group_arrays, limits
from level_cases import CLASS_CRITERIA, MISSING_ROWS, Case, Side, cases, level_arrays
from numba import njit
from numpy.typing import NDArray

from sapwood.kernels.criteria import GINI, INVALID, POISSON, SQUARED
from sapwood.kernels.levels import begin_levels
from sapwood.kernels.statistic import Pairs, PairTallies, Vectors, VectorTallies, best_subset
from sapwood.kernels.tree_frame import Groups, Totals
from strategies import examples

Array = NDArray[Any]
GRID = 1e-10 * 2.0**52  # its last bit is about 1e-10: gains closer than that may be equal
EXHAUSTIVE, ORDERS = 8, 0  # max_exhaustive: all subsets, or prefixes of orders


@njit
def run(stat: Any, totals: Totals, groups: Groups) -> Any:
    begin_levels(stat.frame, totals, groups)
    return best_subset(stat, totals, groups, 0, -1e-9)


def frame_of(case: Case, max_exhaustive: int = 10, **more: Any) -> Frame:
    """Cumulative statistics, as the groups of a coded column are."""
    m, n_sums = case.n_levels, case.sums.shape[1]
    arrays = group_arrays(1 << m, n_sums) | level_arrays(m, n_sums, "node_sums" in more) | more
    arrays["cum_weight"][:m] = np.cumsum(case.w[:-1])
    arrays["cum_sums"][:m] = np.cumsum(case.sums[:-1], axis=0)
    arrays["cum_rows"][:m] = np.cumsum(case.size[:-1])
    arrays["code"][:m] = np.arange(1, m + 1)
    return Frame(**arrays, **limits(case.criterion, max_exhaustive))


def totals_of(case: Case) -> Totals:
    """Totals of a node; the scale of the squared error is its deviation."""
    w = float(case.w.sum())
    return Totals(int(case.size.sum()), w, float(case.sums[:, 0].sum()), w * scale_of(case) ** 2, 0.0, GRID)


def groups_of(case: Case) -> Groups:
    return Groups(case.n_levels, int(case.size[-1]), float(case.w[-1]), float(case.sums[-1, 0]))


def left_side(case: Case, frame: Frame, missing_left: bool) -> Side:
    left = {level for level in range(case.n_levels) if frame.goes_left[level] == 1}
    return frozenset(left | {MISSING_ROWS} if missing_left else left)


def pair_of(case: Case) -> Case:
    """With two classes, the one sum is the weight of class 1."""
    sums = case.sums[:, -1:] if case.criterion in CLASS_CRITERIA else case.sums
    return replace(case, sums=sums)


def scale_of(case: Case) -> float:
    """A difference of means that is large."""
    return float(np.abs(case.sums / np.maximum(case.w, 1e-300)[:, None]).max()) if case.criterion == SQUARED else 0.0


def run_pair(case: Case, kind: type = Pairs) -> tuple[float, Side]:
    pair = pair_of(case)
    frame = frame_of(pair)
    decrease, missing_left = run(kind(frame.record), totals_of(pair), groups_of(pair))
    return decrease, left_side(case, frame, missing_left)


def run_vector(case: Case, max_exhaustive: int, kind: type = Vectors) -> tuple[float, Side]:
    sums = {"missing_sums": case.sums[-1].copy(), "node_sums": case.sums.sum(axis=0), "output_start": case.starts}
    frame = frame_of(case, max_exhaustive, **sums)
    decrease, missing_left = run(kind(frame.record), totals_of(case), groups_of(case))
    return decrease, left_side(case, frame, missing_left)


def close(value: float) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-8)


def levels_are_alike(case: Case) -> bool:
    """All levels have the same shares: every split of them is as good as none."""
    shares = case.sums[:-1] / case.w[:-1, None]
    return bool((np.ptp(shares, axis=0) < 1e-12).all())


def check_best(case: Case, decrease: float, left: Side) -> None:
    if decrease == INVALID:  # levels that cannot be told apart stay together
        assert levels_are_alike(case)
        assert not case.has_missing
        return
    assert decrease == close(case.best())
    assert case.decrease(left) == close(decrease)


@examples
@given(cases(n_outputs=1, n_classes=2))
def test_pair_subset_is_the_best_of_all(case: Case) -> None:
    check_best(case, *run_pair(case))
    assert run_pair(case, PairTallies) == run_pair(case)


@examples
@given(cases(n_outputs=1, n_classes=3) | cases(n_outputs=2, n_classes=2))
def test_vector_subset_is_the_best_of_all(case: Case) -> None:
    check_best(case, *run_vector(case, EXHAUSTIVE))
    assert run_vector(case, EXHAUSTIVE, VectorTallies) == run_vector(case, EXHAUSTIVE)


def prefixes(case: Case) -> set[Side]:
    """Levels whose share of one sum is at most some bound, with and without the missing rows."""
    found = set()
    for d in range(case.sums.shape[1]):
        shares = case.sums[:-1, d] / case.w[:-1]
        for bound in shares:
            chosen = frozenset(np.flatnonzero(shares <= bound + 1e-12).tolist())
            found |= {chosen, chosen | {MISSING_ROWS}} if case.has_missing else {chosen}
    return found


@examples
@given(cases(n_outputs=1, n_classes=3) | cases(n_outputs=2, n_classes=2))
def test_many_levels_take_the_best_prefix_of_an_order(case: Case) -> None:
    decrease, left = run_vector(case, ORDERS)
    best = max((case.decrease(side) for side in prefixes(case)), default=INVALID)
    assert decrease == close(best)
    if decrease > INVALID:
        assert case.decrease(left) == close(decrease)


def same_parts(case: Case, one: Side, other: Side) -> bool:
    """Equal, or each other's mirror image."""
    everything = frozenset(range(case.n_levels)) | ({MISSING_ROWS} if case.has_missing else set())
    return one in {other, everything - other}


def check_numbering(case: Case, order: list[int], run: Any) -> None:
    decrease, left = run(case)
    again, left_again = run(case.renumbered(order))
    assert again == close(decrease)
    if decrease > INVALID:
        back = frozenset(order[level] if level >= 0 else level for level in left_again)
        assert same_parts(case, left, back)


@examples
@given(cases(n_outputs=1, n_classes=2), st.data())
def test_pair_subset_does_not_depend_on_the_numbering(case: Case, data: Any) -> None:
    assume(not levels_are_alike(case))
    check_numbering(case, data.draw(st.permutations(range(case.n_levels))), run_pair)


@pytest.mark.parametrize("max_exhaustive", [EXHAUSTIVE, ORDERS])
@given(case=cases(n_outputs=1, n_classes=3) | cases(n_outputs=2, n_classes=2), data=st.data())
@examples
def test_vector_subset_does_not_depend_on_the_numbering(max_exhaustive: int, case: Case, data: Any) -> None:
    assume(not levels_are_alike(case))
    order = data.draw(st.permutations(range(case.n_levels)))
    check_numbering(case, order, lambda some: run_vector(some, max_exhaustive))


def levels(criterion: int, rows: list[tuple[float, float]]) -> Case:
    """Levels of one row each, (weight, sum of class 1 or of targets), and no missing rows."""
    w, s = np.array([*rows, (0.0, 0.0)]).T
    sums = np.column_stack([w - s, s]) if criterion in CLASS_CRITERIA else s[:, None]
    size = np.array([1] * len(rows) + [0])
    return Case(criterion, np.array([0, sums.shape[1]]), size, w, sums)


@pytest.mark.parametrize("criterion", [GINI, SQUARED])
def test_two_equal_levels_may_be_parted(criterion: int) -> None:
    decrease, left = run_pair(levels(criterion, [(1.0, 0.5), (1.0, 0.5)]))
    assert decrease == close(0.0)
    assert len(left) == 1


def test_three_equal_levels_stay_together() -> None:
    assert run_pair(levels(GINI, [(1.0, 0.5)] * 3))[0] == INVALID


def test_levels_of_equal_shares_are_parted_by_weight() -> None:
    assert run_pair(levels(GINI, [(2.0, 1.0), (1.0, 0.5), (2.0, 1.0)])) == (close(0.0), frozenset({1}))


def test_levels_of_equal_shares_go_together() -> None:
    case = levels(GINI, [(1.0, 0.0), (3.0, 3.0), (2.0, 0.0), (1.0, 1.0)])
    assert run_pair(case) == (close(case.best()), frozenset({0, 2}))


@pytest.mark.parametrize("criterion", [GINI, SQUARED])
def test_a_level_of_vanishing_weight_does_not_hide_the_others(criterion: int) -> None:
    case = levels(criterion, [(1.0, 0.0), (1e-20, 0.0), (1.0, 1.0)])
    assert run_pair(case)[0] == close(case.best())
    assert run_vector(case, EXHAUSTIVE)[0] == close(case.best())


def test_poisson_with_a_level_without_events() -> None:
    case = levels(POISSON, [(10.0, 0.0), (10.0, 10.0), (1.0, 1.25), (10.0, 20.0)])
    assert run_pair(case)[0] == close(case.best())


def test_missing_rows_go_with_the_levels_they_are_like_when_all_subsets_are_tried() -> None:
    case = levels(POISSON, [(10.0, 1.0), (10.0, 40.0), (10.0, 0.0)])
    case = replace(case, size=np.ones(4, int), w=np.full(4, 10.0), sums=np.array([[1.0], [40.0], [0.0], [1.0]]))
    assert run_pair(case) == (close(case.best()), frozenset({0, 2, MISSING_ROWS}))


def test_levels_that_are_alike_are_not_parted_by_number() -> None:
    alike = levels(GINI, [(1.0, 0.5), (1.0, 0.5)])
    case = replace(alike, size=np.ones(3, int), w=np.ones(3), sums=np.full((3, 2), 0.5))  # and so are missing rows
    check_numbering(case, [1, 0], run_pair)

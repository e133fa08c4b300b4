"""Medians and absolute losses against trying every target as the median."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import Frame, eighths, weights
from numpy.typing import NDArray

from sapwood.kernels.fenwick import (
    exact_median,
    find_median,
    insert,
    prefix_weight,
    running_losses,
    sorted_median_and_loss,
)
from strategies import examples

Array = NDArray[Any]
RUBBISH = 3.0


def slow_loss(w: Array, y: Array) -> float:
    """The specification: the least sum of w |y - m|, which is reached at one of the targets."""
    return min((float((w * np.abs(y - m)).sum()) for m in y), default=0.0)


def slow_median(w: Array, y: Array) -> float:
    """The specification: the middle of all m of least loss; these are the targets of least loss and all between."""
    best = slow_loss(w, y)
    reached = [m for m in y if (w * np.abs(y - m)).sum() == best]
    return 0.5 * min(reached) + 0.5 * max(reached)


@st.composite
def rows(draw: st.DrawFn, n_outputs: int = 1) -> Array:
    """Weights and targets with ties; eighths, so that halves and losses are exact."""
    n = draw(st.integers(1, 16))
    weight = draw(st.sampled_from([st.just(1.0), weights()]))
    target = draw(st.sampled_from([st.integers(-2, 2).map(float), eighths(-50, 50)]))
    columns = [draw(st.lists(weight, min_size=n, max_size=n))]
    columns += [draw(st.lists(target, min_size=n, max_size=n)) for _ in range(n_outputs)]
    return np.column_stack(columns)


def ranked_frame(wy: Array, **more: Any) -> Frame:
    """Ranks as growth makes them: every row has one of its own, ties in order of row."""
    n, n_outputs = len(wy), wy.shape[1] - 1
    rank_of, ranked = np.zeros((n_outputs, n), dtype=np.int64), np.zeros((n_outputs, n + 2))
    for o in range(n_outputs):
        order = np.argsort(wy[:, 1 + o], kind="stable")
        rank_of[o, order], ranked[o, :n] = np.arange(n), wy[order, 1 + o]
    return Frame(wy=np.ascontiguousarray(wy), rank_of=rank_of, ranked=ranked, **{**fenwick_trees(n), **more})


def fenwick_trees(n: int, content: float = 0.0) -> dict[str, Array]:
    return {"tree_weight": np.full(n + 2, content), "tree_sum": np.full(n + 2, content)}


@examples
@given(rows(), st.data())
def test_median_and_loss_of_the_rows_inserted(wy: Array, data: Any) -> None:
    n, frame = len(wy), ranked_frame(wy)
    ranked = frame.ranked[0]
    order = data.draw(st.permutations(range(n)))
    for count, row in enumerate(order, start=1):
        w, y = wy[order[:count], 0], wy[order[:count], 1]
        insert(frame.record, n, frame.rank_of[0, row], wy[row, 0], wy[row, 0] * wy[row, 1])
        rank, loss = find_median(frame.record, n, w.sum(), (w * y).sum(), ranked)
        assert loss == slow_loss(w, y)
        assert (w * np.abs(y - ranked[rank])).sum() == loss  # the rank is a median
        assert exact_median(frame.record, n, rank, w.sum(), ranked) == slow_median(w, y)


@examples
@given(rows())
def test_prefix_weight(wy: Array) -> None:
    n = len(wy)
    frame = Frame(**fenwick_trees(n))
    for rank in range(n):
        insert(frame.record, n, rank, wy[rank, 0], 0.0)
    assert [prefix_weight(frame.tree_weight, count) for count in range(n + 1)] == [0.0, *np.cumsum(wy[:, 0])]
    assert frame.tree_weight[0] == 0.0


def test_no_rows_have_no_loss() -> None:
    frame = Frame(**fenwick_trees(3))
    assert find_median(frame.record, 3, 0.0, 0.0, np.array([1.0, 2.0, 3.0]))[1] == 0.0


@st.composite
def grouped(draw: st.DrawFn, wy: Array) -> tuple[list[int], list[int], list[int]]:
    """Rows of a column in order, where its groups end, and missing rows."""
    order = draw(st.permutations(range(len(wy))))
    n_missing = draw(st.integers(0, len(wy) - 1))
    present, missing = order[n_missing:], order[:n_missing]
    ends = draw(st.sets(st.integers(1, len(present)))) | {len(present)}
    return present, sorted(ends), missing


@examples
@given(st.data(), rows(n_outputs=2), st.sampled_from([0, 1]), st.booleans(), st.booleans())
def test_running_losses(data: Any, wy: Array, output: int, forward: bool, with_missing: bool) -> None:
    present, ends, missing = data.draw(grouped(wy))
    n, groups = len(wy), len(ends)
    ordered, missing_rows = np.zeros((2, n + 2), dtype=np.uint32)
    ordered[: len(present)], missing_rows[: len(missing)] = present, missing
    cum_rows, losses, medians = np.zeros(n + 2, dtype=np.int64), np.full(n + 2, RUBBISH), np.full(n + 2, RUBBISH)
    cum_rows[:groups] = ends
    own = {"ordered": ordered, "missing_rows": missing_rows, "cum_rows": cum_rows, **fenwick_trees(n, RUBBISH)}
    frame = ranked_frame(wy, **own)
    path = (0, groups, 1) if forward else (groups - 1, -1, -1)
    n_lead = len(missing) if with_missing else 0
    running_losses(frame.record, output, path, n_lead, n, losses, medians, True)
    for g in range(groups):
        start = ends[g - 1] if g > 0 else 0
        inside = (present[: ends[g]] if forward else present[start:]) + (missing if with_missing else [])
        w, y = wy[inside, 0], wy[inside, 1 + output]
        assert losses[g] == RUBBISH + slow_loss(w, y)  # losses of outputs add up
        assert medians[g] == slow_median(w, y)


@examples
@given(rows(n_outputs=2), st.sampled_from([0, 1]), st.data())
def test_sorted_median_and_loss(wy: Array, output: int, data: Any) -> None:
    order = np.argsort(wy[:, 1 + output], kind="stable")
    lo = data.draw(st.integers(0, len(wy) - 1))
    hi = data.draw(st.integers(lo + 1, len(wy)))
    entries = order.astype(np.uint32) << np.uint32(1) | np.arange(len(wy), dtype=np.uint32) % np.uint32(2)
    median, loss = sorted_median_and_loss(entries, lo, hi, wy, output)
    w, y = wy[order[lo:hi], 0], wy[order[lo:hi], 1 + output]
    assert loss == slow_loss(w, y)
    assert median == slow_median(w, y)


@pytest.mark.parametrize(
    ("weight", "median"), [((1, 1, 1, 1), 2.5), ((1, 1, 2, 3), 3.0), ((2, 1, 1, 0.5), 2.0), ((3, 1, 1, 1), 1.5)]
)
def test_exact_half_takes_the_middle(weight: tuple[float, ...], median: float) -> None:
    wy = np.column_stack([weight, [1.0, 2.0, 3.0, 4.0]]).astype(float)
    entries = np.arange(4, dtype=np.uint32) << np.uint32(1)
    assert sorted_median_and_loss(entries, 0, 4, wy, 0)[0] == median

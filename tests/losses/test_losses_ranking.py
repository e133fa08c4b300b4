"""LambdaMART against a twin that swaps every pair of documents and looks what becomes of NDCG."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loss_cases import SCORES, Array, Rows

from sapwood.errors import InputError, ParameterError
from sapwood.losses import LambdaRank
from sapwood.row_parts.rows import LocalRows
from strategies import examples


def slow_dcg(grades: list[float], k: int | None) -> float:
    return sum((2**grade - 1) / math.log2(position + 2) for position, grade in enumerate(grades[:k]))


def slow_group(y: list[float], score: list[float], k: int | None) -> tuple[list[float], list[float], list[float]]:
    """The specification: gradients, hessians and losses of the documents of one query."""
    n = len(y)
    order = sorted(range(n), key=lambda i: -score[i])  # stable: ties by position
    best = slow_dcg(sorted(y, reverse=True), k)
    gradient, hessian, loss = [0.0] * n, [0.0] * n, [0.0] * n
    for i in range(n):
        for j in range(n):
            if y[i] <= y[j]:
                continue
            swapped = [{i: j, j: i}.get(row, row) for row in order]
            change = abs(slow_dcg([y[row] for row in order], k) - slow_dcg([y[row] for row in swapped], k)) / best
            wrong = 1 / (1 + math.exp(score[i] - score[j]))
            gradient[i] -= change * wrong
            gradient[j] += change * wrong
            hessian[i] += change * wrong * (1 - wrong)
            hessian[j] += change * wrong * (1 - wrong)
            loss[i] += change * math.log(1 + math.exp(score[j] - score[i]))
    return gradient, hessian, loss


@st.composite
def queries(draw: st.DrawFn) -> Rows:
    sizes = draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    n = sum(sizes)
    grade = draw(st.sampled_from([st.integers(0, 4), st.integers(0, 1), st.just(0), st.floats(0, 3)]))
    y = np.array(draw(st.lists(grade, min_size=n, max_size=n)), dtype=np.float64)
    score = np.array(draw(st.lists(draw(st.sampled_from([SCORES, st.just(0.5)])), min_size=n, max_size=n)))
    return Rows(LambdaRank(sizes, draw(st.sampled_from([None, 1, 2, 3, 10]))), y, None, score[None])


def groups(case: Rows) -> list[slice]:
    ends = np.cumsum(case.loss.group_sizes)
    return [slice(end - size, end) for end, size in zip(ends, case.loss.group_sizes, strict=True)]


@pytest.mark.timeout(600)  # the first example waits for the compiler
@examples
@given(queries())
def test_pairs(case: Rows) -> None:
    case.loss.check_target(case.y)
    gradient, hessian = case.derivatives()
    losses = case.loss.losses(case.y, case.score)
    for group in groups(case):
        expected = slow_group(case.y[group].tolist(), case.score[0, group].tolist(), case.loss.k)
        np.testing.assert_allclose(gradient[0, group], expected[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(hessian[0, group], np.maximum(expected[1], 1e-16), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(losses[group], expected[2], rtol=1e-9, atol=1e-12)


@examples
@given(queries())
def test_lambdas_of_a_query_add_up_to_zero(case: Rows) -> None:
    gradient, hessian = case.derivatives()
    for group in groups(case):
        assert abs(gradient[0, group].sum()) < 1e-12
        if group.stop - group.start == 1:
            assert gradient[0, group] == 0
    assert (hessian > 0).all()


def test_derivatives_are_those_of_the_loss() -> None:
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 4, size=20).astype(float), rng.permutation(20)[None] / 5.0
    case = Rows(LambdaRank([8, 12], k=5), y, None, score)
    gradient, hessian = case.derivatives()
    step = 1e-5
    for row in range(20):
        shift = np.zeros((1, 20))
        shift[0, row] = step
        slope = (case.total_at(score + shift) - case.total_at(score - shift)) / (2 * step)
        assert gradient[0, row] == pytest.approx(slope, abs=1e-8)
        bend = (case.derivatives(score + shift)[0] - case.derivatives(score - shift)[0])[0, row] / (2 * step)
        assert hessian[0, row] == pytest.approx(bend, abs=1e-8)


def test_the_same_whatever_the_layout_and_every_time() -> None:
    rng = np.random.default_rng(0)
    y, table = rng.integers(0, 5, size=300), rng.normal(size=(300, 2))
    case = Rows(LambdaRank(np.full(6, 50)), y, None, table.T[:1])
    np.testing.assert_array_equal(case.derivatives(), case.derivatives(np.ascontiguousarray(table.T[:1])))


def test_following_the_gradient_orders_the_documents() -> None:
    rng = np.random.default_rng(0)
    case = Rows(LambdaRank([10]), rng.permutation(10) // 2.0, None, np.zeros((1, 10)))
    score = np.zeros((1, 10))
    for _ in range(200):
        score -= case.derivatives(score)[0]
    assert (np.diff(case.y[np.argsort(-score[0], kind="stable")]) <= 0).all()


@pytest.mark.parametrize("far", [-800.0, 800.0])
def test_far_scores_are_harmless(far: float) -> None:
    y, score = np.array([3.0, 0.0, 1.0]), np.array([[far, 0.0, -far]])
    case = Rows(LambdaRank([3]), y, None, score)
    with np.errstate(all="raise", under="ignore"):
        assert all(np.isfinite(array).all() for array in (*case.derivatives(), case.loss.losses(y, score)))


def test_start_and_response() -> None:
    loss = LambdaRank([2, 3])
    assert loss.start(LocalRows.of(np.arange(5.0), None)).tolist() == [0.0]
    assert loss.whole
    score = np.arange(5.0)[None]
    np.testing.assert_array_equal(loss.response(score), score)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1, 2, 3], "add up to 5, but y has 4 rows"),
        ([0, 1, -1.0, 3, 4], "y holds -1.0 in row 2, but the loss 'lambdarank' needs grades of relevance from 0 to 31"),
        ([0, 1, 2, 3, 100.0], "y holds 100.0 in row 4"),
        ([0, 1, 2, np.nan, 1], "y holds nan in row 3"),
    ],
)
def test_bad_grades(y: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        LambdaRank([2, 3]).check_target(np.array(y))


@pytest.mark.parametrize(
    ("sizes", "k", "message"),
    [
        ([2, 0, 3], None, r"group_sizes\[1\]=0 is not allowed"),
        ([], None, "must be a list of integers"),
        ([1.5], None, "must be a list of integers"),
        ([[1, 2]], None, "must be a list of integers"),
        (3, None, "must be a list of integers"),
        ([3], 0, "k=0 is not allowed"),
    ],
    ids=str,
)
def test_bad_groups(sizes: Any, k: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        LambdaRank(sizes, k)


def test_rows_of_a_large_group_are_ranked() -> None:
    from sapwood.kernels.ranking import rank_rows

    rng = np.random.default_rng(0)
    values = rng.integers(0, 50, size=1000).astype(np.float64)
    start = np.array([0, 1, 3, 700, 1000])
    order, spare = np.empty((2, 1000), dtype=np.int64)
    rank_rows(values, start, order, spare)
    expected: Array = np.lexsort((-values, np.repeat(np.arange(4), np.diff(start))))
    np.testing.assert_array_equal(order, expected)

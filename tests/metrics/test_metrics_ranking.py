"""NDCG and mean average precision against scikit-learn and plain Python."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, ndcg_score

from sapwood.errors import InputError
from sapwood.metrics import find_metric
from strategies import examples

Array = NDArray[Any]
Case = tuple[Array, Array, Array, Array | None]
CUTS = [None, 1, 3, 10]


def named(name: str, k: int | None) -> str:
    return name if k is None else f"{name}@{k}"


@st.composite
def queries(draw: st.DrawFn) -> Case:
    sizes = np.array(draw(st.lists(st.integers(1, 9), min_size=1, max_size=5)))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n = int(sizes.sum())
    y = rng.integers(0, draw(st.integers(1, 5)), size=n)
    score = draw(st.sampled_from([rng.normal(size=n), rng.integers(0, 3, size=n).astype(np.float64)]))
    weight = np.repeat(rng.integers(1, 5, size=len(sizes)) / 2.0, sizes)
    return y, score, sizes, draw(st.sampled_from([None, weight]))


def ranked_groups(y: Array, score: Array, sizes: Array) -> list[list[float]]:
    """Grades of each query from the highest score to the lowest, ties by position."""
    groups, start = [], 0
    for size in sizes:
        rows = range(start, start + size)
        groups.append([float(y[row]) for row in sorted(rows, key=lambda row: -score[row])])
        start += size
    return groups


def slow_dcg(grades: list[float], k: int | None) -> float:
    return sum((2**grade - 1) / math.log2(position + 2) for position, grade in enumerate(grades[:k]))


def slow_ndcg(grades: list[float], k: int | None) -> float:
    best = slow_dcg(sorted(grades, reverse=True), k)
    return slow_dcg(grades, k) / best if best else 1.0


def slow_map(grades: list[float], k: int | None) -> float:
    relevant = [grade > 0 for grade in grades]
    hits = sum(relevant)
    precisions = [sum(relevant[: at + 1]) / (at + 1) for at in range(len(grades)) if relevant[at]]
    shown = precisions[: sum(relevant[:k])]
    return sum(shown) / (hits if k is None else min(hits, k)) if hits else 1.0


@pytest.mark.timeout(600)  # the first example waits for the compiler
@pytest.mark.parametrize("k", CUTS)
@pytest.mark.parametrize(("name", "slow"), [("ndcg", slow_ndcg), ("map", slow_map)])
@examples
@given(queries())
def test_as_the_definition_says(name: str, slow: Any, k: int | None, case: Case) -> None:
    y, score, sizes, weight = case
    each = [slow(grades, k) for grades in ranked_groups(y, score, sizes)]
    weights = None if weight is None else weight[np.cumsum(sizes) - 1]
    metric = find_metric(named(name, k))
    assert metric.function(y, score, weight, sizes) == pytest.approx(np.average(each, weights=weights), rel=1e-12)
    assert metric.larger_is_better
    assert metric.name == named(name, k)


@pytest.mark.parametrize("k", CUTS)
def test_as_in_scikit_learn(k: int | None) -> None:
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 5, size=(6, 20)), rng.normal(size=(6, 20))
    y[:, 0] = 1
    sizes = np.full(6, 20)
    expected = ndcg_score(2.0**y - 1, score, k=k, ignore_ties=True)
    assert find_metric(named("ndcg", k)).function(y.ravel(), score.ravel(), None, sizes) == pytest.approx(expected)
    precisions = [average_precision_score(grades > 0, row) for grades, row in zip(y, score, strict=True)]
    value = find_metric("map").function(y.ravel(), score.ravel(), None, sizes)
    assert value == pytest.approx(np.mean(precisions))


@pytest.mark.parametrize("name", ["ndcg", "map", "ndcg@2"])
def test_without_groups_all_rows_are_one_query(name: str) -> None:
    y, score = np.array([2, 0, 1, 0]), np.array([0.1, 0.4, 0.3, 0.2])
    metric = find_metric(name)
    assert metric.function(y, score, None, None) == metric.function(y, score, None, np.array([4]))
    assert metric.function(y, y.astype(np.float64), None, None) == 1.0


@pytest.mark.parametrize("sizes", [[2, 3], [4, 0], [-1, 5]], ids=str)
def test_groups_that_are_not_those_of_the_rows(sizes: list[int]) -> None:
    with pytest.raises(InputError, match="'ndcg' needs groups of at least 1 row that add up to 4 rows"):
        find_metric("ndcg").function(np.ones(4), np.ones(4), None, np.array(sizes))

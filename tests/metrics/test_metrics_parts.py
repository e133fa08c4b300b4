"""Metrics of rows in parts are those of all rows at once, bit for bit."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn import metrics as peers

from row_parts.part_cases import Array, cuts, part
from sapwood.metrics import Metric, custom_metric, find_metric
from sapwood.metrics.metric import NUMBERS
from sapwood.metrics.names import METRICS
from sapwood.metrics.scikit import scikit_metric
from strategies import examples

RANKED, TWO, MANY = ("ndcg", "map"), ("logloss", "error", "auc", "aucpr"), ("mlogloss", "merror")
seeds = st.integers(0, 2**32)


def greatest_error(y: Array, predicted: Array, weight: Array | None) -> float:
    """A user's own."""
    return float(np.abs(y - predicted).max() if weight is None else (weight * np.abs(y - predicted)).max())


OTHERS = {
    "user's": custom_metric(greatest_error),
    "quantile@0.1,0.9": find_metric("quantile@0.1,0.9"),
    "scikit-learn's": scikit_metric(peers.median_absolute_error, NUMBERS),
}


def in_parts(
    metric: Metric, where: list[slice], y: Array, p: Array, weight: Array | None, sizes: Array | None = None
) -> float:
    """The metric of parts that send what they have; of queries, cuts are between them."""
    rows, starts = where, [0]
    if sizes is not None:
        starts = np.concatenate(([0], np.cumsum(sizes)))
        rows = [slice(int(starts[of.start]), int(starts[of.stop])) for of in where]
    found = []
    for own, of in zip(rows, where, strict=True):
        groups = None if sizes is None else sizes[of]
        found.append(pickle.loads(pickle.dumps(metric.function.part(y[own], part(p, own), part(weight, own), groups))))
    return metric.function.merged(found)


def rows_of(name: str, n: int, rng: np.random.Generator) -> tuple[Array, NDArray[np.float64]]:
    if name in MANY:
        shares = rng.random((3, n))
        return rng.integers(0, 3, n) * 1.0, shares / shares.sum(axis=0)
    if name in TWO:
        y = rng.integers(0, 2, n) * 1.0
        y[:2] = [0.0, 1.0]
        return y, rng.choice([rng.random(n), rng.integers(1, 4, n) / 4])
    if name.startswith("quantile@"):
        return rng.standard_normal(n), rng.standard_normal((2, n))
    return rng.integers(0, 5, n) * 1.0, rng.integers(1, 9, n) / 4 + rng.random()


@pytest.mark.parametrize("name", [*(name for name in METRICS if name not in RANKED), *OTHERS])
@examples
@given(seeds, st.integers(2, 40), st.booleans(), st.data())
def test_of_rows(name: str, seed: int, n: int, weighted: bool, data: st.DataObject) -> None:
    rng, metric = np.random.default_rng(seed), OTHERS.get(name) or METRICS[name]
    y, p = rows_of(name, n, rng)
    weight = rng.integers(1, 100, n) / 7 if weighted else None
    if name == "quantile":
        p = p.reshape(-1)
    assert in_parts(metric, data.draw(cuts(n)), y, p, weight) == metric.function(y, p, weight, None)


@pytest.mark.parametrize("name", [*RANKED, "ndcg@3"])
@examples
@given(seeds, st.integers(1, 8), st.booleans(), st.data())
def test_of_queries(name: str, seed: int, n_queries: int, weighted: bool, data: st.DataObject) -> None:
    rng, metric = np.random.default_rng(seed), find_metric(name)
    sizes = rng.integers(1, 7, n_queries)
    n = int(sizes.sum())
    y, p, weight = rng.integers(0, 4, n) * 1.0, rng.integers(0, 5, n) / 4, rng.random(n) if weighted else None
    found = in_parts(metric, data.draw(cuts(n_queries)), y, p, weight, sizes)
    assert found == metric.function(y, p, weight, sizes)


@pytest.mark.parametrize("weighted", [False, True])
@examples
@given(seeds, st.integers(2, 60), st.data())
def test_areas_are_scikit_learns(weighted: bool, seed: int, n: int, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    y, p = rows_of("auc", n, rng)
    weight = rng.random(n) + 0.1 if weighted else None
    found = in_parts(METRICS["auc"], data.draw(cuts(n)), y, p, weight)
    assert found == pytest.approx(peers.roc_auc_score(y, p, sample_weight=weight), rel=1e-12)
    if not weighted:  # pairs are counted
        above = (p[y == 1][:, None] > p[y == 0]).sum() + 0.5 * (p[y == 1][:, None] == p[y == 0]).sum()
        assert found == above / (y.sum() * (n - y.sum()))


@examples
@given(seeds, st.integers(2, 60))
def test_areas_do_not_depend_on_the_order_of_rows(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    y, p = rows_of("auc", n, rng)
    weight, order = rng.random(n), rng.permutation(n)
    for name in ("auc", "aucpr"):
        function = METRICS[name].function
        assert function(y, p, weight, None) == function(y[order], p[order], weight[order], None)

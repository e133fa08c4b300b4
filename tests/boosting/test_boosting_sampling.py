"""Row samples: as many rows as wanted on average, and sums that are right on average."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engine_cases import POLICIES, Data, begin, fit, mixed_frame, target, trees_of
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from whole_samples import gradient_sample, uniform_rows

from sapwood.boosting.ensemble import Ensemble
from sapwood.losses import Huber, Loss, Squared
from sapwood.shard.size_threshold import threshold
from strategies import EXAMPLES, examples

Array = NDArray[Any]
many = settings(examples, max_examples=5 * EXAMPLES)
size_lists = st.lists(st.one_of(st.floats(0.001, 1e3), st.integers(0, 3).map(float)), min_size=1, max_size=40)


def mu_of(sizes: Array, wanted: float) -> float:
    return threshold(lambda question: [question(sizes)], wanted)


@many
@given(size_lists.filter(lambda sizes: max(sizes) > 0), st.floats(0.01, 0.99))
def test_the_threshold_gives_the_expected_number_of_rows(sizes: list[float], share: float) -> None:
    array = np.array(sizes)
    expected = share * np.count_nonzero(array)
    found = mu_of(array, expected)
    assert np.minimum(1.0, array / found).sum() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("scale", [0.01, 1.0])
def test_where_few_rows_pull_all_of_them_are_certain(scale: float) -> None:
    sizes = scale * np.array([0.5, 0.0, 0.0, 0.25])
    assert np.minimum(1.0, sizes / mu_of(sizes, 3.0)).tolist() == [1.0, 0.0, 0.0, 1.0]


def test_rows_that_do_not_pull_need_no_threshold() -> None:
    assert mu_of(np.zeros(5), 2.0) == 1.0


def test_equal_sizes_have_equal_probabilities() -> None:
    assert mu_of(np.full(10, 3.0), 4.0) == pytest.approx(7.5)


def test_the_largest_are_certain() -> None:
    sizes = np.array([100.0, 1.0, 1.0, 1.0, 1.0])
    found = mu_of(sizes, 3.0)
    assert found == pytest.approx(2.0)  # one is certain, four share the other two


@examples
@given(st.integers(1, 300), st.floats(0.01, 0.99), st.integers(0, 2**64 - 1))
def test_uniform_samples_are_ascending_and_never_empty(n: int, share: float, key: int) -> None:
    candidates = np.arange(0, n, 2)
    for rows in (uniform_rows(None, n, share, key), uniform_rows(candidates, n, share, key)):
        assert len(rows) >= 1
        assert (np.diff(rows) > 0).all()
        assert rows.max() < n
    assert np.isin(uniform_rows(candidates, n, share, key), candidates).all()


def test_everything_is_no_sample() -> None:
    data = Data.of(np.arange(10.0)[:, None], np.arange(10.0))
    for rows in (None, np.array([1, 4])):
        for options in ({}, {"counted": True}, {"by_gradient": True}):
            trained = fit(data, Squared(), POLICIES["depthwise"], 1, rows=rows, subsample=1.0, **options)
            assert trained.sample is rows
            assert trained.shards.only.state.factor is None


def test_the_size_of_uniform_samples() -> None:
    sizes = [len(uniform_rows(None, 1000, 0.3, key)) for key in range(200)]
    assert np.mean(sizes) == pytest.approx(300, abs=4 * np.sqrt(210 / 200))
    assert np.std(sizes) == pytest.approx(np.sqrt(210), rel=0.3)


def gradients(n: int = 400, n_scores: int = 2) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(0)
    return rng.standard_cauchy(size=(n_scores, n)), rng.random((n_scores, n)), rng.random(n)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("chosen", [False, True])
def test_sums_over_samples_by_gradient_are_right_on_average(weighted: bool, chosen: bool) -> None:
    g, h, weight = gradients()
    w = weight if weighted else None
    mass = weight if weighted else np.ones(400)
    candidates = np.arange(0, 400, 3) if chosen else None
    members = np.arange(400) if candidates is None else candidates
    totals, sizes = [], []
    for key in range(300):
        sample = gradient_sample(candidates, g, h, w, 0.4, key)
        totals.append((mass * sample.factor * h[0])[sample.rows].sum())
        sizes.append(len(sample.rows))
        assert np.isin(sample.rows, members).all()
    assert np.mean(sizes) == pytest.approx(0.4 * len(members), rel=0.02)
    assert np.mean(totals) == pytest.approx((mass * h[0])[members].sum(), rel=0.03)


def test_rows_that_pull_hardest_are_always_drawn_and_count_once() -> None:
    g, h, _ = gradients()
    size = np.sqrt((g**2 + h**2).sum(axis=0))
    hardest = np.argsort(-size)[:10]
    for key in range(20):
        sample = gradient_sample(None, g, h, None, 0.4, key)
        assert np.isin(hardest, sample.rows).all()
        assert (sample.factor[hardest] == 1.0).all()


def test_rows_of_weight_zero_are_not_drawn_by_gradient() -> None:
    g, h, weight = gradients()
    weight[::2] = 0.0
    for key in range(20):
        assert (gradient_sample(None, g, h, weight, 0.3, key).rows % 2 == 1).all()


@pytest.mark.parametrize("by_gradient", [False, True])
def test_trees_are_grown_on_the_sample(by_gradient: bool) -> None:
    frame = mixed_frame(400)
    data = Data.of(frame, target("squared", frame))
    trained = begin(data, Squared(), POLICIES["depthwise"], subsample=0.5, by_gradient=by_gradient)
    seen = set()
    for _ in range(5):
        trained.advance(0.3)
        tree = trained.trees[-1][0]
        assert tree.n_node_samples[0] == len(trained.sample)
        assert 120 < len(trained.sample) < 280
        seen.add(trained.sample.tobytes())
    assert len(seen) == 5


@pytest.mark.parametrize("by_gradient", [False, True])
def test_a_sample_that_may_be_empty_still_trains(by_gradient: bool) -> None:
    data = Data.of(np.arange(5.0)[:, None], np.arange(5.0))
    trained = fit(data, Squared(), POLICIES["depthwise"], 10, subsample=0.01, by_gradient=by_gradient)
    assert all(tree.n_node_samples[0] >= 1 for tree in trees_of(trained.ensemble))
    assert np.isfinite(trained.score).all()


@pytest.mark.parametrize("loss", [Squared(), Huber(delta=1e6)])
def test_leaves_of_samples_by_gradient_are_right_on_average(loss: Loss) -> None:
    y = np.random.default_rng(0).exponential(100.0, size=500)
    data = Data.of(np.zeros((500, 1)), y)
    options = {"start": Ensemble(np.array([50.0])), "subsample": 0.3, "by_gradient": True}
    models = [fit(data, loss, POLICIES["depthwise"], 1, 1.0, seed=seed, **options) for seed in range(40)]
    leaves = [model.trees[0][0].value[0, 0, 0] for model in models]
    assert np.mean(leaves) == pytest.approx(y.mean() - 50.0, rel=0.1)


def test_a_model_of_samples_is_almost_as_good() -> None:
    frame = mixed_frame(600)
    data = Data.of(frame, target("squared", frame))
    whole, uniform, mvs = (
        fit(data, Squared(), POLICIES["depthwise"], 20, **options)
        for options in ({}, {"subsample": 0.5}, {"subsample": 0.5, "by_gradient": True})
    )
    errors = [np.mean((model.score - data.y) ** 2) for model in (whole, uniform, mvs)]
    assert errors[1] < 0.3 * np.var(data.y)
    assert errors[2] < 0.3 * np.var(data.y)

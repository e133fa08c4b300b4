"""Selections, quantiles, starts and leaf steps do not depend on how rows are cut into parts."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from part_cases import Array, SentRows, cuts, sent

from sapwood.boosting.grown import GrownTree
from sapwood.boosting.line_search import gradient_norm, step_length
from sapwood.boosting.robust_leaves import set_leaf_steps
from sapwood.kernels.boosting_records import NODE
from sapwood.losses import (
    Absolute,
    Exponential,
    Gamma,
    Huber,
    Logistic,
    Loss,
    Multinomial,
    PerTarget,
    Poisson,
    Quantile,
    Squared,
    Tweedie,
)
from sapwood.row_parts import selection
from sapwood.row_parts.rows import LocalRows, targets_of
from sapwood.row_parts.selection import Keyed, keys_of, select, values_of
from sapwood.row_parts.smallest import smallest, taken
from sapwood.shard.row_state import squared_gradients
from strategies import examples

NUMBERS: dict[str, Loss] = {
    "squared": Squared(),
    "absolute": Absolute(),
    "quantile": Quantile(0.3),
    "quantiles": Quantile((0.1, 0.5)),
    "huber": Huber(0.7),
    "adaptive huber": Huber(quantile=0.8),
}
COUNTS: dict[str, Loss] = {"poisson": Poisson(), "gamma": Gamma(), "tweedie": Tweedie()}
CLASSES: dict[str, Loss] = {"logistic": Logistic(), "exponential": Exponential(), "multinomial": Multinomial(3)}
TARGETS = [Squared(), Absolute(), Huber(quantile=0.8), Huber(1.0)]
WEIGHTS = ("none", "random", "whole")
seeds = st.integers(0, 2**32)


@pytest.fixture(params=["all rows", "brackets"])
def exchanges(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With few rows, all are sent; brackets must find the same."""
    if request.param == "brackets":
        monkeypatch.setattr(selection, "MOST_ROWS", 3)
        monkeypatch.setattr(selection, "MOST_CELLS", 16)


def weight_of(kind: str, n: int, rng: np.random.Generator) -> Array | None:
    if kind == "none":
        return None
    return rng.random(n) if kind == "random" else rng.integers(0, 4, n).astype(np.float64)


@examples
@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_keys_are_in_the_order_of_numbers(values: list[float]) -> None:
    array = np.array(values)
    keys = keys_of(array)
    np.testing.assert_array_equal(values_of(keys), array)
    np.testing.assert_array_equal(np.argsort(keys, kind="stable"), np.argsort(array, kind="stable"))


@pytest.mark.usefixtures("exchanges")
@examples
@given(seeds, st.integers(1, 60), st.data())
def test_ranks_are_those_of_sorted_rows(seed: int, n: int, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    values = rng.choice([rng.standard_normal(n), rng.integers(-2, 3, n) * 1.0])
    group = rng.integers(0, 4, n).astype(np.uint16)
    parts = [Keyed(keys_of(values[of]), None, group[of]) for of in data.draw(cuts(n))]
    found = select(sent(parts), 3, lambda units: np.maximum(np.stack([units, (units + 1) // 2, units - 1], axis=1), 1))
    for g in range(3):
        own = np.sort(values[group == g])
        if len(own):
            wanted = np.maximum([len(own), (len(own) + 1) // 2, len(own) - 1], 1) - 1
            np.testing.assert_array_equal(values_of(found.keys[g]), own[wanted])
            np.testing.assert_array_equal(found.below[g], [(own < own[at]).sum() for at in wanted])
        else:
            assert not found.keys[g].any()


@pytest.mark.usefixtures("exchanges")
@pytest.mark.parametrize("kind", WEIGHTS)
@examples
@given(seeds, st.integers(1, 40), st.sampled_from([0.1, 0.5, 0.75]), st.data())
def test_quantiles_of_groups(kind: str, seed: int, n: int, share: float, data: st.DataObject) -> None:
    """Those of `np.quantile` and of parts are the same."""
    rng = np.random.default_rng(seed)
    y, weight, group = rng.integers(-9, 9, n) / 2, weight_of(kind, n, rng), rng.integers(0, 3, n).astype(np.uint16)
    rows = SentRows.cut(data.draw(cuts(n)), y, weight, np.zeros((1, n)), group, 3)
    found = rows.quantiles(targets_of, share)
    np.testing.assert_array_equal(found, LocalRows.of(y, weight, None, group, 3).quantiles(targets_of, share))
    for g in range(3):
        own = y[group == g] if kind != "whole" else np.repeat(y, (group == g) * np.asarray(weight).astype(int))
        if kind != "random" and len(own):
            assert found[g] == np.quantile(own, share, method="averaged_inverted_cdf")


@pytest.mark.usefixtures("exchanges")
@examples
@given(seeds, st.integers(0, 40), st.data())
def test_the_smallest_rows_of_each_group_are_those_of_a_stable_sort(seed: int, n: int, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    keys, group = rng.integers(0, 9, n).astype(np.uint64), rng.integers(0, 2, n)
    sizes = np.bincount(group, minlength=2)
    counts = np.array([data.draw(st.integers(0, int(size))) for size in sizes])
    where = data.draw(cuts(n))
    parts = [Keyed(keys[of], None, group[of]) for of in where]
    found = zip(smallest(sent(parts), counts), parts, where, strict=True)
    rows = [of.start + taken(which, own) for which, own, of in found]
    order = np.lexsort((np.arange(n), keys, group))
    first = np.cumsum(sizes) - sizes
    expected = np.concatenate([order[first[g] : first[g] + counts[g]] for g in range(2)])
    np.testing.assert_array_equal(np.concatenate(rows), np.sort(expected))


def both(rng: np.random.Generator, where: list[slice], y: Array, weight: Array | None, k: int) -> tuple[Any, Any]:
    """The same rows as one part and as several, with scores and leaves."""
    n = len(y)
    score, group = rng.standard_normal((k, n)), rng.integers(0, 4, n).astype(np.uint16)
    whole = LocalRows.of(y, weight, score), LocalRows.of(y, weight, score, group, 3)
    return whole, (SentRows.cut(where, y, weight, score), SentRows.cut(where, y, weight, score, group, 3))


@pytest.mark.usefixtures("exchanges")
@pytest.mark.parametrize("name", [*NUMBERS, *COUNTS, *CLASSES])
@examples
@given(seeds, st.integers(1, 30), st.sampled_from(WEIGHTS), st.data())
def test_losses_begin_and_step_alike(name: str, seed: int, n: int, kind: str, data: st.DataObject) -> None:
    loss, rng = {**NUMBERS, **COUNTS, **CLASSES}[name], np.random.default_rng(seed)
    y = rng.integers(0, 2, n) * 1.0 if name in CLASSES else rng.integers(1, 20, n) / 4
    weight = weight_of(kind, n, rng)
    if weight is not None:
        weight[0] = 1.0
    one, many = both(rng, data.draw(cuts(n)), y, weight, loss.n_scores)
    np.testing.assert_array_equal(loss.start(one[0]), loss.start(many[0]))
    begun, other = loss.begin_round(one[0]), loss.begin_round(many[0])
    assert repr(begun) == repr(other)
    for k in range(loss.n_scores if loss.robust else 0):
        np.testing.assert_array_equal(begun.leaf_steps(one[1], k), begun.leaf_steps(many[1], k))
    if loss.n_scores == 1:
        values = rng.standard_normal(4)
        assert step_length(begun, one[1], values, 0) == step_length(begun, many[1], values, 0)


@pytest.mark.parametrize("loss", TARGETS, ids=repr)
@examples
@given(seeds, st.integers(2, 30), st.data())
def test_losses_of_several_targets_begin_and_step_alike(loss: Loss, seed: int, n: int, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    y = rng.standard_normal((n, 2))
    one, many = both(rng, data.draw(cuts(n)), y, rng.random(n), 2)
    joint, other = PerTarget.of(loss, "ab", one[0]), PerTarget.of(loss, "ab", many[0])
    np.testing.assert_array_equal(joint.factors, other.factors)
    np.testing.assert_array_equal(np.asarray(joint.scales), np.asarray(other.scales))
    np.testing.assert_array_equal(joint.start(one[0]), joint.start(many[0]))
    begun = joint.begin_round(one[0])
    assert repr(begun) == repr(joint.begin_round(many[0]))
    for k in range(2 if loss.robust else 0):
        np.testing.assert_array_equal(begun.leaf_steps(one[1], k), begun.leaf_steps(many[1], k))


def test_steps_of_inner_nodes_are_those_of_all_rows_below() -> None:
    """Nodes 0 (1, 2), 1 (3, 4); leaves 2, 3 and 4."""
    nodes = np.zeros(5, dtype=NODE)
    nodes["left"][:2], nodes["right"][:2] = [1, 3], [2, 4]
    grown = GrownTree(nodes, np.array([True, True, False, False, False]))
    rng = np.random.default_rng(0)
    y, leaf_of = rng.standard_normal(50), rng.choice([2, 3, 4, 65535], 50).astype(np.uint16)
    rows = LocalRows.of(y, None, np.zeros((1, 50)), leaf_of, 5)
    values = np.zeros(5)
    set_leaf_steps(Absolute(), rows, grown, 0, True, values)
    below = [[2, 3, 4], [3, 4], [2], [3], [4]]
    np.testing.assert_array_equal(values, [np.median(y[np.isin(leaf_of, own)]) for own in below])


@examples
@given(seeds, st.integers(1, 30), st.data())
def test_the_size_of_gradients(seed: int, n: int, data: st.DataObject) -> None:
    gradient = np.random.default_rng(seed).standard_cauchy((2, n)).astype(np.float32)
    parts = [squared_gradients(gradient[:, of]) for of in data.draw(cuts(n))]
    assert gradient_norm(parts) == gradient_norm([squared_gradients(gradient)])
    wide = gradient.astype(np.float64)
    assert gradient_norm(parts) == pytest.approx(np.sqrt(np.mean(wide**2)), rel=1e-12)


def test_many_rows_are_found_by_few_exchanges() -> None:
    values = np.random.default_rng(0).standard_cauchy(300_000)
    asked: list[Any] = []
    parts = [Keyed(keys_of(values[:100_000])), Keyed(keys_of(values[100_000:]))]

    def ask(question: partial[Any]) -> list[Any]:
        answers = [question(own) for own in parts]
        asked.append((question.func.__name__, sum(own.nbytes for own in answers[0])))
        return answers

    found = select(ask, 1, lambda units: units[:, None] // 2)
    assert values_of(found.keys)[0, 0] == np.sort(values)[149_999]
    assert len(asked) <= 4
    assert max(size for _, size in asked) <= 3 << 20

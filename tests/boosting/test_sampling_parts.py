"""Samples and held-out rows of parts are those of all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import whole_samples
from hypothesis import given
from hypothesis import strategies as st

from row_parts.part_cases import cuts, part, sent
from sapwood.boosting.hold_out import held_out_counts, held_out_keys, held_out_rows
from sapwood.row_parts.smallest import smallest, taken
from sapwood.shard import sampling, size_threshold
from sapwood.shard.sampling import Sample
from strategies import examples

keys = st.integers(0, 2**64 - 1)
shares = st.floats(0.05, 0.95)


def offsets(where: list[slice]) -> list[int]:
    return [int(of.start) for of in where]


@examples
@given(keys, st.integers(1, 60), shares, st.data())
def test_uniform_rows(key: int, n: int, share: float, data: st.DataObject) -> None:
    where = data.draw(cuts(n))
    parts = [of.start + sampling.draw_uniform(None, of.stop - of.start, of.start, share, key) for of in where]
    together = whole_samples.at_least_one(np.concatenate(parts), None, n)
    np.testing.assert_array_equal(together, whole_samples.uniform_rows(None, n, share, key))


@examples
@given(keys, st.integers(1, 60), shares, st.data())
def test_counted_rows_are_those_of_one_stream(key: int, n: int, share: float, data: st.DataObject) -> None:
    where, count = data.draw(cuts(n)), max(1, int(share * n))
    parts = [sampling.counted_keys(key, of.start, of.stop - of.start) for of in where]
    chosen = zip(offsets(where), sampling.choose_counted(sent(parts), count), parts, strict=True)
    found = np.concatenate([first + taken(which, own) for first, which, own in chosen])
    uniform = np.random.Generator(np.random.Philox(key)).random(n)
    np.testing.assert_array_equal(found, np.sort(np.argpartition(uniform, count - 1)[:count]))
    np.testing.assert_array_equal(found, whole_samples.counted_rows(None, n, share, key))
    np.testing.assert_array_equal(2 * found, whole_samples.counted_rows(np.arange(0, 2 * n, 2), 2 * n, share, key))


@pytest.mark.parametrize("by_counts", [False, True])
@examples
@given(keys, st.integers(1, 60), shares, st.booleans(), st.data())
def test_rows_by_gradient(by_counts: bool, key: int, n: int, share: float, weighted: bool, data: st.DataObject) -> None:
    rng = np.random.default_rng(key)
    g, h, weight = rng.standard_cauchy((2, n)), rng.random((2, n)), rng.random(n) if weighted else None
    where, whole = data.draw(cuts(n)), whole_samples.gradient_sample(None, g, h, weight, share, key)
    sizes = [sampling.sizes_of(part(g, of), part(h, of), part(weight, of)) for of in where]
    with pytest.MonkeyPatch.context() as patch:
        if by_counts:
            patch.setattr(size_threshold, "MOST_ROWS", 0)
        mu = size_threshold.threshold(sent(sizes), share * n)
    parts: list[Sample] = []
    for first, own in zip(offsets(where), sizes, strict=True):
        drawn = sampling.draw_by_size(None, own, mu, first, key)
        parts.append(Sample(first + np.asarray(drawn.rows), drawn.factor))
    rows = whole_samples.at_least_one(np.concatenate([one.rows for one in parts]), None, n)
    np.testing.assert_array_equal(rows, whole.rows)
    np.testing.assert_array_equal(np.concatenate([one.factor for one in parts]), np.asarray(whole.factor))


@pytest.mark.parametrize("n_classes", [1, 3])
@examples
@given(keys, st.integers(8, 60), shares, st.data())
def test_held_out_rows(n_classes: int, seed: int, n: int, share: float, data: st.DataObject) -> None:
    classes: Any = None
    counts = np.array([n])
    if n_classes > 1:
        classes = np.random.default_rng(n).integers(0, n_classes, n) * 1.0
        counts = np.bincount(classes.astype(np.int64))
    where = data.draw(cuts(n))
    parts = [held_out_keys(seed, of.start, of.stop - of.start, part(classes, of)) for of in where]
    chosen = zip(offsets(where), smallest(sent(parts), held_out_counts(counts, share)), parts, strict=True)
    found = np.concatenate([first + taken(which, own) for first, which, own in chosen])
    np.testing.assert_array_equal(found, held_out_rows(n, share, classes, seed))
    each = np.bincount(np.zeros(len(found), dtype=int) if classes is None else classes[found].astype(int))
    rounded_up = np.ceil(share * n) / n
    np.testing.assert_allclose(each, rounded_up * counts[: len(each)], atol=1.0 + 1e-9)


@pytest.mark.parametrize(
    ("counts", "share", "expected"),
    [
        ([10], 0.25, [3]),
        ([6, 4], 0.5, [3, 2]),
        ([5, 3, 2], 0.5, [3, 1, 1]),  # 2.5, 1.5 and 1: the first of equal remainders
        ([2, 2], 0.75, [1, 1]),  # the last row of a class stays
    ],
)
def test_counts_worked_by_hand(counts: list[int], share: float, expected: list[int]) -> None:
    assert held_out_counts(np.array(counts), share).tolist() == expected


def test_every_row_is_held_out_as_often() -> None:
    found = np.bincount(np.concatenate([held_out_rows(40, 0.25, None, seed) for seed in range(400)]), minlength=40)
    assert found.sum() == 4000
    np.testing.assert_allclose(found, 100, atol=5 * np.sqrt(75))

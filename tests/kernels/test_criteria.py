"""Masses and decreases against impurities computed row by row."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import eighths, weights
from numpy.typing import NDArray

from sapwood.kernels.criteria import (
    ENTROPY,
    ERROR,
    GINI,
    INVALID,
    POISSON,
    SQUARED,
    class_mass,
    pair_decrease,
    pair_mass,
    vector_mass,
)
from strategies import examples

Array = NDArray[Any]
CLASS_CRITERIA = (GINI, ENTROPY, ERROR)
NUMBER_CRITERIA = (SQUARED, POISSON)
N_CLASSES = 4


def slow_class_mass(criterion: int, w: Array, y: Array) -> float:
    """The specification: weight times the impurity of the class shares."""
    total = w.sum()
    shares = [w[y == k].sum() / total for k in np.unique(y)]
    impurity = {
        GINI: 1 - sum(p * p for p in shares),
        ENTROPY: -sum(p * math.log2(p) for p in shares),
        ERROR: 1 - max(shares),
    }
    return float(total * impurity[criterion])


def slow_number_mass(criterion: int, w: Array, y: Array) -> float:
    """The specification: sum of the losses around the mean."""
    mean = (w * y).sum() / w.sum()
    if criterion == SQUARED:
        return float((w * (y - mean) ** 2).sum())
    return float(sum(v * t * math.log(t / mean) for v, t in zip(w, y, strict=True) if t > 0))


def slow_mass(criterion: int, w: Array, y: Array) -> float:
    return slow_class_mass(criterion, w, y) if criterion <= ERROR else slow_number_mass(criterion, w, y)


def left_out(criterion: int, w: Array, y: Array) -> float:
    """The term that the kernel leaves out, because it cancels in a decrease."""
    if criterion == SQUARED:
        return float((w * y * y).sum())
    if criterion == POISSON:
        return float(sum(v * t * math.log(t) for v, t in zip(w, y, strict=True) if t > 0))
    return 0.0


@st.composite
def targets(draw: st.DrawFn, criterion: int, n_rows: int, n_classes: int = 2) -> Array:
    cells = st.integers(0, n_classes - 1).map(float)
    if criterion == SQUARED:
        cells = eighths(-4, 4)
    if criterion == POISSON:
        cells = st.integers(0, 5).map(float)
    return np.array(draw(st.lists(cells, min_size=n_rows, max_size=n_rows)))


@st.composite
def rows(draw: st.DrawFn, n_least: int = 1, n_classes: int = 2) -> tuple[int, Array, Array]:
    """A criterion, weights and targets."""
    criterion = draw(st.sampled_from(CLASS_CRITERIA + NUMBER_CRITERIA))
    n = draw(st.integers(n_least, 15))
    w = np.array(draw(st.lists(weights(), min_size=n, max_size=n)))
    return criterion, w, draw(targets(criterion, n, n_classes))


def close(value: float, scale: float = 1.0) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-10 * (1 + scale))


@examples
@given(rows())
def test_pair_mass(case: tuple[int, Array, Array]) -> None:
    criterion, w, y = case
    mass = pair_mass(criterion, w.sum(), (w * y).sum())
    assert mass + left_out(criterion, w, y) == close(slow_mass(criterion, w, y), abs(mass))


@examples
@given(st.data(), st.sampled_from(CLASS_CRITERIA), st.integers(1, 15), st.integers(0, 2))
def test_class_mass(data: Any, criterion: int, n_rows: int, first: int) -> None:
    w = np.array(data.draw(st.lists(weights(), min_size=n_rows, max_size=n_rows)))
    y = data.draw(targets(criterion, n_rows, N_CLASSES))
    sums = np.full(first + N_CLASSES + 1, 77.0)  # neighbours belong to other targets
    sums[first : first + N_CLASSES] = [w[y == k].sum() for k in range(N_CLASSES)]
    mass = class_mass(criterion, w.sum(), sums, first, first + N_CLASSES)
    assert mass == close(slow_class_mass(criterion, w, y))


@examples
@given(st.data(), st.sampled_from(CLASS_CRITERIA + NUMBER_CRITERIA), st.integers(1, 3), st.integers(1, 12))
def test_vector_mass_is_the_mean_over_targets(data: Any, criterion: int, n_outputs: int, n_rows: int) -> None:
    w = np.array(data.draw(st.lists(weights(), min_size=n_rows, max_size=n_rows)))
    ys = [data.draw(targets(criterion, n_rows, 2 + o)) for o in range(n_outputs)]
    if criterion <= ERROR:
        parts = [[w[y == k].sum() for k in range(2 + o)] for o, y in enumerate(ys)]
    else:
        parts = [[(w * y).sum()] for y in ys]
    starts = np.cumsum([0, *map(len, parts)])
    mass = vector_mass(criterion, w.sum(), np.concatenate(parts), starts)
    whole = mass + np.mean([left_out(criterion, w, y) for y in ys])
    assert whole == close(np.mean([slow_mass(criterion, w, y) for y in ys]), abs(mass))


@pytest.mark.parametrize("criterion", CLASS_CRITERIA)
@given(w=weights(), share=st.integers(0, 8))
@examples
def test_two_classes_have_the_same_mass_as_pair_and_as_vector(criterion: int, w: float, share: int) -> None:
    s = w * share / 8
    assert class_mass(criterion, w, np.array([w - s, s]), 0, 2) == close(pair_mass(criterion, w, s))


def decrease_of(criterion: int, w: Array, y: Array, left: Array) -> float:
    total, s = w.sum(), (w * y).sum()
    mass = pair_mass(criterion, total, s)
    return pair_decrease(criterion, mass, w[left].sum(), (w * y)[left].sum(), total, s)


def has_child_without_events(criterion: int, y: Array, left: Array) -> bool:
    return criterion == POISSON and (not y[left].any() or not y[~left].any())


@examples
@given(rows(n_least=2), st.data())
def test_pair_decrease(case: tuple[int, Array, Array], data: Any) -> None:
    criterion, w, y = case
    left = np.arange(len(w)) < data.draw(st.integers(1, len(w) - 1))
    decrease = decrease_of(criterion, w, y, left)
    if has_child_without_events(criterion, y, left):
        assert decrease == INVALID
        return
    children = slow_mass(criterion, w[left], y[left]) + slow_mass(criterion, w[~left], y[~left])
    assert decrease == close(slow_mass(criterion, w, y) - children, float((w * np.abs(y)).sum()))


@examples
@given(rows(n_least=2), st.data())
def test_a_split_and_its_mirror_image_decrease_alike(case: tuple[int, Array, Array], data: Any) -> None:
    criterion, w, y = case
    left = np.arange(len(w)) < data.draw(st.integers(1, len(w) - 1))
    one, other = decrease_of(criterion, w, y, left), decrease_of(criterion, w, y, ~left)
    if criterion in {GINI, SQUARED}:
        assert one == other  # to the last bit
    else:
        assert one == close(other)


@pytest.mark.parametrize("criterion", CLASS_CRITERIA)
def test_swapping_the_classes_changes_nothing(criterion: int) -> None:
    assert pair_mass(criterion, 8.0, 3.0) == close(pair_mass(criterion, 8.0, 5.0))


@pytest.mark.parametrize("criterion", CLASS_CRITERIA)
@pytest.mark.parametrize("s", [0.0, 6.0])
def test_pure_rows_have_no_mass(criterion: int, s: float) -> None:
    assert pair_mass(criterion, 6.0, s) == 0.0
    assert class_mass(criterion, 6.0, np.array([6.0 - s, s]), 0, 2) == 0.0

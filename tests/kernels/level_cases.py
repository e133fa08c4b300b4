"""Statistics of the levels of a category, and the best of all ways to part them, by trying every one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations, pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st
from kernel_cases import weights
from numpy.typing import NDArray

from sapwood.kernels.criteria import ENTROPY, ERROR, GINI, INVALID, POISSON, SQUARED

Array = NDArray[Any]
CLASS_CRITERIA = (GINI, ENTROPY, ERROR)
CRITERIA = (*CLASS_CRITERIA, SQUARED, POISSON)

Side = frozenset[int]  # levels, and MISSING_ROWS
MISSING_ROWS = -1


@dataclass(frozen=True)
class Case:
    """Rows, weight and sums of each level, and last of the missing rows."""

    criterion: int
    starts: Array  # where each output's sums begin
    size: Array
    w: Array
    sums: Array

    @property
    def n_levels(self) -> int:
        return len(self.size) - 1

    @property
    def has_missing(self) -> bool:
        return bool(self.size[-1] > 0)

    def renumbered(self, order: list[int]) -> Case:
        """Level i is the old level order[i]."""
        old = [*order, self.n_levels]
        return Case(self.criterion, self.starts, self.size[old], self.w[old], self.sums[old])

    def mass(self, side: Side) -> float:
        """Weight times impurity, averaged over outputs, up to a term that cancels."""
        members = sorted(side)
        w, sums = float(self.w[members].sum()), self.sums[members].sum(axis=0)
        return float(np.mean([slow_mass(self.criterion, w, sums[a:b]) for a, b in pairwise(self.starts)]))

    def decrease(self, left: Side) -> float:
        everything = frozenset(range(self.n_levels)) | ({MISSING_ROWS} if self.has_missing else frozenset())
        right = everything - left
        if not left or not right:
            return INVALID
        if self.criterion == POISSON and any(
            (self.sums[sorted(side)].sum(axis=0) <= 0).any() for side in (left, right)
        ):
            return INVALID
        return self.mass(everything) - self.mass(left) - self.mass(right)

    def sides(self) -> Iterator[Side]:
        """Every set of levels, with and without the missing rows."""
        levels = range(self.n_levels)
        for chosen in chain.from_iterable(combinations(levels, k) for k in range(self.n_levels + 1)):
            yield frozenset(chosen)
            if self.has_missing:
                yield frozenset({*chosen, MISSING_ROWS})

    def best(self) -> float:
        return max(self.decrease(side) for side in self.sides())


def slow_mass(criterion: int, w: float, sums: Array) -> float:
    if criterion == GINI:
        return w * (1 - float(((sums / w) ** 2).sum()))
    if criterion == ENTROPY:
        return -sum(s * math.log2(s / w) for s in sums if s > 0)
    if criterion == ERROR:
        return w - float(max(sums))
    s = float(sums[0])
    if criterion == SQUARED:
        return -s * s / w
    return -s * math.log(s / w) if s > 0 else 0.0


@st.composite
def cases(draw: st.DrawFn, n_outputs: int, n_classes: int, most: int = 6) -> Case:
    """Two to `most` levels; every Poisson sum is positive, so that every subset is allowed."""
    criterion = draw(st.sampled_from(CRITERIA))
    width = n_classes if criterion in CLASS_CRITERIA else 1
    shares = class_sums(width) if criterion in CLASS_CRITERIA else number_sums(criterion)
    rows = []
    for _ in range(draw(st.integers(2, most))):
        rows.append(draw_level(draw, shares, n_outputs))
    missing = draw_level(draw, shares, n_outputs)
    if not draw(st.booleans()):
        missing = (0, 0.0, np.zeros(width * n_outputs))
    size, w, sums = zip(*rows, missing, strict=True)
    return Case(criterion, width * np.arange(n_outputs + 1), np.array(size), np.array(w), np.array(sums))


def draw_level(draw: st.DrawFn, shares: st.SearchStrategy[Array], n_outputs: int) -> tuple[int, float, Array]:
    w = draw(st.sampled_from([1.0, 1.0, 2.0]) | weights())
    return draw(st.integers(1, 3)), w, np.concatenate([w * draw(shares) for _ in range(n_outputs)])


def class_sums(n_classes: int) -> st.SearchStrategy[Array]:
    """Shares of the classes, in eighths."""
    cuts = st.lists(st.integers(0, 8), min_size=n_classes - 1, max_size=n_classes - 1)
    return cuts.map(lambda inner: np.diff([0, *sorted(inner), 8]) / 8)


def number_sums(criterion: int) -> st.SearchStrategy[Array]:
    low = 1 if criterion == POISSON else -8
    return st.integers(low, 24).map(lambda k: np.array([k / 8]))


def level_arrays(n_levels: int, n_sums: int, is_vector: bool) -> dict[str, Array]:
    """Room for the statistics of levels, as the grower makes it."""
    ints, floats = ("level_rows", "order", "position", "goes_left"), ("level_weight", "key")
    arrays: dict[str, Array] = {name: np.zeros(n_levels + 1, dtype=np.int64) for name in ints}
    arrays |= {name: np.zeros(n_levels + 1) for name in floats}
    vectors = ("left_sums", "right_sums", "missing_sums", "node_sums") if is_vector else ()
    arrays |= {name: np.full(n_sums, np.nan) for name in (*vectors, "level_total", "level_missing")}
    return arrays | {"level_sums": np.zeros((n_levels + 1, n_sums))}

"""Out of bag: every row is predicted by the trees that did not see it, as if it were new.

The error of these predictions is known after every tree; the curve shows when more trees no longer help.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sapwood.arrays import Array, Floats, Ints, Mask
from sapwood.errors import InputError
from sapwood.table.target import ClassTarget, NumberTarget

WINDOW = 25  # trees whose errors are averaged to tell whether the curve still falls


@dataclass(eq=False)
class OutOfBag:
    """Sums of the votes of trees for rows outside of their bags, in the order of the trees."""

    target: ClassTarget | NumberTarget
    weight: Floats | None  # of the rows, in the error
    prior: Floats | None = None  # (outputs, classes): shares of the classes, which count as `prior_weight` trees
    prior_weight: float = 0.0
    sums: Floats = field(init=False)  # (rows, outputs, classes or 1)
    counts: Ints = field(init=False)
    curve: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        n_rows = len(self.target.numbers)
        self.sums = np.zeros((n_rows, self.target.n_outputs, max(self.target.n_classes, default=1)))
        if self.prior is not None:
            self.sums += self.prior_weight * self.prior
        self.counts = np.zeros(n_rows, dtype=np.int64)
        self._loss = np.zeros(n_rows)

    def add(self, rows: Array, votes: Floats) -> None:
        """Add the votes of one tree for rows outside of its bag, (rows, outputs, classes or 1)."""
        self.sums[rows] += votes
        self.counts[rows] += 1
        self._loss[rows] = self._losses(rows)
        seen = self.counts > 0
        self.curve.append(float(np.average(self._loss[seen], weights=self._weights(seen))) if seen.any() else np.nan)

    def _weights(self, rows: Mask) -> Floats | None:
        return None if self.weight is None else self.weight[rows]

    def _losses(self, rows: Array) -> Floats:
        """Wrong or not, or the squared error, averaged over the outputs."""
        if isinstance(self.target, NumberTarget):
            means = self.sums[rows, :, 0] / self.counts[rows, None]
            return np.asarray(((self.target.values[rows] - means) ** 2).mean(axis=1))
        likely = self.sums[rows].argmax(axis=2)
        return np.asarray((likely != self.target.codes[rows]).mean(axis=1))

    def predictions(self) -> Floats:
        """Mean over the trees, (rows, outputs, classes or 1); NaN for rows that were in every bag."""
        n_votes = np.where(self.counts > 0, self.counts + self.prior_weight, np.nan)
        return np.asarray(self.sums / n_votes[:, None, None])


def class_shares(target: ClassTarget, order: Array, weights: Floats | None, *, balanced: bool) -> Floats:
    """Shares of the classes among the rows, (outputs, classes), added up in this order; equal ones if balanced.

    They are what the roots of the trees are on average, which differ by the rows that were drawn.
    """
    shares = np.zeros((target.n_outputs, max(target.n_classes)))
    for o, size in enumerate(target.n_classes):
        totals = np.ones(size) if balanced else np.bincount(target.codes[order, o], weights, minlength=size)
        shares[o, :size] = totals / totals.sum()
    return shares


def is_flat(curve: list[float], tolerance: float) -> bool:
    """Whether the mean error of the last 25 trees is lower than that of the 25 before by less than this share."""
    if len(curve) < 2 * WINDOW:
        return False
    before, now = np.mean(curve[-2 * WINDOW : -WINDOW]), np.mean(curve[-WINDOW:])
    return bool(before - now <= tolerance * before)


def first_flat(curve: list[float], tolerance: float) -> int | None:
    """After how many trees the curve was flat for the first time; None if it never was."""
    return next((n for n in range(2 * WINDOW, len(curve) + 1) if is_flat(curve[:n], tolerance)), None)


def residual_bounds(residuals: Floats, coverage: float) -> Floats:
    """Lower and upper quantiles (2, outputs) of sorted residuals, widened for their finite number (rows, outputs)."""
    n, tail = len(residuals), (1.0 - coverage) / 2.0
    below = int(np.floor(tail * (n + 1))) - 1
    if below < 0:
        raise InputError(
            f"coverage={coverage!r} needs at least {int(np.ceil(1.0 / tail))} rows with an out-of-bag prediction, "
            f"but there are {n}. Use a smaller coverage."
        )
    return residuals[[below, n - 1 - below]]

"""Out of bag: every row is predicted by the trees that did not see it, as if it were new.

The error of these predictions is known after every tree; the curve tells when more trees do not help any more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.table.target import ClassTarget, NumberTarget

WINDOW = 25  # trees whose errors are averaged to tell whether the curve still falls
Floats = NDArray[np.float64]


@dataclass(eq=False)
class OutOfBag:
    """Sums of what trees said about rows outside of their bags, in the order of the trees."""

    target: ClassTarget | NumberTarget
    weight: Floats | None  # of the rows, in the error
    sums: Floats = field(init=False)  # (rows, outputs, classes or 1)
    counts: NDArray[np.int64] = field(init=False)
    curve: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        of = self.target
        if isinstance(of, ClassTarget):
            n_rows, width = len(of.codes), max(map(len, of.classes))
        else:
            n_rows, width = len(of.values), 1
        self.sums = np.zeros((n_rows, of.n_outputs, width))
        self.counts = np.zeros(n_rows, dtype=np.int64)
        self._loss = np.zeros(n_rows)

    def add(self, rows: NDArray[Any], said: Floats) -> None:
        """What one tree says about rows outside of its bag, (rows, outputs, classes or 1)."""
        self.sums[rows] += said
        self.counts[rows] += 1
        self._loss[rows] = self._losses(rows)
        seen = self.counts > 0
        self.curve.append(float(np.average(self._loss[seen], weights=self._weights(seen))) if seen.any() else np.nan)

    def _weights(self, rows: NDArray[np.bool_]) -> Floats | None:
        return None if self.weight is None else self.weight[rows]

    def _losses(self, rows: NDArray[Any]) -> Floats:
        """Wrong or not, or the squared error, averaged over the outputs."""
        if isinstance(self.target, NumberTarget):
            said = self.sums[rows, :, 0] / self.counts[rows, None]
            return np.asarray(((self.target.values[rows] - said) ** 2).mean(axis=1))
        likely = self.sums[rows].argmax(axis=2)
        return np.asarray((likely != self.target.codes[rows]).mean(axis=1))

    def predictions(self) -> Floats:
        """Mean over the trees, (rows, outputs, classes or 1); NaN for rows that were in every bag."""
        with np.errstate(invalid="ignore"):
            return self.sums / self.counts[:, None, None]


def is_flat(curve: list[float], tolerance: float) -> bool:
    """Whether the mean error of the last 25 trees is lower than that of the 25 before by less than this share."""
    if len(curve) < 2 * WINDOW:
        return False
    before, now = np.mean(curve[-2 * WINDOW : -WINDOW]), np.mean(curve[-WINDOW:])
    return bool(before - now <= tolerance * before)


def first_flat(curve: list[float], tolerance: float) -> int | None:
    """After how many trees the curve was flat for the first time; None if it never was."""
    return next((n for n in range(2 * WINDOW, len(curve) + 1) if is_flat(curve[:n], tolerance)), None)

"""The centres that Huber's loss is least at, of groups of rows in parts.

The pull of c is the weighted mean of clip(v - c, -delta, delta). It falls from delta to -delta, and is linear between
the breakpoints v ± delta. All groups are searched at once, on a grid; in the cell that is found, the pull is taken for
linear. Sums are exact, so where rows are cut into parts does not matter.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from sapwood.arrays import Array, Floats, Ints
from sapwood.row_parts.exact_sum import ExactSum
from sapwood.row_parts.rows import RowPart, RowParts, Values

_SLACK = 1e-12  # of delta: tolerance for a pull that should be zero
_CELL_BITS = 36  # cells are 2^-36 delta wide,
_MOST_BITS = 60  # if there are no more than 2^60 of them
_FIRST_SHARE = 0.125  # of the bounds: how far the first points are from where the pull may be zero


def huber_centres(rows: RowParts, values: Values, delta: float) -> Floats:
    """The c of each group whose pull is zero, the midpoint where it is so in an interval; 0 of a group without rows."""
    least, most = rows.extremes(values)
    exists = least <= most
    weights = np.where(exists, rows.weights.rounded(), 1.0)
    search = _Search(exists, least, most, rows.quantiles(values, 0.5), delta)
    points = search.first()
    while search.is_open.any():
        centres = np.where(search.is_open[:, None], search.origin[:, None] + points * search.cell[:, None], np.nan)
        found = ExactSum.merged(rows.ask(partial(pulls_of, values, delta, centres)))
        search.narrow(points, found.rounded().reshape(points.shape) / weights[:, None])
        points = search.probes()
    return np.where(exists, 0.5 * search.crossing(0) + 0.5 * search.crossing(1) + 0.0, 0.0)


def pulls_of(values: Values, delta: float, centres: Floats, part: RowPart) -> ExactSum:
    """Σ w clip(v - c, -delta, delta) of a part, for each centre (groups, centres) of each group."""
    return ExactSum.of_clipped(values(part), part.weight, part.group, centres, delta)


class _Search:
    """Cells between which each group's pull falls below the slack, and, in a second row, below its negative."""

    def __init__(self, exists: Array, least: Floats, most: Floats, median: Floats, delta: float) -> None:
        self.origin, self._delta, self._slack = median, delta, _SLACK * delta
        least, most = np.where(exists, least, 0.0) - delta, np.where(exists, most, 0.0) + delta
        self.cell = np.maximum(np.ldexp(delta, -_CELL_BITS), np.ldexp(most - least, -_MOST_BITS))
        low = np.where(exists, np.floor((least - median) / self.cell), 0.0).astype(np.int64) - 1
        high = np.where(exists, np.ceil((most - median) / self.cell), -1.0).astype(np.int64) + 1
        self.low, self.high = np.stack([low, low]), np.stack([high, high])
        self.low_pull, self.high_pull = np.full(self.low.shape, delta), np.full(self.low.shape, -delta)
        self._zero, self._near = np.zeros(len(median), dtype=np.int64), np.full(len(median), -1)

    @property
    def is_open(self) -> Array:
        """Whose cell is not known yet."""
        return np.asarray((self.high - self.low > 1).any(axis=0))

    def first(self) -> Ints:
        """Points (groups, points): a root is no further from the median than delta, unless the pull is zero there."""
        step = np.ceil(self._delta / self.cell).astype(np.int64)
        return np.stack([np.maximum(self.low[0], -step), np.zeros_like(step), np.minimum(self.high[0], step)], axis=1)

    def probes(self) -> Ints:
        """Points: the middle of a cell's bounds, and before and after where a line between the bounds is zero.

        They are as far from there as this place has moved since the points before.
        """
        side = np.where(self.high[0] - self.low[0] > 1, 0, 1)
        of = side, np.arange(len(side))
        low, high, pull, fall = self.low[of], self.high[of], self.low_pull[of], self.low_pull[of] - self.high_pull[of]
        share = np.divide(pull, fall, out=np.full(len(fall), 0.5), where=fall > 0)
        zero = low + np.rint((high - low) * np.clip(share, 0.0, 1.0)).astype(np.int64)
        first = np.rint(_FIRST_SHARE * (high - low)).astype(np.int64)
        near = np.maximum(np.where(self._near < 0, first, np.abs(zero - self._zero)), 1)
        self._zero, self._near = zero, near
        around = np.clip(np.stack([zero - near, zero + near], axis=1), low[:, None], high[:, None])
        return np.concatenate([around, (low + (high - low) // 2)[:, None]], axis=1)

    def narrow(self, points: Ints, pulls: Floats) -> None:
        """Bring the bounds up to the points on either side."""
        for point, pull in zip(points.T, pulls.T, strict=True):
            for side, passes in enumerate((pull <= self._slack, pull < -self._slack)):
                lower = passes & (point < self.high[side]) & (point > self.low[side])
                higher = ~passes & (point > self.low[side]) & (point < self.high[side])
                self.high[side, lower], self.high_pull[side, lower] = point[lower], pull[lower]
                self.low[side, higher], self.low_pull[side, higher] = point[higher], pull[higher]

    def crossing(self, side: int) -> Floats:
        """Where the pull passes the slack (0) or its negative (1), on the line through its cell."""
        level, low, high = (self._slack, -self._slack)[side], self.low_pull[side], self.high_pull[side]
        fall = low - high
        share = np.divide(low - level, fall, out=np.full(len(fall), 0.5), where=fall > 0)
        return np.asarray(self.origin + (self.low[side] + share) * self.cell)

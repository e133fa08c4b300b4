"""A sum of floats without rounding: sums of parts can be added, sent, and rounded once at the end, as `math.fsum` does.

>>> float(ExactSum.of(np.array([1e100, 1.0])) + ExactSum.of(np.array([-1e100])))
1.0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sapwood.arrays import Array, Floats, Ints
from sapwood.kernels.exact_sum import (
    LENGTH,
    TOP,
    add_clipped_by_group,
    add_terms,
    add_terms_by_group,
    carry_all,
    round_sums,
)


@dataclass(frozen=True, eq=False)
class ExactSum:
    """One sum, or one for each group; `limbs` are (groups, LENGTH) integers, see `kernels/exact_sum.py`."""

    limbs: Ints

    @classmethod
    def of(cls, values: Floats, weight: Floats | None = None) -> ExactSum:
        """The sum of values, or of their products with weights, each of which is rounded as floats are."""
        limbs = np.zeros((1, LENGTH), dtype=np.int64)
        add_terms(_contiguous(values), None if weight is None else _contiguous(weight), limbs[0])
        return cls(limbs)

    @classmethod
    def by_group(cls, values: Floats, weight: Floats | None, group: Array, n_groups: int) -> ExactSum:
        """The sum of each group, numbered from 0; rows of another number belong to none."""
        limbs = np.zeros((n_groups, LENGTH), dtype=np.int64)
        add_terms_by_group(_contiguous(values), None if weight is None else _contiguous(weight), group, limbs)
        return cls(limbs)

    @classmethod
    def of_clipped(
        cls, values: Floats, weight: Floats | None, group: Array | None, centres: Floats, limit: float
    ) -> ExactSum:
        """For each centre c of each group, (groups, centres), the sum of clip(v - c, -limit, limit); NaN has none."""
        limbs = np.zeros((*centres.shape, LENGTH), dtype=np.int64)
        own = _contiguous(values), None if weight is None else _contiguous(weight)
        add_clipped_by_group(*own, group, np.ascontiguousarray(centres), limit, limbs)
        return cls(limbs.reshape(-1, LENGTH))

    @classmethod
    def count(cls, n: int) -> ExactSum:
        """The sum of n ones."""
        return cls.of(np.array([float(n)]))

    @classmethod
    def merged(cls, parts: Sequence[ExactSum]) -> ExactSum:
        """The sum of the sums of parts."""
        if len(parts) == 1:
            return parts[0]
        limbs = parts[0].limbs.copy()
        for part in parts[1:]:
            limbs += part.limbs
        carry_all(limbs)
        return cls(limbs)

    def __add__(self, other: ExactSum) -> ExactSum:
        return ExactSum.merged([self, other])

    def rounded(self) -> Floats:
        """The float nearest to the sum of each group; inf or NaN where the terms make it so."""
        out = np.empty(len(self.limbs))
        round_sums(self.limbs.copy(), out)
        return out

    def __float__(self) -> float:
        (found,) = self.rounded().tolist()
        return float(found)

    def over(self, other: ExactSum) -> float:
        """The float nearest to the quotient of two sums, as of a mean; NaN if the divisor is 0.

        The mean of equal numbers is that number, which a quotient of rounded sums need not be.
        """
        if not (self._is_finite and other._is_finite):
            return float(np.divide(float(self), float(other)))
        divisor = other._whole
        if divisor == 0:
            return float("nan")
        try:
            return self._whole / divisor
        except OverflowError:
            return float("inf") if (self._whole > 0) == (divisor > 0) else float("-inf")

    @property
    def _is_finite(self) -> bool:
        return not self.limbs[0, TOP + 1 :].any()

    @property
    def _whole(self) -> int:
        """The sum in units of 2^-1074."""
        (own,) = self.limbs
        low = int.from_bytes(own[:TOP].astype("<u4").tobytes(), "little")
        return low + (int(own[TOP]) << (32 * TOP))


def _contiguous(values: Floats) -> Floats:
    return np.ascontiguousarray(values, dtype=np.float64)

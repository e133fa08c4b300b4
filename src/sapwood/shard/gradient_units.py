"""Units of gradients: gradients as whole numbers, so that their sums are the same in every order and on every machine.

Units are powers of two, chosen for each tree from the largest gradient and hessian of all shards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sapwood.arrays import Floats

PACKED_ROWS = 1 << 16  # from this many rows on, one 64-bit number holds both sums of a code
PACKED_BITS = 15  # a packed number has 16 bits, one of them the sign
WIDE_BITS = 40
SUM_BITS = 62
LEAST_EXPONENT = -1000  # a unit must have an inverse


@dataclass(frozen=True)
class GradientUnits:
    """What 1 means: gradient = whole number * gradient_unit. `fine` units are for the sums of leaves."""

    packed: bool
    gradient_unit: float
    hessian_unit: float
    fine_gradient_unit: float
    fine_hessian_unit: float
    block_rows: int  # packed sums of this many rows cannot overflow

    @classmethod
    def of(cls, largest_gradient: float, largest_hessian: float, n_rows: int, packed: bool) -> GradientUnits:
        """For gradients up to the largest ones, of n_rows rows in all shards together."""
        fine = _fine_bits(n_rows)
        bits = PACKED_BITS if packed else fine
        return cls(
            packed,
            unit(largest_gradient, bits),
            unit(largest_hessian, bits),
            unit(largest_gradient, fine),
            unit(largest_hessian, fine),
            1 << (31 - bits) if packed else n_rows,
        )


def fine_units(largest: Floats, n_rows: int) -> Floats:
    """Units for sums of leaves over n_rows rows, by the largest |gradient| and hessian of each score (scores, 2)."""
    bits = _fine_bits(n_rows)
    return np.array([[unit(g, bits), unit(h, bits)] for g, h in largest.tolist()])


def _fine_bits(n_rows: int) -> int:
    """Bits of a number such that sums of all rows do not overflow."""
    return min(WIDE_BITS, SUM_BITS - max(1, (n_rows - 1).bit_length()))


def unit(largest: float, bits: int) -> float:
    """The power of two that makes the largest number at most 2^bits - 1 units."""
    if largest <= 0.0 or not math.isfinite(largest):
        return 1.0
    _, exponent = math.frexp(largest)  # largest < 2^exponent
    found = math.ldexp(1.0, max(exponent - bits, LEAST_EXPONENT))
    return found if round(largest / found) <= (1 << bits) - 1 else 2.0 * found

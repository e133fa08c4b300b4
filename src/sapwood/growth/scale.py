"""Scale: kernels see weights and targets of ordinary size, so that no product of theirs overflows or vanishes.

Both are shifted by powers of two, which is exact, and only if they need it. Weights go no further than the border of
the ordinary range, because tests of significance read them as numbers of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.growth.criteria import Statistics
from sapwood.growth.rules import GrowthRules
from sapwood.kernels.criteria import SQUARED

_WEIGHT_RANGE = 64  # decreases are of the order weight^4 target^2, and a double ends at 2^1024
_TARGET_RANGE = 200


@dataclass(frozen=True)
class Scale:
    """The caller's weights, targets and impurities are the kernels' times 2 to these powers."""

    weight: int = 0
    target: int = 0
    impurity: int = 0

    @classmethod
    def of(cls, statistics: Statistics) -> Scale:
        """The scale of weights and targets; all zero unless they are extreme."""
        wy = statistics.wy
        weight = _excess(float(wy[:, 0].sum()), _WEIGHT_RANGE)
        if statistics.is_class:
            return cls(weight)
        target = _excess(float(max(wy[:, 1:].max(), -wy[:, 1:].min())), _TARGET_RANGE)
        return cls(weight, target, 2 * target if statistics.criterion == SQUARED else target)

    def statistics(self, given: Statistics) -> Statistics:
        """What the kernels see of the caller's statistics."""
        if not self.weight and not self.target:
            return given
        wy = np.ldexp(given.wy, -self.target if not given.is_class else 0)
        # A tiny weight must not become zero
        wy[:, 0] = np.maximum(np.ldexp(given.wy[:, 0], -self.weight), np.finfo(np.float64).tiny)
        return replace(given, wy=wy)

    def rules(self, given: GrowthRules) -> GrowthRules:
        """What the kernels see of the caller's limits."""
        if not self.weight and not self.impurity:
            return given
        powers = {"min_child_weight": self.weight, "min_decrease": self.impurity, "impurity_threshold": self.impurity}
        limits = {name: float(shifted(np.array(getattr(given, name)), -powers[name])) for name in powers}
        return replace(given, **limits)  # type: ignore[arg-type]


def shifted(values: Array, power: int) -> Floats:
    """Values times 2 to a power; what is too large becomes infinite."""
    with np.errstate(over="ignore"):
        return np.ldexp(values, power) if power else values


def _excess(size: float, most: int) -> int:
    """The power of two by which a size is outside of 2^-most to 2^most."""
    power = int(np.frexp(size)[1]) if size > 0 else 0
    return power - max(-most, min(power, most))

"""Quantiles of groups of rows that are spread over parts.

The q-quantile is the c of least Σ w (q (v - c)⁺ + (1 - q) (c - v)⁺): the least value at which the sorted weights add up
to q Σ w. Where they do so exactly, every c up to the next value is as good, and the midpoint is taken. Weights are
whole numbers of a unit, so their sums are exact.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from sapwood.arrays import Floats, Ints
from sapwood.row_parts.selection import Ask, select, values_of

SLACK = 1e-12  # of the total weight: tolerance for a share that is no binary fraction, such as 0.1


def quantiles(ask: Ask, n_groups: int, share: float) -> Floats:
    """The quantile of each group; 0 of groups without rows."""
    found = select(ask, n_groups, partial(quantile_ranks, share))
    low, high = values_of(found.keys).T  # NaN without rows; no -0.0: which of the zeros is found is left to chance
    return np.where(found.keys[:, 0] > 0, 0.5 * low + 0.5 * high + 0.0, 0.0)


def quantile_ranks(share: float, units: Ints) -> Ints:
    """Ranks (groups, 2) of the values whose midpoint is the quantile, by the sum of each group's weights in units."""
    total = units.astype(np.float64)
    wanted, slack = share * total, SLACK * total
    low, high = np.ceil(wanted - slack).astype(np.int64), np.floor(wanted + slack).astype(np.int64) + 1
    return np.stack([np.clip(low, 1, units), np.clip(high, 1, units)], axis=1)

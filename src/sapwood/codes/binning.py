"""Bins: few codes for many values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def equal_count_cuts(run_starts: NDArray[np.int64], n_bins: int) -> NDArray[np.int64]:
    """Choose at most `n_bins` bins of about equal row counts; a value is never divided between bins.

    `run_starts` are the positions in the sorted column where a value begins, and the end. A value held by more rows
    than a bin's share counts as one share, so that what it has too much does not cost the other values their bins.
    """
    sizes = np.diff(run_starts)
    counted = np.minimum(sizes, _fair_share(sizes, n_bins))
    middle = np.cumsum(counted) - counted / 2
    bins = (middle * (n_bins / counted.sum())).astype(np.int64)
    first_of_bin = np.flatnonzero(np.diff(bins, prepend=-1))
    return np.append(run_starts[first_of_bin], run_starts[-1])


def _fair_share(sizes: NDArray[np.int64], n_bins: int) -> float:
    """Rows of a bin once each value that holds more has a bin of its own and the others divide the rest."""
    heavy = np.zeros(len(sizes), dtype=np.bool_)
    share = sizes.sum() / n_bins
    while True:
        above = sizes > share
        if (above == heavy).all() or above.sum() >= n_bins:
            return float(share)
        heavy = above
        share = sizes[~heavy].sum() / (n_bins - heavy.sum())

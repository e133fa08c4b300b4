"""Bins: few codes for many values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sapwood.kernels.binning import equal_counts, heavy_runs


def equal_count_cuts(run_starts: NDArray[np.int64], n_bins: int) -> NDArray[np.int64]:
    """Choose at most `n_bins` bins of about equal row counts; a value is never divided between bins.

    `run_starts` are the positions in the sorted column where a value begins, and the end. A value held by more rows
    than a bin's share counts as one share, so that its surplus does not cost other values their bins.
    """
    cuts = np.empty(n_bins + 1, dtype=np.int64)
    count = equal_counts(run_starts, n_bins, _fair_share(run_starts, n_bins), cuts)
    return np.append(cuts[:count], run_starts[-1])


def _fair_share(run_starts: NDArray[np.int64], n_bins: int) -> float:
    """Rows of a bin once each value that holds more has a bin of its own and the others divide the rest."""
    n_rows, n_heavy = int(run_starts[-1] - run_starts[0]), 0
    share = n_rows / n_bins
    while True:
        above, their_rows = heavy_runs(run_starts, share)
        if above == n_heavy or above >= n_bins:
            return float(share)
        n_heavy = above
        share = (n_rows - their_rows) / (n_bins - n_heavy)

"""Sampling: rows drawn by hashes of their numbers, so that a draw does not depend on how rows are divided."""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.draws import mix, uniform


@lean_kernel
def draw_rows(key, first_row, shares, share, candidates, rows):
    """Draw each candidate (None: all) with its own share or the common one; OUT rows; returns how many."""
    count = 0
    n = len(rows) if candidates is None else len(candidates)
    for i in range(n):
        row = i if candidates is None else candidates[i]
        wanted = share if shares is None else shares[row]
        rows[count] = row
        count += np.int64(uniform(mix(key, np.int64(first_row + row))) < wanted)
    return count

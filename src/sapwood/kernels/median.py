"""Absolute error: medians and losses of growing sets of rows, by a Fenwick tree over the ranks of the targets.

The loss of a set of rows is `min over m of sum w |y - m|`, reached at a weighted median m. Adding a row and asking
for the loss both cost O(log n).
"""

from __future__ import annotations

from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.records import CUM_N, TREE_S, TREE_W


@lean_kernel
def insert(floats, n, rank, w, wy):
    """Add weight w and weighted target wy at a rank to the Fenwick trees; OUT floats[TREE_W], floats[TREE_S]."""
    i = rank + 1
    while i <= n:
        floats[TREE_W, i] += w
        floats[TREE_S, i] += wy
        i += i & -i


@lean_kernel
def find_median(floats, n, total_w, total_s, ranked):
    """(rank of the weighted median, loss) of the rows inserted so far; ranked[rank] is a target.

    Descend to the largest prefix of weight below one half; the next row is the median.
    """
    step = 1
    while step * 2 <= n:
        step *= 2
    at, below_w, below_s, half = 0, 0.0, 0.0, 0.5 * total_w
    while step > 0:
        ahead = at + step
        if ahead <= n and below_w + floats[TREE_W, ahead] < half:
            at = ahead
            below_w += floats[TREE_W, ahead]
            below_s += floats[TREE_S, ahead]
        step //= 2
    rank = min(at, n - 1)
    y = ranked[rank]
    loss = (total_s - below_s) - y * (total_w - below_w) + y * below_w - below_s
    return rank, max(loss, 0.0)


@lean_kernel
def prefix_weight(floats, count):
    """Weight of the `count` lowest ranks."""
    total = 0.0
    while count > 0:
        total += floats[TREE_W, count]
        count -= count & -count
    return total


@lean_kernel
def exact_median(floats, n, rank, total_w, ranked):
    """The target at `rank`, or the middle of the two rows around the cut where a prefix weighs exactly half."""
    reached = prefix_weight(floats, rank + 1)
    if reached != 0.5 * total_w:
        return ranked[rank]
    ahead = rank + 1
    while ahead < n and prefix_weight(floats, ahead + 1) <= reached:
        ahead += 1
    return 0.5 * ranked[rank] + 0.5 * ranked[min(ahead, n - 1)]


@lean_kernel
def running_losses(wy, output, first, last, step, n_lead, n, loss, median, want_medians, floats, ints, medians):
    """Add groups of rows one by one; OUT floats[loss, g] += loss, floats[median, g] = median of the rows so far.

    The rows of the column are medians.rows[0], in groups that end at ints[CUM_N]; groups run from `first` towards
    `last` by `step` (+1 or -1). The first n_lead missing rows, medians.rows[1], are in from the start. `n` is the
    number of ranks in play.
    """
    for i in range(n + 1):
        floats[TREE_W, i] = 0.0
        floats[TREE_S, i] = 0.0
    total_w, total_s = 0.0, 0.0
    for i in range(n_lead):
        r = medians.rows[1, i]
        w, y = wy[r, 0], wy[r, 1 + output]
        insert(floats, n, medians.rank_of[output, r], w, w * y)
        total_w += w
        total_s += w * y
    g = first
    while g != last:
        start = ints[CUM_N, g - 1] if g > 0 else 0
        for i in range(start, ints[CUM_N, g]):
            r = medians.rows[0, i]
            w, y = wy[r, 0], wy[r, 1 + output]
            insert(floats, n, medians.rank_of[output, r], w, w * y)
            total_w += w
            total_s += w * y
        rank, value = find_median(floats, n, total_w, total_s, medians.ranked[output])
        floats[loss, g] += value
        if want_medians:
            floats[median, g] = exact_median(floats, n, rank, total_w, medians.ranked[output])
        g += step


@lean_kernel
def sorted_median_and_loss(entries, lo, hi, wy, output):
    """Weighted median and loss of rows given in order of their targets (entries are row << 1 | tied)."""
    total_w = 0.0
    for i in range(lo, hi):
        total_w += wy[entries[i] >> 1, 0]
    half, below = 0.5 * total_w, 0.0
    median = wy[entries[hi - 1] >> 1, 1 + output]
    for i in range(lo, hi):
        r = entries[i] >> 1
        below += wy[r, 0]
        if below >= half:
            median = wy[r, 1 + output]
            if below == half and i + 1 < hi:
                median = 0.5 * median + 0.5 * wy[entries[i + 1] >> 1, 1 + output]
            break
    loss = 0.0
    for i in range(lo, hi):
        r = entries[i] >> 1
        loss += wy[r, 0] * abs(wy[r, 1 + output] - median)
    return median, loss

"""Medians and losses of growing sets of rows, by Fenwick trees over the ranks of the targets.

The loss of a set of rows is `min over m of sum w |y - m|`, reached at a weighted median m. Adding a row and asking
for the loss both cost O(log n). The trees are frame.tree_weight and frame.tree_sum; place i holds a sum of ranks.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import inner_kernel


@inner_kernel
def insert(frame, n, rank, w, s):
    """Add a weight and a weighted target at a rank; OUT tree_weight, tree_sum."""
    weight, total, i = frame.tree_weight, frame.tree_sum, rank + 1
    while i <= n:
        weight[i] += w
        total[i] += s
        i += i & -i


@inner_kernel
def insert_rows(frame, rows, first, last, output, n, so_far):
    """Add the rows first…last-1 of an array of rows to the trees; returns weight and sum of all so far."""
    wy, rank_of = frame.wy, frame.rank_of
    total_w, total_s = so_far
    for i in range(first, last):
        r = rows[i]
        w, y = wy[r, 0], wy[r, 1 + output]
        insert(frame, n, rank_of[output, r], w, w * y)
        total_w += w
        total_s += w * y
    return total_w, total_s


@inner_kernel
def find_median(frame, n, total_w, total_s, ranked):
    """(rank of the weighted median, loss) of the rows inserted so far; ranked[rank] is a target.

    Descend to the largest prefix of weight below one half; the next row is the median.
    """
    weight, total, step = frame.tree_weight, frame.tree_sum, 1
    while step * 2 <= n:
        step *= 2
    at, below_w, below_s, half = 0, 0.0, 0.0, 0.5 * total_w
    while step > 0:
        ahead = at + step
        if ahead <= n and below_w + weight[ahead] < half:
            at = ahead
            below_w += weight[ahead]
            below_s += total[ahead]
        step //= 2
    rank = min(at, n - 1)
    y = ranked[rank]
    loss = (total_s - below_s) - y * (total_w - below_w) + y * below_w - below_s
    return rank, max(loss, 0.0)


@inner_kernel
def prefix_weight(weight, count):
    """Weight of the `count` lowest ranks."""
    total = 0.0
    while count > 0:
        total += weight[count]
        count -= count & -count
    return total


@inner_kernel
def exact_median(frame, n, rank, total_w, ranked):
    """The target at `rank`, or the middle of the two rows around the cut where a prefix weighs exactly half."""
    reached = prefix_weight(frame.tree_weight, rank + 1)
    if reached != 0.5 * total_w:
        return ranked[rank]
    ahead = rank + 1
    while ahead < n and prefix_weight(frame.tree_weight, ahead + 1) <= reached:
        ahead += 1
    return 0.5 * ranked[rank] + 0.5 * ranked[min(ahead, n - 1)]


@inner_kernel
def running_losses(frame, output, groups, n_lead, n, losses, medians, wants_medians):
    """Add groups of rows one by one; OUT losses[g] += loss, medians[g] = median of the rows so far, if wanted.

    The rows of the column are frame.ordered, in groups that end at frame.cum_rows. `groups` = (first, last, step): they
    run from `first` towards `last`, up or down. The first n_lead missing rows are in from the start. `n` is the number
    of ranks in play.
    """
    first, last, step = groups
    cum_rows, ranked = frame.cum_rows, frame.ranked[output]
    for i in range(n + 1):
        frame.tree_weight[i] = 0.0
        frame.tree_sum[i] = 0.0
    total_w, total_s = insert_rows(frame, frame.missing_rows, np.int64(0), n_lead, output, n, (0.0, 0.0))
    g = first
    while g != last:
        start = cum_rows[g - 1] if g > 0 else np.int64(0)
        total_w, total_s = insert_rows(frame, frame.ordered, start, cum_rows[g], output, n, (total_w, total_s))
        rank, value = find_median(frame, n, total_w, total_s, ranked)
        losses[g] += value
        if wants_medians:
            medians[g] = exact_median(frame, n, rank, total_w, ranked)
        g += step


@inner_kernel
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

"""Candidates: the best cut of a row of groups into left and right.

Each function returns (decrease, group after which to cut, whether missing rows go left); the decrease exceeds
`floor`, the value to beat, or is INVALID. The first of equal candidates wins: lower group, then missing to the right.
A cut after the last group puts all present rows left and the missing ones right.
"""

from __future__ import annotations

from sapwood.kernels._jit import lean_kernel, part
from sapwood.kernels.criteria import GINI, INVALID, NO_EVENTS, POISSON, pair_decrease, pair_mass, vector_mass
from sapwood.kernels.median import running_losses
from sapwood.kernels.records import (
    CUM_N,
    CUM_S,
    CUM_W,
    LEFT,
    LOSS_LEFT,
    LOSS_RIGHT,
    MEDIAN_LEFT,
    MEDIAN_RIGHT,
    MISS,
    NODE_SUMS,
    RIGHT,
)


@part
def large_enough(limits, n_left, w_left, n, w):
    """Both children have the rows and the weight they need."""
    return (
        n_left >= limits.min_rows_leaf
        and n - n_left >= limits.min_rows_leaf
        and w_left >= limits.min_weight_leaf
        and w - w_left >= limits.min_weight_leaf
    )


@part
def ordered(sign, left, right, lower, upper):
    """Child values respect the constraint: in order, and inside the node's bounds."""
    return sign * (right - left) >= 0.0 and lower <= left <= upper and lower <= right <= upper


@part
def best_pair_cut(limits, sign, lower, upper, center, first, last, mn, mw, ms, n, w, s, floor, tolerance, floats, ints):
    """Best cut after one of the groups first…last-1, for statistics (w, s)."""
    bounded = sign != 0  # a free column may pass the bounds: its children's values are clipped
    criterion = limits.criterion
    mass = pair_mass(criterion, w, s)
    best, best_group, best_left = floor, -1, False
    for turn in range(2 if mn > 0 else 1):
        dn, dw, ds = (mn, mw, ms) if turn == 1 else (0, 0.0, 0.0)
        for g in range(first, last):
            w_left, s_left = floats[CUM_W, g] + dw, floats[CUM_S, g] + ds
            decrease = pair_decrease(criterion, mass, w_left, s_left, w, s)
            if decrease > best:
                n_left = ints[CUM_N, g] + dn
                if n_left < n and large_enough(limits, n_left, w_left, n, w):
                    left, right = s_left / w_left + center, (s - s_left) / (w - w_left) + center
                    if not bounded or ordered(sign, left, right, lower, upper):
                        best, best_group, best_left = decrease + tolerance, g, turn == 1
    return best - tolerance if best_group >= 0 else INVALID, best_group, best_left


@part
def vector_decrease(criterion, w_left, w, mass, vectors):
    """Decrease when work[LEFT] holds the left sums; OUT work[RIGHT]."""
    work = vectors.work
    for d in range(work.shape[1]):
        work[RIGHT, d] = work[NODE_SUMS, d] - work[LEFT, d]
        if criterion == POISSON and min(work[LEFT, d], work[RIGHT, d]) <= NO_EVENTS * work[NODE_SUMS, d]:
            return INVALID
    left_mass = vector_mass(criterion, w_left, work[LEFT], vectors.output_start)
    return mass - left_mass - vector_mass(criterion, w - w_left, work[RIGHT], vectors.output_start)


@part
def sum_of_squares(work, row):
    """Squares of the sums in a row of the work space."""
    total = 0.0
    for d in range(work.shape[1]):
        total += work[row, d] * work[row, d]
    return total


@lean_kernel
def best_gini_cut(limits, first, last, mn, mw, n, w, floor, tolerance, floats, ints, vectors):
    """The same for the Gini impurity of one output: decrease = sum l²/w_l + sum r²/w_r - sum s²/w."""
    work, cum = vectors.work, vectors.cum
    mass = sum_of_squares(work, NODE_SUMS) / w
    best, best_group, best_left = floor, -1, False
    for turn in range(2 if mn > 0 else 1):
        dn, dw, factor = (mn, mw, 1.0) if turn == 1 else (0, 0.0, 0.0)
        for g in range(first, last):
            w_left, squares_left, squares_right = floats[CUM_W, g] + dw, 0.0, 0.0
            for d in range(work.shape[1]):
                left = cum[g, d] + factor * work[MISS, d]
                right = work[NODE_SUMS, d] - left
                squares_left += left * left
                squares_right += right * right
            decrease = squares_left / w_left + squares_right / (w - w_left) - mass
            if decrease > best:
                n_left = ints[CUM_N, g] + dn
                if n_left < n and large_enough(limits, n_left, w_left, n, w):
                    best, best_group, best_left = decrease + tolerance, g, turn == 1
    return best - tolerance if best_group >= 0 else INVALID, best_group, best_left


@lean_kernel
def best_vector_cut(limits, first, last, mn, mw, n, w, floor, tolerance, floats, ints, vectors):
    """Best cut after one of the groups first…last-1, for vectors of sums (work[MISS]: sums of the missing rows)."""
    if limits.criterion == GINI and len(vectors.output_start) == 2:  # one output
        return best_gini_cut(limits, first, last, mn, mw, n, w, floor, tolerance, floats, ints, vectors)
    work = vectors.work
    mass = vector_mass(limits.criterion, w, work[NODE_SUMS], vectors.output_start)
    best, best_group, best_left = floor, -1, False
    for turn in range(2 if mn > 0 else 1):
        dn, dw, factor = (mn, mw, 1.0) if turn == 1 else (0, 0.0, 0.0)
        for g in range(first, last):
            n_left, w_left = ints[CUM_N, g] + dn, floats[CUM_W, g] + dw
            if n_left == n or not large_enough(limits, n_left, w_left, n, w):
                continue
            for d in range(work.shape[1]):
                work[LEFT, d] = vectors.cum[g, d] + factor * work[MISS, d]
            decrease = vector_decrease(limits.criterion, w_left, w, mass, vectors)
            if decrease > best:
                best, best_group, best_left = decrease + tolerance, g, turn == 1
    return best - tolerance if best_group >= 0 else INVALID, best_group, best_left


@lean_kernel
def fill_losses(wy, groups, mn, missing_left, n, bounded, floats, ints, medians):
    """OUT floats[LOSS_LEFT, g]: loss of groups 0…g; floats[LOSS_RIGHT, g]: of groups g…; missing rows on their side."""
    for g in range(groups + 1):
        floats[LOSS_LEFT, g] = 0.0
        floats[LOSS_RIGHT, g] = 0.0
    for o in range(wy.shape[1] - 1):
        running_losses(
            wy, o, 0, groups, 1, mn if missing_left else 0, n, LOSS_LEFT, MEDIAN_LEFT, bounded, floats, ints, medians
        )
        running_losses(
            wy,
            o,
            groups - 1,
            -1,
            -1,
            0 if missing_left else mn,
            n,
            LOSS_RIGHT,
            MEDIAN_RIGHT,
            bounded,
            floats,
            ints,
            medians,
        )
        if not missing_left and mn > 0:  # only missing rows on the right: an empty group behind the last one
            ints[CUM_N, groups] = ints[CUM_N, groups - 1]
            running_losses(
                wy, o, groups, groups + 1, 1, mn, n, LOSS_RIGHT, MEDIAN_RIGHT, bounded, floats, ints, medians
            )


@lean_kernel
def best_absolute_cut(
    wy, limits, sign, lower, upper, groups, first, last, mn, mw, n, w, mass, floor, tolerance, floats, ints, medians
):
    """Best cut after one of the groups first…last-1, for the absolute error."""
    bounded = sign != 0
    n_outputs = wy.shape[1] - 1
    best, best_group, best_left = floor, -1, False
    for turn in range(2 if mn > 0 else 1):
        dn, dw = (mn, mw) if turn == 1 else (0, 0.0)
        fill_losses(wy, groups, mn, turn == 1, n, bounded, floats, ints, medians)
        for g in range(first, last):
            decrease = mass - (floats[LOSS_LEFT, g] + floats[LOSS_RIGHT, g + 1]) / n_outputs
            if decrease > best:
                n_left, w_left = ints[CUM_N, g] + dn, floats[CUM_W, g] + dw
                if n_left == n or not large_enough(limits, n_left, w_left, n, w):
                    continue
                left, right = floats[MEDIAN_LEFT, g], floats[MEDIAN_RIGHT, g + 1]
                if bounded and not ordered(sign, left, right, lower, upper):
                    continue
                best, best_group, best_left = decrease + tolerance, g, turn == 1
    return best - tolerance if best_group >= 0 else INVALID, best_group, best_left

"""Pairs of documents of a query, for LambdaMART.

Groups of rows lie between neighbours of `group_start`; `order` holds their rows from the highest score to the lowest.
Position p of a group is worth discount[p], which is 0 from `depth` on; norm is 1 / (best DCG of the group).
"""

from __future__ import annotations

from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.exponential import logistic
from sapwood.kernels.logarithm import log_one_plus_exp


@lean_kernel
def rank_rows(values, group_start, order, spare):
    """OUT order: the rows of each group from the highest value to the lowest, ties in order of row; spare: scratch.

    A merge sort: groups are many and short, so their parts stay in the cache.
    """
    for g in range(len(group_start) - 1):
        first, last = group_start[g], group_start[g + 1]
        for i in range(first, last):
            order[i] = i
        width = 1
        while width < last - first:
            for start in range(first, last, 2 * width):
                middle, end = min(start + width, last), min(start + 2 * width, last)
                a, b = start, middle
                for i in range(start, end):
                    if b >= end or (a < middle and values[order[a]] >= values[order[b]]):
                        spare[i] = order[a]
                        a += 1
                    else:
                        spare[i] = order[b]
                        b += 1
            for i in range(first, last):
                order[i] = spare[i]
            width *= 2


@lean_kernel
def rank_pairs(order, group_start, gain, score, discount, depth, norm, gradient, hessian, loss):
    """Add |ΔNDCG| log(1 + e^(worse - better)) of all pairs of unequal gain to the loss of the better row.

    Where they are not None, OUT loss; gradient and hessian: its derivatives.
    """
    for g in range(len(norm)):
        first, last = group_start[g], group_start[g + 1]
        # Swapping two documents that are both below the depth changes nothing
        for i in range(first, min(first + depth, last)):
            for j in range(i + 1, last):
                better, worse = order[i], order[j]
                if gain[better] == gain[worse]:
                    continue
                if gain[better] < gain[worse]:
                    better, worse = worse, better
                change = (gain[better] - gain[worse]) * (discount[i - first] - discount[j - first]) * norm[g]
                if loss is not None:
                    loss[better] += change * log_one_plus_exp(score[worse] - score[better])
                if gradient is not None:
                    wrong = logistic(score[worse] - score[better])
                    pull = change * wrong
                    gradient[better] -= pull
                    gradient[worse] += pull
                    hessian[better] += pull * (1.0 - wrong)
                    hessian[worse] += pull * (1.0 - wrong)

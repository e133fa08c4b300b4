"""Means of the target by level, over the rows before each row in some order."""

from __future__ import annotations

from sapwood.kernels._jit import inner_kernel, kernel


@inner_kernel
def mean_of(total, weight, units, prior, strength):
    """A mean from whole numbers of units, and so many more rows (by weight) of the prior mean."""
    return (total * units[0] + strength * prior) / (weight * units[1] + strength)


@kernel
def add_means_before(order, levels, targets, weights, units, prior, strength, sums, means):
    """Add the mean of each row's level over the rows before it; OUT means; scratch: sums (levels, 2).

    Targets are weighted. They and weights are whole numbers of units.
    """
    sums[:] = 0
    for row in order:
        level = levels[row]
        means[row] += mean_of(sums[level, 0], sums[level, 1], units, prior, strength)
        sums[level, 0] += targets[row]
        sums[level, 1] += weights[row]


@kernel
def write_means(sums, units, prior, strength, means):
    """Means of levels over all rows, from sums (levels, 2) of targets and weights; OUT means."""
    for level in range(len(sums)):
        means[level] = mean_of(sums[level, 0], sums[level, 1], units, prior, strength)


@kernel
def sum_by_level(rows, levels, targets, weights, sums):
    """Sums of targets and weights of each level's rows, as whole numbers; OUT sums (levels, 2)."""
    for row in rows:
        sums[levels[row], 0] += targets[row]
        sums[levels[row], 1] += weights[row]

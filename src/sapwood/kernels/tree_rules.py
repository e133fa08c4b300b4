"""Rules of growth: may a node be split, are children large enough, do they keep the order of a constraint."""

from __future__ import annotations

from sapwood.kernels._jit import part


@part
def may_split(frame, node, depth, constant):
    """Whether the rules let a node be split at all."""
    return (
        not constant
        and depth < frame.max_depth
        and node.n_rows >= frame.min_rows_split
        and node.n_rows >= 2 * frame.min_rows_leaf
        and node.weight >= 2.0 * frame.min_weight_leaf
        and node.mass > frame.impurity_threshold * node.weight
    )


@part
def rounded(totals, decrease):
    """A decrease on the grid of its node, about 2^-30 of the node's mass apart.

    Candidates are in a total order: the larger rounded decrease first, then the earlier column, the earlier group,
    missing rows to the right before left. Sums made in another order differ in their last bits only, so that candidates
    that are equal by formula stay equal; and as rounding is monotone, the best of the best of any blocks of candidates
    is the best of all.
    """
    return (decrease + totals.grid) - totals.grid


@part
def least_gain(totals):
    """What a split must beat: one without decrease is taken, it may prepare a good one."""
    return -1e-9 * totals.mass - 1e-300


@part
def is_large_enough(frame, totals, n_left, w_left):
    """Whether both children have the rows and the weight they need.

    A child whose weight vanishes next to that of the node has none: what it says of its rows would be rounding.
    """
    return (
        0.0 < w_left < totals.weight
        and n_left >= frame.min_rows_leaf
        and totals.rows - n_left >= frame.min_rows_leaf
        and w_left >= frame.min_weight_leaf
        and totals.weight - w_left >= frame.min_weight_leaf
    )


@part
def in_order(bounds, left, right):
    """Whether values of children respect the constraint: in order, and inside the node's bounds."""
    return (
        bounds.sign * (right - left) >= 0.0
        and bounds.lower <= left <= bounds.upper
        and bounds.lower <= right <= bounds.upper
    )


@part
def is_worth_it(frame, decrease):
    """Whether a split decreases the impurity of the tree enough."""
    least = frame.min_decrease * frame.nodes[0].weight * (1.0 - 1e-12)
    return frame.min_decrease == 0.0 or decrease >= least


@part
def narrow(sign, border, left, right):
    """Bounds of the children of a split on a constrained column: neither may cross the middle of their values; OUT."""
    if sign > 0:
        left.upper, right.lower = border, border
    elif sign < 0:
        left.lower, right.upper = border, border

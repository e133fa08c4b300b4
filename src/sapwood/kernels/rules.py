"""Rules of growth, the same for trees, forests and boosting: may a node be split, are children large enough, bounds.

`limits` is the record that holds the options: the frame of a tree (`tree_frame.py`), or the rules of a boosted one
(`boosting_records.py`). The weight of a node is the sum of its rows' weights, in boosting that of their hessians.
"""

from __future__ import annotations

from sapwood.kernels._jit import part


@part
def may_split(limits, depth, n_rows, weight):
    """Whether a node of this depth may be split: there must be enough of it for two children."""
    return (
        depth < limits.max_depth
        and n_rows >= limits.min_split_rows
        and n_rows >= 2 * limits.min_child_rows
        and weight >= 2.0 * limits.min_child_weight
    )


@part
def is_large_enough(limits, n_rows, weight):
    """Whether a child has the rows and the weight it needs.

    A child whose weight vanishes next to that of the node has none: what it says of its rows would be rounding.
    """
    return weight > 0.0 and weight >= limits.min_child_weight and n_rows >= limits.min_child_rows


@part
def are_large_enough(limits, totals, n_left, w_left):
    """Whether both children of a node with these totals are."""
    n_right, w_right = totals.rows - n_left, totals.weight - w_left
    return is_large_enough(limits, n_left, w_left) and is_large_enough(limits, n_right, w_right)


@part
def is_worth_it(limits, gain):
    """Whether a split gains enough; `least_gain` follows from the options once the weight of the root is known."""
    return gain >= limits.least_gain


@part
def in_order(bounds, left, right):
    """Whether values of children respect a monotonic constraint: in order, and inside the node's bounds."""
    return (
        bounds.sign * (right - left) >= 0.0
        and bounds.lower <= left <= bounds.upper
        and bounds.lower <= right <= bounds.upper
    )


@part
def narrow(sign, border, left, right):
    """Bounds of the children of a split on a constrained column: neither may cross the middle of their values; OUT."""
    if sign > 0:
        left.upper, right.lower = border, border
    elif sign < 0:
        left.lower, right.upper = border, border

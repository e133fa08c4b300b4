"""Record layouts: what growth knows of a column, a rule, an open node and a finished node, each declared once.

Records are passed to kernels as arrays with named fields. Parts that only some trees need (vectors of sums, orders of
targets, subsets of categories, values for random thresholds) are separate arguments that are None for the others: the
compiler then leaves their code out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = Any  # NumPy arrays outside, typed arrays inside the compiler

COLUMN = np.dtype(
    [
        ("code_row", np.int64),  # row of the code matrix, or -1 for a sorted column
        ("n_codes", np.int64),  # largest code
        ("is_category", np.int64),
        ("is_valued", np.int64),  # thresholds are drawn between its values: 1, or 2 if some are missing
        (
            "below",
            np.int64,
        ),  # list of the rows below the implicit value, or of all present rows; absent lists are empty
        ("above", np.int64),  # list of the rows above the implicit value
        ("missing", np.int64),  # list of the rows without a value
        ("implicit", np.int64),  # what rows in no list hold: NOTHING, VALUE or MISSING
        ("monotonic", np.int64),  # -1, 0 or 1
    ]
)

LIMITS = np.dtype(
    [
        ("criterion", np.int64),
        ("max_depth", np.int64),
        ("max_leaves", np.int64),  # 0: no limit, depth first
        ("min_rows_split", np.int64),
        ("min_rows_leaf", np.int64),
        ("min_weight_leaf", np.float64),
        ("min_decrease", np.float64),
        ("impurity_threshold", np.float64),
        ("max_features", np.int64),
        ("max_exhaustive", np.int64),  # most groups of categories whose subsets are all tried
        ("seed", np.uint64),
    ]
)

OPEN = np.dtype(  # a node that may still be split, with the best split found for it
    [
        ("node", np.int64),
        ("depth", np.int64),
        ("key", np.uint64),  # hash of the path from the root
        ("lower", np.float64),  # bounds of the node's value under monotonic constraints
        ("upper", np.float64),
        ("decrease", np.float64),  # of the best split, in mass
        ("feature", np.int64),  # -1: no split found
        ("n_left", np.int64),  # present rows that go left
        ("missing_left", np.int64),
        ("at_left", np.int64),  # rows or codes on either side of the split
        ("at_right", np.int64),
        ("threshold", np.float64),  # a drawn threshold, or NaN
    ]
)

NODE = np.dtype(
    [
        ("left", np.int32),
        ("right", np.int32),
        ("feature", np.int32),
        ("missing_left", np.int32),
        ("at_left", np.int32),
        ("at_right", np.int32),
        ("threshold", np.float64),
        ("subset_start", np.int32),
        ("n_rows", np.int32),
        ("first_row", np.int32),  # the node's rows are rows[first_row : first_row + n_rows]
        ("weight", np.float64),
        ("mass", np.float64),
    ]
)

# Rows of the float scratch: cumulative statistics by group …
CUM_W, CUM_S = 0, 1
# … and, for the absolute error only, Fenwick trees, losses and medians
TREE_W, TREE_S, LOSS_LEFT, LOSS_RIGHT, MEDIAN_LEFT, MEDIAN_RIGHT = 2, 3, 4, 5, 6, 7
# Rows of the integer scratch, by group: cumulative rows, code, position in an ordering, whether a category goes left,
# and its rows
CUM_N, CODE, MERGED, GOES_LEFT, SIZE = 0, 1, 2, 3, 4
# Columns of the histogram, by code: rows, weight, then the sums
HIST_N, HIST_W, HIST_S = 0, 1, 2


class Vectors(NamedTuple):
    """For several outputs or more than two classes: sums are vectors."""

    output_start: Array  # (outputs + 1,) where each output's sums begin
    cum: Array  # (groups, sums)
    work: Array  # (5, sums), rows as below


LEFT, RIGHT, MISS, NODE_SUMS, CENTER = 0, 1, 2, 3, 4


class Medians(NamedTuple):
    """For the absolute error: targets in order. Lists 1…outputs hold the rows by target."""

    rank_of: Array  # (outputs, rows) rank of a row's target within the node
    ranked: Array  # (outputs, rows) target at a rank
    rows: Array  # (2, rows) rows of a column in order, and its missing rows


class Levels(NamedTuple):
    """For category columns: statistics and orders of the levels in a node."""

    subset: Array  # (slots, words) best subset found for each open node
    w: Array  # (groups,)
    s: Array  # (groups,)
    sums: Array  # (groups, sums)
    key: Array  # (groups,) what an order is by
    order: Array  # (groups,)
    table: Array  # (subsets, 2 + sums) rows, weight and sums of subsets
    left: Array  # (codes,) where each code goes, for the absolute error
    part: Array  # (rows,) entries of one side, for the absolute error

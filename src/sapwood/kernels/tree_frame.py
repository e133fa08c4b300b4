"""Records and arrays for the growth of one tree, declared once: columns, nodes, open nodes, and all scratch space.

Two things vary in type and are arguments of their own: the codes of the columns, and values for drawn thresholds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sapwood.kernels.frame import Array, Layout, Scratch

NOTHING, VALUE, MISSING = 0, 1, 2  # what rows that are in none of a column's lists hold
ALL_PRESENT, SOME_MISSING = 1, 2  # a column of values, from which thresholds are drawn
IMPLICIT_ROW, NO_ROW = -1, -2  # at_left, at_right: the implicit value of a column; nothing (all present rows go left)

COLUMN = np.dtype(
    [
        ("code_row", np.int64),  # row of the code matrix, or -1 for a sorted column
        ("n_codes", np.int64),  # largest code
        ("is_category", np.int64),
        ("is_valued", np.int64),  # 0, ALL_PRESENT or SOME_MISSING
        ("below", np.int64),  # list of the rows below the implicit value, or of all present rows; may be empty
        ("above", np.int64),  # list of the rows above the implicit value
        ("missing", np.int64),  # list of the rows without a value
        ("implicit", np.int64),  # what rows in no list hold: NOTHING, VALUE or MISSING
        ("monotonic", np.int64),  # -1, 0 or 1
    ]
)

OPEN = np.dtype(  # a node that may still be split, with the best split found for it
    [
        ("node", np.int64),
        ("depth", np.int64),
        ("key", np.uint64),  # hash of the path from the root
        ("lower", np.float64),  # bounds of the node's value under monotonic constraints
        ("upper", np.float64),
        ("gain", np.float64),  # of the best split: the decrease of impurity, times the weight
        ("feature", np.int64),  # -1: no split found
        ("n_left", np.int64),  # present rows that go left
        ("missing_left", np.int64),
        ("at_left", np.int64),  # rows or codes on either side of the split
        ("at_right", np.int64),
        ("threshold", np.float64),  # a drawn threshold, or NaN
    ]
)

BRANCH = np.dtype(  # a node that is not made yet, of a tree whose nodes are made in preorder
    [
        ("key", np.uint64),
        ("weight", np.float64),
        ("sum", np.float64),
        ("first", np.int64),  # where its rows begin
        ("n_rows", np.int64),
        ("depth", np.int64),
        ("parent", np.int64),  # of a right child; -1 of others
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
        ("mass", np.float64),  # weight times impurity
    ],
    align=True,
)

FRAME = Layout(
    # Limits, see growth/rules.py
    criterion=np.int64,
    max_depth=np.int64,
    max_leaves=np.int64,  # 0: no limit, depth first
    min_split_rows=np.int64,
    min_child_rows=np.int64,
    min_child_weight=np.float64,
    min_decrease=np.float64,  # least gain of a split, per weight of the root
    least_gain=np.float64,  # the same as a gain, once the root's weight is known
    impurity_threshold=np.float64,
    max_features=np.int64,
    max_exhaustive=np.int64,  # most groups of levels whose subsets are all tried
    seed=np.uint64,
    tosses_levels=np.bool_,  # levels of categories are tossed, not chosen, where thresholds are drawn
    # Columns
    columns=Array(COLUMN, "n_columns"),
    allowed=Array(np.int64, "n_allowed"),  # columns that the tree may use
    drawn=Scratch(np.int64, "n_columns"),  # columns in the order they are drawn in a node
    # Rows: targets, and lists of rows. List 0 has the rows of a node; an entry is row << 1 | same value as before
    wy=Array(np.float64, "n_rows", "n_targets"),  # the weight comes first
    tally=Array(np.uint32, "n_rows"),  # weight << 8 | class, where weights are whole numbers
    entries=Array(np.uint32, "n_entries"),
    lo=Array(np.int64, "n_slots", "n_ranges"),  # part of each list that belongs to an open node
    hi=Array(np.int64, "n_slots", "n_ranges"),
    n_always=np.int64,  # lists that follow every split; the others only where a child is searched
    n_lists=np.int64,  # ranges from here on mark coded columns that are not constant in the node
    side=Array(np.uint8, "n_rows"),
    moved=Scratch(np.uint32, "n_moved"),
    # Nodes, and those that are open
    nodes=Scratch(NODE, "n_nodes"),
    sums=Scratch(np.float64, "n_nodes", "n_sums"),
    medians=Scratch(np.float64, "n_nodes", "n_outputs"),
    is_bounded=np.bool_,  # there are monotonic constraints
    bounds=Scratch(np.float64, "n_bounded", 2),  # least and largest value of a node
    slots=Array(OPEN, "n_slots"),
    branches=Scratch(BRANCH, "n_branches"),
    frontier=Array(np.int64, "n_slots"),  # slots of the nodes that have a split, as a stack or a heap
    free=Array(np.int64, "n_slots"),
    children=Array(np.int64, 2),  # slots of the nodes just made
    wanted=Array(np.bool_, 2),  # whether they may be split
    n_open=np.int64,  # in the frontier
    n_free=np.int64,
    n_made=np.int64,  # nodes so far
    n_leaves=np.int64,
    n_words_used=np.int64,
    subsets=Scratch(np.uint32, "n_words"),  # levels that go left, for all splits of categories
    best_subset=Array(np.uint32, "n_slots", "n_subset"),  # levels that go left, for the best split of an open node
    # Groups of equal value of a column in a node, ascending: sums up to each group, and its code
    cum_rows=Array(np.int64, "n_groups"),
    cum_weight=Scratch(np.float64, "n_groups"),
    cum_sums=Scratch(np.float64, "n_groups", "n_sums"),
    cum_sum=Scratch(np.float64, "n_groups"),  # the same memory with pairs
    code=Array(np.int64, "n_groups"),
    # Histograms by code; the bitmap of codes that occur has a bit of the summary for each word
    hist=Array(np.float64, "n_codes", "n_fields"),  # rows, weight, sums
    counts=Array(np.uint64, "n_codes", "n_classes"),  # by code and class: rows << 32 | weight
    occupied=Array(np.uint64, "n_bitmap"),
    summary=Array(np.uint64, "n_summary"),
    # Weights and targets of the node's rows side by side, for its coded columns
    local=Scratch(np.float64, "n_local", 2),
    local_tally=Scratch(np.uint32, "n_local_tally"),
    # Vectors of sums; empty with pairs
    output_start=Array(np.int64, "n_starts"),  # where each target's sums begin, and the end
    left_sums=Array(np.float64, "n_vector"),
    right_sums=Array(np.float64, "n_vector"),
    missing_sums=Array(np.float64, "n_vector"),
    node_sums=Array(np.float64, "n_vector"),
    centers=Array(np.float64, "n_vector"),
    # Absolute error: ranks of targets in the node, rows of a column in order, sums by rank, losses and medians
    rank_of=Scratch(np.int64, "n_outputs", "n_rows"),
    ranked=Scratch(np.float64, "n_outputs", "n_ranks"),
    ordered=Scratch(np.uint32, "n_ranks"),
    missing_rows=Scratch(np.uint32, "n_ranks"),
    side_entries=Scratch(np.uint32, "n_ranks"),  # rows by target, of one side or both
    tree_weight=Scratch(np.float64, "n_ranks"),
    tree_sum=Scratch(np.float64, "n_ranks"),
    loss_left=Scratch(np.float64, "n_ranks"),
    loss_right=Scratch(np.float64, "n_ranks"),
    median_left=Scratch(np.float64, "n_ranks"),
    median_right=Scratch(np.float64, "n_ranks"),
    # Levels of a category in a node, by group
    level_rows=Array(np.int64, "n_levels"),
    level_weight=Array(np.float64, "n_levels"),
    level_sums=Array(np.float64, "n_levels", "n_sums"),
    level_total=Array(np.float64, "n_sums"),  # of all rows, and of missing ones
    level_missing=Array(np.float64, "n_sums"),
    key=Array(np.float64, "n_levels"),  # what an order is by
    order=Array(np.int64, "n_levels"),
    position=Array(np.int64, "n_levels"),  # in an order, the same for equal levels
    goes_left=Array(np.int64, "n_levels"),
)


STEPS = 2.0**22  # a grid for decreases of splits: the last bit of mass * 2^22 is about 2^-30 of the mass


class Totals(NamedTuple):
    """What a search knows of its node. Targets are centred for the squared error, so that their sum is about zero."""

    rows: int
    weight: float
    sum: float
    mass: float
    center: float
    grid: float  # mass * STEPS, see `rounded` in split_order.py


class Groups(NamedTuple):
    """Groups of a column in a node: how many, and its missing rows with their weight and sum."""

    count: Any
    missing: int
    missing_weight: float
    missing_sum: float


class Bounds(NamedTuple):
    """A monotonic constraint of a column, and the bounds of the node's value."""

    sign: int
    lower: float
    upper: float


FREE = Bounds(0, -np.inf, np.inf)  # no constraint


class Cut(NamedTuple):
    """A split: its decrease (INVALID for none), the group after which it cuts, and whether missing rows go left."""

    decrease: float
    group: int
    missing_left: bool


class Values(NamedTuple):
    """Numbers for drawn thresholds."""

    of_row: np.ndarray  # (columns, rows + 1): by row, the implicit value last
    of_code: np.ndarray  # (columns, codes)
    gathered: np.ndarray  # (2, rows): those of a node; `drawn_growth.py` keeps the best column's

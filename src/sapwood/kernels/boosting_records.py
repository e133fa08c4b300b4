"""Record layouts of boosting: the rules of growth, and a node with the best split found for it."""

from __future__ import annotations

import numpy as np

RULES = np.dtype(
    [
        ("max_depth", np.int64),
        ("reg_lambda", np.float64),
        ("reg_alpha", np.float64),
        ("max_delta_step", np.float64),  # 0: no limit
        ("min_child_weight", np.float64),  # least hessian of a child
        ("min_child_rows", np.int64),  # 0 unless histograms count rows
        ("min_split_rows", np.int64),
        ("min_child_share", np.float64),  # least share of the root's hessian in a child
        ("min_decrease", np.float64),  # least gain of a split, twice and per hessian of the root
        ("least_gain", np.float64),  # the same as a gain, once the root's hessian is known
        ("cat_smooth", np.float64),  # added to the hessian of a level when levels are put in order
        ("max_cat_to_onehot", np.int64),  # up to so many levels, one level is split off
        ("max_cat_threshold", np.int64),  # most levels on the smaller side of a split
        ("cat_l2", np.float64),  # added to reg_lambda where levels are split in order
        ("min_data_per_group", np.float64),  # levels of fewer rows in a node are one group, where they are in order
        ("extra_trees", np.bool_),  # one cut of each column, drawn
        ("noise", np.float64),  # standard deviation, of the root of the score
        ("gradient_unit", np.float64),  # what 1 means in a histogram
        ("hessian_unit", np.float64),
        ("is_plain", np.bool_),  # no alpha, no largest step, no bounds: the short formula holds
        ("lambda_units", np.float64),  # reg_lambda in units of the hessian
        ("score_unit", np.float64),  # gradient_unit^2 / hessian_unit, that of G^2 / (H + lambda)
    ]
)

NODE = np.dtype(
    [
        ("left", np.int64),  # children, made when the node is split; -1 before
        ("right", np.int64),
        ("depth", np.int64),
        ("key", np.uint64),  # hash of the path from the root
        ("slot", np.int64),  # of its histogram in the pool, or -1
        ("first", np.int64),  # where its records begin, if a kernel grows the tree
        ("n_rows", np.int64),
        ("gradient", np.int64),  # sums, in units
        ("hessian", np.int64),
        ("lower", np.float64),  # bounds of the leaf under monotone constraints
        ("upper", np.float64),
        # The best split:
        ("gain", np.float64),  # NO_GAIN: none was found
        ("score", np.float64),  # of its children, rounded, see `split_order.py`
        ("least", np.float64),  # what a split must score more than
        ("bump", np.float64),  # noise of the column that is searched
        ("feature", np.int64),
        ("code", np.int64),  # the last code that goes left; of a category, -1: they are in `subset`
        ("next_code", np.int64),  # the first code present in the node that goes right, or 0
        ("missing_left", np.bool_),
        ("left_gradient", np.int64),  # sums of the left child, missing rows included where they go left
        ("left_hessian", np.int64),
        ("subset", np.uint32, (8,)),  # codes of a category that go left, code c at bit c % 32 of word c // 32
    ]
)

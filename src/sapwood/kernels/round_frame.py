"""The arrays of rounds of boosting that one thread advances: rows, draws, scratch, and the trees that come out."""

from __future__ import annotations

import numpy as np

from sapwood.kernels.boosting_records import NODE
from sapwood.kernels.exact_sum import LENGTH
from sapwood.kernels.frame import Array, Layout, Scratch
from sapwood.kernels.team_frame import TEAM

ROUNDS = Layout(
    team=TEAM,
    # Rows; the weight is 0 for those that do not train:
    y=Array(np.float64, "n_targets", "n_rows"),
    weight=Array(np.float64, "n_rows"),
    score=Array(np.float64, "n_scores", "n_rows"),
    derivatives=Array(np.float64, 2, "n_scores", "n_rows"),
    candidates=Array(np.int64, "n_candidates"),  # that train
    measured=Array(np.int64, "n_measured"),  # whose losses and scores are wanted after each round
    y_measured=Array(np.float64, "n_targets", "n_measured"),
    row_losses=Array(np.float64, "n_rounds", "n_measured"),
    row_scores=Array(np.float64, "n_rounds", "n_scores", "n_measured"),
    # The model that learns from all rows, if there is one (see `boosting/replay.py`):
    replays=np.bool_,
    replay_weight=Array(np.float64, "n_rows"),
    replay_score=Array(np.float64, "n_scores", "n_rows"),
    replay_derivatives=Array(np.float64, 2, "n_scores", "n_rows"),
    # Options, and the address of the kernel that grows a tree:
    grow=np.int64,
    loss=np.int64,
    sums_to_zero=np.bool_,
    factor=np.float64,  # of all steps
    scales=Array(np.float64, 2, "n_scores"),  # of derivatives in a mixture
    loss_factors=Array(np.float64, "n_scores"),  # of several targets
    subsample=np.float64,
    random_strength=np.float64,
    n_wanted=np.int64,  # columns of a tree
    origins=Array(np.int64, "n_origins"),  # of columns, those that are derived from others behind the others
    seed=np.uint64,
    one_tree=np.bool_,
    apart=np.bool_,
    leaves_of_all_rows=np.bool_,
    n_trees=np.int64,  # of a round
    n_done=np.int64,  # rounds so far
    own_slots=Array(np.int64, "n_own_slots"),
    stack_slots=Array(np.int64, "n_threads", "n_stack_slots"),
    # Scratch:
    sample=Array(np.int64, "n_candidates"),
    mixture=Array(np.float64, 2, "n_rows"),
    factors=Array(np.float64, 2, "n_scores"),
    row_most=Array(np.float64, "n_rows"),
    row_total=Array(np.float64, "n_rows"),
    column_keys=Array(np.float64, "n_columns"),
    mask=Array(np.bool_, "n_origins"),
    pool=Array(np.uint32, 4),
    noise_sums=Array(np.int64, 2, LENGTH),
    most=Array(np.float64, "n_scores", 2),
    units=Array(np.float64, "n_scores", 2),
    route_feature=Array(np.uint64, "n_capacity"),
    route_after=Array(np.uint64, "n_capacity"),
    route_tables=Array(np.uint8, "n_capacity", 256),
    route_rows=Array(np.uint64, "n_padded"),
    measured_parts=Array(np.float64, 3, "n_measured"),
    sums=Scratch(np.int64, "n_scores", "n_capacity", 2),
    nodes=Scratch(NODE, "n_capacity"),  # of the tree that grows, and which of them are split
    splits=Scratch(np.bool_, "n_capacity"),
)

TREES = Layout(  # of some rounds, one after the other
    starts=Array(np.int64, "n_starts"),  # of the nodes of each, and where the last one ends
    nodes=Scratch(NODE, "n_room"),
    splits=Scratch(np.bool_, "n_room"),
    values=Scratch(np.float64, "n_room", "n_values"),
    hessian_units=Array(np.float64, "n_trees"),
)

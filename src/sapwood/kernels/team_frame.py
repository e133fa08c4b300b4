"""What the threads of a team share: the shard, histograms, the nodes of a phase, and what the leader remembers."""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import part
from sapwood.kernels.boosting_records import NODE
from sapwood.kernels.frame import Array, Layout, Scratch
from sapwood.kernels.level_scan import LEVEL
from sapwood.kernels.scan import LANES, new_lanes
from sapwood.kernels.shard_frame import SHARD
from sapwood.kernels.small_nodes import SMALL
from sapwood.kernels.team import BOARD

SETTLED = -2  # instead of a slot: the leaf of the rows of the node is written already

THREAD = Layout(  # what a thread has for itself
    lanes=LANES,
    pending=np.int64,  # rows in its packed sums
    stack=Array(np.int64, "n_stack"),  # slots that it may use, their number first
    waiting=Array(np.int64, "n_stack"),  # nodes that wait
    hist=Array(np.int64, 256, "n_sums"),  # zero
    tile=Array(np.int64, "n_tile_cells", "n_sums"),  # histograms of a tile of columns, and what is left of one
    rest=Array(np.int64, 256, "n_sums"),
    table=Array(np.uint8, 256),  # where codes go
    codes=Array(np.int64, 257),
    present=Array(np.uint64, 4),  # bitmap of codes
    rows=Array(np.uint64, SMALL),  # places of their codes
    values=Array(np.int64, SMALL, 2),
)


def new_thread(n_stack: int, n_sums: int, n_tile_cells: int) -> tuple[np.ndarray, object]:
    """The frame of a thread, and its arrays, to be kept alive."""
    lanes, lane_arrays = new_lanes()
    thread, arrays = THREAD.allocate(n_stack=n_stack, n_sums=n_sums, n_tile_cells=n_tile_cells)
    thread["lanes"] = lanes
    return thread, (lane_arrays, arrays)


TEAM = Layout(
    shard=SHARD,
    work=np.int64,  # where the code of `work_as` is
    threads=Array(THREAD.dtype, "n_threads"),
    board=Array(np.int64, BOARD),
    signs=Array(np.int8, "n_columns"),
    # Histograms; the first ones, a slot for each thread, are zero:
    pool=Scratch(np.int64, "n_slots", "n_cells", "n_sums"),
    # Nodes of a phase, a task for each, and slots for their smaller children:
    node_count=Array(np.int64, 1),
    ids=Array(np.int64, "n_capacity"),
    n_ids=np.int64,
    child_slots=Array(np.int64, "n_room"),
    # Nodes that wait, and nodes below which branches will be grown, the largest first:
    open=Array(np.int64, "n_room"),
    n_open=np.int64,
    branches=Array(np.int64, "n_room"),
    n_branches=np.int64,
    # Slots that the leader may use:
    free=Array(np.int64, "n_room"),
    n_free=np.int64,
    # The node that is split together and its children by their rows, or the root alone; rows of each share that go
    # left; best splits of both children by block:
    at=np.int64,
    smaller=np.int64,
    larger=np.int64,
    counts=Array(np.int64, "n_threads"),
    found=Array(NODE, "n_blocks", 2),
    # Symmetric trees, which one thread grows: scratch, the split of a level, and the nodes that gain by it:
    level=LEVEL,
    level_node=Array(NODE, 1),
    takes=Array(np.bool_, "n_capacity"),
    symmetric=np.bool_,
    # The phase that is being done (see `phases.py`), and limits:
    step=np.int64,
    n_leaves=np.int64,
    small=np.int64,  # nodes of no more rows are searched from their rows, column by column
    direct=np.int64,  # or tile by tile, if there are many columns; such nodes have no histograms
    large=np.int64,  # nodes of more rows are split by all threads together
    share=np.int64,  # nodes of more rows are split before branches are grown below their children
    by_tiles=np.bool_,  # there are so many columns that threads share them instead of rows
    leaf_wise=np.bool_,
    max_leaves=np.int64,
    most_branches=np.int64,
)


@part
def records_at(team, depth):
    """Records of nodes of this depth are here."""
    return team.shard.records[depth & 1]


@part
def take_slot(team):
    """A slot that nobody uses; OUT team.free."""
    team.n_free -= 1
    return team.free[team.n_free]

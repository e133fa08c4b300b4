"""Growth of a boosted tree in one call, by a team of threads on one shard (`kernels/leader.py`)."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Mask
from sapwood.boosting.options import NO_LIMIT, TreeOptions
from sapwood.kernels.boosting_records import NODE
from sapwood.kernels.leader import lead
from sapwood.kernels.phases import AHEAD, MOST_AHEAD, work_as
from sapwood.kernels.small_nodes import SMALL
from sapwood.kernels.team_frame import TEAM, new_thread
from sapwood.kernels.team_search import BLOCK, COLUMNS
from sapwood.shard.shard import Shard
from sapwood.threads import available_cores, run_all

MOST_POOL = 1 << 29  # bytes of histograms
LARGE_CELLS = 400_000  # a node of fewer cells is not worth the work of several threads
SHARES = 8  # a node of more than this share of a thread's rows is split by all threads together
LITTLE_WORK = 1 << 15  # cells of a table that are not worth a second thread
MOST_BRANCHES = 64  # for each thread


def is_leaf_wise(options: TreeOptions) -> bool:
    """Whether it matters which leaf is split first: without a limit on leaves, all with a gain are split."""
    return options.leaf_wise and bool(options.max_leaves)


def n_waiting(options: TreeOptions) -> int:
    """No more nodes wait at a time for a thread that grows a branch, the smaller child first: log2(rows)."""
    return min(options.max_depth + 2, 40) if options.max_depth else 40


class TeamGrowth:
    """Grows trees whose nodes all have the same columns, on the rows of one shard."""

    def __init__(self, shard: Shard, options: TreeOptions, signs: NDArray[np.int8], n_jobs: int) -> None:
        table = shard.table
        self._shard, self._options, self._signs = shard, options, signs
        cells = table.n_rows * table.n_features
        self._n_threads = min(n_jobs, available_cores()) if cells > LITTLE_WORK else 1
        by_depth = 1 << min(options.max_depth, 40) if options.max_depth else NO_LIMIT
        most_leaves = min(table.n_rows, by_depth, options.max_leaves or NO_LIMIT)
        self._capacity = 2 * (most_leaves + MOST_AHEAD) + 1
        self._n_sums = 3 if options.counts_rows else 2
        self._make_room(table.n_features)

    def __reduce__(self) -> tuple[object, ...]:
        """A copy has frames of its own: those of this one hold addresses."""
        return TeamGrowth, (self._shard, self._options, self._signs, self._n_threads)

    @classmethod
    def suits(cls, options: TreeOptions, n_features: int, n_jobs: int) -> bool:
        """Whether trees can be grown in one call: nodes are chosen simply, and there is room for their histograms."""
        n_slots = options.max_leaves + MOST_AHEAD if is_leaf_wise(options) else n_jobs * (n_waiting(options) + 2) + 4
        is_simple = (options.leaf_wise or not options.max_leaves) and not options.symmetric
        return is_simple and n_slots * n_features * 256 * 8 * (3 if options.counts_rows else 2) <= MOST_POOL

    def _make_room(self, n_features: int) -> None:
        """Allocate the arrays of the team; slots of the pool are for sums of threads, their branches, the leader."""
        threads, by_leaf = self._n_threads, is_leaf_wise(self._options)
        stack = 0 if by_leaf else n_waiting(self._options)
        room = MOST_POOL // (n_features * 256 * 8 * self._n_sums) - threads * (stack + 2)
        most_branches = 0 if by_leaf else max(2, min(MOST_BRANCHES * threads, room))
        n_own = self._options.max_leaves + MOST_AHEAD + 2 if by_leaf else most_branches + 2
        self._stack_slots = threads + np.arange(threads * stack).reshape(threads, stack)
        self._own_slots = threads * (stack + 1) + np.arange(n_own)
        self._rooms = [new_thread(stack + most_branches + 3, self._n_sums) for _ in range(threads)]
        self._team, self._arrays = TEAM.allocate(
            n_threads=threads,
            n_columns=n_features,
            n_slots=threads * (stack + 1) + n_own,
            n_cells=256 * n_features,
            n_sums=self._n_sums,
            n_capacity=self._capacity + most_branches + 1,
            n_room=n_own + most_branches + AHEAD,
            n_blocks=-(-n_features // BLOCK),
        )
        self._arrays["threads"][:] = np.concatenate([frame for frame, _ in self._rooms])
        self._arrays["signs"][:] = self._signs
        TEAM.update(self._team[0], leaf_wise=by_leaf, most_branches=most_branches, **self._limits(n_features))

    def _limits(self, n_features: int) -> dict[str, int]:
        """How large nodes must be to be split by several threads, and how many leaves there may be."""
        threads, table = self._n_threads, self._shard.table
        share = max(SMALL, table.n_rows // (SHARES * threads)) if threads > 1 else NO_LIMIT
        return {
            "by_tiles": not table.is_bundled and n_features >= 2 * threads * COLUMNS,
            "max_leaves": self._options.max_leaves or NO_LIMIT,
            "large": max(share, LARGE_CELLS // n_features),
            "share": share,
        }

    @property
    def n_threads(self) -> int:
        """Threads that grow a tree together."""
        return self._n_threads

    def frame(self) -> tuple[Array, Array, Array, int]:
        """The frame of the team, slots of its leader and of its threads, and the most nodes of a tree."""
        self._team["shard"] = self._shard.wide_frame(self._capacity, self._n_sums)
        self._arrays["mask"][:] = True
        return self._team, self._own_slots, self._stack_slots, self._capacity

    def grow(self, rules: np.void, n_rows: int, mask: Mask, key: int) -> tuple[Array, Mask]:
        """Grow a tree on the records that the shard has begun with; returns its nodes and which of them are split."""
        capacity = min(self._capacity, 2 * (n_rows + MOST_AHEAD) + 1)
        nodes, splits = np.empty(capacity, dtype=NODE), np.zeros(capacity, dtype=np.bool_)
        self._team["shard"] = self._shard.frame(self._capacity, self._n_sums)
        self._arrays["board"].fill(0)
        self._arrays["mask"][:] = mask

        def work(me: int) -> None:  # holds self, so that a thread that continues after an interrupt keeps all arrays
            if me == 0:
                root = np.uint64(key), n_rows, self._own_slots, self._stack_slots
                lead(nodes, splits, *root, self._team[0], rules)
            else:
                work_as(me, 0, nodes, self._team[0], rules)

        run_all([partial(work, me) for me in range(self._n_threads)], self._n_threads)
        n_nodes = int(self._arrays["node_count"][0])
        return nodes[:n_nodes], splits[:n_nodes]

"""Growth of a boosted tree in one call, by a team of threads on one shard (`kernels/leader.py`)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Mask
from sapwood.boosting.options import NO_LIMIT, TreeOptions
from sapwood.kernels._helper import shared
from sapwood.kernels._jit import Kernel
from sapwood.kernels.boosting_records import NODE
from sapwood.kernels.entry import address_of
from sapwood.kernels.histogram import COLUMNS
from sapwood.kernels.leader import lead
from sapwood.kernels.level_growth import grow_by_level
from sapwood.kernels.level_scan import new_level
from sapwood.kernels.phases import AHEAD, MOST_AHEAD, work_as
from sapwood.kernels.small_nodes import SMALL
from sapwood.kernels.team import end
from sapwood.kernels.team_frame import TEAM, new_thread
from sapwood.kernels.team_search import BLOCK
from sapwood.kernels.tiles import CELLS, DIRECT
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


def n_threads_for(shard: Shard, n_jobs: int) -> int:
    """Threads that are worth their while."""
    cells = int(shard.table.n_rows * shard.table.n_features)
    return min(n_jobs, available_cores()) if cells > LITTLE_WORK else 1


def n_of_level(shard: Shard, options: TreeOptions) -> int:
    """The most nodes of a symmetric tree that have histograms at a time, and two more."""
    by_depth = 1 << min(options.max_depth - 1, 40) if options.max_depth else NO_LIMIT
    return int(min(shard.table.n_rows, by_depth)) + 2


class TeamGrowth:
    """Grows trees whose nodes all have the same columns, on the rows of one shard."""

    def __init__(self, shard: Shard, options: TreeOptions, signs: NDArray[np.int8], n_jobs: int) -> None:
        table = shard.table
        self._shard, self._options, self._signs = shard, options, signs
        self._n_threads = n_threads_for(shard, n_jobs)
        by_depth = 1 << min(options.max_depth, 40) if options.max_depth else NO_LIMIT
        most_leaves = min(table.n_rows, by_depth, options.max_leaves or NO_LIMIT)
        self._capacity = 2 * (most_leaves + MOST_AHEAD) + 1
        self._n_sums = 3 if options.counts_rows else 2
        self._make_room(table.n_features, int(table.starts[-1]))

    def __reduce__(self) -> tuple[object, ...]:
        """A copy has frames of its own: those of this one hold addresses."""
        return TeamGrowth, (self._shard, self._options, self._signs, self._n_threads)

    @classmethod
    def suits(cls, shard: Shard, options: TreeOptions, n_jobs: int) -> bool:
        """Whether trees can be grown in one call: nodes are chosen simply, and there is room for their histograms."""
        if options.symmetric:
            is_simple = n_threads_for(shard, n_jobs) == 1 and options.max_depth > 0
            n_slots = n_of_level(shard, options)
        else:
            is_simple = options.leaf_wise or not options.max_leaves
            n_slots = n_jobs * (n_waiting(options) + 2) + 4
            n_slots = options.max_leaves + MOST_AHEAD if is_leaf_wise(options) else n_slots
        n_cells = int(shard.table.starts[-1])
        return is_simple and n_slots * n_cells * 8 * (3 if options.counts_rows else 2) <= MOST_POOL

    def _make_room(self, n_features: int, n_cells: int) -> None:
        """Allocate the arrays of the team; slots of the pool are for sums of threads, their branches, the leader."""
        threads, by_leaf = self._n_threads, is_leaf_wise(self._options)
        stack = 0 if by_leaf else n_waiting(self._options)
        room = MOST_POOL // (n_cells * 8 * self._n_sums) - threads * (stack + 2)
        most_branches = 0 if by_leaf else max(2, min(MOST_BRANCHES * threads, room))
        n_own = self._options.max_leaves + MOST_AHEAD + 2 if by_leaf else most_branches + 2
        if self._options.symmetric:
            stack, most_branches, n_own = 0, 0, n_of_level(self._shard, self._options)
        self._stack_slots = threads + np.arange(threads * stack).reshape(threads, stack)
        self._own_slots = threads * (stack + 1) + np.arange(n_own)
        limits = self._limits(n_features, n_cells)
        n_tile_cells = CELLS if limits["by_tiles"] else 0
        self._rooms = [new_thread(stack + most_branches + 3, self._n_sums, n_tile_cells) for _ in range(threads)]
        self._team, self._arrays = TEAM.allocate(
            n_threads=threads,
            n_columns=n_features,
            n_slots=threads * (stack + 1) + n_own,
            n_cells=n_cells,
            n_sums=self._n_sums,
            n_capacity=self._capacity + most_branches + 1,
            n_room=n_own + most_branches + AHEAD,
            n_blocks=-(-n_features // BLOCK),
        )
        self._arrays["pool"][:threads] = 0
        self._arrays["threads"][:] = np.concatenate([frame for frame, _ in self._rooms])
        self._arrays["signs"][:] = self._signs
        level, self._level_arrays = new_level(self._rooms[0][0]["lanes"][0])
        self._team["level"], self._team["symmetric"] = level, self._options.symmetric
        TEAM.update(self._team[0], leaf_wise=by_leaf, most_branches=most_branches, **limits)

    def _limits(self, n_features: int, n_cells: int) -> dict[str, int]:
        """From which sizes on nodes have histograms and are split by several threads, and how many leaves may be."""
        threads, table = self._n_threads, self._shard.table
        share = max(SMALL, table.n_rows // (SHARES * threads)) if threads > 1 else NO_LIMIT
        large, full = max(share, LARGE_CELLS // n_features), 256 * n_features  # cells, if all columns have 255 codes
        small, direct = (max(1, most * min(n_cells, full) // full) for most in (SMALL, DIRECT))
        by_tiles = not table.is_bundled and n_features >= 2 * threads * int(COLUMNS)
        return {
            "by_tiles": by_tiles,
            "max_leaves": self._options.max_leaves or NO_LIMIT,
            "small": small,
            "direct": max(small, min(direct, large)) if by_tiles else small,
            "large": large,
            "share": share,
        }

    @property
    def n_threads(self) -> int:
        """Threads that grow a tree together."""
        return self._n_threads

    @property
    def numbers_are_short(self) -> bool:
        """Whether 16 bits hold the number of any node."""
        return bool(self._capacity < 2**16)

    @property
    def kernel(self) -> Kernel:
        """The leader's kernel, which grows a tree."""
        return grow_by_level if self._options.symmetric else lead

    def frame(self) -> tuple[Array, Array, Array, int]:
        """The frame of the team, slots of its leader and of its threads, and the most nodes of a tree."""
        self._find_work("growth", "rounds")
        self._shard.use_columns(np.ones(self._shard.n_features, dtype=np.bool_))
        self._team["shard"] = self._shard.wide_frame(self._capacity, self._n_sums)
        return self._team, self._own_slots, self._stack_slots, self._capacity

    def grow(self, rules: np.void, n_rows: int, mask: Mask, key: int) -> tuple[Array, Mask]:
        """Grow a tree on the records that the shard has begun with; returns its nodes and which of them are split."""
        self._find_work("growth")
        capacity = min(self._capacity, 2 * (n_rows + MOST_AHEAD) + 1)
        nodes, splits = np.empty(capacity, dtype=NODE), np.zeros(capacity, dtype=np.bool_)
        self._team["shard"] = self._shard.frame(self._capacity, self._n_sums)
        self._shard.use_columns(mask)

        def leader() -> None:
            root = np.uint64(key), n_rows, self._own_slots, self._stack_slots
            self.kernel(nodes, splits, *root, self._team[0], rules)
            end(self._arrays["board"])

        self.run(leader, nodes, self._team[0], rules)
        n_nodes = int(self._arrays["node_count"][0])
        return nodes[:n_nodes], splits[:n_nodes]

    def _find_work(self, *parts: str) -> None:
        """Let the leader know where the code of its team is; helpers compile these parts if it must be compiled."""
        if not self._options.symmetric and not self._team["work"][0]:
            rules = self._options.unitless_rules[0]
            with shared(*parts):
                self._team["work"] = address_of(work_as, 0, 0, np.empty(0, dtype=NODE), self._team[0], rules)

    def run(self, leader: Callable[[], None], nodes: Array, team: np.void, rules: np.void) -> None:
        """Run a leader, and threads that do what it says until it ends the board.

        It writes to these: nodes, the frame of the team, rules of growth.
        """
        self._arrays["board"].fill(0)

        def work(me: int) -> None:  # holds self, so that a thread that continues after an interrupt keeps all arrays
            if me == 0:
                leader()
            else:
                work_as(me, 0, nodes, team, rules)

        run_all([partial(work, me) for me in range(self._n_threads)], self._n_threads)

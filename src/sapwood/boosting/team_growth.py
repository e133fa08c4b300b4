"""Growth of a boosted tree in one call, by a team of threads on one shard (`kernels/whole_tree.py`)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.boosting.options import NO_LIMIT, TreeOptions
from sapwood.kernels.boosting_records import NODE
from sapwood.kernels.leader import begin_tree
from sapwood.kernels.memory import TEAM, address
from sapwood.kernels.phases import AHEAD, BLOCK, MOST_AHEAD
from sapwood.kernels.small_nodes import SMALL
from sapwood.kernels.team import new_board
from sapwood.kernels.team_rows import SCRATCH
from sapwood.kernels.team_search import COLUMNS
from sapwood.kernels.whole_tree import lead, work_as
from sapwood.shard.shard import Shard
from sapwood.threads import available_cores, run_all

MOST_POOL = 1 << 29  # bytes of histograms
LARGE_CELLS = 400_000  # a node of fewer cells is not worth the work of several threads
SHARES = 8  # a node of more than this share of a thread's rows is split by all threads together
LITTLE_WORK = 1 << 15  # cells of a table that are not worth a second thread
MOST_BRANCHES = 64  # for each thread


def most_leaves(options: TreeOptions, n_rows: int) -> int:
    """No tree has more leaves."""
    by_depth = 1 << min(options.max_depth, 40) if options.max_depth else NO_LIMIT
    return min(n_rows, by_depth, options.max_leaves or NO_LIMIT)


def is_leaf_wise(options: TreeOptions) -> bool:
    """Whether it matters which leaf is split first: if there is no limit to leaves, all that gain anything are."""
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
        self._capacity = 2 * (most_leaves(options, table.n_rows) + MOST_AHEAD) + 1
        self._n_sums = 3 if options.counts_rows else 2
        self._make_room(table.n_features)

    @classmethod
    def suits(cls, options: TreeOptions, n_features: int, n_jobs: int) -> bool:
        """Whether trees can be grown in one call: nodes are chosen simply, and there is room for their histograms."""
        n_slots = options.max_leaves + MOST_AHEAD if is_leaf_wise(options) else n_jobs * (n_waiting(options) + 2) + 4
        is_simple = options.leaf_wise or not options.max_leaves
        return is_simple and n_slots * n_features * 256 * 8 * (3 if options.counts_rows else 2) <= MOST_POOL

    def _make_room(self, n_features: int) -> None:
        n, threads = self._shard.n_rows, self._n_threads
        slot = n_features * 256 * 8 * self._n_sums
        by_leaf = is_leaf_wise(self._options)
        stack = 0 if by_leaf else n_waiting(self._options)
        room = MOST_POOL // slot - threads * (stack + 2)
        most_branches = 0 if by_leaf else max(2, min(MOST_BRANCHES * threads, room))
        n_own = self._options.max_leaves + MOST_AHEAD + 2 if by_leaf else most_branches + 2
        n_stack = stack + most_branches + 3
        pool = np.empty((threads * (stack + 1) + n_own, 256 * n_features, self._n_sums), dtype=np.int64)
        pool[:threads] = 0
        self._own_slots = threads * (stack + 1) + np.arange(n_own)
        self._stack_slots = threads + np.arange(threads * stack).reshape(threads, stack)
        share = max(SMALL, n // (SHARES * threads)) if threads > 1 else NO_LIMIT
        ints = partial(np.empty, dtype=np.int64)
        self._arrays = {
            "n_codes": self._shard.table.n_codes,
            "is_category": self._shard.table.is_category,
            "signs": self._signs,
            "mask": np.empty(n_features, dtype=np.bool_),
            "pool": pool,
            "board": new_board(),
            "pending": np.zeros((threads, 8), dtype=np.int64),
            "n_nodes": ints(1),
            "ids": ints(self._capacity + most_branches + 1),
            "lent": ints(most_branches + AHEAD),
            "branches": ints(most_branches + 1),
            "counts": ints(threads),
            "found": np.zeros(2 * -(-n_features // BLOCK), dtype=NODE),
            "open": ints(n_own + most_branches + 4),
            "free": ints(n_own + 2),
            "scratch": np.zeros(threads, dtype=SCRATCH),
            "hist": np.zeros((threads, 256, self._n_sums), dtype=np.int64),
            "stack": ints((threads, n_stack)),
            "waiting": ints((threads, n_stack)),
        }
        self._arrays["scratch"]["all_codes"] = np.arange(1, 257)
        self._limits = {
            "n_columns": n_features,
            "n_sums": self._n_sums,
            "n_threads": threads,
            "n_stack": n_stack,
            "most_branches": most_branches,
            "leaf_wise": by_leaf,
            "by_tiles": not self._shard.table.is_bundled and n_features >= 2 * threads * COLUMNS,
            "max_leaves": self._options.max_leaves or NO_LIMIT,
            "large": max(share, LARGE_CELLS // n_features),
            "share": share,
        }
        self._team = np.zeros(1, dtype=TEAM)
        for name, array in self._arrays.items():
            self._team[name] = address(array)
        for name, limit in self._limits.items():
            self._team[name] = limit

    def grow(
        self, rules: Any, n_rows: int, mask: NDArray[np.bool_], key: int
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Grow a tree on the records that the shard has begun with; returns its nodes and which of them are split."""
        capacity = min(self._capacity, 2 * (n_rows + MOST_AHEAD) + 1)
        nodes, splits = np.empty(capacity, dtype=NODE), np.zeros(capacity, dtype=np.bool_)
        team = self._team
        self._shard.describe(team, self._capacity, self._n_sums)
        self._arrays["board"].fill(0)
        self._arrays["mask"][:] = mask
        begin_tree(nodes, np.uint64(key), n_rows, self._own_slots, self._stack_slots, team[0])
        run_all([partial(self._work, me, nodes, splits, rules) for me in range(self._n_threads)], self._n_threads)
        n_nodes = int(self._arrays["n_nodes"][0])
        return nodes[:n_nodes], splits[:n_nodes]

    def _work(self, me: int, nodes: NDArray[Any], splits: NDArray[np.bool_], rules: Any) -> None:
        """Lead (0) or help. A method, so that a thread that goes on after an interrupt keeps all arrays alive."""
        if me == 0:
            lead(nodes, splits, self._team[0], rules)
        else:
            work_as(me, 0, 0, nodes, self._team[0], rules)

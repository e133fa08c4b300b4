"""Search by histograms: the sums of the smaller child are counted, those of the larger one are what remains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.boosting.columns import ColumnChoice
from sapwood.boosting.options import NO_LIMIT, TreeOptions
from sapwood.boosting.pool import Pool
from sapwood.kernels.boosting_records import NODE
from sapwood.kernels.histogram import subtract
from sapwood.kernels.newton import NO_GAIN
from sapwood.kernels.scan import scan_nodes
from sapwood.kernels.small_nodes import SMALL
from sapwood.kernels.whole_tree import ColumnWork, RowWork, Scratch, grow_whole
from sapwood.shard.shard import Shard
from sapwood.threads import run_all

LITTLE_WORK = 1 << 18  # cells of a table that are not worth a second thread
MOST_POOL = 1 << 27  # bytes of histograms that one call may need
SCAN_PER_THREAD = 1 << 16  # codes to look at before another thread is worth waking

Ids = list[int]
Nodes = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Branch:
    """What was grown below a node: nodes numbered from it on, and where their records are."""

    nodes: Nodes
    firsts: NDArray[np.int64]
    lasts: NDArray[np.int64]


def new_scratch(n_sums: int) -> Scratch:
    """Room for one thread."""
    return Scratch(
        keys=np.empty(256),
        order=np.empty(256, dtype=np.int64),
        table=np.empty(256, dtype=np.uint8),
        hist=np.zeros((256, n_sums), dtype=np.int64),
        codes=np.empty(257, dtype=np.int64),
        present=np.zeros(4, dtype=np.uint64),
        rows=np.empty(SMALL, dtype=np.uint32),
        values=np.empty((SMALL, 2), dtype=np.int64),
    )


def most_leaves(options: TreeOptions, n_rows: int, depth: int) -> int:
    """No branch from this depth on has more leaves."""
    by_depth = 1 << min(options.max_depth - depth, 40) if options.max_depth else NO_LIMIT
    return min(n_rows, by_depth, options.max_leaves or NO_LIMIT)


def n_open(options: TreeOptions) -> int:
    """No more nodes wait at a time: all leaves, or depth first with the smaller child first, log2(rows)."""
    if options.leaf_wise:
        return options.max_leaves
    return min(options.max_depth + 2, 40) if options.max_depth else 40


class HistogramSearch:
    """Best splits from histograms of all shards together."""

    def __init__(self, shards: Sequence[Shard], signs: NDArray[np.int8], counts_rows: bool, n_jobs: int) -> None:
        table = shards[0].table
        self._shards = shards
        self._signs = signs
        self._n_jobs = n_jobs
        self._n_codes = table.n_codes
        self._is_category = table.is_category
        most_spare = max(shard.n_jobs for shard in shards) - 1
        self._pool = Pool(table.n_features, 3 if counts_rows else 2, most_spare)
        self._keys = np.empty((n_jobs, 256)), np.empty((n_jobs, 256), dtype=np.int64)
        self._n_sums = 3 if counts_rows else 2
        self._scratch: list[Scratch] = []

    def open_root(self, nodes: Nodes) -> None:
        """Sums of the root; OUT nodes[0]."""
        root = nodes[0]
        root["slot"] = self._pool.take(1)[0]
        self._build(nodes, [0])
        sums = self._pool.slots[root["slot"], :256].sum(axis=0)
        root["gradient"], root["hessian"] = sums[0], sums[1]

    def find(self, nodes: Nodes, ids: Ids, columns: ColumnChoice, rules: Any) -> None:
        """Best split of nodes; OUT nodes."""
        usable = columns.usable(nodes, ids)
        n_features = len(self._n_codes)
        n_parts = max(1, min(self._n_jobs, len(ids), len(ids) * n_features * 256 // SCAN_PER_THREAD))
        array = np.array(ids, dtype=np.int64)
        tasks = []
        for p, (start, stop) in enumerate(pairwise([len(ids) * p // n_parts for p in range(n_parts + 1)])):
            own = usable if len(usable) == 1 else usable[start:stop]
            scratch = self._keys[0][p], self._keys[1][p]
            of = self._n_codes, self._is_category, self._signs, rules, *scratch, nodes
            tasks.append(partial(scan_nodes, self._pool.slots, array[start:stop], own, 0, n_features, *of))
        run_all(tasks, self._n_jobs)

    def branch(self, nodes: Nodes, parents: Ids, wanted: set[int]) -> None:
        """Histograms of those children that will be searched; OUT nodes."""
        smaller, larger, own = [], [], []
        for node in parents:
            left, right = int(nodes["left"][node]), int(nodes["right"][node])
            small, large = (left, right) if nodes["n_rows"][left] <= nodes["n_rows"][right] else (right, left)
            if large in wanted or small in wanted:
                smaller.append(small)
            if large in wanted:
                larger.append((small, large))
                own.append(node)
        slots = nodes["slot"]
        slots[smaller] = self._pool.take(len(smaller))
        self._build(nodes, smaller)
        if larger:
            subtract(self._pool.slots, slots[own], slots[[small for small, _ in larger]])
            slots[[large for _, large in larger]] = slots[own]
            slots[own] = -1
        self._give_back(nodes, parents)

    def end(self, nodes: Nodes) -> None:
        """The tree is grown; OUT nodes."""
        self._give_back(nodes, np.flatnonzero(nodes["slot"] >= 0).tolist())

    def is_whole(self, n_rows: int, columns: ColumnChoice, options: TreeOptions) -> bool:
        """Whether one thread does all work at once: it is alone or there is little, and nodes are chosen simply."""
        n_features = len(self._n_codes)
        little = self._n_jobs == 1 or n_rows * n_features <= LITTLE_WORK
        few_slots = n_open(options) * n_features * 4096 <= MOST_POOL
        simple = bool(options.max_leaves) if options.leaf_wise else not options.max_leaves
        return little and len(self._shards) == 1 and columns.is_plain and simple and few_slots

    def may_part(self, ids: Ids, columns: ColumnChoice, options: TreeOptions) -> bool:
        """Whether the branches below some nodes are enough to keep all threads busy, and can be grown apart."""
        many = len(ids) >= 2 * self._n_jobs
        simple = len(self._shards) == 1 and columns.is_plain and not options.leaf_wise and not options.max_leaves
        return many and simple and n_open(options) * len(self._n_codes) * 4096 * len(ids) <= MOST_POOL

    def grow_branches(
        self, nodes: Nodes, ids: Ids, columns: ColumnChoice, rules: Any, options: TreeOptions, weak: float
    ) -> list[Branch]:
        """Grow all that is below some nodes, each branch in one call; the largest ones first."""
        most_open = n_open(options)
        column = ColumnWork(columns.of_tree, self._n_codes, self._is_category, self._signs)
        slots = [self._pool.take(most_open + 1) for _ in ids]
        while len(self._scratch) < len(ids):
            self._scratch.append(new_scratch(self._n_sums))
        by_size = sorted(range(len(ids)), key=lambda p: -int(nodes["n_rows"][ids[p]]))
        works = [self._shards[0].work(p) for p in range(len(ids))]
        grow = partial(self._grow_branch, nodes, ids, slots, works, column, rules, options, weak)
        found = dict(zip(by_size, run_all([partial(grow, p) for p in by_size], self._n_jobs), strict=True))
        for lent in slots:
            self._pool.give_back(lent)
        self._give_back(nodes, ids)
        return [found[p] for p in range(len(ids))]

    def _grow_branch(
        self,
        nodes: Nodes,
        ids: Ids,
        slots: list[list[int]],
        works: list[RowWork],
        column: ColumnWork,
        rules: Any,
        options: TreeOptions,
        weak: float,
        p: int,
    ) -> Branch:
        shard, top = self._shards[0], nodes[ids[p]]
        capacity = 2 * most_leaves(options, int(top["n_rows"]), int(top["depth"])) + 1
        own = np.empty(capacity, dtype=NODE)
        own[0] = top
        firsts, lasts = np.empty((2, capacity), dtype=np.int64)
        firsts[0], lasts[0] = shard.range_of(ids[p])
        n_nodes = grow_whole(
            own,
            rules,
            weak if weak > 0.0 else NO_GAIN,
            options.max_leaves if options.leaf_wise else NO_LIMIT,
            options.leaf_wise,
            works[p],
            column,
            shard.wide_quanta,
            self._pool.slots,
            np.array([*slots[p], -1], dtype=np.int64),
            self._scratch[p],
            firsts,
            lasts,
            np.empty(len(slots[p]) + 2, dtype=np.int64),
        )
        return Branch(own[:n_nodes], firsts[:n_nodes], lasts[:n_nodes])

    def _give_back(self, nodes: Nodes, ids: Ids) -> None:
        held = [node for node in ids if nodes["slot"][node] >= 0]
        self._pool.give_back([int(slot) for slot in nodes["slot"][held]])
        nodes["slot"][held] = -1

    def _build(self, nodes: Nodes, ids: Ids) -> None:
        if not ids:
            return
        slots = nodes["slot"][ids].tolist()
        first, *others = self._shards
        first.histograms(ids, self._pool.slots, slots, self._pool.spare)
        for shard in others:
            more = self._pool.temporary(len(ids))
            own = list(range(len(self._pool.spare), len(more)))
            shard.histograms(ids, more, own, self._pool.spare)
            self._pool.slots[slots] += more[own]

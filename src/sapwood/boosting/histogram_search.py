"""Search by histograms: the sums of the smaller child are counted, those of the larger one are what remains."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array
from sapwood.boosting.columns import ColumnChoice
from sapwood.boosting.pool import Pool
from sapwood.kernels.histogram import subtract
from sapwood.kernels.scan import Columns, new_lanes, scan_nodes
from sapwood.shard.shard import Shard
from sapwood.threads import run_all

SCAN_PER_THREAD = 1 << 16  # codes to look at before another thread is worth waking

Ids = list[int]
Nodes = Array  # of the layout NODE


class HistogramSearch:
    """Best splits from histograms of all shards together."""

    def __init__(self, shards: Sequence[Shard], signs: NDArray[np.int8], counts_rows: bool, n_jobs: int) -> None:
        table = shards[0].table
        self._shards = shards
        self._n_jobs = n_jobs
        self._columns = Columns(table.starts, table.n_codes, table.is_category, signs)
        most_spare = max(shard.n_jobs for shard in shards) - 1
        self._pool = Pool(int(table.starts[-1]), 3 if counts_rows else 2, most_spare)
        self._lanes = [new_lanes() for _ in range(n_jobs)]

    def open_root(self, nodes: Nodes) -> None:
        """Sums of the root; OUT nodes[0]."""
        root = nodes[0]
        root["slot"] = self._pool.take(1)[0]
        self._build(nodes, [0])
        sums = self._pool.slots[root["slot"], : self._columns.n_codes[0] + 1].sum(axis=0)
        root["gradient"], root["hessian"] = sums[0], sums[1]

    def find(self, nodes: Nodes, ids: Ids, columns: ColumnChoice, rules: Any) -> None:
        """Best split of nodes; OUT nodes."""
        usable = columns.usable(nodes, ids)
        n_cells = int(self._columns.starts[-1])
        n_parts = max(1, min(self._n_jobs, len(ids), len(ids) * n_cells // SCAN_PER_THREAD))
        array = np.array(ids, dtype=np.int64)
        tasks = []
        for p, (start, stop) in enumerate(pairwise([len(ids) * p // n_parts for p in range(n_parts + 1)])):
            own = usable if len(usable) == 1 else usable[start:stop]
            of = self._columns, rules, self._lanes[p][0][0], nodes
            tasks.append(partial(scan_nodes, self._pool.slots, array[start:stop], own, *of))
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

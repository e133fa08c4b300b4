"""Growth of one boosted tree: which node next, which split.

    level by level (depthwise): split every node of a level that has a gain
    leaf by leaf (lossguide):   split the leaf of largest gain, until there are enough leaves

Growth asks shards for row work, and adds their answers up; it never sees a row.
"""

from __future__ import annotations

import heapq
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
from sapwood.kernels.branching import branch, new_node, write_tables
from sapwood.kernels.histogram import subtract
from sapwood.kernels.newton import NO_GAIN
from sapwood.kernels.scan import scan_nodes
from sapwood.shard.quanta import Quanta
from sapwood.shard.shard import Shard
from sapwood.threads import run_all

SCAN_PER_THREAD = 1 << 16  # codes to look at before another thread is worth waking
AHEAD = 4  # leaves whose children are searched before it is certain that they are split

Ids = list[int]


@dataclass(frozen=True, eq=False)
class GrownTree:
    """Nodes as growth numbered them, children after their parents; `splits` says which are split."""

    nodes: NDArray[Any]
    splits: NDArray[np.bool_]

    @property
    def leaves(self) -> Ids:
        """Leaves that hang on the root, in order of number."""
        found, waiting = [], [0]
        while waiting:
            node = waiting.pop()
            if self.splits[node]:
                waiting += [int(self.nodes["left"][node]), int(self.nodes["right"][node])]
            else:
                found.append(node)
        return sorted(found)


class Grower:
    """Grows trees on shards that share their bins."""

    def __init__(
        self,
        shards: Sequence[Shard],
        options: TreeOptions,
        n_jobs: int = 1,
    ) -> None:
        table = shards[0].table
        self._shards = shards
        self._options = options
        self._n_jobs = n_jobs
        self._n_codes = table.n_codes
        self._is_category = table.is_category
        self._signs = np.zeros(table.n_features, np.int8) if options.signs is None else options.signs.astype(np.int8)
        most_spare = max(shard.n_jobs for shard in shards) - 1
        self._pool = Pool(table.n_features, 3 if options.counts_rows else 2, most_spare)
        self._keys = np.empty((n_jobs, 256)), np.empty((n_jobs, 256), dtype=np.int64)

    def grow(self, quanta: Quanta, n_rows: int, columns: ColumnChoice, key: int) -> GrownTree:
        """Grow a tree on the gradients that the shards have begun with; `key` is for draws of columns."""
        self._rules = self._options.rules(quanta)[0]
        self._columns = columns
        self._nodes = np.empty(64, dtype=NODE)
        self._n_nodes = 1
        new_node(self._nodes, 0, 0, np.uint64(key), 0, 0, -np.inf, np.inf)
        root = self._nodes[0]
        root["n_rows"], root["slot"] = n_rows, self._pool.take(1)[0]
        self._build([0])
        first_column = self._pool.slots[root["slot"], :256]
        root["gradient"], root["hessian"] = first_column[:, 0].sum(), first_column[:, 1].sum()
        self._search([0] if self._may_split(0) else [])
        splits = self._by_leaf() if self._options.leaf_wise else self._by_level()
        self._prune(splits)
        held = self._nodes["slot"][: self._n_nodes]
        self._pool.give_back([int(slot) for slot in held[held >= 0]])
        return GrownTree(self._nodes[: self._n_nodes], splits)

    def _by_level(self) -> NDArray[np.bool_]:
        most = self._options.max_leaves or NO_LIMIT
        chosen: Ids = []
        level = [0] if self._nodes["gain"][0] > NO_GAIN else []
        while level and len(chosen) + 1 < most:
            level = level[: most - len(chosen) - 1]
            chosen += level
            self._expand(level)
            children = np.arange(self._n_nodes - 2 * len(level), self._n_nodes)
            level = [int(i) for i in children[self._nodes["gain"][children] > NO_GAIN]]
        return self._mask(chosen)

    def _by_leaf(self) -> NDArray[np.bool_]:
        most = self._options.max_leaves or NO_LIMIT
        chosen: Ids = []
        heap: list[tuple[float, int]] = []
        self._push(heap, [0])
        while heap and len(chosen) + 1 < most:
            best = heap[0][1]
            if self._nodes["left"][best] < 0:
                # Whatever is split next, what the children of these leaves offer is the same.
                ahead = [node for _, node in heapq.nsmallest(min(AHEAD, most - len(chosen) - 1), heap)]
                self._expand([node for node in ahead if self._nodes["left"][node] < 0])
            heapq.heappop(heap)
            chosen.append(best)
            self._push(heap, [int(self._nodes["left"][best]), int(self._nodes["right"][best])])
        return self._mask(chosen)

    def _push(self, heap: list[tuple[float, int]], ids: Ids) -> None:
        for i in ids:
            if self._nodes["gain"][i] > NO_GAIN:
                heapq.heappush(heap, (-float(self._nodes["gain"][i]), i))

    def _mask(self, chosen: Ids) -> NDArray[np.bool_]:
        mask = np.zeros(self._n_nodes, dtype=np.bool_)
        mask[chosen] = True
        return mask

    def _may_split(self, node: int) -> bool:
        record = self._nodes[node]
        heavy = record["hessian"] * self._rules["hessian_unit"] >= 2 * self._options.min_child_weight
        return bool(
            record["depth"] < self._rules["max_depth"] and heavy and record["n_rows"] >= self._rules["min_split_rows"]
        )

    def _expand(self, ids: Ids) -> None:
        """Make the children of nodes, move the rows, and search the children that may be split."""
        self._reserve(2 * len(ids))
        array = np.array(ids, dtype=np.int64)
        branch(array, self._n_nodes, self._signs, self._rules, self._nodes)
        self._n_nodes += 2 * len(ids)
        self._columns.follow(self._nodes, ids)
        self._move_rows(array)
        wanted, smaller, larger, parents = [], [], [], []
        for node in ids:
            left, right = int(self._nodes["left"][node]), int(self._nodes["right"][node])
            wants = [child for child in (left, right) if self._may_split(child)]
            wanted += wants
            small, large = (
                (left, right) if self._nodes["n_rows"][left] <= self._nodes["n_rows"][right] else (right, left)
            )
            if not wants:
                continue
            smaller.append(small)
            if large in wants:
                larger.append(large)
                parents.append(node)
        self._histograms(ids, smaller, larger, parents)
        self._search(wanted)

    def _histograms(self, ids: Ids, smaller: Ids, larger: Ids, parents: Ids) -> None:
        """Sum up the smaller child's rows; the larger one's histogram is what the parent's has beyond them."""
        for node, slot in zip(smaller, self._pool.take(len(smaller)), strict=True):
            self._nodes["slot"][node] = slot
        self._build(smaller)
        if parents:
            partner = {int(self._nodes["left"][p]): int(self._nodes["right"][p]) for p in parents}
            partner |= {right: left for left, right in partner.items()}
            slots = self._nodes["slot"]
            subtract(self._pool.slots, slots[parents], slots[[partner[node] for node in larger]])
            slots[larger] = slots[parents]
            slots[parents] = -1
        rest = [node for node in ids if self._nodes["slot"][node] >= 0]
        self._pool.give_back([int(self._nodes["slot"][node]) for node in rest])
        self._nodes["slot"][rest] = -1

    def _build(self, ids: Ids) -> None:
        if not ids:
            return
        slots = [int(slot) for slot in self._nodes["slot"][ids]]
        first, *others = self._shards
        first.histograms(ids, self._pool.slots, slots, self._pool.spare)
        for shard in others:
            more = self._pool.temporary(len(ids))
            own = list(range(len(self._pool.spare), len(more)))
            shard.histograms(ids, more, own, self._pool.spare)
            self._pool.slots[slots] += more[own]

    def _move_rows(self, ids: NDArray[np.int64]) -> None:
        nodes = self._nodes
        tables = np.empty((len(ids), 256), dtype=np.uint8)
        write_tables(ids, nodes, tables)
        left, right = nodes["left"][ids], nodes["right"][ids]
        ways = ids.tolist(), left.tolist(), right.tolist(), nodes["feature"][ids].tolist()
        counts = np.sum([shard.split(*ways, tables) for shard in self._shards], axis=0)
        nodes["n_rows"][left] = counts
        nodes["n_rows"][right] = nodes["n_rows"][ids] - counts

    def _search(self, ids: Ids) -> None:
        if not ids:
            return
        usable = self._columns.usable(self._nodes, ids)
        n_features = len(self._n_codes)
        n_parts = max(1, min(self._n_jobs, len(ids), len(ids) * n_features * 256 // SCAN_PER_THREAD))
        array = np.array(ids, dtype=np.int64)
        cuts = [len(ids) * p // n_parts for p in range(n_parts + 1)]
        tasks = []
        for p, (start, stop) in enumerate(pairwise(cuts)):
            own = usable if len(usable) == 1 else usable[start:stop]
            tasks.append(partial(self._scan, array[start:stop], own, p))
        run_all(tasks, self._n_jobs)

    def _scan(self, ids: NDArray[np.int64], usable: NDArray[np.bool_], p: int) -> None:
        scan_nodes(
            self._pool.slots,
            ids,
            usable,
            0,
            len(self._n_codes),
            self._n_codes,
            self._is_category,
            self._signs,
            self._rules,
            self._keys[0][p],
            self._keys[1][p],
            self._nodes,
        )

    def _prune(self, splits: NDArray[np.bool_]) -> None:
        """Take back splits of too little gain from the leaves upwards; one with a good split below it stays."""
        if self._options.gamma <= 0.0:
            return
        for node in np.flatnonzero(splits)[::-1]:
            left, right = self._nodes["left"][node], self._nodes["right"][node]
            if not splits[left] and not splits[right] and self._nodes["gain"][node] < self._options.gamma:
                splits[node] = False

    def _reserve(self, n: int) -> None:
        if self._n_nodes + n > len(self._nodes):
            larger = np.empty(2 * (self._n_nodes + n), dtype=NODE)
            larger[: self._n_nodes] = self._nodes[: self._n_nodes]
            self._nodes = larger

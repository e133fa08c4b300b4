"""Growth of one boosted tree: which node is split next.

    level by level (depthwise): split every node of a level that has a gain
    leaf by leaf (lossguide):   split the leaf of largest gain, until there are enough leaves
    symmetric:                  find one split for all nodes of a level, and split those that gain by it

All work on rows is done by shards, whose sums are added up here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sapwood.boosting.columns import ColumnChoice
from sapwood.boosting.grown import GrownTree, prune_by_cost, prune_by_gain
from sapwood.boosting.options import NO_LIMIT, TreeOptions
from sapwood.boosting.search import ExactSearch, HistogramSearch, Search
from sapwood.boosting.team_growth import TeamGrowth, is_leaf_wise
from sapwood.cached_property import cached_property
from sapwood.kernels.boosting_records import NODE
from sapwood.kernels.branching import branch, drop_weak_splits, limit_by_root, mark_splittable, new_node
from sapwood.kernels.frontier import best_without_children, pop, push
from sapwood.kernels.newton import NO_GAIN
from sapwood.kernels.phases import AHEAD
from sapwood.shard.gradient_units import GradientUnits
from sapwood.shard.ranked_shard import RankedShard
from sapwood.shard.shard import Shard

Ids = list[int]


class Grower:
    """Grows trees on shards that share their codes."""

    def __init__(self, shards: Sequence[Shard], options: TreeOptions, n_jobs: int = 1) -> None:
        n_features = shards[0].n_features
        self._shards = shards
        self._options = options
        self._signs = np.zeros(n_features, np.int8) if options.signs is None else options.signs.astype(np.int8)
        self._n_jobs = n_jobs
        self._prunes = options.ccp_alpha > 0.0 or options.gamma > 0.0
        self.team: TeamGrowth | None = None
        is_alone = len(shards) == 1 and shards[0].suits_team
        if is_alone and TeamGrowth.suits(shards[0], options, n_jobs):
            self.team = TeamGrowth(shards[0], options, self._signs, n_jobs)

    @cached_property
    def _finder(self) -> Search:
        if isinstance(self._shards[0], RankedShard):
            return ExactSearch(self._shards[0], self._signs)
        return HistogramSearch(self._shards, self._signs, self._options.counts_rows, self._n_jobs)

    def grow(self, units: GradientUnits, n_rows: int, columns: ColumnChoice, key: int, noise: float = 0.0) -> GrownTree:
        """Grow a tree on the gradients that the shards have begun with; `key` is for draws.

        Afterwards `leaf_of` of the shards holds the leaf of every row of the sample.
        """
        self.rules = self._options.rules(units, noise)[0]
        if self.team is not None and columns.is_plain:
            grown = GrownTree(*self.team.grow(self.rules, n_rows, columns.used, key))
            if self._prunes and self._prune(grown, units):
                self._shards[0].merge_leaves(grown.leaf_above)
            return grown
        grown = self._grow_by_parts(n_rows, columns, key)
        if self._prunes:
            self._prune(grown, units)
        for shard in self._shards:
            shard.settle(grown.leaves, len(grown.nodes))
        return grown

    def _grow_by_parts(self, n_rows: int, columns: ColumnChoice, key: int) -> GrownTree:
        """Grow step by step, each step on all shards."""
        self._columns = columns
        self._nodes = np.empty(64, dtype=NODE)
        self._n_nodes = 1
        new_node(self._nodes, 0, 0, np.uint64(key), 0, 0, -np.inf, np.inf)
        self._nodes["n_rows"][0] = n_rows
        for shard in self._shards:
            shard.use_columns(columns.used)
        self._finder.open_root(self._nodes, columns.used)
        limit_by_root(self._nodes[0], self.rules)
        if self._options.symmetric:
            chosen = self._by_shared_splits()
        else:
            self._search(self._splittable(0, 1))
            chosen = self._by_leaf() if is_leaf_wise(self._options) else self._by_level()
        nodes = self._nodes[: self._n_nodes]
        self._finder.end(nodes)
        splits = np.zeros(self._n_nodes, dtype=np.bool_)
        splits[chosen] = True
        return GrownTree(nodes, splits)

    def _prune(self, grown: GrownTree, units: GradientUnits) -> bool:
        """Prune branches that are not worth their cost; OUT grown.splits; returns whether anything was."""
        before = np.count_nonzero(grown.splits)
        if self._options.ccp_alpha > 0.0:
            prune_by_cost(grown, self._options.ccp_alpha, float(grown.nodes["hessian"][0] * units.hessian_unit))
        if self._options.gamma > 0.0:
            prune_by_gain(grown, self._options.gamma)
        return bool(np.count_nonzero(grown.splits) < before)

    def _by_level(self) -> Ids:
        most = self._options.max_leaves or NO_LIMIT
        chosen: Ids = []
        level = [0] if self._nodes["gain"][0] > NO_GAIN else []
        while level and len(chosen) + 1 < most:
            level = level[: most - len(chosen) - 1]
            chosen += level
            self._expand(level)
            children = np.arange(self._n_nodes - 2 * len(level), self._n_nodes)
            level = children[self._nodes["gain"][children] > NO_GAIN].tolist()
        return chosen

    def _by_leaf(self) -> Ids:
        most = self._options.max_leaves
        chosen: Ids = []
        ahead = np.empty(AHEAD, dtype=np.int64)  # leaves to split next, in any order
        heap, n = np.zeros(most + 1, dtype=np.int64), int(self._nodes["gain"][0] > NO_GAIN)
        while n > 0 and len(chosen) + 1 < most:
            if self._nodes["left"][heap[0]] < 0:
                n_ahead = best_without_children(self._nodes, heap, n, min(AHEAD, most - len(chosen) - 1), ahead)
                self._expand(ahead[:n_ahead].tolist())
            best, n = int(pop(self._nodes, heap, n)), n - 1
            chosen.append(best)
            for child in (self._nodes["left"][best], self._nodes["right"][best]):
                if self._nodes["gain"][child] > NO_GAIN:
                    push(self._nodes, heap, n, child)
                    n += 1
        return chosen

    def _by_shared_splits(self) -> Ids:
        """A node that gains nothing by the split of its level takes part in the next level."""
        assert isinstance(self._finder, HistogramSearch)  # others are refused
        most, deepest = self._options.max_leaves or NO_LIMIT, self._options.max_depth or NO_LIMIT
        chosen: Ids = []
        level, depth = self._splittable(0, 1), 0
        while level and depth < deepest:
            split = self._finder.split_level(self._nodes, level, depth, self._columns, self.rules)
            if not split or len(chosen) + len(split) + 1 > most:
                break
            chosen += split
            level = [*(node for node in level if self._nodes["gain"][node] == NO_GAIN), *self._branch(split)]
            depth += 1
        return chosen

    def _splittable(self, first: int, last: int) -> Ids:
        """Those of the nodes first…last-1 that may be split."""
        mask = np.empty(last - first, dtype=np.bool_)
        mark_splittable(self._nodes, first, last, self.rules, mask)
        return (first + np.flatnonzero(mask)).tolist()

    def _expand(self, ids: Ids) -> None:
        """Make the children of nodes, and search those that may be split."""
        self._search(self._branch(ids))

    def _branch(self, ids: Ids) -> Ids:
        """Make the children of nodes and move the rows; returns those that may be split."""
        first, n_new = self._n_nodes, 2 * len(ids)
        if first + n_new > len(self._nodes):
            self._nodes = np.concatenate([self._nodes[:first], np.empty(first + 2 * n_new, dtype=NODE)])
        branch(np.array(ids, dtype=np.int64), first, self._signs, self.rules, self._nodes)
        self._n_nodes += n_new
        nodes = self._nodes
        self._columns.follow(nodes, ids)
        counts = np.sum([shard.split(nodes, ids) for shard in self._shards], axis=0)
        nodes["n_rows"][nodes["left"][ids]] = counts
        nodes["n_rows"][nodes["right"][ids]] = nodes["n_rows"][ids] - counts
        wanted = self._splittable(first, self._n_nodes)
        self._finder.branch(nodes, ids, wanted)
        return wanted

    def _search(self, ids: Ids) -> None:
        if not ids:
            return
        self._finder.find(self._nodes, ids, self._columns, self.rules)
        drop_weak_splits(self._nodes, np.array(ids, dtype=np.int64), self.rules)

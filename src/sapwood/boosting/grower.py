"""Growth of boosted trees: which node is split next.

    level by level (depthwise): split every node of a level that has a gain
    leaf by leaf (lossguide):   split the leaf of largest gain, until there are enough leaves
    symmetric:                  find one split for all nodes of a level, and split those that gain by it

All work on rows is done by shards, whose sums are added up here. A tree that grows says what it needs next, as a
generator of messages: several may grow at the same time, with their messages in one exchange.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sapwood.arrays import Array, Ints
from sapwood.boosting.columns import ColumnChoice
from sapwood.boosting.grown import GrownTree, prune_by_cost, prune_by_gain
from sapwood.boosting.level_groups import LevelGroups
from sapwood.boosting.options import NO_LIMIT, TreeOptions
from sapwood.boosting.search import ExactSearch, HistogramSearch, Search
from sapwood.boosting.team_growth import TeamGrowth, is_leaf_wise
from sapwood.codes.block_table import BlockTable
from sapwood.codes.coding import Coded
from sapwood.codes.ranked import RankedTable
from sapwood.kernels.boosting_records import NODE
from sapwood.kernels.branching import branch, drop_weak_splits, limit_by_root, mark_splittable, new_node
from sapwood.kernels.frontier import best_without_children, pop, push
from sapwood.kernels.newton import NO_GAIN
from sapwood.kernels.phases import AHEAD
from sapwood.shard.gradient_units import GradientUnits
from sapwood.shard.ranked_shard import RankedShard
from sapwood.shard.round_shard import Close, Message, Open, Opened, Step, Stepped
from sapwood.shard.shard import total
from sapwood.shard.shards import Shards

Ids = list[int]
Growth = Generator[Message, Sequence[Any], "Grown"]


class TreeStart(NamedTuple):
    """What a tree grows from: derivatives k of the round in units, on so many rows; `key` is for draws."""

    k: int
    units: GradientUnits
    n_rows: int
    columns: ColumnChoice
    key: int
    halves: int  # an odd key of halves of rows
    noise: float = 0.0


@dataclass(frozen=True, eq=False)
class Grown:
    """A tree, the rules it was grown by, and the sums of its leaves, if these have been asked for."""

    start: TreeStart
    tree: GrownTree
    rules: np.void
    sums: Ints | None


class Grower:
    """Grows trees on shards that share their codes."""

    def __init__(
        self, shards: Shards, table: Coded | BlockTable, options: TreeOptions, groups: LevelGroups, n_jobs: int = 1
    ) -> None:
        n_features = table.n_features
        self._shards, self._table, self._groups = shards, table, groups
        self._options = options
        self._signs = np.zeros(n_features, np.int8) if options.signs is None else options.signs.astype(np.int8)
        self._n_jobs = n_jobs
        self.team: TeamGrowth | None = None
        self._trees: list[TreeGrowth] = []
        parts = shards.parts
        if len(parts) == 1 and parts[0].suits_team and TeamGrowth.suits(parts[0], options, n_jobs):
            self.team = TeamGrowth(parts[0], options, self._signs, n_jobs)

    def grows_alone(self, columns: ColumnChoice) -> bool:
        """Whether a team grows a tree with such columns, one at a time."""
        return self.team is not None and columns.is_plain

    def grow(self, starts: Sequence[TreeStart], wants_sums: bool) -> list[Grown]:
        """Grow trees on the gradients that the shards have, at the same time.

        Afterwards `leaf_of` of the shards holds the leaf of every row of the sample.
        """
        if self.grows_alone(starts[0].columns):
            return [self._grow_by_team(start) for start in starts]
        while len(self._trees) < len(starts):
            self._trees.append(TreeGrowth(self._finder(), self._options, self._signs, self._groups))
        trees = zip(self._trees, starts, strict=False)
        return together(self._shards, [tree.grow(start, wants_sums) for tree, start in trees])

    def _grow_by_team(self, start: TreeStart) -> Grown:
        assert self.team is not None
        rules = self._options.rules(start.units, start.noise)[0]
        shard = self._shards.only.begin_tree(start.k, start.units, start.halves)
        self._groups.begin([shard.level_sums])
        tree = GrownTree(*self.team.grow(rules, start.n_rows, start.columns.used, start.key))
        if prune(tree, self._options, start.units):
            shard.merge_leaves(tree.leaf_above)
        return Grown(start, tree, rules, None)

    def _finder(self) -> Search:
        if isinstance(self._table, RankedTable):
            (shard,) = self._shards.parts
            assert isinstance(shard, RankedShard)
            return ExactSearch(shard, self._signs)
        return HistogramSearch(self._table, self._signs, self._options.counts_rows, self._n_jobs)


def together(shards: Shards, growths: Sequence[Growth]) -> list[Grown]:
    """Let trees grow, with one message of each in every exchange, until all have grown."""
    found: dict[int, Grown] = {}
    messages = {place: next(growth) for place, growth in enumerate(growths)}
    while messages:
        answers = shards.work(list(messages.items()))
        following = {}
        for place, own in zip(messages, answers, strict=True):
            try:
                following[place] = growths[place].send(own)
            except StopIteration as end:
                found[place] = end.value
        messages = following
    return [found[place] for place in range(len(growths))]


def prune(grown: GrownTree, options: TreeOptions, units: GradientUnits) -> bool:
    """Prune branches that are not worth their cost; OUT grown.splits; returns whether anything was."""
    before = np.count_nonzero(grown.splits)
    if options.ccp_alpha > 0.0:
        prune_by_cost(grown, options.ccp_alpha, float(grown.nodes["hessian"][0] * units.hessian_unit))
    if options.gamma > 0.0:
        prune_by_gain(grown, options.gamma)
    return bool(np.count_nonzero(grown.splits) < before)


class TreeGrowth:
    """Growth of one tree step by step, each step on all shards."""

    def __init__(self, finder: Search, options: TreeOptions, signs: Array, groups: LevelGroups) -> None:
        self._finder, self._groups = finder, groups
        self._options = options
        self._signs = signs

    def grow(self, start: TreeStart, wants_sums: bool) -> Growth:
        """Messages to all shards; takes their answers."""
        self._columns, self._wants_sums = start.columns, wants_sums
        self._rules = self._options.rules(start.units, start.noise)[0]
        self._nodes = np.empty(64, dtype=NODE)
        self._n_nodes = 1
        self._sums: Ints | None = None
        self._is_closed = False
        new_node(self._nodes, 0, 0, np.uint64(start.key), 0, 0, -np.inf, np.inf)
        self._nodes["n_rows"][0] = start.n_rows
        yield from self._open(start)
        limit_by_root(self._nodes[0], self._rules)
        if self._options.symmetric:
            chosen = yield from self._by_shared_splits()
        else:
            self._search(self._splittable(0, 1))
            chosen = yield from (self._by_leaf() if is_leaf_wise(self._options) else self._by_level())
        return (yield from self._end(start, chosen))

    def _open(self, start: TreeStart) -> Generator[Message, Sequence[Any], None]:
        """Begin with all rows of the sample in the root, whose sums its histogram tells."""
        finder, used = self._finder, start.columns.used
        at_once = finder.needs_histograms and not self._groups.features
        opened: Sequence[Opened] = yield Open(start.k, start.units, start.halves, used, finder.n_sums, at_once)
        histograms = [own.histograms for own in opened if own.histograms is not None]
        if self._groups.features:
            self._groups.begin([own.level_sums for own in opened])
            root = np.zeros(int(finder.needs_histograms), dtype=np.int64)
            grouped: Sequence[Stepped] = yield Step([], self._nodes[:0], root)
            histograms = [own.histograms for own in grouped if own.histograms is not None]
        finder.open_root(self._nodes, used, histograms)

    def _end(self, start: TreeStart, chosen: Ids) -> Growth:
        nodes = self._nodes[: self._n_nodes]
        self._finder.end(nodes)
        splits = np.zeros(self._n_nodes, dtype=np.bool_)
        splits[chosen] = True
        tree = GrownTree(nodes, splits)
        prune(tree, self._options, start.units)
        if not self._is_closed:
            sums = yield Close(tree.leaves, len(nodes), self._wants_sums)
            self._sums = total(sums) if self._wants_sums else None
        return Grown(start, tree, self._rules, self._sums)

    def _by_level(self) -> Generator[Message, Sequence[Any], Ids]:
        most = self._options.max_leaves or NO_LIMIT
        chosen: Ids = []
        level = [0] if self._nodes["gain"][0] > NO_GAIN else []
        while level and len(chosen) + 1 < most:
            level = level[: most - len(chosen) - 1]
            chosen += level
            yield from self._expand(level, chosen)
            children = np.arange(self._n_nodes - 2 * len(level), self._n_nodes)
            level = children[self._nodes["gain"][children] > NO_GAIN].tolist()
        return chosen

    def _by_leaf(self) -> Generator[Message, Sequence[Any], Ids]:
        most = self._options.max_leaves
        chosen: Ids = []
        ahead = np.empty(AHEAD, dtype=np.int64)  # leaves to split next, in any order
        heap, n = np.zeros(most + 1, dtype=np.int64), int(self._nodes["gain"][0] > NO_GAIN)
        while n > 0 and len(chosen) + 1 < most:
            if self._nodes["left"][heap[0]] < 0:
                n_ahead = best_without_children(self._nodes, heap, n, min(AHEAD, most - len(chosen) - 1), ahead)
                yield from self._expand(ahead[:n_ahead].tolist())
            best, n = int(pop(self._nodes, heap, n)), n - 1
            chosen.append(best)
            for child in (self._nodes["left"][best], self._nodes["right"][best]):
                if self._nodes["gain"][child] > NO_GAIN:
                    push(self._nodes, heap, n, child)
                    n += 1
        return chosen

    def _by_shared_splits(self) -> Generator[Message, Sequence[Any], Ids]:
        """A node that gains nothing by the split of its level takes part in the next level."""
        assert isinstance(self._finder, HistogramSearch)  # others are refused
        most, deepest = self._options.max_leaves or NO_LIMIT, self._options.max_depth or NO_LIMIT
        chosen: Ids = []
        level, depth = self._splittable(0, 1), 0
        while level and depth < deepest:
            split = self._finder.split_level(self._nodes, level, depth, self._columns, self._rules)
            if not split or len(chosen) + len(split) + 1 > most:
                break
            chosen += split
            children = yield from self._branch(split, chosen if depth + 1 == deepest else None)
            level = [*(node for node in level if self._nodes["gain"][node] == NO_GAIN), *children]
            depth += 1
        return chosen

    def _splittable(self, first: int, last: int) -> Ids:
        """Those of the nodes first…last-1 that may be split."""
        mask = np.empty(last - first, dtype=np.bool_)
        mark_splittable(self._nodes, first, last, self._rules, mask)
        return (first + np.flatnonzero(mask)).tolist()

    def _expand(self, ids: Ids, chosen: Ids | None = None) -> Generator[Message, Sequence[Any], None]:
        """Make the children of nodes, and search those that may be split."""
        wanted = yield from self._branch(ids, chosen)
        self._search(wanted)

    def _branch(self, ids: Ids, chosen: Ids | None = None) -> Generator[Message, Sequence[Any], Ids]:
        """Make the children of nodes and move the rows; returns those that may be split.

        If none may be and `chosen` are all nodes that have been split, the tree is closed in the same exchange.
        """
        first, n_new = self._n_nodes, 2 * len(ids)
        if first + n_new > len(self._nodes):
            self._nodes = np.concatenate([self._nodes[:first], np.empty(first + 2 * n_new, dtype=NODE)])
        branch(np.array(ids, dtype=np.int64), first, self._signs, self._rules, self._nodes)
        self._n_nodes += n_new
        nodes = self._nodes
        self._columns.follow(nodes, ids)
        for side in ("left", "right"):  # no child can have more rows
            nodes["n_rows"][nodes[side][ids]] = nodes["n_rows"][ids]
        wanted = self._splittable(first, self._n_nodes)
        built, close = self._finder.to_build(nodes, ids, wanted), None
        if not wanted and chosen is not None and not (self._options.ccp_alpha > 0.0 or self._options.gamma > 0.0):
            splits = np.isin(np.arange(self._n_nodes), chosen)
            close = Close(GrownTree(nodes[: self._n_nodes], splits).leaves, self._n_nodes, self._wants_sums)
            self._is_closed = True
        answers: Sequence[Stepped] = yield Step(ids, nodes[ids], built, close)
        counts = total([own.n_left for own in answers])
        nodes["n_rows"][nodes["left"][ids]] = counts
        nodes["n_rows"][nodes["right"][ids]] = nodes["n_rows"][ids] - counts
        wanted = self._splittable(first, self._n_nodes)
        self._finder.branch(
            nodes, ids, wanted, built, [own.histograms for own in answers if own.histograms is not None]
        )
        if close is not None and self._wants_sums:
            self._sums = total([own.leaf_sums for own in answers if own.leaf_sums is not None])
        return wanted

    def _search(self, ids: Ids) -> None:
        if not ids:
            return
        self._finder.find(self._nodes, ids, self._columns, self._rules)
        drop_weak_splits(self._nodes, np.array(ids, dtype=np.int64), self._rules)

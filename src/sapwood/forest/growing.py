"""Growing of a forest: batches of trees in parallel, added in their order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter

import numpy as np

from sapwood.arrays import Array, Floats, Ints
from sapwood.counted import counted
from sapwood.errors import warn_user
from sapwood.forest.bags import Bag, Bags
from sapwood.forest.forest import Vote
from sapwood.forest.leaf_targets import LeafRows
from sapwood.forest.out_of_bag import OutOfBag, is_flat
from sapwood.growth.criteria import Statistics
from sapwood.growth.forest_grower import ForestGrower
from sapwood.interrupts import INTERRUPTED, Interrupts
from sapwood.packed_tree import PackedTree
from sapwood.predictor import Predictor
from sapwood.progress_bar import ProgressBar, Shown
from sapwood.table.table import Table
from sapwood.table.target import NumberTarget
from sapwood.threads import run_all

BATCH = 4  # trees for each thread between checks of the curve and the clock


@dataclass(eq=False)
class Growing:
    """A forest that grows; trees that an earlier fit grew come first."""

    grower: ForestGrower
    bags: Bags
    table: Table
    vote: Vote
    n_jobs: int = 1
    out_of_bag: OutOfBag | None = None
    tolerance: float | None = None  # of the out-of-bag curve, below which growth ends
    keeps_rows: bool = False
    balance: bool = False  # classes weigh the same in every bag
    has_weights: bool = False  # rows have weights besides how often they were drawn
    trees: list[PackedTree] = field(default_factory=list)
    leaf_targets: list[LeafRows] = field(default_factory=list)
    keep: Callable[[], None] | None = None  # called between batches


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A tree, and its votes for the rows outside of its bag."""

    tree: PackedTree
    outside: Ints | None
    votes: Floats | None
    leaf_rows: LeafRows | None


def grow_forest(growing: Growing, n_trees: int, verbose: int = 0) -> str:
    """Grow until there are enough trees, or until the curve is flat; returns why growth ended."""
    start = perf_counter()
    first = len(growing.trees)
    _vote_again(growing, first)
    with Interrupts() as interrupts, ProgressBar(verbose) as show:
        while len(growing.trees) < n_trees:
            at = len(growing.trees)
            numbers = range(at, min(at + BATCH * growing.n_jobs, n_trees))
            for grown in run_all([partial(_grow_one, growing, t) for t in numbers], growing.n_jobs):
                growing.trees.append(grown.tree)
                if _add_votes(growing, grown):
                    return f"the out-of-bag error was flat after {counted(len(growing.trees), 'tree')}"
            show(Shown(len(growing.trees), n_trees, perf_counter() - start, _history(growing)))
            if interrupts.signal_name is not None:
                reason = f"{INTERRUPTED} {interrupts.signal_name} after {counted(len(growing.trees), 'tree')}"
                warn_user(f"Growth was {reason}; the forest holds the trees grown so far.")
                return reason
            if growing.keep is not None and len(growing.trees) < n_trees:
                growing.keep()
    return "all trees were grown"


def _history(growing: Growing) -> dict[str, dict[str, list[float]]]:
    """The error so far, of numbers its root, which is in the unit of the target."""
    if growing.out_of_bag is None:
        return {}
    curve = growing.out_of_bag.curve
    if isinstance(growing.out_of_bag.target, NumberTarget):
        return {"oob": {"rmse": [error**0.5 for error in curve[-1:]]}}
    return {"oob": {"error": curve}}


def _grow_one(growing: Growing, t: int) -> GrownTree:
    bag = growing.bags.bag(t)
    tree = growing.grower.grow(bag.rows, _weights(growing, bag), growing.bags.key(t), bag.features)
    return _with_votes(growing, PackedTree.of(tree), Predictor(tree), bag)


def _weights(growing: Growing, bag: Bag) -> Array:
    """Weights of the rows of a bag: how often they were drawn, times what they weigh if weights are not for draws."""
    statistics = growing.grower.statistics
    weight: Array = bag.counts
    if growing.has_weights:
        weight = statistics.wy[bag.rows, 0] * bag.counts
    return weight * balanced(statistics, bag.rows, weight) if growing.balance else weight


def _with_votes(growing: Growing, tree: PackedTree, predictor: Predictor, bag: Bag) -> GrownTree:
    outside = votes = kept = None
    if growing.out_of_bag is not None:
        outside = bag.outside(growing.table.n_rows)
        votes = growing.vote(predictor.tree.value)[predictor.leaves(growing.table, outside)]
    if growing.keeps_rows:
        kept = LeafRows.of(bag, predictor.leaves(growing.table, bag.rows), predictor.tree.node_count)
    return GrownTree(tree, outside, votes, kept)


def _add_votes(growing: Growing, grown: GrownTree) -> bool:
    """Add the votes of a tree for rows outside of its bag; returns whether it is the last one that is needed."""
    if grown.leaf_rows is not None:
        growing.leaf_targets.append(grown.leaf_rows)
    if growing.out_of_bag is None or grown.outside is None or grown.votes is None:
        return False
    growing.out_of_bag.add(grown.outside, grown.votes)
    return growing.tolerance is not None and is_flat(growing.out_of_bag.curve, growing.tolerance)


def _vote_again(growing: Growing, n_trees: int) -> None:
    """Add the votes of the trees of an earlier fit, which were not kept."""
    if growing.out_of_bag is None and not growing.keeps_rows:
        return

    def again(t: int) -> GrownTree:
        tree = growing.trees[t]
        return _with_votes(growing, tree, Predictor(tree.unpack()), growing.bags.bag(t))

    for grown in run_all([partial(again, t) for t in range(n_trees)], growing.n_jobs):
        _add_votes(growing, grown)


def balanced(statistics: Statistics, rows: Array, weight: Floats) -> Floats:
    """Factor of each row after which all classes that occur in a bag weigh the same; the product over the outputs."""
    factor = np.ones(len(rows))
    for o in range(statistics.n_outputs):
        classes = statistics.wy[rows, 1 + o].astype(np.int64)
        totals = np.bincount(classes, weights=weight)
        factor *= totals.sum() / (np.count_nonzero(totals) * totals[classes])
    return factor

"""Growing of a forest: batches of trees in parallel, taken up in their order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.counted import counted
from sapwood.forest.bags import Bag, Bags
from sapwood.forest.forest import Vote
from sapwood.forest.leaf_targets import LeafRows
from sapwood.forest.out_of_bag import OutOfBag, is_flat
from sapwood.growth.criteria import Statistics
from sapwood.growth.forest_grower import ForestGrower
from sapwood.interrupts import Interrupts
from sapwood.packed_tree import PackedTree
from sapwood.predictor import Predictor
from sapwood.progress_bar import ProgressBar, Shown
from sapwood.table.table import Table
from sapwood.table.target import NumberTarget
from sapwood.threads import run_all

BATCH = 4  # trees for each thread before a look at the curve and the clock
Floats = NDArray[np.float64]


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
class Sprout:
    """A tree, and what it says about the rows outside of its bag."""

    tree: PackedTree
    outside: NDArray[np.int64] | None
    said: Floats | None
    leaf_rows: LeafRows | None


def grow_forest(growing: Growing, n_trees: int, verbose: int = 0) -> str:
    """Grow until there are so many trees, or until the curve is flat; returns why growth ended."""
    start = perf_counter()
    first = len(growing.trees)
    _catch_up(growing, first)
    with Interrupts() as interrupts, ProgressBar(verbose) as show:
        while len(growing.trees) < n_trees:
            at = len(growing.trees)
            numbers = range(at, min(at + BATCH * growing.n_jobs, n_trees))
            for sprout in run_all([partial(_grow_one, growing, t) for t in numbers], growing.n_jobs):
                if _take_up(growing, sprout):
                    return f"the out-of-bag error was flat after {counted(len(growing.trees), 'tree')}"
            show(Shown(len(growing.trees), n_trees, perf_counter() - start, _history(growing)))
            if interrupts.asked is not None:
                return f"{interrupts.asked} after {counted(len(growing.trees), 'tree')}"
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


def _grow_one(growing: Growing, t: int) -> Sprout:
    bag = growing.bags.bag(t)
    tree = growing.grower.grow(bag.rows, _weights(growing, bag), growing.bags.key(t), bag.features)
    return _sprout(growing, PackedTree.of(tree), Predictor(tree), bag)


def _weights(growing: Growing, bag: Bag) -> NDArray[Any]:
    """Weights of the rows of a bag: how often they were drawn, times what they weigh if weights are not for draws."""
    statistics = growing.grower.statistics
    weight: NDArray[Any] = bag.counts
    if growing.has_weights:
        weight = statistics.wy[bag.rows, 0] * bag.counts
    return weight * balanced(statistics, bag.rows, weight) if growing.balance else weight


def _sprout(growing: Growing, tree: PackedTree, predictor: Predictor, bag: Bag) -> Sprout:
    outside = said = kept = None
    if growing.out_of_bag is not None:
        outside = bag.outside(growing.table.n_rows)
        said = growing.vote(predictor.tree.value)[predictor.leaves(growing.table, outside)]
    if growing.keeps_rows:
        kept = LeafRows.of(bag, predictor.leaves(growing.table, bag.rows), predictor.tree.node_count)
    return Sprout(tree, outside, said, kept)


def _take_up(growing: Growing, sprout: Sprout) -> bool:
    """Add a tree; returns whether it was the last one that is needed."""
    growing.trees.append(sprout.tree)
    return _hear(growing, sprout)


def _hear(growing: Growing, sprout: Sprout) -> bool:
    if sprout.leaf_rows is not None:
        growing.leaf_targets.append(sprout.leaf_rows)
    if growing.out_of_bag is None or sprout.outside is None or sprout.said is None:
        return False
    growing.out_of_bag.add(sprout.outside, sprout.said)
    return growing.tolerance is not None and is_flat(growing.out_of_bag.curve, growing.tolerance)


def _catch_up(growing: Growing, n_trees: int) -> None:
    """Hear the trees of an earlier fit again: what they say about rows outside of their bags is not kept."""
    if growing.out_of_bag is None and not growing.keeps_rows:
        return

    def again(t: int) -> Sprout:
        tree = growing.trees[t]
        return _sprout(growing, tree, Predictor(tree.unpack()), growing.bags.bag(t))

    for sprout in run_all([partial(again, t) for t in range(n_trees)], growing.n_jobs):
        _hear(growing, sprout)


def balanced(statistics: Statistics, rows: NDArray[Any], weight: Floats) -> Floats:
    """Factor of each row after which all classes that occur in a bag weigh the same; the product over the outputs."""
    factor = np.ones(len(rows))
    for o in range(statistics.n_outputs):
        classes = statistics.wy[rows, 1 + o].astype(np.int64)
        totals = np.bincount(classes, weights=weight)
        factor *= totals.sum() / (np.count_nonzero(totals) * totals[classes])
    return factor

"""Trees evaluated from the leaves up, on codes: the fastest method for many rows, see `kernels/bottom_up.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sapwood.arrays import Array
from sapwood.kernels.bottom_up import NODE, TREE, Below, Coding, Scratch, Trees, add_scores
from sapwood.kernels.lanes import LANES
from sapwood.kernels.linear_leaves import Lines
from sapwood.kernels.traverse import BATCH
from sapwood.predictor.places import Places
from sapwood.predictor.tree_steps import TreeSteps, starts

MOST_STEPS = 255  # of a tree that is evaluated as a whole: a byte numbers its leaves
TOP_STEPS = 127  # of a larger tree that are evaluated: twice as many save only one more step of the descent
BLOCK_ROWS = 1 << 11  # that pass all trees while their cells are in the cache; few enough to be shared out evenly
SMALL, LARGE = 1 << 15, 1 << 18  # bytes of codes of rows that pass a tree together, so that codes, or a tree, stay near


class Memory(NamedTuple):
    """What a thread needs: how cells become codes, how rows descend further, and memory for some groups of 64 rows."""

    coding: Coding
    below: Below | None
    lines: Lines | None
    scratch: Scratch


@dataclass(frozen=True, eq=False)
class BottomUp:
    """The trees of a sum of trees; of large trees the steps that most rows pass, and none if rows may stop at steps."""

    packed: TreeSteps
    places: Places
    trees: Trees
    exits: NDArray[np.int32]  # of all trees: ~leaf, or a step of a large tree from which rows descend
    n_slots: int  # exits of a tree at most
    may_stop: bool

    @classmethod
    def of(cls, packed: TreeSteps, may_stop: bool) -> BottomUp:
        """From the steps of all trees."""
        chosen = np.empty(0, dtype=np.intp) if may_stop else _chosen(packed)
        tree = np.repeat(np.arange(len(packed.n_steps)), packed.n_steps)[chosen]
        n_nodes = np.bincount(tree, minlength=len(packed.n_steps))
        trees, first_node = np.zeros(len(n_nodes), dtype=TREE), starts(n_nodes)
        trees["first"], trees["end"] = first_node, first_node + n_nodes
        trees["exit"], trees["n_exits"] = starts(n_nodes + 1), n_nodes + 1
        trees["column"] = packed.column
        places, nodes, subsets = _nodes(packed, chosen)
        order = _deepest_first(packed, chosen, tree)
        exits, children, n_slots = _children(packed, chosen, tree, n_nodes, order)
        nodes["left"], nodes["right"] = children.T * LANES
        leaf_values = _leaf_values(packed, exits, n_nodes + 1)
        all_trees = Trees(trees, nodes[order], subsets, leaf_values, np.uint64(packed.width))
        return cls(packed, places, all_trees, exits, n_slots, may_stop)

    @property
    def features(self) -> list[int]:
        """Columns of the table that are used, ascending."""
        return self.packed.features

    def columns_needed(self, narrow: bool) -> int:
        """Minimum number of columns of a table, or of one that has the used columns alone."""
        return (self.packed.narrow if narrow else self.packed).n_columns

    @staticmethod
    def block_rows(_n_rows: int, _n_jobs: int) -> int:
        """How many rows make a block."""
        return BLOCK_ROWS

    def memory(self, dtype: np.dtype, n_rows: int, n_columns: int, narrow: bool) -> Memory:
        """Memory for blocks of this many rows, one after the other.

        A narrow block has the columns that trees use, and no others.
        """
        is_small = len(self.trees.leaf_values) > 0
        room = (SMALL if is_small else LARGE) // max(1, self.places.n_places * LANES)
        n_groups = max(1, min(-(-n_rows // LANES), room))
        n_groups += n_groups % 2
        coding = self.places.narrow() if narrow else self.places.coding
        below = None if is_small else self._below(n_groups, narrow)
        lines = (self.packed.narrow if narrow else self.packed).lines
        return Memory(coding, below, lines, self._scratch(dtype, n_groups, n_columns))

    def add(self, cells: Array, out: NDArray[np.float64], start: int, n_trees: int, memory: Memory) -> None:
        """Add the scores by the first trees of a block of rows to `out` (columns, rows), from row `start` on."""
        coding, below, lines, scratch = memory
        levels = None if below is None else self.packed.levels
        add_scores(cells, coding, self.trees, below, levels, lines, scratch, np.uint64(n_trees), out, np.uint64(start))

    def _below(self, n_groups: int, narrow: bool) -> Below:
        packed = self.packed.narrow if narrow else self.packed
        at, under_way = np.empty(n_groups * LANES, dtype=np.int32), np.empty(int(BATCH), dtype=np.uint64)
        return Below(self.exits, packed.steps, packed.leaf_values, self.may_stop, at, under_way)

    def _scratch(self, dtype: np.dtype, n_groups: int, n_columns: int) -> Scratch:
        slots = aligned(4 * self.n_slots * LANES, np.uint8)
        sizes = np.array([self.places.n_places, self.places.n_categories, self.n_slots], dtype=np.uint64) * LANES
        slots.reshape(2, -1)[:, : sizes[2]] = np.repeat(np.arange(self.n_slots, dtype=np.uint8), LANES)
        return Scratch(
            aligned(n_groups * int(sizes[0]), np.uint8),
            aligned(n_groups * int(sizes[1]), np.uint32),
            aligned(LANES, dtype),
            aligned(LANES, np.uint32),
            aligned(LANES, np.uint8),
            slots,
            aligned(n_groups * LANES, np.uint8),
            aligned(n_groups * n_columns * LANES, np.float64),
            np.uint64(n_groups),
            sizes,
        )


def aligned(size: int, dtype: DTypeLike) -> Array:
    """Memory that begins with a cache line."""
    n_bytes = size * np.dtype(dtype).itemsize
    room = np.empty(n_bytes + LANES, dtype=np.uint8)
    start = -room.ctypes.data % LANES
    return room[start : start + n_bytes].view(dtype)


def _chosen(packed: TreeSteps) -> NDArray[np.intp]:
    """Steps that are evaluated, ascending: all of a small tree, the top of a large one."""
    is_chosen = np.ones(len(packed.steps), dtype=bool)
    first = starts(packed.n_steps)
    for t in np.flatnonzero(packed.n_steps > MOST_STEPS):
        own = slice(first[t], first[t] + packed.n_steps[t])
        is_chosen[own] = False
        # No more rows pass a step than its parent, which comes first in preorder: the top hangs together
        is_chosen[first[t] + np.argsort(-packed.n_rows[own], kind="stable")[:TOP_STEPS]] = True
    return np.flatnonzero(is_chosen)


def _deepest_first(packed: TreeSteps, chosen: Array, tree: Array) -> NDArray[np.intp]:
    """The steps that are evaluated, tree by tree: children long before their parents, which need what they give."""
    number = np.full(len(packed.steps) + 1, -1)  # of a step among those evaluated; the last is for leaves
    number[chosen] = np.arange(len(chosen))
    depth, here, level = np.zeros(len(chosen), dtype=np.int64), number[np.maximum(packed.roots, -1)], 0
    while (here := here[here >= 0]).size:
        depth[here], level = level, level + 1
        children = packed.steps[chosen[here]]
        here = number[np.maximum(np.concatenate([children["left"], children["right"]]), -1)]
    return np.lexsort((-depth, tree))


def _children(
    packed: TreeSteps, chosen: Array, tree: Array, n_nodes: Array, order: Array
) -> tuple[NDArray[np.int32], Array, int]:
    """Exits of all trees, the slots of both children of each step that is evaluated, and how many slots exits take."""
    number = np.full(len(packed.steps) + 1, -1)  # of a step among those evaluated in its tree; the last is for leaves
    number[chosen[order]] = np.arange(len(chosen)) - starts(n_nodes)[tree]
    child = np.stack([packed.steps["left"][chosen], packed.steps["right"][chosen]], axis=1)
    inside = number[np.maximum(child, -1)]
    is_exit = inside < 0
    has_nodes, n_slots = n_nodes > 0, int(n_nodes.max()) + 1
    before = starts(np.where(has_nodes, n_nodes + 1, 0))[tree]
    exit_number = (np.cumsum(is_exit) - 1).reshape(-1, 2) - before[:, None]
    first_exit = starts(n_nodes + 1)
    exits = np.empty(len(chosen) + len(n_nodes), dtype=np.int32)
    exits[first_exit[~has_nodes]] = packed.roots[~has_nodes]
    exits[(first_exit[tree][:, None] + exit_number)[is_exit]] = child[is_exit]
    return exits, np.where(is_exit, exit_number, n_slots + inside), n_slots


def _nodes(packed: TreeSteps, chosen: Array) -> tuple[Places, Array, Array]:
    """Where each step that is evaluated finds its codes, the nodes without children, and the subsets of levels."""
    steps = packed.steps[chosen]
    feature, missing_left = (steps["test"] >> np.uint32(1)).astype(np.int64), (steps["test"] & np.uint32(1)) > 0
    n_levels, subsets = np.zeros(len(steps), dtype=np.int64), np.zeros(1, dtype=np.uint32)
    nodes = np.zeros(len(steps), dtype=NODE)
    if packed.levels is not None:
        start = packed.levels.start[chosen]
        is_category = start >= 0
        n_levels = np.where(is_category, packed.levels.n_levels[feature], 0)
        subsets, nodes["subset"] = _with_missing(packed.levels.subsets, start, n_levels, missing_left)
        nodes["is_category"] = is_category
    places = Places.of(feature, steps["threshold"], missing_left, n_levels)
    nodes["codes"], nodes["code"] = places.place * np.uint32(LANES), places.code
    return places, nodes, subsets


def _with_missing(subsets: Array, given: Array, n_levels: Array, missing_left: Array) -> tuple[Array, Array]:
    """Subsets with one more level for all unknown ones, which goes where missing values go; where each begins."""
    start = np.zeros(len(n_levels), dtype=np.uint32)
    parts, size = [np.empty(0, dtype=np.uint32)], 0
    for split in np.flatnonzero(given >= 0):
        last, bit = divmod(int(n_levels[split]), 32)
        own = np.zeros(last + 1, dtype=np.uint32)
        kept = last + (bit > 0)
        own[:kept] = subsets[given[split] : given[split] + kept]
        own[last] = int(own[last]) & (1 << bit) - 1 | int(missing_left[split]) << bit
        start[split] = size
        size += len(own)
        parts.append(own)
    return np.concatenate(parts), start


def _leaf_values(packed: TreeSteps, exits: Array, n_exits: Array) -> NDArray[np.float64]:
    """Values of leaves, tree by tree and, in a tree, all first values, all second ones, and so on.

    None if a tree is large, or leaves are linear, which need cells.
    """
    if (exits >= 0).any() or packed.lines is not None:
        return np.empty(0)
    values = packed.leaf_values.reshape(-1, packed.width)[~exits]
    if packed.width == 1:
        return np.ascontiguousarray(values[:, 0])
    return np.concatenate([tree.T.ravel() for tree in np.split(values, np.cumsum(n_exits)[:-1])])

"""Large trees evaluated by descent on codes of two bytes, see `kernels/code_descent.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array
from sapwood.kernels.bottom_up import Coding
from sapwood.kernels.code_descent import ENTRY, LEAF_CODE, Entries, Scratch, add_scores_by_codes
from sapwood.kernels.lanes import LANES
from sapwood.predictor.bottom_up import MOST_STEPS, aligned
from sapwood.predictor.places import Places
from sapwood.predictor.tree_steps import TreeSteps

CODES = int(LEAF_CODE)  # that a place may have; one more marks leaves and missing values that go right
LEAST_TREES = 2  # for each column: a code takes as long as a tree saves
LINE = 32  # codes of a cache line: rows begin with one
MOST_TOGETHER = 64  # steps that rows take together, arrived or not
BLOCK_ROWS = 1 << 13  # many, since every block reads all trees
LEAST_ROWS = 1 << 9
BLOCKS = 4  # for each thread, so that all are busy to the end
MOST_CODES = 1 << 20  # bytes of codes of rows that pass a tree together


class Memory(NamedTuple):
    """What a thread needs: how cells become codes, and memory for some groups of 64 rows."""

    coding: Coding
    scratch: Scratch


@dataclass(frozen=True, eq=False)
class CodeDescent:
    """The trees of a sum of trees as entries."""

    places: Places
    trees: Entries
    n_columns: int  # minimum number of columns of a table

    @staticmethod
    def suits(packed: TreeSteps) -> bool:
        """Whether some trees are large, they only compare numbers, and are so many that codes are worth their time."""
        is_large = packed.n_steps.max(initial=0) > MOST_STEPS
        is_plain = packed.levels is None and packed.lines is None
        return bool(is_large) and is_plain and len(packed.roots) >= LEAST_TREES * len(packed.features)

    @classmethod
    def of(cls, packed: TreeSteps) -> CodeDescent:
        """From the steps of all trees."""
        feature, missing_left = (packed.steps["test"] >> np.uint32(1)).astype(np.int64), packed.steps["test"] & 1 > 0
        places = Places.of(feature, packed.steps["threshold"], missing_left, np.zeros(len(feature), np.int64), CODES)
        entries, leaf = _entries(packed, places)
        roots = (2 * len(packed.steps) + np.arange(len(packed.roots))).astype(np.uint32)
        n_steps, width = _steps_together(packed), np.uint64(packed.width)
        trees = Entries(entries, roots, n_steps, packed.column, leaf, packed.leaf_values, width)
        return cls(places, trees, packed.n_columns)

    @property
    def features(self) -> list[int]:
        """Columns of the table that are used, ascending."""
        return self.places.features

    def columns_needed(self, narrow: bool) -> int:
        """Minimum number of columns of a table, or of one that has the used columns alone."""
        return len(self.features) if narrow else self.n_columns

    @staticmethod
    def block_rows(n_rows: int, n_jobs: int) -> int:
        """How many rows make a block."""
        return min(BLOCK_ROWS, max(LEAST_ROWS, -(-n_rows // (BLOCKS * n_jobs))))

    def memory(self, dtype: np.dtype, n_rows: int, _n_columns: int, narrow: bool) -> Memory:
        """Memory for blocks of this many rows, one after the other; a narrow block has the used columns alone."""
        n_places = -(-self.places.n_places // LINE) * LINE
        n_groups = max(1, min(-(-n_rows // LANES), MOST_CODES // (2 * n_places * LANES)))
        scratch = Scratch(
            aligned(n_groups * LANES * n_places, np.uint16),
            aligned(LANES, dtype),
            aligned(LANES, np.uint32),
            aligned(n_groups * LANES, np.uint32),
            aligned(n_groups * LANES, np.uint64),
            np.uint64(n_groups * LANES),
            np.uint64(n_places),
        )
        return Memory(self.places.narrow() if narrow else self.places.coding, scratch)

    def add(self, cells: Array, out: NDArray[np.float64], start: int, n_trees: int, memory: Memory) -> None:
        """Add the scores by the first trees of a block of rows to `out` (columns, rows), from row `start` on."""
        coding, scratch = memory
        add_scores_by_codes(cells, coding, self.trees, scratch, np.uint64(n_trees), out, np.uint64(start))


def _entries(packed: TreeSteps, places: Places) -> tuple[Array, NDArray[np.uint32]]:
    """The children of each step, step by step, then the roots; and the numbers of the leaves among them."""
    steps = packed.steps
    node = np.concatenate([np.stack([steps["left"], steps["right"]], axis=1).ravel(), packed.roots])
    is_leaf = node < 0
    entries, step = np.zeros(len(node), dtype=ENTRY), node[~is_leaf]
    entries["child"], entries["code"] = np.arange(len(node)), LEAF_CODE
    entries["code"][~is_leaf], entries["place"][~is_leaf] = places.code[step], places.place[step]
    entries["child"][~is_leaf] = 2 * step
    return entries, np.where(is_leaf, ~node, 0).astype(np.uint32)


def _steps_together(packed: TreeSteps) -> NDArray[np.uint32]:
    """How many steps at least half of the training rows of each tree make."""
    n_steps, n_trees = np.zeros(len(packed.roots), dtype=np.uint32), len(packed.roots)
    tree, here = np.flatnonzero(packed.roots >= 0), packed.roots[packed.roots >= 0]
    n_rows = np.bincount(tree, packed.n_rows[here], n_trees)
    for _ in range(MOST_TOGETHER):
        is_most = 2 * np.bincount(tree, packed.n_rows[here], n_trees) > n_rows
        if not is_most.any():
            break
        n_steps += is_most
        children = np.concatenate([packed.steps["left"][here], packed.steps["right"][here]])
        stays = children >= 0
        tree, here = np.tile(tree, 2)[stays], children[stays]
    return n_steps

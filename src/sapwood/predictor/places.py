"""Places: where cells are compared with thresholds by codes of one byte, or of two.

The thresholds of a column that occur in the trees are its cuts, ascending. A cell's count is how many of them are less:
`x <= cut i` is `count <= i`. A byte counts up to 255: a place stands for at most 255 consecutive cuts of a column, and
holds the count of these alone. A missing value has count 0, which goes left everywhere, or gets 255, which goes right:
columns whose missing values go both ways have places of both kinds. Two bytes count up to 65535.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array
from sapwood.kernels.bottom_up import COLUMN, PLACE, Coding
from sapwood.kernels.lanes import FAN, LANES

CUTS = 255  # of a place whose codes are bytes


@dataclass(frozen=True, eq=False)
class Places:
    """How the cells of a table become codes, and where each split finds its own."""

    coding: Coding
    n_places: int
    n_categories: int
    place: NDArray[np.uint32]  # for each split; of a category, which of the category columns it is
    code: NDArray[np.uint16]  # for each split

    @classmethod
    def of(cls, feature: Array, cut: Array, missing_left: Array, n_levels: Array, most_cuts: int = CUTS) -> Places:
        """Places of so many cuts at most for splits of columns; `n_levels` is 0 for splits of numbers."""
        place, code = np.zeros(len(feature), dtype=np.uint32), np.zeros(len(feature), dtype=np.uint16)
        columns: list[tuple[int, ...]] = []
        cuts: list[Array] = []
        places: list[tuple[int, ...]] = []
        n_cuts = n_categories = 0
        for own in _by_feature(feature):
            j, levels = int(feature[own[0]]), int(n_levels[own[0]])
            if levels:
                place[own] = n_categories
                columns.append((j, levels, 0, 0, 0, 0, n_categories * LANES))
                n_categories += 1
                continue
            known, rank = np.unique(cut[own], return_inverse=True)
            code[own] = rank % most_cuts
            kinds, which = np.unique(rank // most_cuts * 2 + ~missing_left[own], return_inverse=True)
            place[own] = len(places) + which
            ladder = _ladder(known)
            columns.append((j, 0, n_cuts, len(ladder), len(places), len(kinds), 0))
            for kind in kinds.tolist():
                places.append((len(places) * LANES, kind // 2 * most_cuts, kind % 2 * most_cuts))
            cuts += ladder
            n_cuts += sum(map(len, ladder))
        joined = np.concatenate(cuts) if cuts else np.empty(0, dtype=cut.dtype)
        coding = Coding(np.array(columns, dtype=COLUMN), joined, np.array(places, dtype=PLACE))
        return cls(coding, len(places), n_categories, place, code)

    @property
    def features(self) -> list[int]:
        """Columns of the table that are used, ascending."""
        return [int(j) for j in self.coding.columns["feature"]]

    def narrow(self) -> Coding:
        """The same coding for a table of the used columns alone."""
        columns = self.coding.columns.copy()
        columns["feature"] = np.arange(len(columns))
        return self.coding._replace(columns=columns)


def _by_feature(feature: Array) -> list[Array]:
    """Numbers of the splits of each column that occurs, by column."""
    if not len(feature):
        return []
    order = np.argsort(feature, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(feature[order])) + 1)


def _ladder(cuts: Array) -> list[Array]:
    """The cuts as a tree of 16 branches, level by level: each key is the last cut of its branch.

    Infinity, which no number is above, fills the tree up, at least once.
    """
    depth = 1
    while FAN**depth <= len(cuts):
        depth += 1
    full = np.full(FAN**depth, np.inf, dtype=cuts.dtype)
    full[: len(cuts)] = cuts
    return [full[FAN**level - 1 :: FAN**level] for level in reversed(range(depth))]

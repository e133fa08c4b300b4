"""Categories of more levels than a byte holds: each tree sees them as up to 255 groups of levels, in order.

Before a tree is grown, levels are ordered by their effect on its gradients and cut into groups of about equal hessian;
a split is a cut of that order. While the tree grows, a row's group comes from the rows of the other half (see
`kernels/level_groups.py`). Afterwards all rows take the groups that new rows will have, and leaves are settled by them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Ints
from sapwood.boosting.grown import GrownTree
from sapwood.codes.bins import MOST_BINS, GroupedLevels
from sapwood.kernels.decoding import Decoder
from sapwood.kernels.level_groups import Moves, bound_nodes, code_effects, cut_levels, find_effects, recount
from sapwood.shard.gradient_units import GradientUnits
from sapwood.shard.shard import total
from sapwood.shard.shards import Shards

Codes = NDArray[np.uint8]


class LevelGroups:
    """The groups of one tree after the other."""

    def __init__(self, shards: Shards, bins: Sequence[object], decoder: Decoder) -> None:
        self._shards = shards
        self._decoder = decoder
        grouped = {j: own for j, own in enumerate(bins) if isinstance(own, GroupedLevels)}
        self.features = list(grouped)
        self._n_levels = [own.n_levels for own in grouped.values()]
        self._place_of = np.full(len(bins), -1)
        self._place_of[self.features] = np.arange(len(self.features))
        self._codes = np.zeros((len(self.features), 1 + max(self._n_levels, default=0)), dtype=np.uint8)

    def begin(self, level_sums: Sequence[list[Ints]]) -> None:
        """Group the levels by their sums in each shard, and code the rows; OUT shards, decoder."""
        groups = []
        for place, (j, n_levels) in enumerate(zip(self.features, self._n_levels, strict=True)):
            codes = group_levels(total([of_shard[place] for of_shard in level_sums]))
            groups.append((place, j, codes[:2]))
            start = self._decoder.level_starts[j]
            self._decoder.code_of_level[start : start + n_levels] = codes[2, 1:]
            self._codes[place, : n_levels + 1] = codes[2]
        if groups:
            self._shards.tell("begin_groups", groups)

    def settle(self, grown: GrownTree, rules: np.void, units: GradientUnits) -> tuple[GrownTree, Ints | None]:
        """Rows take the groups of their levels and move to the leaves they have then.

        Splits whose children are too small with these rows are undone. Returns the tree of these rows, and the sums of
        its leaves as `Shard.leaf_sums` has them; None where no row can have moved.
        """
        if not self.features:
            return grown, None
        n_nodes = len(grown.nodes)
        start, low = np.full(n_nodes, -1), np.zeros((len(self.features), n_nodes), np.uint8)
        moves = Moves(grown.nodes, grown.splits, self._place_of, self._codes, start, low, np.full_like(low, 255))
        if not bound_nodes(moves):
            return grown, None
        found = self._shards.ask("reroute", moves)
        sums, moved = (total(parts) for parts in zip(*found, strict=True))
        nodes, splits = grown.nodes.copy(), grown.splits.copy()
        scales = units.fine_gradient_unit / units.gradient_unit, units.fine_hessian_unit / units.hessian_unit
        recount(nodes, splits, sums, scales, moved, rules)
        settled = GrownTree(nodes, splits)
        if np.count_nonzero(splits) < np.count_nonzero(grown.splits):
            self._shards.tell("merge_leaves", 0, settled.leaf_above)
        return settled, sums


def group_levels(sums: Ints) -> Codes:
    """Codes (3, levels + 1) of levels from their sums (halves, levels + 1, 2): for rows of each half, and for new rows.

    Level 0 is missing and has code 0. One group holds all levels if the halves do not agree on any effect.
    """
    codes = np.ones((3, sums.shape[1]), dtype=np.uint8)
    codes[:, 0] = 0
    effects, keys = np.empty(codes.shape, dtype=np.float32), np.empty(sums.shape[1] - 1, dtype=np.uint64)
    if find_effects(sums, effects, effects[2].view(np.uint32), keys):
        keys.sort()
        cuts = np.full(MOST_BINS, np.inf, dtype=np.float32)
        cut_levels(keys, sums, effects[2], cuts)
        code_effects(effects, cuts, codes)
    return codes

"""Which rows of a shard a question is about."""

from __future__ import annotations

from typing import NamedTuple

from sapwood.row_parts.rows import RowPart
from sapwood.shard.row_state import RowState
from sapwood.shard.shard import Shard


class Asked(NamedTuple):
    """Which rows a question is about, what they weigh, and whether they are grouped by the leaves of a tree."""

    place: int | None = None  # of the tree
    are_own: bool = True  # only rows that train; otherwise all of them, those in no leaf in a group beyond the last
    weight: str = "weight"  # the name of an array of `RowState`

    def part(self, state: RowState, trees: list[Shard]) -> RowPart:
        """The rows of a shard."""
        weight, group = getattr(state, self.weight), None if self.place is None else trees[self.place].leaf_of
        if not self.are_own or state.own is None:
            return RowPart(state.y, state.score, weight, group)
        of = state.own
        own_weight, own_group = (None if array is None else array[of] for array in (weight, group))
        return RowPart(state.y[of], state.score[:, of], own_weight, own_group)

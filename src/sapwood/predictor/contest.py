"""Trees as tournaments on codes: the fastest way for many rows, see `kernels/tournament.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sapwood.kernels.lanes import LANES
from sapwood.kernels.tournament import CONTEST, MATCH, Coding, Ground, Rest, Season, play_season
from sapwood.kernels.traverse import CROWD
from sapwood.predictor.places import Places
from sapwood.predictor.woods import Woods, starts

MOST_STEPS = 255  # of a tree that is played to its end: a byte numbers its leaves
TOP_STEPS = 127  # of a larger tree that are played: twice as many matches save only one more step
SMALL, LARGE = 1 << 15, 1 << 18  # bytes of codes of rows that pass a tree together, so that codes, or a tree, stay near
Array = NDArray[Any]


class Field(NamedTuple):
    """What a thread needs to play on: codes of cells, and memory for some groups of 64 rows."""

    coding: Coding
    rest: Rest | None
    ground: Ground


@dataclass(frozen=True, eq=False)
class Contest:
    """The trees of a grove as tournaments; of large trees the steps that most rows pass."""

    woods: Woods
    places: Places
    season: Season
    exits: NDArray[np.int32]  # where rows leave a tournament: ~leaf, or a step of a large tree
    n_slots: int  # exits of a tree at most

    @classmethod
    def of(cls, woods: Woods) -> Contest:
        """From the steps of all trees."""
        played = _played(woods)
        tree = np.repeat(np.arange(len(woods.n_steps)), woods.n_steps)[played]
        n_matches = np.bincount(tree, minlength=len(woods.n_steps))
        contests, first_match = np.zeros(len(n_matches), dtype=CONTEST), starts(n_matches)
        contests["first"], contests["end"] = first_match, first_match + n_matches
        contests["exit"], contests["n_exits"] = starts(n_matches + 1), n_matches + 1
        contests["column"] = woods.column
        places, matches, subsets = _matches(woods, played)
        exits, branches, n_slots = _branches(woods, played, tree, n_matches)
        matches["left"], matches["right"] = branches.T * LANES
        backwards = (2 * first_match + n_matches - 1)[tree] - np.arange(len(played))  # children before their parents
        leaf_values = _leaf_values(woods, exits, n_matches + 1)
        season = Season(contests, matches[backwards], subsets, leaf_values, np.uint64(woods.width))
        return cls(woods, places, season, exits, n_slots)

    def field(self, dtype: np.dtype[Any], n_rows: int, n_columns: int, narrow: bool) -> Field:
        """Memory for blocks of so many rows, one after the other.

        A narrow block has the columns that trees ask for, and no others.
        """
        is_small = len(self.season.leaf_values) > 0
        room = (SMALL if is_small else LARGE) // max(1, self.places.n_places * LANES)
        n_groups = max(1, min(-(-n_rows // LANES), room))
        coding = self.places.narrow() if narrow else self.places.coding
        rest = None if is_small else self._rest(n_groups, narrow)
        return Field(coding, rest, self._ground(dtype, n_groups, n_columns))

    def add(self, cells: Array, out: NDArray[np.float64], start: int, n_trees: int, field: Field) -> None:
        """Add the scores by the first trees of a block of rows to `out` (columns, rows), from row `start` on."""
        coding, rest, ground = field
        levels = None if rest is None else self.woods.levels
        play_season(cells, coding, self.season, rest, levels, ground, np.uint64(n_trees), out, np.uint64(start))

    def _rest(self, n_groups: int, narrow: bool) -> Rest:
        woods = self.woods.narrow if narrow else self.woods
        at, crowd = np.empty(n_groups * LANES, dtype=np.int32), np.empty(CROWD, dtype=np.uint64)
        return Rest(self.exits, woods.steps, woods.leaf_values, at, crowd)

    def _ground(self, dtype: np.dtype[Any], n_groups: int, n_columns: int) -> Ground:
        slots = aligned(2 * self.n_slots * LANES, np.uint8)
        sizes = np.array([self.places.n_places, self.places.n_categories, self.n_slots], dtype=np.uint64) * LANES
        slots[: sizes[2]] = np.repeat(np.arange(self.n_slots, dtype=np.uint8), LANES)
        return Ground(
            aligned(n_groups * int(sizes[0]), np.uint8),
            aligned(n_groups * int(sizes[1]), np.uint32),
            aligned(LANES, dtype),
            aligned(LANES, np.uint32),
            aligned(LANES, np.uint8),
            slots,
            aligned(n_groups * n_columns * LANES, np.float64),
            np.uint64(n_groups),
            sizes,
        )


def aligned(size: int, dtype: Any) -> Array:
    """Memory that begins with a cache line."""
    n_bytes = size * np.dtype(dtype).itemsize
    room = np.empty(n_bytes + LANES, dtype=np.uint8)
    start = -room.ctypes.data % LANES
    return room[start : start + n_bytes].view(dtype)


def _played(woods: Woods) -> NDArray[np.intp]:
    """Steps that are played, ascending: all of a small tree, the top of a large one."""
    is_played = np.ones(len(woods.steps), dtype=bool)
    first = starts(woods.n_steps)
    for t in np.flatnonzero(woods.n_steps > MOST_STEPS):
        own = slice(first[t], first[t] + woods.n_steps[t])
        is_played[own] = False
        # No more rows pass a step than its parent, which comes first in preorder: the top hangs together
        is_played[first[t] + np.argsort(-woods.n_rows[own], kind="stable")[:TOP_STEPS]] = True
    return np.flatnonzero(is_played)


def _branches(woods: Woods, played: Array, tree: Array, n_matches: Array) -> tuple[NDArray[np.int32], Array, int]:
    """Exits of all trees, the slots of both branches of each step that is played, and how many slots exits take."""
    number = np.full(len(woods.steps) + 1, -1)  # of a step among those played in its tree; the last is for leaves
    number[played] = np.arange(len(played)) - starts(n_matches)[tree]
    child = np.stack([woods.steps["left"][played], woods.steps["right"][played]], axis=1)
    inside = number[np.maximum(child, -1)]
    is_exit = inside < 0
    has_matches, n_slots = n_matches > 0, int(n_matches.max()) + 1
    before = starts(np.where(has_matches, n_matches + 1, 0))[tree]
    exit_number = (np.cumsum(is_exit) - 1).reshape(-1, 2) - before[:, None]
    first_exit = starts(n_matches + 1)
    exits = np.empty(len(played) + len(n_matches), dtype=np.int32)
    exits[first_exit[~has_matches]] = woods.roots[~has_matches]
    exits[(first_exit[tree][:, None] + exit_number)[is_exit]] = child[is_exit]
    last = n_slots + n_matches[tree][:, None] - 1  # the root is played last, so slots count down along preorder
    return exits, np.where(is_exit, exit_number, last - inside), n_slots


def _matches(woods: Woods, played: Array) -> tuple[Places, Array, Array]:
    """Where each step that is played finds its codes, the matches without branches, and the subsets of levels."""
    steps = woods.steps[played]
    feature, missing_left = (steps["test"] >> np.uint32(1)).astype(np.int64), (steps["test"] & np.uint32(1)) > 0
    n_levels, subsets = np.zeros(len(steps), dtype=np.int64), np.zeros(1, dtype=np.uint32)
    matches = np.zeros(len(steps), dtype=MATCH)
    if woods.levels is not None:
        start = woods.levels.start[played]
        is_category = start >= 0
        n_levels = np.where(is_category, woods.levels.n_levels[feature], 0)
        subsets, matches["subset"] = _with_missing(woods.levels.subsets, start, n_levels, missing_left)
        matches["is_category"] = is_category
    places = Places.of(feature, steps["threshold"], missing_left, n_levels)
    matches["codes"], matches["code"] = places.place * np.uint32(LANES), places.code
    return places, matches, subsets


def _with_missing(subsets: Array, given: Array, n_levels: Array, missing_left: Array) -> tuple[Array, Array]:
    """Subsets with one more level for all that are none, which goes where missing values go; where each begins."""
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


def _leaf_values(woods: Woods, exits: Array, n_exits: Array) -> NDArray[np.float64]:
    """Values of leaves, tree by tree and, in a tree, all first values, all second ones, …; none if a tree is large."""
    if (exits >= 0).any():
        return np.empty(0)
    values = woods.leaf_values.reshape(-1, woods.width)[~exits]
    if woods.width == 1:
        return np.ascontiguousarray(values[:, 0])
    return np.concatenate([tree.T.ravel() for tree in np.split(values, np.cumsum(n_exits)[:-1])])

"""The cheapest change that reaches the target: a beam search finds a good one, branch and bound proves the best.

A point is a change: a candidate for each free column. The beam search changes one more column in each step and keeps
the points nearest to the target.

A box holds, for each free column, the candidates it may take. The cost of its cheapest corner is a lower bound for all
of its points, and the reachable leaves bound the margins of all of them. The box with the lowest bound comes first: if
its cheapest corner reaches the target, nothing is cheaper; else it is divided. Boxes that cannot reach the target, or
that cost more than a known change, are dropped.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from sapwood.arrays import Floats, Ints, Mask
from sapwood.explain.counterfactual.candidates import Candidates
from sapwood.explain.counterfactual.reachable_leaves import Choice, ReachableLeaves

Point = tuple[int, ...]
Measure = Callable[[list[Point]], tuple[Mask, Floats]]  # which reach the target, and the shortfall of the others

BEAM_WIDTH = 6
MOST_CANDIDATES = 48  # of a column that are tried at a time, evenly chosen
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Constraints:
    """Which columns may change, and how many of them together."""

    free: Sequence[Candidates]
    most_changes: int
    taken: Sequence[frozenset[int]] = ()  # sets of columns that must not all change

    def cost(self, point: Point) -> float:
        """The sum of the costs of the candidates."""
        return float(sum(own.costs[k] for own, k in zip(self.free, point, strict=True)))

    def changed(self, point: Point) -> frozenset[int]:
        """Columns that change."""
        return frozenset(j for j, own in enumerate(self.free) if point[j] != own.start)

    def allow(self, changed: frozenset[int]) -> bool:
        """Whether these columns may change together."""
        return len(changed) <= self.most_changes and not any(own <= changed for own in self.taken)


@dataclass(frozen=True, eq=False)
class Found:
    """The best change, if any, and whether none is better."""

    point: Point | None
    is_proven: bool


def beam_search(constraints: Constraints, measure: Measure) -> Point | None:
    """A change that reaches the target and cannot be made cheaper in any one column; None if the beam finds none."""
    cost = constraints.cost
    start: Point = tuple(own.start for own in constraints.free)
    beam, best = [start], None
    for _ in range(constraints.most_changes):
        tried = [point for point in _one_more(beam, constraints) if best is None or cost(point) < cost(best)]
        if not tried:
            break
        reached, shortfall = measure(tried)
        costs = np.array([cost(point) for point in tried])
        for k in np.flatnonzero(reached):
            if best is None or costs[k] < cost(best):
                best = tried[k]
        order = np.lexsort((costs, np.where(reached, np.inf, shortfall)))
        beam = [tried[k] for k in order[:BEAM_WIDTH] if not reached[k]]
    return None if best is None else _improved(best, constraints, measure)


def _one_more(beam: list[Point], constraints: Constraints) -> list[Point]:
    """All changes of one more column that are allowed."""
    found: dict[Point, None] = {}  # in the order of discovery
    for point in beam:
        for j, own in enumerate(constraints.free):
            if point[j] == own.start and constraints.allow(constraints.changed(_moved(point, j, -1))):
                found |= {_moved(point, j, k): None for k in _some(own)}
    return list(found)


def _some(own: Candidates) -> list[int]:
    """Candidates to try, the nearest on both sides among them."""
    usable = np.flatnonzero(np.isfinite(own.costs) & (np.arange(len(own)) != own.start))
    if len(usable) <= MOST_CANDIDATES:
        return [int(k) for k in usable]
    even = usable[np.linspace(0, len(usable) - 1, MOST_CANDIDATES).astype(np.intp)]
    nearest = usable[np.argsort(own.costs[usable], kind="stable")[:4]]
    return [int(k) for k in np.unique(np.concatenate([even, nearest]))]


def _moved(point: Point, j: int, k: int) -> Point:
    return (*point[:j], k, *point[j + 1 :])


def _improved(point: Point, constraints: Constraints, measure: Measure) -> Point:
    """Make one column after the other as cheap as the target allows, until none can be."""
    better = True
    while better:
        better = False
        for j, own in enumerate(constraints.free):
            order = np.argsort(own.costs, kind="stable")
            cheaper = [_moved(point, j, int(k)) for k in order if own.costs[k] < own.costs[point[j]]]
            tried = [option for option in cheaper if constraints.allow(constraints.changed(option))]
            if not tried:
                continue
            reached = measure(tried)[0]
            if reached.any():
                point, better = tried[int(np.argmax(reached))], True
    return point


def cheapest(
    constraints: Constraints,
    leaves: ReachableLeaves,
    possible: Callable[[Floats], bool],
    reaches: Callable[[Point], bool],
    known: Point | None,
    limit: int,
) -> Found:
    """The cheapest point that reaches the target, after at most `limit` boxes; `known` is one that does."""
    serial, free = count(), constraints.free
    whole: list[Choice] = [_all(own) for own in free]
    heap = [(0.0, 0, next(serial), whole)]
    most = np.inf if known is None else constraints.cost(known)
    for _ in range(limit):
        if not heap or heap[0][0] >= most - _ROUNDING:
            return Found(known, True)
        bound, _, _, box = heapq.heappop(heap)
        per_tree, divided = leaves.most(box)
        if not possible(per_tree):
            continue
        corner = _cheapest_corner(free, box)
        # the leaves give a first answer, which is cheaper than a prediction
        may_reach = constraints.allow(constraints.changed(corner)) and possible(leaves.most(_only(free, corner))[0])
        if may_reach and reaches(corner):
            return Found(corner, True)
        for part in _divided(box, divided, free, corner):
            trimmed = _trimmed(part, constraints, most)
            if trimmed is not None:
                low = _cheapest_corner(free, trimmed)
                entry = (max(bound, constraints.cost(low)), len(constraints.changed(low)), next(serial), trimmed)
                heapq.heappush(heap, entry)
    return Found(known, not heap or heap[0][0] >= most - _ROUNDING)


def _all(own: Candidates) -> Choice:
    return (0, len(own) - 1) if own.ordered else np.isfinite(own.costs)


def _only(free: Sequence[Candidates], point: Point) -> list[Choice]:
    return [(k, k) if own.ordered else np.arange(len(own)) == k for own, k in zip(free, point, strict=True)]


def _size(choice: Choice) -> int:
    return choice[1] - choice[0] + 1 if isinstance(choice, tuple) else int(choice.sum())


def _cheapest_corner(free: Sequence[Candidates], box: list[Choice]) -> Point:
    return tuple(_cheapest_candidate(own, choice) for own, choice in zip(free, box, strict=True))


def _cheapest_candidate(own: Candidates, choice: Choice) -> int:
    if isinstance(choice, tuple):
        return choice[0] + int(np.argmin(own.costs[choice[0] : choice[1] + 1]))
    return int(np.argmin(np.where(choice, own.costs, np.inf)))


def _divided(box: list[Choice], divided: Ints, free: Sequence[Candidates], corner: Point) -> list[list[Choice]]:
    """Parts of a box, along the column that divides most leaves; none if no leaf distinguishes its points."""
    weight = [cut if _size(choice) > 1 else 0 for cut, choice in zip(divided.tolist(), box, strict=True)]
    j = int(np.argmax(weight))
    if weight[j] == 0:
        return []
    return [[*box[:j], part, *box[j + 1 :]] for part in _parts(box[j], free[j], corner[j])]


def _parts(choice: Choice, own: Candidates, cheapest_one: int) -> list[Choice]:
    """The cheapest candidate and the others; an interval on one side of the row's own value is halved."""
    if not isinstance(choice, tuple):
        alone = np.arange(len(own)) == cheapest_one
        return [alone, choice & ~alone]
    low, high = choice
    if low < cheapest_one < high or cheapest_one == own.start:
        ends = [(low, cheapest_one - 1), (cheapest_one, cheapest_one), (cheapest_one + 1, high)]
        return [end for end in ends if end[0] <= end[1]]
    middle = (low + high) // 2
    return [(low, middle), (middle + 1, high)]


def _trimmed(box: list[Choice], constraints: Constraints, most: float) -> list[Choice] | None:
    """A box without what costs too much or changes too many columns; None if nothing is left."""
    free = constraints.free
    low = [own.costs[k] for own, k in zip(free, _cheapest_corner(free, box), strict=True)]
    total = sum(low)
    forced = frozenset(j for j, own in enumerate(free) if not _holds(box[j], own.start))
    if not (total <= most and np.isfinite(total) and constraints.allow(forced)):
        return None
    full, start = len(forced) == constraints.most_changes, _only(free, tuple(own.start for own in free))
    return [
        start[j] if full and j not in forced else _affordable(own, box[j], most - (total - low[j]) + _ROUNDING)
        for j, own in enumerate(free)
    ]


def _holds(choice: Choice, k: int) -> bool:
    return choice[0] <= k <= choice[1] if isinstance(choice, tuple) else bool(choice[k])


def _affordable(own: Candidates, choice: Choice, budget: float) -> Choice:
    if not isinstance(choice, tuple):
        return np.asarray(choice & (own.costs <= budget))
    within = choice[0] + np.flatnonzero(own.costs[choice[0] : choice[1] + 1] <= budget)
    return int(within[0]), int(within[-1])

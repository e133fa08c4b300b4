"""The cheapest change that reaches a goal, found and proven by branch and bound over sets of slots.

A box holds, for each free column, the slots it may be in. Its cheapest corner costs what any of its points costs at
least, and the leaves within reach bound the margins of all of them. The box of least cost comes first: if its cheapest
corner reaches the goal, nothing is cheaper; else it is divided, and boxes that cannot reach the goal, or that cost more
than a change that is known already, are dropped.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from sapwood.explain.counterfactual.reachable_leaves import Choice, Floats, Reach
from sapwood.explain.counterfactual.candidates import Slots

Point = tuple[int, ...]  # a slot for each free column
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Rules:
    """What a change must respect beside the goal."""

    free: Sequence[Slots]
    most_changes: int
    taken: Sequence[frozenset[int]] = ()  # sets of columns that must not all change

    def cost(self, point: Point) -> float:
        """What it costs to go there."""
        return float(sum(slots.costs[k] for slots, k in zip(self.free, point, strict=True)))

    def changed(self, point: Point) -> frozenset[int]:
        """Columns that change."""
        return frozenset(j for j, slots in enumerate(self.free) if point[j] != slots.start)

    def allow(self, changed: frozenset[int]) -> bool:
        """Whether these columns may change together."""
        return len(changed) <= self.most_changes and not any(own <= changed for own in self.taken)


@dataclass(frozen=True, eq=False)
class Found:
    """The best change, if any, and whether none is better."""

    point: Point | None
    is_proven: bool


def cheapest(
    rules: Rules,
    reach: Reach,
    possible: Callable[[Floats], bool],
    reaches: Callable[[Point], bool],
    known: Point | None,
    limit: int,
) -> Found:
    """The cheapest point that reaches the goal, after at most `limit` boxes; `known` is one that does."""
    serial = count()
    whole: list[Choice] = [_all_slots(slots) for slots in rules.free]
    heap = [(0.0, 0, next(serial), whole)]
    most = np.inf if known is None else rules.cost(known)
    for _ in range(limit):
        if not heap or heap[0][0] >= most - _ROUNDING:
            return Found(known, True)
        least, _, _, box = heapq.heappop(heap)
        per_tree, divided = reach.most(box)
        if not possible(per_tree):
            continue
        corner = tuple(_cheapest_slot(slots, choice) for slots, choice in zip(rules.free, box, strict=True))
        if rules.allow(rules.changed(corner)) and _is_reached(corner, rules, reach, possible) and reaches(corner):
            return Found(corner, True)
        for part in _divided(box, divided, rules.free, corner):
            trimmed = _trimmed(part, rules, most)
            if trimmed is not None:
                low = tuple(_cheapest_slot(slots, choice) for slots, choice in zip(rules.free, trimmed, strict=True))
                entry = (max(least, rules.cost(low)), len(rules.changed(low)), next(serial), trimmed)
                heapq.heappush(heap, entry)
    return Found(known, not heap or heap[0][0] >= most - _ROUNDING)


def _is_reached(point: Point, rules: Rules, reach: Reach, possible: Callable[[Floats], bool]) -> bool:
    """A first look at a point by the leaves, which is cheaper than a prediction."""
    return possible(reach.most([_only(slots, k) for slots, k in zip(rules.free, point, strict=True)])[0])


def _all_slots(slots: Slots) -> Choice:
    return (0, len(slots) - 1) if slots.ordered else np.isfinite(slots.costs)


def _only(slots: Slots, k: int) -> Choice:
    return (k, k) if slots.ordered else np.arange(len(slots)) == k


def _size(choice: Choice) -> int:
    return choice[1] - choice[0] + 1 if isinstance(choice, tuple) else int(choice.sum())


def _cheapest_slot(slots: Slots, choice: Choice) -> int:
    if isinstance(choice, tuple):
        return choice[0] + int(np.argmin(slots.costs[choice[0] : choice[1] + 1]))
    return int(np.argmin(np.where(choice, slots.costs, np.inf)))


def _divided(
    box: list[Choice], divided: Floats | np.ndarray, free: Sequence[Slots], corner: Point
) -> list[list[Choice]]:
    """Parts of a box, along the column that divides most leaves; none if no leaf tells its points apart."""
    weight = [cut if _size(choice) > 1 else 0 for cut, choice in zip(divided.tolist(), box, strict=True)]
    j = int(np.argmax(weight))
    if weight[j] == 0:
        return []
    return [[*box[:j], part, *box[j + 1 :]] for part in _parts(box[j], free[j], corner[j])]


def _parts(choice: Choice, slots: Slots, cheapest_slot: int) -> list[Choice]:
    """The cheapest slot and the others; an interval on one side of the row's slot is halved."""
    if not isinstance(choice, tuple):
        alone = np.arange(len(slots)) == cheapest_slot
        return [alone, choice & ~alone]
    low, high = choice
    if low < cheapest_slot < high or cheapest_slot == slots.start:
        ends = [(low, cheapest_slot - 1), (cheapest_slot, cheapest_slot), (cheapest_slot + 1, high)]
        return [end for end in ends if end[0] <= end[1]]
    middle = (low + high) // 2
    return [(low, middle), (middle + 1, high)]


def _trimmed(box: list[Choice], rules: Rules, most: float) -> list[Choice] | None:
    """A box without what costs too much or changes too many columns; None if nothing is left."""
    low = [slots.costs[_cheapest_slot(slots, choice)] for slots, choice in zip(rules.free, box, strict=True)]
    total = sum(low)
    forced = frozenset(j for j, slots in enumerate(rules.free) if not _holds(box[j], slots.start))
    if not (total <= most and np.isfinite(total) and rules.allow(forced)):
        return None
    full = len(forced) == rules.most_changes
    out: list[Choice] = []
    for j, (slots, choice) in enumerate(zip(rules.free, box, strict=True)):
        if full and j not in forced:
            out.append(_only(slots, slots.start))
        else:
            out.append(_affordable(slots, choice, most - (total - low[j]) + _ROUNDING))
    return out


def _holds(choice: Choice, k: int) -> bool:
    return choice[0] <= k <= choice[1] if isinstance(choice, tuple) else bool(choice[k])


def _affordable(slots: Slots, choice: Choice, budget: float) -> Choice:
    if not isinstance(choice, tuple):
        return np.asarray(choice & (slots.costs <= budget))
    within = choice[0] + np.flatnonzero(slots.costs[choice[0] : choice[1] + 1] <= budget)
    return int(within[0]), int(within[-1])

"""A good change, found step by step: a beam of changes of one more column each, the nearest to the goal kept."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sapwood.explain.counterfactual.cheapest_change import Point, Rules
from sapwood.explain.counterfactual.candidates import Slots

Floats = NDArray[np.float64]
Measure = Callable[[list[Point]], tuple[NDArray[np.bool_], Floats]]  # which reach the goal, and what the others lack

WIDTH = 6  # changes that are kept
MOST_SLOTS = 48  # of a column that are tried at a time, evenly chosen


def beam_search(rules: Rules, measure: Measure) -> Point | None:
    """A change that reaches the goal and cannot be made cheaper in any one column; None if the beam finds none."""
    start: Point = tuple(slots.start for slots in rules.free)
    beam, best = [start], None
    for _ in range(rules.most_changes):
        tried = [point for point in _one_more(beam, rules) if best is None or rules.cost(point) < rules.cost(best)]
        if not tried:
            break
        reached, lacking = measure(tried)
        costs = np.array([rules.cost(point) for point in tried])
        for k in np.flatnonzero(reached):
            if best is None or costs[k] < rules.cost(best):
                best = tried[k]
        order = np.lexsort((costs, np.where(reached, np.inf, lacking)))
        beam = [tried[k] for k in order[:WIDTH] if not reached[k]]
    return None if best is None else _polished(best, rules, measure)


def _one_more(beam: list[Point], rules: Rules) -> list[Point]:
    """All changes of one more column that are allowed."""
    found: dict[Point, None] = {}  # in the order of discovery
    for point in beam:
        for j, slots in enumerate(rules.free):
            if point[j] == slots.start and rules.allow(rules.changed(_moved(point, j, -1))):
                found |= {_moved(point, j, k): None for k in _some(slots)}
    return list(found)


def _some(slots: Slots) -> list[int]:
    """Slots to try, the nearest on both sides among them."""
    usable = np.flatnonzero(np.isfinite(slots.costs) & (np.arange(len(slots)) != slots.start))
    if len(usable) <= MOST_SLOTS:
        return [int(k) for k in usable]
    even = usable[np.linspace(0, len(usable) - 1, MOST_SLOTS).astype(np.intp)]
    nearest = usable[np.argsort(slots.costs[usable], kind="stable")[:4]]
    return [int(k) for k in np.unique(np.concatenate([even, nearest]))]


def _moved(point: Point, j: int, k: int) -> Point:
    return (*point[:j], k, *point[j + 1 :])


def _polished(point: Point, rules: Rules, measure: Measure) -> Point:
    """Make one column after the other as cheap as the goal allows, until none can be."""
    better = True
    while better:
        better = False
        for j, slots in enumerate(rules.free):
            cheaper = [int(k) for k in np.argsort(slots.costs, kind="stable") if slots.costs[k] < slots.costs[point[j]]]
            tried = [option for k in cheaper if rules.allow(rules.changed(option := _moved(point, j, k)))]
            if not tried:
                continue
            reached = measure(tried)[0]
            if reached.any():
                point, better = tried[int(np.argmax(reached))], True
    return point

"""Counterfactuals: the smallest change of a row after which a model predicts something else."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.cached_property import cached_property
from sapwood.data_warnings import quiet
from sapwood.errors import InputError, InternalError
from sapwood.explain.counterfactual.beam import beam_search
from sapwood.explain.leaf_boxes import find_cells
from sapwood.explain.counterfactual.cheapest_change import Found, Point, Rules, cheapest
from sapwood.explain.decision_path import plain_prediction
from sapwood.explain.counterfactual.prediction_target import Goal, goal_of
from sapwood.explain.counterfactual.reachable_leaves import Reach, reach_of
from sapwood.explain.counterfactual.rounded_text import Within, literal_duration, literal_number
from sapwood.explain.column_numbers import column_numbers, plain
from sapwood.explain.column_values import to_native
from sapwood.explain.counterfactual.candidates import Slots, scales_of, slots_of
from sapwood.keywords import answering
from sapwood.parameters import Interval, Nothing, check_parameters
from sapwood.result import Part, Result
from sapwood.show.fitted import require_model
from sapwood.show.names import one_line
from sapwood.show.number import plain_number
from sapwood.show.value import level_text, value_text
from sapwood.table.frame import make_frame
from sapwood.table.names import shorten
from sapwood.table.one_row import as_one_row
from sapwood.table.schema import ColumnSchema
from sapwood.table.storage import MatrixStorage
from sapwood.table.table import Table

Floats = NDArray[np.float64]

WORK = 100_000_000  # comparisons of leaves and columns that a proof may take
MOST_BOXES = 10_000  # sets of rows that a proof may look at
LARGEST = 1_000_000  # nodes times columns of a model of which a proof is tried

_UNSEEN = -2.0
_SHARE_OF_WAY = 0.05
_RULES = {
    "most_changes": (Interval(int, low=1), Nothing()),
    "n": (Interval(int, low=1),),
}


@dataclass(frozen=True, repr=False)
class Change(Result):
    """One column that changes, its values before and after, and what that costs.

    In `words` numbers are rounded, but never across a threshold of the model: as printed, they lead to the prediction.
    """

    feature: str
    before: Any
    after: Any
    cost: float
    words: str

    def _parts(self) -> Iterator[Part]:
        yield self.words


@dataclass(frozen=True, repr=False)
class Counterfactual(Result):
    """The smallest change found; `is_proven` tells whether none is smaller. `others` change other sets of columns."""

    changes: tuple[Change, ...]
    row: dict[str, Any]
    before: Any
    after: Any
    distance: float
    is_proven: bool
    others: tuple[Counterfactual, ...] = ()
    is_other: bool = False  # one of `others`, to which smaller changes may have come before

    def _parts(self) -> Iterator[Part]:
        """What has to change, and what is predicted then."""
        yield from self._told()
        for other in self.others:
            yield ""
            yield from other._told()

    def _told(self) -> Iterator[str]:
        nothing = "no smaller change of other columns" if self.is_other else "no smaller change"
        sure = f"{nothing} does it" if self.is_proven else "a smaller change may do it too"
        yield f"Prediction: {_answer(self.before)} → {_answer(self.after)}, if"
        yield from (f"  {change}" for change in self.changes)
        yield f"Distance {plain_number(self.distance, 3)}; {sure}."


@answering
@quiet()
def counterfactual(
    model: Any,
    row: Any,
    *,
    target: Any = None,
    features: Any = None,
    fixed: Any = None,
    X: Any = None,
    most_changes: int | None = None,
    n: int = 1,
) -> Counterfactual:
    """The smallest change of a row after which the model predicts another class, or a number within bounds.

    A number moves just across a threshold of the model: no smaller step changes anything. Columns of whole numbers
    stay whole, dates stay whole days (or seconds), and a category takes another level. A value that is missing stays
    so unless its column is named in `features`; none becomes missing.

    The distance is the sum over the changed columns of |change| / scale, where the scale is the interquartile range of
    X or, without X, the range in training; another level, or a value in place of a missing one, costs 1. Of equal
    distances, fewer changes are preferred.

    A beam of 6 changes, each with one column more than in the step before, finds a good one; branch and bound over the
    leaves then finds the best one and proves it. `is_proven` is False if that is not done after 10 000 sets of rows or
    100 million comparisons of leaves, and for models of which no proof is tried: more than a million nodes times
    columns, several quantiles, an init estimator of another kind, or an unknown level with unseen="node".

    Args:
        model: any fitted model whose members are trees of this library.
        row: a sequence of values, a dictionary from column names to values, or a table of one row.
        target: the class to reach, None for any other; for numbers bounds (low, high), None for no bound. One for each
            output if there are several.
        features: columns that may change; None allows all.
        fixed: columns that may not.
        X: rows that tell the scale of columns, and which hold whole numbers.
        most_changes: change so many columns at most.
        n: so many counterfactuals, each but the first without a change of all the columns of one before; the others
            are in `others`, fewer if there are no more.

    Raises:
        InputError: if no allowed change leads to the target.
    """
    check_parameters("counterfactual", _RULES, {"most_changes": most_changes, "n": n})
    require_model(model)
    search = _Search(model, row, target, features, fixed, X)
    found: list[Counterfactual] = []
    taken: list[frozenset[int]] = []
    for _ in range(n):
        rules = Rules(search.free, min(most_changes or len(search.free), len(search.free)), tuple(taken))
        best = search.best(rules)
        if best.point is None:
            break
        taken.append(rules.changed(best.point))
        found.append(search.told(best.point, rules, best.is_proven))
    if not found:
        raise InputError(search.refusal(best.is_proven, most_changes))
    return replace(found[0], others=tuple(replace(one, is_other=True) for one in found[1:]))


class _Search:
    """The row, what may change in it, and what is to be reached."""

    def __init__(self, model: Any, row: Any, target: Any, features: Any, fixed: Any, X: Any) -> None:
        self.model, self.tree_sum = model, model._tree_sum()
        self.members = list(self.tree_sum)
        table, self.values = as_one_row(row, model.schema_)
        matched = model._match(table)
        self.codes = np.asarray(matched.block(0, 1)[0], dtype=np.float64)
        self.before = plain_prediction(model, table)
        self.goal: Goal = goal_of(model, self.before, target)
        self.free = self._free(features, fixed, X)

    def _free(self, features: Any, fixed: Any, X: Any) -> list[Slots]:
        """Slots of the columns that may change and that the model looks at."""
        schema = self.model.schema_
        named = None if features is None else column_numbers(features, schema, "features")
        kept = set() if fixed is None else set(column_numbers(fixed, schema, "fixed"))
        seen = None
        if X is not None:
            rows = self.model._match(X)
            seen = [rows.values(j) for j in range(schema.n_features)]
        scales = scales_of(schema.columns, seen)
        cells = find_cells((member.tree for member in self.members), schema)
        used = set().union(*(set(np.unique(m.tree.feature[~m.tree.is_leaf]).tolist()) for m in self.members))
        allowed = range(schema.n_features) if named is None else named
        free = [j for j in allowed if j in used and j not in kept and (named or not np.isnan(self.codes[j]))]
        return [slots_of(j, cells[j], self.codes[j], None if seen is None else seen[j], scales[j]) for j in free]

    def best(self, rules: Rules) -> Found:
        """The cheapest change under these rules."""
        if not rules.free:
            return Found(None, True)
        known = beam_search(rules, self._measure)
        if self._is_opaque or self._n_nodes * len(self.free) > LARGEST:
            return Found(known, False)
        limit = min(MOST_BOXES, 1 + WORK // (len(self.reach.gains) * len(self.free)))
        return cheapest(
            rules, self.reach, self._possible, lambda point: bool(self._measure([point])[0][0]), known, limit
        )

    @property
    def _n_nodes(self) -> int:
        return sum(member.tree.node_count for member in self.members)

    @property
    def _is_opaque(self) -> bool:
        """Whether slots do not tell all: another estimator reads the row, or an unknown level ends its way."""
        unseen = self.model._unseen_policy == "node" and bool((self.codes == _UNSEEN).any())
        return self.goal.margins is None or not self.model._is_all_trees or unseen

    @cached_property
    def reach(self) -> Reach:
        """The leaves within reach and what they add to the margins."""
        gains = [self.goal.contributions(member, self.tree_sum.divisor) for member in self.members]
        return reach_of([member.tree for member in self.members], gains, self.free, self.codes)

    def _possible(self, per_tree: Floats) -> bool:
        return self.goal.possible(per_tree, self.goal.base(self.tree_sum))

    def _measure(self, points: list[Point]) -> tuple[NDArray[np.bool_], Floats]:
        """Which changes reach the goal, by the model's own prediction, and what the others lack."""
        codes = np.repeat(self.codes[None], len(points), axis=0)
        for k, slots in enumerate(self.free):
            codes[:, slots.number] = slots.values[[point[k] for point in points]]
        rows = _rows_of(self.model, codes)
        return self.goal.wants(self.model.predict(rows)), self.goal.lacks(rows)

    def told(self, point: Point, rules: Rules, is_proven: bool) -> Counterfactual:
        """A change in words, checked with the row as a user would write it."""
        changes = [self._change(slots, k) for slots, k in zip(self.free, point, strict=True) if k != slots.start]
        schema = self.model.schema_
        row = dict(zip(schema.names, map(plain, self.values), strict=True)) | {c.feature: c.after for c in changes}
        given = row if schema.named else list(row.values())
        after = plain_prediction(self.model, as_one_row(given, schema)[0])
        if not self.goal.wants(np.array([after], dtype=object))[0]:
            raise InternalError(f"The counterfactual {row!r} was to be {self.goal.words}, but is {after!r}.")
        return Counterfactual(tuple(changes), row, self.before, after, rules.cost(point), is_proven)

    def _change(self, slots: Slots, k: int) -> Change:
        column, before = slots.column, plain(self.values[slots.number])
        after = plain(to_native(slots.values[[k]], column)[0])
        if column.kind == "number" and float(after).is_integer() and isinstance(before, int):
            after = int(after)
        words = _words(slots, k, float(self.codes[slots.number]), before, exact=not self.model._is_all_trees)
        return Change(column.name, before, after, float(slots.costs[k]), words)

    def refusal(self, is_proven: bool, most_changes: int | None) -> str:
        """Why there is no counterfactual."""
        names = [slots.column.name for slots in self.free]
        if not names:
            return (
                "No column that the model looks at may change. Allow more in features, or fewer in fixed. A column "
                "whose value is missing changes only if features names it."
            )
        few = "" if most_changes is None else f" at most {most_changes} of"
        if is_proven:
            return (
                f"No change of{few} {shorten(names)} makes the model predict {self.goal.words}: this is proven. Allow "
                "more columns or changes, or another target."
            )
        return (
            f"No change of{few} {shorten(names)} was found that makes the model predict {self.goal.words}, but the "
            "search was not complete. Name fewer columns in features, or another target."
        )


def _rows_of(model: Any, codes: Floats) -> Any:
    """Rows given by codes, in a form that the model predicts."""
    schema = model.schema_
    if model._is_all_trees:
        return Table(schema, MatrixStorage(codes))
    if schema.is_plain and not schema.named:
        return codes
    return make_frame({name: to_native(codes[:, j], schema.columns[j]) for j, name in enumerate(schema.names)})


def _words(slots: Slots, k: int, code: float, before: Any, exact: bool) -> str:
    """What changes: "age: 34 → 47". Numbers may be taken literally, or are `exact` where slots do not tell all."""
    column, value = slots.column, float(slots.values[k])
    if np.isnan(code):
        was = "missing"
    elif column.kind == "category":
        was = level_text(before)
    else:
        was = _literal(column, code, Within(*slots.bounds(slots.start), _error(code, value, exact)))
    # rounded away from the threshold just crossed, beyond which the prediction would be the old one
    within = Within.moved(*slots.bounds(k), _error(code, value, exact), upwards=k > slots.start)
    return f"{one_line(column.name)}: {was} → {_literal(column, value, within)}"


def _error(code: float, value: float, exact: bool) -> float:
    """How far print may be from a number: little of the way, so that before and after look different."""
    way = abs(value - code)
    return 0.0 if exact else _SHARE_OF_WAY * way if math.isfinite(way) else math.inf


def _literal(column: ColumnSchema, value: float, within: Within) -> str:
    if column.kind == "number":
        return literal_number(value, within)
    return literal_duration(value, within) if column.kind == "duration" else value_text(column, value)


def _answer(prediction: Any) -> str:
    answers = prediction if isinstance(prediction, tuple) else (prediction,)
    return ", ".join(plain_number(a, 3) if isinstance(a, float) else level_text(a) for a in answers)

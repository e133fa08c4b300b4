"""Counterfactuals: the smallest change of a row after which a model predicts something else."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sapwood.arrays import Floats, Mask
from sapwood.cached_property import cached_property
from sapwood.data_warnings import quiet
from sapwood.errors import InputError, InternalError
from sapwood.explain.column_numbers import column_numbers
from sapwood.explain.column_values import plain, to_native
from sapwood.explain.counterfactual.candidates import Candidates, candidates_of, scales_of
from sapwood.explain.counterfactual.cheapest_change import Constraints, Found, Point, beam_search, cheapest
from sapwood.explain.counterfactual.nearer import finer, nearer
from sapwood.explain.counterfactual.prediction_target import PredictionTarget, target_of
from sapwood.explain.counterfactual.reachable_leaves import ReachableLeaves, reachable_leaves
from sapwood.explain.counterfactual.rounded_text import Within, rounded_duration, rounded_number
from sapwood.explain.leaf_boxes import find_cells
from sapwood.explain.model_output import first_prediction, prediction_text
from sapwood.keywords import answering
from sapwood.model import Model, model_of
from sapwood.one_line import one_line
from sapwood.parameters import Interval, Nothing, check_parameters
from sapwood.result import Part, Result
from sapwood.show.number import plain_number
from sapwood.show.value import level_text, value_text
from sapwood.table.column import UNSEEN
from sapwood.table.frame import make_frame
from sapwood.table.names import shorten
from sapwood.table.one_row import as_one_row
from sapwood.table.storage import MatrixStorage
from sapwood.table.table import Table

WORK = 100_000_000  # comparisons of leaves and columns that a proof may take
MOST_BOXES = 10_000  # sets of rows that a proof may look at
LARGEST = 1_000_000  # nodes times columns of a model of which a proof is tried

_SHARE_OF_CHANGE = 0.05
_RULES = {
    "most_changes": (Interval(int, low=1), Nothing()),
    "n": (Interval(int, low=1),),
}


@dataclass(frozen=True, repr=False)
class Change(Result):
    """One column that changes, its values before and after, and what that costs.

    `description` rounds numbers, but never across a threshold of the model: as printed, they give the prediction.
    """

    feature: str
    before: Any
    after: Any
    cost: float
    description: str

    def _parts(self) -> Iterator[Part]:
        yield self.description


@dataclass(frozen=True, repr=False)
class Counterfactual(Result):
    """The smallest change found; `is_proven` is True if none is smaller. `others` change other sets of columns."""

    changes: tuple[Change, ...]
    row: dict[str, Any]
    before: Any
    after: Any
    distance: float
    is_proven: bool
    others: tuple[Counterfactual, ...] = ()
    is_other: bool = False  # one of `others`, before which smaller changes may have been found

    def _parts(self) -> Iterator[Part]:
        """What has to change, and the prediction after it."""
        yield from self._lines()
        for other in self.others:
            yield ""
            yield from other._lines()

    def _lines(self) -> Iterator[str]:
        nothing = "no smaller change of other columns" if self.is_other else "no smaller change"
        sure = f"{nothing} does it" if self.is_proven else "a smaller change may also work"
        yield f"Prediction: {prediction_text(self.before)} → {prediction_text(self.after)}, if"
        yield from (f"  {change}" for change in self.changes)
        yield f"Distance {plain_number(self.distance, 3)}; {sure}."


@answering
@quiet()
def counterfactual(
    model: object,
    row: object,
    *,
    target: Any = None,
    features: object = None,
    fixed: object = None,
    X: object = None,
    most_changes: int | None = None,
    n: int = 1,
) -> Counterfactual:
    """The smallest change of a row after which the model predicts another class, or a number within bounds.

    A number moves just across a threshold of the model: no smaller step changes anything. In models with linear leaves,
    which change between thresholds, too, it moves as little as halving the last step finds. Columns of whole numbers
    stay whole, dates stay whole days (or seconds), and a category takes another level. A value that is missing stays
    so unless its column is named in `features`; none becomes missing.

    The distance is the sum over the changed columns of |change| / scale, where the scale is the interquartile range of
    X or, without X, the range in training; another level, or a value in place of a missing one, costs 1. Of equal
    distances, fewer changes are preferred.

    A beam search over 6 changes, each with one column more than in the step before, finds a good one; branch and bound
    over the leaves then finds the best one and proves it. `is_proven` is False if that takes more than 10 000 sets of
    rows or 100 million comparisons of leaves, and for models of which no proof is tried: more than a million nodes
    times columns, linear leaves, several quantiles, an init estimator of another kind, or an unknown level with
    unseen="node".

    Args:
        model: any fitted model of trees of this library.
        row: a sequence of values, a dictionary from column names to values, or a table of one row.
        target: the class to reach, None for any other; for numbers bounds (low, high), None for no bound. One for each
            output if there are several.
        features: columns that may change; None allows all.
        fixed: columns that may not.
        X: rows that give the scale of columns, and show which hold whole numbers.
        most_changes: maximum number of columns that change.
        n: number of counterfactuals, each but the first without a change of all the columns of one before; the others
            are in `others`, fewer if there are no more.

    Raises:
        InputError: if no allowed change leads to the target.
    """
    check_parameters("counterfactual", _RULES, {"most_changes": most_changes, "n": n})
    search = _Search(model_of(model), row, target, features, fixed, X)
    found: list[Counterfactual] = []
    taken: list[frozenset[int]] = []
    for _ in range(n):
        constraints = Constraints(search.free, min(most_changes or len(search.free), len(search.free)), tuple(taken))
        best = search.best(constraints)
        if best.point is None:
            break
        taken.append(constraints.changed(best.point))
        exact = replace(constraints, free=search.nearer(best.point))
        found.append(search.result(best.point, exact, best.is_proven))
    if not found:
        raise InputError(search.refusal(best.is_proven, most_changes))
    return replace(found[0], others=tuple(replace(one, is_other=True) for one in found[1:]))


class _Search:
    """The row, what may change in it, and the target."""

    def __init__(self, model: Model, row: object, target: Any, features: object, fixed: object, X: object) -> None:
        self.model, self.terms = model, list(model.require_trees())
        table, self.values = as_one_row(row, model.schema)
        self.codes = np.asarray(model.match(table).block(0, 1)[0], dtype=np.float64)
        self.before = first_prediction(model, table)
        self.target: PredictionTarget = target_of(model, self.before, target)
        self.free = self._free(features, fixed, X)

    def _free(self, features: object, fixed: object, X: object) -> list[Candidates]:
        """Candidates of the columns that may change and that the model uses."""
        schema = self.model.schema
        named = None if features is None else column_numbers(features, schema, "features")
        kept = set() if fixed is None else set(column_numbers(fixed, schema, "fixed"))
        seen = None
        if X is not None:
            rows = self.model.match(X)
            seen = [rows.values(j) for j in range(schema.n_features)]
        scales = scales_of(schema.columns, seen)
        trees = [term.tree for term in self.terms]
        cells = find_cells(trees, schema)
        if self.model.trees.is_linear:
            cells = [finer(own) for own in cells]
        used = set().union(*(np.unique(tree.feature[~tree.is_leaf]).tolist() for tree in trees))
        allowed = range(schema.n_features) if named is None else named
        free = [j for j in allowed if j in used and j not in kept and (named or not np.isnan(self.codes[j]))]
        return [candidates_of(j, cells[j], self.codes[j], None if seen is None else seen[j], scales[j]) for j in free]

    def best(self, constraints: Constraints) -> Found:
        """The cheapest change under these constraints."""
        if not constraints.free:
            return Found(None, True)
        known = beam_search(constraints, self._measure)
        n_nodes = sum(term.tree.node_count for term in self.terms)
        if self._is_opaque or n_nodes * len(self.free) > LARGEST:
            return Found(known, False)
        limit = min(MOST_BOXES, 1 + WORK // (len(self.leaves.gains) * len(self.free)))
        return cheapest(
            constraints, self.leaves, self._possible, lambda point: bool(self._measure([point])[0][0]), known, limit
        )

    @property
    def _is_opaque(self) -> bool:
        """Whether leaves do not determine the prediction: another estimator reads the row, or it stops at a node."""
        stops = self.model.unseen == "node" and bool((self.codes == UNSEEN).any())
        return self.target.margins is None or self._changes_anywhere or stops

    @property
    def _changes_anywhere(self) -> bool:
        """Whether predictions may change between two thresholds."""
        return self.model.trees.is_linear or not self.model.is_all_trees

    @cached_property
    def leaves(self) -> ReachableLeaves:
        """The leaves that the row can reach and what they add to the margins."""
        gains = [self.target.contributions(term, self.model.trees.divisor) for term in self.terms]
        return reachable_leaves([term.tree for term in self.terms], gains, self.free, self.codes)

    def _possible(self, per_tree: Floats) -> bool:
        return self.target.possible(per_tree, self.target.base(self.model.trees))

    def _measure(self, points: list[Point]) -> tuple[Mask, Floats]:
        """Which changes reach the target, by the model's own prediction, and the shortfall of the others."""
        rows = _rows_of(self.model, self._codes(self.free, points))
        return self.target.is_met(self.model.predict(rows)), self.target.shortfall(rows)

    def _codes(self, free: Sequence[Candidates], points: list[Point]) -> Floats:
        codes = np.repeat(self.codes[None], len(points), axis=0)
        for k, candidates in enumerate(free):
            codes[:, candidates.number] = candidates.values[[point[k] for point in points]]
        return codes

    def nearer(self, point: Point) -> list[Candidates]:
        """The candidates, of linear leaves with nearer values for those of a change that reaches the target."""
        free = list(self.free)
        if not self.model.trees.is_linear:
            return free
        for at, own in enumerate(free):
            codes = self._codes(free, [point])

            def reaches(x: float, j: int = own.number, codes: Floats = codes) -> bool:
                codes[0, j] = x
                return bool(self.target.is_met(self.model.predict(_rows_of(self.model, codes)))[0])

            if point[at] != own.start:
                free[at] = nearer(own, point[at], reaches)
        return free

    def result(self, point: Point, constraints: Constraints, is_proven: bool) -> Counterfactual:
        """A change as the user gets it, checked with the row as a user would write it."""
        changes = [self._change(own, k) for own, k in zip(constraints.free, point, strict=True) if k != own.start]
        schema = self.model.schema
        row = dict(zip(schema.names, map(plain, self.values), strict=True)) | {c.feature: c.after for c in changes}
        given = row if schema.named else list(row.values())
        after = first_prediction(self.model, as_one_row(given, schema)[0])
        if not self.target.is_met(np.array([after], dtype=object))[0]:
            raise InternalError(f"The counterfactual {row!r} was to be {self.target.description}, but is {after!r}.")
        return Counterfactual(tuple(changes), row, self.before, after, constraints.cost(point), is_proven)

    def _change(self, candidates: Candidates, k: int) -> Change:
        column, before = candidates.column, plain(self.values[candidates.number])
        after = plain(to_native(candidates.values[[k]], column)[0])
        if column.kind == "number" and float(after).is_integer() and isinstance(before, int):
            after = int(after)
        code, exact = float(self.codes[candidates.number]), self._changes_anywhere
        return Change(column.name, before, after, float(candidates.costs[k]), _text(candidates, k, code, before, exact))

    def refusal(self, is_proven: bool, most_changes: int | None) -> str:
        """Why there is no counterfactual."""
        names = [candidates.column.name for candidates in self.free]
        if not names:
            return (
                "No column that the model uses may change. Allow more in features, or fewer in fixed. A column whose "
                "value is missing changes only if features names it."
            )
        few = "" if most_changes is None else f" at most {most_changes} of"
        wanted = f"that makes the model predict {self.target.description}"
        if is_proven:
            return (
                f"There is no change of{few} {shorten(names)} {wanted}: this is proven. Allow more columns or changes, "
                "or another target."
            )
        return (
            f"No change of{few} {shorten(names)} was found {wanted}, but the search was not complete. Name fewer "
            "columns in features, or another target."
        )


def _rows_of(model: Model, codes: Floats) -> Any:
    """Rows given by codes, in a form that the model predicts."""
    schema = model.schema
    if model.is_all_trees:
        return Table(schema, MatrixStorage(codes))
    if schema.is_plain and not schema.named:
        return codes
    return make_frame({name: to_native(codes[:, j], schema.columns[j]) for j, name in enumerate(schema.names)})


def _text(candidates: Candidates, k: int, code: float, before: object, exact: bool) -> str:
    """The change as text: "age: 34 → 47". Printed numbers have the effect of the exact ones, or are exact."""
    column, value = candidates.column, float(candidates.values[k])
    error = _error(code, value, exact)
    if np.isnan(code):
        old = "missing"
    elif column.kind == "category":
        old = level_text(before)
    else:
        old = _rounded(candidates, code, Within(*candidates.bounds(candidates.start), error))
    # rounded away from the threshold just crossed, beyond which the prediction would be the old one
    within = Within.away(*candidates.bounds(k), error, upwards=k > candidates.start)
    return f"{one_line(column.name)}: {old} → {_rounded(candidates, value, within)}"


def _error(code: float, value: float, exact: bool) -> float:
    """How far a printed number may be from the exact one: little, so that before and after look different."""
    change = abs(value - code)
    return 0.0 if exact else _SHARE_OF_CHANGE * change if math.isfinite(change) else math.inf


def _rounded(candidates: Candidates, value: float, within: Within) -> str:
    column = candidates.column
    if column.kind == "number":
        return rounded_number(value, within)
    return rounded_duration(value, within) if column.kind == "duration" else value_text(column, value)

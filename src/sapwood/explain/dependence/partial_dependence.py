"""Partial dependence: the mean output of a model as one or two columns change, and the output for each row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, TypedDict, Unpack

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.data_warnings import quiet
from sapwood.errors import InputError, ParameterError
from sapwood.explain.column_numbers import column_number
from sapwood.explain.dependence.grid import Axis, axis_of, own_axis, points_of
from sapwood.explain.dependence.recursion import marginal_scores
from sapwood.explain.editable_rows import EditableRows
from sapwood.explain.model_output import ModelOutput
from sapwood.keywords import answering
from sapwood.model import Model, model_of
from sapwood.one_line import one_line
from sapwood.parameters import Flag, Interval, OneOf, check_parameters
from sapwood.result import Part, Result, TextTable
from sapwood.show.number import number_text, plain_number
from sapwood.table.frame import make_frame
from sapwood.table.schema import Schema
from sapwood.table.table import Table
from sapwood.table.weight import check_weight
from sapwood.threads import resolve_jobs, run_all

SHOWN_POINTS = (10, 4)  # of each axis in print, if there is one, or two

_RULES = {
    "kind": (OneOf("average", "individual", "both"),),
    "method": (OneOf("auto", "recursion", "brute"),),
    "output": (OneOf("auto", "score", "probability", "prediction"),),
    "grid_resolution": (Interval(int, low=2),),
    "centred": (Flag(),),
}


@dataclass(frozen=True, eq=False, repr=False)
class PartialDependence(Result):
    """The output of the model over a grid of one or two columns.

    `grid` holds the values of each column as users write them (numbers, level names, dates, truth values), and
    `grid_codes` their codes. `average` is (outputs, *grid), `individual` (outputs, rows, *grid).
    """

    feature_names: tuple[str, ...]
    kinds: tuple[str, ...]
    grid: tuple[Array, ...]
    grid_codes: tuple[Floats, ...]
    average: Floats
    individual: Floats | None
    output_names: tuple[Any, ...]
    output: str
    centred: bool
    method: str

    def to_frame(self) -> Any:
        """One line for each output and point of the grid, and for each row if there are curves of rows."""
        shown = self.average if self.individual is None else self.individual
        where = np.indices(shown.shape).reshape(shown.ndim, -1)
        columns = {self._head("output"): np.array(self.output_names, dtype=object)[where[0]]}
        if self.individual is not None:
            columns[self._head("row")] = where[1]
        at = where[-len(self.grid) :]
        columns |= {name: own[i] for name, own, i in zip(self.feature_names, self.grid, at, strict=True)}
        if self.individual is not None:
            columns[self._head("value")] = self.individual.ravel()
        columns[self._head("average")] = self.average[(where[0], *at)]
        return make_frame(columns)

    def _parts(self) -> Iterator[Part]:
        """A title, and averages at a few points of the grid."""
        of, on = (", ".join(map(one_line, names)) for names in (self.output_names, self.feature_names))
        about = self.output if self.output_names == (self.output,) else f"{self.output} of {of}"
        rows = "" if self.individual is None else f", with curves of {self.individual.shape[1]} rows"
        centred = ", centred" if self.centred else ""
        yield f"Partial dependence on {on}: {about} by method {self.method}{centred}{rows}"
        heads, *points = self._lines(SHOWN_POINTS[len(self.grid) - 1])
        rest = self.average[0].size - len(points)
        yield TextTable(heads, points, rest=f"{rest} more points" if rest else "", sides="r", indent=2)

    def _lines(self, most: int) -> list[list[str]]:
        """Cells of a table: heads, then points that are spread evenly over each axis, with their averages."""
        spread = [np.unique(np.linspace(0, len(own) - 1, most).round().astype(int)).tolist() for own in self.grid]
        lines = [[*map(one_line, self.feature_names), *map(one_line, self.output_names)]]
        for at in product(*spread):
            values = [_cell(own[i]) for own, i in zip(self.grid, at, strict=True)]
            lines.append([*values, *(number_text(float(mean), 4) for mean in self.average[(slice(None), *at)])])
        return lines

    def _head(self, name: str) -> str:
        """A name that no column of the model has."""
        return self._head(f"{name}_") if name in self.feature_names else name


class GridOptions(TypedDict, total=False):
    """Keywords of `partial_dependence` that choose the grid; see there."""

    grid_resolution: int
    percentiles: tuple[float, float]
    values: Any


@answering
@quiet()
def partial_dependence(
    model: object,
    X: object,
    features: object,
    *,
    kind: str = "average",
    method: str = "auto",
    centred: bool = False,
    output: str = "auto",
    sample_weight: Any = None,
    n_jobs: int | None = None,
    **grid: Unpack[GridOptions],
) -> PartialDependence:
    """The mean output of the model over all rows once one column, or two, have a given value in each of them.

    Two methods. "brute" replaces the values in every row of X, predicts and averages. "recursion" uses the trees alone:
    at splits of other columns it follows both branches, by the weight of the training rows in each; this needs no rows
    and far less time. If X are the training rows as the trees weigh them, both agree where the columns are independent
    of the others, and where every tree splits either these columns only or none of them. Otherwise they are different
    averages: at a split of another column, recursion is conditional on the branch of these columns.

    Recursion averages the values of leaves. It does not apply to linear leaves, curves of rows, to `sample_weight`,
    to AdaBoost's median, to models with estimators of other libraries inside, nor to outputs that are not sums:
    probabilities of boosting, and predictions of losses with a link. "auto" is recursion where it applies, else
    brute.

    Args:
        model: any fitted model.
        X: rows to average over, and to take the grid from.
        features: a column by name or number, or a pair of them.
        kind: "average"; "individual" or "both" also give the curve of every row (ICE).
        method: see above.
        grid_resolution: number of values of a numeric column, 50 by default; fewer if X has fewer distinct ones.
            Categories take all levels.
        percentiles: quantiles of X between which the grid of a numeric column lies, (0.05, 0.95) by default.
        values: a grid of your own: values of the column, or a mapping from columns to values. None, the default, makes
            one of X.
        centred: subtract the output at the first point of the grid, so that every curve starts at 0.
        output: "probability" (of the second class only, if there are two), "prediction", "score" (the sum of the
            trees), or "auto": probabilities of classes, predictions of numbers.
        sample_weight: weights of the rows in the average.
        n_jobs: threads; the result does not depend on it.
    """
    given = {"kind": kind, "method": method, "output": output, "centred": centred}
    check_parameters("partial_dependence", _RULES, {"grid_resolution": grid.get("grid_resolution", 50)} | given)
    model = model_of(model)
    columns = _columns(features, model.schema)
    rows = EditableRows.of(model, X)
    axes = _axes(columns, model.schema, rows.table, grid)
    weight = check_weight(sample_weight, rows.table.n_rows)
    chosen = ModelOutput.of(model, output)
    by_recursion = _use_recursion(method, _obstacle(model, chosen, kind, weight))
    points, shape, threads = points_of(axes), tuple(len(axis.codes) for axis in axes), resolve_jobs(n_jobs)
    individual = None
    if by_recursion:
        average = marginal_scores(model.trees, columns, points, threads)[chosen.columns]
    else:
        average, individual = _brute(rows, chosen, dict(zip(columns, axes, strict=True)), weight, kind, threads)
        individual = None if individual is None else individual.reshape(*individual.shape[:2], *shape)
    average = average.reshape(-1, *shape)
    return PartialDependence(
        tuple(axis.column.name for axis in axes),
        tuple(axis.column.kind for axis in axes),
        tuple(axis.labels for axis in axes),
        tuple(axis.codes for axis in axes),
        _centred(average, 1) if centred else average,
        _centred(individual, 2) if centred and individual is not None else individual,
        chosen.names,
        chosen.kind,
        bool(centred),
        "recursion" if by_recursion else "brute",
    )


def _cell(value: object) -> str:
    """A value of the grid in a table."""
    if isinstance(value, (float, np.floating)):
        return plain_number(float(value), 2)
    return str(value).removesuffix("T00:00:00.000000") if isinstance(value, np.datetime64) else one_line(value)


def _columns(features: object, schema: Schema) -> list[int]:
    """One column or two different ones."""
    wanted = list(features) if isinstance(features, (tuple, list, np.ndarray)) else [features]
    found = [column_number(feature, schema, "features") for feature in wanted]
    if len(found) not in (1, 2) or len(set(found)) != len(found):
        raise InputError(
            f"features={features!r} must be one column or a pair of different ones. Call partial_dependence once for "
            "each of several columns."
        )
    return found


def _axes(columns: list[int], schema: Schema, table: Table, grid: GridOptions) -> list[Axis]:
    """The grid of each column: the user's, or one made of the rows."""
    resolution, limits = grid.get("grid_resolution", 50), _percentiles(grid.get("percentiles", (0.05, 0.95)))
    own = _own_values(grid.get("values"), columns, schema)
    return [
        own_axis(schema.columns[j], own[j])
        if j in own
        else axis_of(schema.columns[j], table.values(j), resolution, limits)
        for j in columns
    ]


def _percentiles(percentiles: Any) -> tuple[float, float]:
    try:
        low, high = (float(one) for one in percentiles)
    except (TypeError, ValueError):
        low, high = 1.0, 0.0
    if not 0.0 <= low < high <= 1.0:
        raise ParameterError(
            f"percentiles={percentiles!r} is not allowed: it must be two increasing numbers from 0 to 1. Use "
            "percentiles=(0, 1) for the whole range."
        )
    return low, high


def _own_values(values: object, columns: list[int], schema: Schema) -> dict[int, object]:
    """The user's grid by column number."""
    if values is None:
        return {}
    if isinstance(values, Mapping):
        own = {column_number(name, schema, "values"): item for name, item in values.items()}
        strange = [schema.names[j] for j in own if j not in columns]
        if strange:
            raise InputError(f"values has a grid for {strange[0]!r}, which is not among the features. Leave it out.")
        return own
    if len(columns) > 1:
        raise InputError(
            "values must be a mapping from columns to values if there are two features, such as "
            f"{{{schema.names[columns[0]]!r}: […], {schema.names[columns[1]]!r}: […]}}."
        )
    return {columns[0]: values}


def _obstacle(model: Model, output: ModelOutput, kind: str, weight: Floats | None) -> str | None:
    """Why recursion does not apply, if it does not."""
    if kind != "average":
        return f"kind={kind!r} needs the curve of every row, but recursion gives averages only"
    if weight is not None:
        return "sample_weight is given, but recursion averages over the rows of training"
    if not model.is_sum:
        return f"{model.estimator} predicts the median of its learners, not their sum"
    if not model.is_all_trees:
        return f"this {model.estimator} has estimators inside that are not trees of Sapwood"
    no_sum = f"output={output.kind!r} is not a sum over the trees of this {model.estimator}; output='score' is"
    return no_sum if output.columns is None else None


def _use_recursion(method: str, obstacle: str | None) -> bool:
    if method == "recursion" and obstacle is not None:
        raise ParameterError(f"method='recursion' is not allowed here: {obstacle}. Use method='brute'.")
    return method != "brute" and obstacle is None


def _brute(
    rows: EditableRows, output: ModelOutput, axes: Mapping[int, Axis], weight: Floats | None, kind: str, n_jobs: int
) -> tuple[Floats, Floats | None]:
    """Averages (outputs, points) and, unless `kind` is "average", the output for each row (outputs, rows, points)."""
    n_rows, dtype = rows.table.n_rows, rows.table.dtype

    def values_at(point: Floats) -> Floats:
        codes = zip(axes.items(), point.tolist(), strict=True)
        return output.read(rows.replace({j: axis.cells(code, n_rows, dtype) for (j, axis), code in codes}))

    def mean(values: Floats) -> Floats:
        return np.asarray(np.average(values, axis=1, weights=weight))

    def mean_at(point: Floats) -> Floats:
        return mean(values_at(point))

    points = points_of(list(axes.values()))
    if kind != "average":
        individual = np.stack(run_all([partial(values_at, point) for point in points], n_jobs), axis=2)
        return mean(individual), individual
    return np.stack(run_all([partial(mean_at, point) for point in points], n_jobs), axis=1), None


def _centred(curves: Floats, n_axes: int) -> Floats:
    """Curves less their value at the first point."""
    first = curves.reshape(*curves.shape[:n_axes], -1)[..., 0]
    return curves - first.reshape(first.shape + (1,) * (curves.ndim - n_axes))

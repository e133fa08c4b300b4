"""Hypothesis strategies: small tables with ties, missing values, infinities, categories; targets, weights and rules.

`SAPWOOD_EXAMPLES` sets the number of examples of every property; nightly runs use more than the default.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from oracle import brute_force as bf

EXAMPLES = int(os.environ.get("SAPWOOD_EXAMPLES", "12"))
LEVELS = ("red", "blue", "yellow", "green", "black", "white")

examples = settings(
    max_examples=EXAMPLES,
    deadline=None,
    phases=[phase for phase in Phase if phase is not Phase.explain],  # it traces every line: minutes
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


@dataclass(frozen=True)
class Case:
    """Training data both as the specification takes it and as a user would pass it."""

    columns: tuple[bf.Column, ...]
    y: NDArray
    weight: NDArray | None

    @property
    def has_categories(self) -> bool:
        """Whether any column is a category."""
        return any(column.is_category for column in self.columns)

    def array(self) -> NDArray:
        """The columns as one array of numbers."""
        return np.column_stack([column.values for column in self.columns])

    def frame(self, names: tuple[str, ...] = LEVELS) -> pd.DataFrame:
        """The columns as a data frame, categories as strings."""
        return pd.DataFrame({f"x{at}": _as_series(column, names) for at, column in enumerate(self.columns)})


def _as_series(column: bf.Column, names: tuple[str, ...]) -> pd.Series:
    if not column.is_category:
        return pd.Series(column.values)
    return pd.Series([None if np.isnan(code) else names[int(code)] for code in column.values], dtype=object)


@st.composite
def number_columns(draw: st.DrawFn, n_rows: int, missing: bool, plain: bool) -> bf.Column:
    """A numeric column; each column keeps to one kind of cell."""
    ties = st.integers(-2, 2).map(float)
    quarters = st.integers(-400, 400).map(lambda k: k / 4)
    kinds = [ties, quarters]
    if not plain:
        infinite = st.sampled_from([-np.inf, -1.0, 0.0, 1.0, np.inf])
        kinds += [st.floats(-1e3, 1e3), st.floats(allow_nan=False), infinite]
    cells = draw(st.sampled_from(kinds))
    return bf.Column(draw(_cells(cells, n_rows, missing)))


@st.composite
def category_columns(draw: st.DrawFn, n_rows: int, missing: bool) -> bf.Column:
    """A column of two to six levels."""
    n_levels = draw(st.integers(2, 6))
    return bf.Column(draw(_cells(st.integers(0, n_levels - 1).map(float), n_rows, missing)), is_category=True)


@st.composite
def _cells(draw: st.DrawFn, cells: st.SearchStrategy[float], n_rows: int, missing: bool) -> NDArray:
    values = np.array(draw(st.lists(cells, min_size=n_rows, max_size=n_rows)), dtype=np.float64)
    if missing and draw(st.booleans()):
        gone = draw(st.lists(st.sampled_from([False, False, False, True]), min_size=n_rows, max_size=n_rows))
        values[np.array(gone)] = np.nan
    return values


def targets(criterion: str, n_rows: int, n_classes: int, n_outputs: int) -> st.SearchStrategy[NDArray]:
    """Classes, counts or eighths (whose sums are exact)."""
    if criterion in bf.CLASSIFICATION:
        cells = st.integers(0, n_classes - 1)
    elif criterion == "poisson":
        cells = st.integers(0, 6).map(float)
    else:
        cells = st.one_of(st.integers(-3, 3).map(float), st.integers(-800, 800).map(lambda k: k / 8))
    rows = st.lists(cells, min_size=n_rows * n_outputs, max_size=n_rows * n_outputs)
    shape = (n_rows,) if n_outputs == 1 else (n_rows, n_outputs)
    return rows.map(lambda flat: np.array(flat).reshape(shape))


def weights(kind: str, n_rows: int) -> st.SearchStrategy[NDArray | None]:
    """None, small integers including 0, or eighths; sums are exact, so exact halves of a weight stay exact."""
    if kind == "none":
        return st.none()
    cells = st.integers(0, 3).map(float) if kind == "integers" else st.integers(1, 40).map(lambda k: k / 8)
    return st.lists(cells, min_size=n_rows, max_size=n_rows).map(lambda w: np.array(w, dtype=np.float64))


@st.composite
def cases(
    draw: st.DrawFn,
    criterion: str,
    *,
    missing: bool = True,
    categories: bool = True,
    weighting: str | None = None,
    plain_numbers: bool = False,
    single_output: bool = False,
    max_classes: int = 3,
) -> Case:
    """Training data of 2 to 25 rows and 1 to 4 columns; with `categories` at least one column is a category."""
    n_rows = draw(st.integers(2, 25))
    n_columns = draw(st.integers(1, 4))
    columns = [draw(number_columns(n_rows, missing, plain_numbers)) for _ in range(n_columns)]
    if categories:
        at = draw(st.integers(0, n_columns - 1))
        for index in {at, draw(st.integers(0, n_columns - 1))}:
            columns[index] = draw(category_columns(n_rows, missing))
    n_outputs = 1 if single_output else draw(st.sampled_from([1, 1, 2]))
    y = draw(targets(criterion, n_rows, draw(st.integers(2, max_classes)), n_outputs))
    weight = draw(weights(weighting or draw(st.sampled_from(["none", "integers", "floats"])), n_rows))
    return _with_weight_and_events(Case(tuple(columns), y, weight), criterion)


def _with_weight_and_events(case: Case, criterion: str) -> Case:
    """Make two rows count, and give every Poisson output an event in one of them."""
    y, weight = case.y.copy(), case.weight
    if weight is not None:
        weight = weight.copy()
        weight[:2] = np.maximum(weight[:2], 1)
    if criterion == "poisson":
        y[0] = np.maximum(y[0], 1)
    return Case(case.columns, y, weight)


def directions(case: Case) -> st.SearchStrategy[tuple[int, ...]]:
    """A monotonic constraint per column; categories have no order to constrain."""
    choices = [st.just(0) if column.is_category else st.integers(-1, 1) for column in case.columns]
    return st.tuples(*choices)


@st.composite
def rules(
    draw: st.DrawFn, criterion: str, monotonic: tuple[int, ...] | None = None, *, single_output: bool = True
) -> bf.Rules:
    """Full growth half of the time, else one or two limits; the significance test is defined for a single output."""
    limits = {
        "max_depth": st.integers(1, 3),
        "min_samples_split": st.integers(2, 8),
        "min_samples_leaf": st.integers(1, 4),
        "min_weight_fraction_leaf": st.sampled_from([0.125, 0.25]),
        "max_leaf_nodes": st.integers(2, 6),
        "min_impurity_decrease": st.sampled_from([0.0137, 0.0571, 0.213]),
        "impurity_threshold": st.sampled_from([0.0973, 0.317, 0.4519]),
        "significance": st.sampled_from([0.0503, 0.2057]),
    }
    if not single_output:
        del limits["significance"]
    chosen = draw(st.lists(st.sampled_from(sorted(limits)), max_size=2, unique=True)) if draw(st.booleans()) else []
    return bf.Rules(criterion, monotonic_cst=monotonic, **{name: draw(limits[name]) for name in chosen})

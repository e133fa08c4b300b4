"""Which columns explain the moves: differences of the Shapley values that two models give the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Floats
from sapwood.cached_property import cached_property
from sapwood.explain.diff.column_pairs import ColumnPairs
from sapwood.explain.editable_rows import EditableRows
from sapwood.explain.shap.shap_result import ShapValues
from sapwood.explain.shap.shap_values import shap_values
from sapwood.model import Model
from sapwood.one_line import one_line
from sapwood.result import Part, Result, TextTable
from sapwood.table.storage import MatrixStorage
from sapwood.table.table import Table


@dataclass(frozen=True)
class FeatureMove:
    """How much a column contributes to the moves of an output: mean size and mean of the differences over the rows."""

    feature: str
    output: Any
    mean_abs: float
    mean: float


@dataclass(frozen=True, eq=False, repr=False)
class ShapMoves(Result):
    """New Shapley values minus old ones, (rows, features, outputs).

    Those of a row and its difference of base values add up to the move of its score. A column that only one of the
    models has counts as 0 for the other. `rows` are the numbers of the rows in X.
    """

    values: Floats
    base_values: Floats  # (rows, outputs)
    rows: NDArray[np.intp]
    feature_names: tuple[str, ...]
    output_names: tuple[object, ...]

    @classmethod
    def of(
        cls,
        models: Sequence[Model],
        rows: Sequence[EditableRows],
        pairs: ColumnPairs,
        most: int | None,
        n_jobs: int | None,
    ) -> ShapMoves:
        """Explain `most` rows, spread evenly over X, or all of them."""
        n_rows = rows[0].table.n_rows
        chosen = _spread(n_rows, n_rows if most is None else most)
        old, new = (
            shap_values(model, _take(own.table, chosen), n_jobs=n_jobs) for model, own in zip(models, rows, strict=True)
        )
        values = np.zeros((len(chosen), len(pairs.names), new.n_outputs))
        values[:, pairs.places[1]] += _by_output(new)
        values[:, pairs.places[0]] -= _by_output(old)
        base = (new.base_values - old.base_values).reshape(len(chosen), -1)
        return cls(values, base, chosen, pairs.names, new.output_names)

    def mean_abs(self) -> Floats:
        """Mean size of the differences, (features, outputs)."""
        return np.asarray(np.abs(self.values).mean(axis=0))

    def _parts(self) -> Iterator[Part]:
        yield f"Differences of Shapley values: {len(self.rows)} rows, {len(self.feature_names)} features"
        yield TextTable(("feature", "mean size"), [(one_line(name), f"{size:.4g}") for name, size in self.sizes])

    @cached_property
    def features(self) -> tuple[FeatureMove, ...]:
        """One entry for each column and output, the largest mean size first."""
        size, mean = self.mean_abs(), self.values.mean(axis=0)
        order = np.argsort(-size, axis=None, kind="stable")
        places = zip(*np.unravel_index(order, size.shape), strict=True)
        return tuple(
            FeatureMove(self.feature_names[j], self.output_names[k], float(size[j, k]), float(mean[j, k]))
            for j, k in places
        )

    @cached_property
    def sizes(self) -> tuple[tuple[str, float], ...]:
        """Columns and the mean size of their differences, summed over the outputs, the largest first."""
        size = self.mean_abs().sum(axis=1)
        return tuple((self.feature_names[j], float(size[j])) for j in np.argsort(-size, kind="stable"))


def _spread(n_rows: int, most: int) -> NDArray[np.intp]:
    """Numbers of at most `most` rows, evenly spaced from the first to the last."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.linspace(0, n_rows - 1, most).round().astype(np.intp)


def _take(table: Table, rows: NDArray[np.intp]) -> Table:
    """Some rows, in the codes of the model: `Table.take` would drop levels that do not occur in them."""
    return table if len(rows) == table.n_rows else Table(table.schema, MatrixStorage(table.pick(rows)))


def _by_output(shap: ShapValues) -> Floats:
    return shap.values.reshape(*shap.values.shape[:2], -1)

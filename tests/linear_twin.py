"""Linear leaves in plain NumPy: a ridge regression in a leaf, and what its lines add to a row."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class TwinLine(NamedTuple):
    """One line of a leaf."""

    column: int
    slope: float
    centre: float
    low: float
    high: float


def fit_leaf(X: Any, g: Any, h: Any, columns: Any, ridge: float, weight: float | None = None) -> list[TwinLine]:
    """Lines of a leaf by its rows, of this total weight; `columns` are those of its path, the nearest first."""
    found, centred = [], []
    for j in columns:
        x = np.asarray(X[:, j], dtype=np.float64)
        known = ~np.isnan(x)
        if not known.any() or np.isinf(x).any() or x[known].min() == x[known].max():
            continue
        centre = np.average(x[known], weights=h[known])
        found.append((j, centre, x[known].min(), x[known].max()))
        centred.append(np.where(known, x - centre, 0.0))
    if not found or (len(X) if weight is None else weight) < 10 * (1 + len(found)):
        return []
    Z = np.column_stack(centred)
    system = Z.T @ (h[:, None] * Z)
    system += ridge * np.diag(np.diag(system)) / h.sum()
    slopes = np.linalg.solve(system, -Z.T @ g)
    return [TwinLine(j, b, centre, low, high) for (j, centre, low, high), b in zip(found, slopes, strict=True)]


def line_values(lines: Any, X: Any) -> Any:
    """What lines (column, slope, centre, low, high) add to rows."""
    total = np.zeros(len(X))
    for column, slope, centre, low, high in lines:
        x = np.asarray(X[:, column], dtype=np.float64)
        total += np.where(np.isnan(x), 0.0, slope * (np.clip(x, low, high) - centre))
    return total


def path_columns(tree: Any, leaf: int) -> list[int]:
    """Numeric columns on the path to a leaf, the nearest first, at most five."""
    parent, found = tree.parents(), []
    node = int(parent[leaf])
    while node >= 0:
        j = int(tree.feature[node])
        if tree.n_levels[j] == 0 and j not in found:
            found.append(j)
        node = int(parent[node])
    return found[:5]

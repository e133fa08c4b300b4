"""Small made-up rows of the same kind as those of a set, so that libraries compile before their time starts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from accuracy.forms import MAX_LEVELS, text_columns
from accuracy.rows import Rows

N_ROWS = 2_000


class Kind(NamedTuple):
    """What decides which kernels a fit needs."""

    n_classes: int  # 0 for numbers, 3 for several
    types: tuple[str, ...]  # of columns
    has_missing: bool
    has_categories: bool
    has_many_levels: bool


def kind_of(rows: Rows) -> Kind:
    """The kind of the training rows."""
    levels = [rows.X[name].nunique() for name in text_columns(rows.X)]
    return Kind(
        n_classes=min(rows.n_classes, 3),
        types=tuple(sorted({str(each) for each in rows.X.dtypes})),
        has_missing=bool(rows.X.isna().any(axis=None)),
        has_categories=bool(levels),
        has_many_levels=max(levels, default=0) > MAX_LEVELS,
    )


def similar_rows(rows: Rows) -> Rows:
    """Two thousand made-up rows: every type of column, with missing values and many levels if the set has them."""
    rng = np.random.default_rng(0)
    kind = kind_of(rows)
    signal = rng.normal(size=N_ROWS)
    X = pd.DataFrame({str(number): _column(type_, signal, kind, rng) for number, type_ in enumerate(kind.types)})
    X = X.assign(first=signal, second=rng.normal(size=N_ROWS))
    noisy = signal + rng.normal(size=N_ROWS)
    y = np.searchsorted(np.quantile(noisy, [0.5, 0.8][: kind.n_classes - 1]), noisy) if kind.n_classes else noisy
    return Rows(rows.task, X, y, X, y, kind.n_classes)


def _column(type_: str, signal: np.ndarray, kind: Kind, rng: np.random.Generator) -> pd.Series:
    if type_.startswith("datetime"):
        column = pd.Series(pd.to_datetime(np.round(signal * 1e8), unit="s"))
    elif type_ in ("str", "string", "object", "category"):
        n_levels = 2 * MAX_LEVELS if kind.has_many_levels else 20
        column = pd.Series([f"level {number}" for number in rng.integers(n_levels, size=N_ROWS)])
    else:
        column = pd.Series(np.round(np.abs(signal) * 50)).clip(upper=1 if type_ == "bool" else 100)
    can_miss = kind.has_missing and not type_.startswith(("int", "uint", "bool"))
    return (column.where(rng.random(N_ROWS) > 0.1) if can_miss else column).astype(type_)

"""Data, trees and bars of every case of `bench_boosting.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from data import Split, covertype_split, draw_target, higgs_like, make_split
from flights import flights_split

_NEAR = 5e-4


@dataclass(frozen=True)
class Case:
    """What to learn from, how to grow, and how fast and good Sapwood should be.

    Bars are shares of the time of the fastest library other than hessboost, and of hessboost's. The first measure of
    quality may be `slack` below the best of the `judges` (None: of all others).
    """

    title: str
    load: Callable[[], Split | None]
    bar: float
    hessboost_bar: float | None = None
    rounds: int = 100
    leaves: int | None = None
    many_classes: bool = False
    slack: float | None = None
    judges: tuple[str, ...] | None = None


def load_split(case: Case, scale: float) -> Split | None:
    """Rows of a case, or the first of them: `scale` is the share to keep. Classes are numbered from 0."""
    split = case.load()
    if split is None:
        return None
    n_train, n_test = (max(200, int(scale * len(y))) for y in (split.y, split.y_test))
    classes = np.unique(split.y)
    y, y_test = (np.searchsorted(classes, y) for y in (split.y[:n_train], split.y_test[:n_test]))
    return Split(split.X[:n_train], y, split.X_test[:n_test], y_test)


def _wide_split(n_rows: int = 20_000, n_features: int = 2_000, n_test: int = 10_000) -> Split:
    """Columns that matter, then noise."""
    X, score = higgs_like(n_rows + n_test)
    noise = np.random.default_rng(2).standard_normal((len(X), n_features - X.shape[1]), dtype=np.float32)
    X, y = np.hstack([X, noise]), draw_target(score, "classes")
    return Split(X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:])


def _tiny_split() -> Split:
    """The first columns of `higgs_like`, which needs more than ten to make its score of."""
    split = make_split(1_000, 28, "classes")
    return replace(split, **{name: np.ascontiguousarray(getattr(split, name)[:, :10]) for name in ("X", "X_test")})


_MILLION = Case(
    "1 000 000 × 28, depth 6",
    partial(make_split, 1_000_000, 28, "classes", n_test=200_000),
    bar=0.4,
    hessboost_bar=0.8,
    slack=_NEAR,
)

CASES: dict[str, Case] = {
    "1m": _MILLION,
    "1m-leaves": replace(_MILLION, title="1 000 000 × 28, 255 leaves, leaf by leaf", leaves=255, bar=0.45),
    "100k": Case("100 000 × 28, depth 6", partial(make_split, 100_000, 28, "classes"), bar=0.45, hessboost_bar=0.7),
    "10k": Case("10 000 × 20, depth 6", partial(make_split, 10_000, 20, "classes"), bar=0.5),
    "covertype": Case(
        "covertype, 7 classes, depth 6",
        partial(covertype_split, "classes"),
        bar=0.45,
        rounds=50,
        many_classes=True,
    ),
    "flights": Case(
        "flights, categories and missing values, depth 6",
        flights_split,
        bar=0.6,
        slack=0.0,
        judges=("xgboost", "lightgbm"),
    ),
    "wide": Case("20 000 × 2 000, depth 6", _wide_split, bar=0.5),
    "tiny": Case("1 000 × 10, depth 6", _tiny_split, bar=0.5),
}

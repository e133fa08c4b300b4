"""Models, rows and bars of every case of `bench_predict.py`."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from boosters import BOOSTERS, Settings, first_rows
from data import Split, covertype_split, higgs_like, make_split
from flights import flights_split

TRAIN_ROWS, FOREST_TRAIN_ROWS, N_CLASSES = 100_000, 50_000, 7
FORESTS = {"sklearn": "sklearn.ensemble", "intelex": "sklearnex.ensemble", "sapwood": "sapwood"}


@dataclass(frozen=True)
class Ground:
    """What models learn, how many trees they are, and which rows they are asked for."""

    load: Callable[[int], Split | None]  # of so many rows to predict, at most
    rounds: int
    rows: int = 200_000
    leaves: int | None = None
    is_forest: bool = False


@dataclass(frozen=True)
class Case:
    """Models on their ground, and what Sapwood should reach."""

    title: str
    ground: Ground
    bars: dict[str, float] = field(default_factory=dict)  # shares of the time of peers
    must_lead: bool = False  # faster than every peer but those that compile
    is_single: bool = False
    compiles: bool = True  # predictors that compile take part; it takes them long


class Models:
    """Fitted models of one ground, each made when somebody asks for it, or the reason why there is none."""

    def __init__(self, ground: Ground, split: Split, threads: int) -> None:
        self.ground, self.split = ground, split
        self.n_classes = len(np.unique(split.y))
        self.settings = Settings(ground.rounds, self.n_classes, ground.leaves, threads)
        self._folder = tempfile.TemporaryDirectory()
        self._made: dict[str, Any] = {}

    @property
    def folder(self) -> Path:
        return Path(self._folder.name)

    @property
    def has_categories(self) -> bool:
        return hasattr(self.split.X, "dtypes")

    @property
    def n_trees(self) -> int:
        return self.ground.rounds * (self.n_classes if self.n_classes > 2 else 1)

    def of(self, source: str) -> Any:
        """The model of a library."""
        if source not in self._made:
            try:
                self._made[source] = self._fit(source)
            except Exception as error:
                self._made[source] = error
        if isinstance(self._made[source], Exception):
            raise self._made[source]
        return self._made[source]

    def _fit(self, source: str) -> Any:
        if self.ground.is_forest:
            forest = import_module(FORESTS[source]).RandomForestClassifier
            given = {"n_estimators": self.ground.rounds, "max_features": "sqrt", "n_jobs": self.settings.threads}
            return forest(random_state=0, **given).fit(self.split.X, self.split.y)
        booster = BOOSTERS[source]()
        return booster.fit(booster.prepare(self.split.X), self.split.y, self.settings)


@cache
def models_of(ground: Ground, rows: int, threads: int) -> Models | None:
    """Models of a ground, kept for further cases; None without its data. Classes are numbered from 0."""
    split = ground.load(rows)
    if split is None:
        return None
    classes = np.unique(split.y)
    y, y_test = (np.searchsorted(classes, y) for y in (split.y, split.y_test))
    X, y = first_rows(split.X, y, FOREST_TRAIN_ROWS if ground.is_forest else TRAIN_ROWS)
    return Models(ground, Split(X, y, split.X_test[:rows], y_test[:rows]), threads)


def _higgs(rows: int) -> Split:
    return make_split(TRAIN_ROWS, 28, "classes", n_test=rows)


def _many_classes(rows: int) -> Split:
    """Covertype; without it, sevenths of a score with noise."""
    split = covertype_split("classes")
    if split is not None:
        return split
    print("multi-class: SAPWOOD_DATA is not set, so made up data instead of covertype", flush=True)
    X, score = higgs_like(TRAIN_ROWS + rows)
    score += np.random.default_rng(1).normal(scale=0.3 * score.std(), size=len(score))
    y = np.searchsorted(np.quantile(score, np.arange(1, N_CLASSES) / N_CLASSES), score)
    return Split(X[:TRAIN_ROWS], y[:TRAIN_ROWS], X[TRAIN_ROWS:], y[TRAIN_ROWS:])


def _flights(_: int) -> Split | None:
    return flights_split()


_DEPTH_SIX = Ground(_higgs, rounds=100)

CASES: dict[str, Case] = {
    "batch": Case("28 columns, 100 trees of depth 6", _DEPTH_SIX, bars={"xgboost": 0.28}, must_lead=True),
    "leaves": Case(
        "28 columns, 500 trees of 31 leaves, leaf by leaf", Ground(_higgs, rounds=500, leaves=31), compiles=False
    ),
    "forest": Case(
        "28 columns, forest of 100 trees of full depth",
        Ground(_higgs, rounds=100, rows=100_000, is_forest=True),
        bars={"sklearn": 0.25},
    ),
    "one-row": Case("one row of 28 columns, 100 trees of depth 6", _DEPTH_SIX, is_single=True),
    "classes": Case("7 classes, 50 rounds of depth 6", Ground(_many_classes, rounds=50), compiles=False),
    "flights": Case(
        "categories and missing values, 100 trees of depth 6", Ground(_flights, rounds=100), compiles=False
    ),
}

"""Permutation importance: how much the score drops once the values of columns are shuffled among the rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.explain.column_numbers import Model
from sapwood.explain.editable_rows import Rows
from sapwood.explain.importance.permutation import Scoring
from sapwood.progress_bar import WorkBar
from sapwood.threads import run_all

Floats = NDArray[np.float64]


def permuted(
    model: Model,
    X: Any,
    scoring: Scoring,
    groups: Sequence[tuple[str, list[int]]],
    *,
    n_repeats: int,
    seed: int,
    n_jobs: int,
    verbose: bool = False,
) -> tuple[Floats, Floats]:
    """Mean drop of the score for each group, whose columns are shuffled together, and its standard error.

    Repeat r shuffles in the same way whichever group it is, so that groups are compared like with like.
    """
    rows = Rows.of(model, X, as_given=scoring.reads_rows)
    orders = [np.random.default_rng([seed, r]).permutation(rows.table.n_rows) for r in range(n_repeats)]
    whole = scoring.measure(rows.as_they_are)

    def drop(columns: list[int], order: NDArray[np.intp]) -> float:
        return whole - scoring.measure(rows.shuffle(columns, order))

    tasks = [partial(drop, columns, order) for _, columns in groups for order in orders]
    with WorkBar(len(tasks), verbose) as bar:
        drops = np.array(run_all(bar.counted(tasks), n_jobs)).reshape(len(groups), n_repeats)
    return drops.mean(axis=1), standard_error(drops)


def standard_error(drops: Floats) -> Floats:
    """Of the mean over repeats; a single one has none (NaN)."""
    if drops.shape[1] < 2:
        return np.full(len(drops), np.nan)
    return np.asarray(drops.std(axis=1, ddof=1) / np.sqrt(drops.shape[1]))

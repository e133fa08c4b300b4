"""Rows set apart for testing."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.cli.sample import Sample
from sapwood.cli.task import Task
from sapwood.errors import InputError, ParameterError

Rows = NDArray[np.intp]


def split(sample: Sample, test_size: float, seed: int) -> tuple[Sample, Sample]:
    """A training and a test part, with equal shares of the classes where their sizes allow."""
    from sklearn.model_selection import train_test_split

    if not 0 < test_size < 1:
        raise ParameterError(f"--test-size {test_size} is not allowed: it must be from 0 to below 1.")
    n_test = min(max(1, round(sample.n_rows * test_size)), sample.n_rows - 1)
    rows = np.arange(sample.n_rows)
    train, test = train_test_split(rows, test_size=n_test, random_state=seed, stratify=_strata(sample, n_test))
    return sample.take(train), sample.take(test)


def folds(sample: Sample, n_folds: int, seed: int, option: str = "--cv") -> list[tuple[Rows, Rows]]:
    """Training and test rows of every fold, stratified where every class has a row for each fold."""
    from sklearn.model_selection import KFold, StratifiedKFold

    if n_folds > sample.n_rows:
        raise InputError(f"{option} {n_folds} is more than the {sample.n_rows} rows of the file. Use fewer folds.")
    stratify = sample.task is Task.CLASSIFICATION and _smallest_class(sample) >= n_folds
    splitter: Any = (StratifiedKFold if stratify else KFold)(n_folds, shuffle=True, random_state=seed)
    return list(splitter.split(np.zeros(sample.n_rows), _codes(sample) if stratify else None))


def _strata(sample: Sample, n_test: int) -> Rows | None:
    """The classes, if both parts have room for one row of each."""
    if sample.task is not Task.CLASSIFICATION or _smallest_class(sample) < 2:
        return None
    codes = _codes(sample)
    return codes if min(n_test, sample.n_rows - n_test) > codes.max() else None


def _codes(sample: Sample) -> Rows:
    codes: Rows = np.unique(sample.y, return_inverse=True)[1]
    return codes


def _smallest_class(sample: Sample) -> int:
    return int(np.bincount(_codes(sample)).min())

"""Folds as users give them: a number, a scikit-learn splitter, or rows; checked, and as ascending row numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, check_cv

from sapwood.arrays import Array, Ints, plain
from sapwood.boosting.cross_validation import Split
from sapwood.boosting.fitting import Rows
from sapwood.errors import InputError, ParameterError
from sapwood.parameters import Interval, check_parameters


def read_groups(groups: Any, n_rows: int, of_ranker: bool) -> Array | None:
    """A label for each row, or None."""
    if groups is None and of_ranker:
        raise InputError("A ranker needs groups: for each row the label of its query, as qid in fit.")
    labels = None if groups is None else np.asarray(groups)
    if labels is not None and labels.shape != (n_rows,):
        raise InputError(f"groups has shape {labels.shape}, but X has {n_rows} rows. Pass one label for each row.")
    return labels


def read_splits(
    cv: Any, labels: Array, groups: Array | None, stratify: bool, queries: Array | None, least: int = 2
) -> list[tuple[Ints, Ints]]:
    """Rows (train, test) of every fold, checked; the groups of a ranker are its queries. A standard error needs two."""
    if queries is not None and len(runs(queries)) != len(np.unique(queries)):
        raise InputError("Rows of a query must stand together. Sort the rows by groups.")
    found = [
        _check_fold(number, fold, len(labels))
        for number, fold in enumerate(_folds(cv, labels, groups, stratify), start=1)
    ]
    if len(found) < least:
        raise InputError(f"cv={cv!r} gives {len(found)} fold(s). Pass at least {least}.")
    if queries is not None:
        for number, (train, _) in enumerate(found, start=1):
            parted = np.intersect1d(queries[train], np.delete(queries, train))
            if len(parted):
                raise ParameterError(
                    f"Fold {number} of cv trains on a part of the query {parted[0].item()!r}: all rows of a query must "
                    "be on one side. Pass a number of folds, or a splitter that keeps groups together, such as "
                    "GroupKFold."
                )
    return found


def folds_of_rows(cv: Any, rows: Rows, n_rows: int, classes: Array | None) -> list[tuple[Ints, Ints]]:
    """Rows (train, test) of every fold, by their positions among those of a weight above zero, of n_rows in all.

    Every fold must train on all classes; None for numbers.
    """
    used = np.arange(n_rows) if rows.index is None else rows.index
    labels = np.zeros((n_rows, *rows.y.shape[1:]), dtype=np.float64 if classes is None else np.int64)
    labels[used] = rows.y
    splits = read_splits(cv, labels, None, classes is not None, None, least=1)
    inner = [inner_split(number, split, used, None) for number, split in enumerate(splits, start=1)]
    for number, one in enumerate(inner, start=1):
        if classes is not None:
            check_classes(number, classes[np.unique(labels[used][one.train])], classes[np.unique(labels[used])])
    return [(one.train, one.test) for one in inner]


def _folds(cv: Any, labels: Array, groups: Array | None, stratify: bool) -> list[Any]:
    splitter = 5 if cv is None else cv
    if isinstance(cv, (int, np.integer)):
        check_parameters("the folds", {"cv": (Interval(int, low=2),)}, {"cv": cv})
        by_class, simple = (StratifiedKFold, KFold) if groups is None else (StratifiedGroupKFold, GroupKFold)
        splitter = (by_class if stratify else simple)(int(cv))
    try:
        splitter = check_cv(splitter, labels, classifier=stratify)
        return list(splitter.split(np.zeros((len(labels), 1)), labels, groups))
    except (ValueError, TypeError) as error:
        raise ParameterError(
            f"cv={cv!r} cannot divide these rows: {str(error).rstrip('.')}. Use a smaller number of folds, from 2 on, "
            "a scikit-learn splitter, or a list of (train, test) rows."
        ) from error


def _check_fold(number: int, fold: Any, n_rows: int) -> tuple[Ints, Ints]:
    if not isinstance(fold, (tuple, list)) or len(fold) != 2:
        raise ParameterError(f"Fold {number} of cv is {fold!r}, which is not a pair (train, test) of rows.")
    train, test = (
        _row_numbers(f"{name} rows of fold {number} of cv", rows, n_rows)
        for name, rows in zip(("train", "test"), fold, strict=True)
    )
    both = np.intersect1d(train, test)
    if len(both):
        raise ParameterError(
            f"Fold {number} of cv trains on row {both[0]} and tests on it too. A row must be in one part only."
        )
    return train, test


def _row_numbers(name: str, rows: Any, n_rows: int) -> Ints:
    """Row numbers or a mask, as ascending row numbers."""
    found = np.asarray(rows)
    if found.dtype == bool and found.shape == (n_rows,):
        found = np.flatnonzero(found)
    if found.ndim != 1 or len(found) == 0:
        raise ParameterError(f"The {name} are {rows!r}. Give at least one row number.")
    if not np.issubdtype(found.dtype, np.integer):
        raise ParameterError(f"The {name} hold {found[0]!r}, which is not a whole number. Give row numbers or a mask.")
    numbers = np.sort(found.astype(np.int64))
    if numbers[0] < 0 or numbers[-1] >= n_rows:
        wrong = numbers[0] if numbers[0] < 0 else numbers[-1]
        raise ParameterError(f"The {name} hold {wrong}, but X has {n_rows} rows. Use 0 to {n_rows - 1}.")
    twice = numbers[1:][numbers[1:] == numbers[:-1]]
    if len(twice):
        raise ParameterError(f"The {name} hold row {twice[0]} twice. Use sample_weight to count rows twice.")
    return numbers


def check_classes(number: int, found: Array | None, wanted: Array | None) -> None:
    """Raise if a fold trains on fewer classes than there are."""
    if found is None or wanted is None or len(found) == len(wanted):
        return
    lacking = next(label for label in wanted if label not in found)
    raise InputError(
        f"Fold {number} of cv has no row of the class {plain(lacking)!r} to train on. Use fewer folds, a stratified "
        "splitter, or leave out classes of so few rows."
    )


def inner_split(number: int, split: tuple[Ints, Ints], used: Ints, queries: Array | None) -> Split:
    """The rows of a fold by their positions among those of a weight above zero."""
    train, test = (np.flatnonzero(np.isin(used, rows, assume_unique=True)) for rows in split)
    for rows, does in ((train, "trains"), (test, "tests")):
        if len(rows) == 0:
            raise InputError(f"All rows that fold {number} of cv {does} on have a weight of zero. Change them or cv.")
    return Split(train, test, None if queries is None else (runs(queries[train]), runs(queries[test])))


def runs(labels: Array) -> Ints:
    """Rows of each run of equal labels."""
    starts = np.flatnonzero(np.append(True, labels[1:] != labels[:-1]))
    return np.diff(np.append(starts, len(labels))).astype(np.int64)

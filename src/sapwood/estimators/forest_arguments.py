"""Arguments of methods of forests: rows and columns of each tree, groups of columns, fractions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sapwood.arrays import Floats, Ints
from sapwood.errors import InputError, InputTypeError
from sapwood.forest.bags import Bag, Bags
from sapwood.table.table import Table


def given_bags(rows: Any, features: Any, table: Table) -> list[Bag]:
    """The bags of rows, and maybe columns, by tree."""
    of_trees = _by_tree(rows, "rows")
    columns = [None] * len(of_trees) if features is None else _by_tree(features, "features")
    if len(of_trees) != len(columns):
        raise InputError(
            f"rows has {len(of_trees)} trees, but features has {len(columns)}. Give both for the same trees."
        )
    names, n_rows = list(table.schema.names), table.n_rows
    return [
        Bag.of(_row_numbers(own, n_rows), n_rows, None if features is None else _column_numbers(chosen, names))
        for own, chosen in zip(of_trees, columns, strict=True)
    ]


def require_same_bags(before: Bags, now: Bags, n_trees: int) -> None:
    """Refuse to measure the trees of an earlier fit on rows outside of bags that are not theirs."""
    if not before.draws_like(now, n_trees):
        raise InputError(
            f"warm_start=True keeps the {n_trees} trees of the previous fit, but with other rows, weights or bags it "
            "is unknown which rows these trees were grown on, as oob_score, oob_stop, keep_targets and rows= require. "
            "Pass what the previous fit was given, or set warm_start=False."
        )


def column_groups(groups: Mapping[str, Sequence[Any]] | None, names: Sequence[str]) -> list[tuple[str, list[int]]]:
    """Named groups of columns, as numbers; each column by itself if none are given."""
    if groups is None:
        return [(name, [j]) for j, name in enumerate(names)]
    if not isinstance(groups, Mapping):
        raise InputTypeError(
            f"groups is a {type(groups).__name__}. Pass a dictionary from names to columns, such as "
            "{'size': ['length', 'width']}."
        )
    return [(name, _column_numbers(columns, list(names)).tolist()) for name, columns in groups.items()]


def fractions(given: Any, name: str) -> Floats:
    """Numbers between 0 and 1."""
    try:
        wanted = np.atleast_1d(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError):
        wanted = np.empty(0)
    if wanted.ndim != 1 or not len(wanted) or not ((wanted > 0) & (wanted < 1)).all():
        raise InputError(f"{name}={given!r} is not allowed. Give numbers between 0 and 1, such as 0.9.")
    return wanted


def _by_tree(given: Any, name: str) -> list[Any]:
    """What was given for each tree; there is at least one."""
    if isinstance(given, (list, tuple, np.ndarray)) and len(given):
        return list(given)
    raise InputError(f"{name}={given!r} is not allowed. Pass a list with one list for each tree.")


def _column_numbers(columns: Any, names: list[str]) -> Ints:
    """Numbers of columns given by name or number."""
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise InputError(f"{columns!r} is not a list of columns of X. Its columns are {names}; numbers count from 0.")
    columns = list(columns)
    numbers = [names.index(one) if one in names else one for one in columns]
    are_whole = all(isinstance(one, (int, np.integer)) and not isinstance(one, bool) for one in numbers)
    if not numbers or not are_whole or min(numbers) < 0 or max(numbers) >= len(names):
        raise InputError(f"{columns!r} are not columns of X. Its columns are {names}; numbers count from 0.")
    return np.unique(np.array(numbers, dtype=np.int64))


def _row_numbers(rows: Any, n_rows: int) -> Ints:
    try:
        numbers = np.asarray(rows)
    except ValueError:  # lists of different lengths
        numbers = np.empty(0)
    if numbers.dtype.kind not in "iu" or numbers.ndim != 1 or not len(numbers):
        raise InputError(f"rows holds {rows!r}, but it must hold a list of row numbers for each tree.")
    wrong = numbers[(numbers < 0) | (numbers >= n_rows)]
    if len(wrong):
        raise InputError(f"rows holds {int(wrong[0])}, but X has {n_rows} rows, numbered from 0. Give other numbers.")
    return numbers.astype(np.int64)

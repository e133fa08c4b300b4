"""Queries of a ranking: which rows belong together."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood.arrays import Array, Ints
from sapwood.errors import InputError
from sapwood.table.read_array import read_array


def read_queries(group: Any, qid: Any, n_rows: int, name: str = "group") -> Ints:
    """Numbers of rows of the queries, from themselves or from a label for each row; one query without either."""
    label = name.replace("group", "qid")
    if group is not None and qid is not None:
        raise InputError(f"Both {name} and {label} are given. Pass one of them.")
    if group is not None:
        return _read_sizes(group, n_rows, name)
    return np.array([n_rows]) if qid is None else _runs(qid, n_rows, label)


def _read_sizes(group: Any, n_rows: int, name: str) -> Ints:
    sizes = np.asarray(group)
    if sizes.ndim != 1 or not np.issubdtype(sizes.dtype, np.integer) or (sizes < 1).any():
        raise InputError(
            f"{name}={_short(group)} is not allowed. Pass whole numbers of at least 1, the rows of each query."
        )
    if sizes.sum() != n_rows:
        raise InputError(
            f"{name} adds up to {sizes.sum()} rows, but X has {n_rows}. Pass the number of rows of each query, in the "
            "order of the rows."
        )
    return sizes.astype(np.int64)


def _runs(qid: Any, n_rows: int, name: str) -> Ints:
    labels = np.asarray(qid)
    if labels.shape != (n_rows,):
        raise InputError(f"{name} has shape {labels.shape}, but X has {n_rows} rows. Pass one label for each row.")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        row = int(np.argmax(np.isnan(labels)))
        raise InputError(f"{name} holds NaN in row {row}. Give every row the label of its query.")
    starts = np.flatnonzero(np.append(True, labels[1:] != labels[:-1]))
    seen: set[Any] = set()
    for start, label in zip(starts.tolist(), labels[starts].tolist(), strict=True):
        if label in seen:
            raise InputError(
                f"{name} returns to the query {label!r} in row {start}, but rows of a query must be contiguous. "
                "Sort the rows by query."
            )
        seen.add(label)
    return np.diff(np.append(starts, n_rows)).astype(np.int64)


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "…"


def weight_of_rows(weight: Any, groups: Ints, name: str) -> Any:
    """A weight for each row, from one for each query or one for each row."""
    if weight is None:
        return None
    try:
        given = read_array(weight, name)
    except ValueError:  # lists of different lengths, which `check_weight` refuses
        return weight
    if given.ndim == 0:
        return weight
    if len(given) not in (len(groups), groups.sum()):
        raise InputError(
            f"{name} has {len(given)} elements, but there are {len(groups)} queries. Pass one weight for each query."
        )
    return given if len(given) == groups.sum() else np.repeat(given, groups)


def remaining_queries(groups: Ints, used: Array) -> Ints:
    """Numbers of rows of the queries after some rows were left out."""
    counts = np.bincount(np.repeat(np.arange(len(groups)), groups)[used])
    return counts[counts > 0].astype(np.int64)

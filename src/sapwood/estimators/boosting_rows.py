"""Rows as boosting gets them: evaluation sets, queries, rows that are left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import train_test_split

from sapwood.boosting.fitting import Rows
from sapwood.counted import counted
from sapwood.errors import InputError, InputTypeError, SapwoodError, warn_user
from sapwood.table.column import Column
from sapwood.table.digest import digest_arrays, digest_table
from sapwood.table.read_array import read_array
from sapwood.table.storage import ColumnStorage
from sapwood.table.table import Table

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@contextmanager
def naming(argument: str) -> Iterator[None]:
    """Errors that are raised inside begin with the argument they are about."""
    try:
        yield
    except SapwoodError as error:
        raise type(error)(f"{argument}: {error}") from error


def warn_of_column(y: Any) -> None:
    """A target of one column is taken as a vector, but said to be odd, as scikit-learn does."""
    if len(getattr(y, "shape", ())) == 2 and y.shape[1] == 1:
        warn_user(
            "A column-vector y was passed when a 1d array was expected. Pass one number or label for each row, for "
            "example y.ravel().",
            DataConversionWarning,
        )


class EvalRows(NamedTuple):
    """An evaluation set as the user gave it: rows, targets, weights, its name, and where it stands."""

    X: Any
    y: Any
    weight: Any
    name: str
    argument: str


def read_eval_set(eval_set: Any, weights: Any, weight_name: str) -> list[EvalRows]:
    """Every evaluation set, from a list of pairs, one pair, or a mapping from names to pairs."""
    if eval_set is None:
        if weights is not None:
            raise InputError(f"{weight_name} is given without eval_set. Pass eval_set=[(X, y)] too.")
        return []
    pairs = _pairs(eval_set)
    if weights is None:
        weights = [None] * len(pairs)
    if not isinstance(weights, (list, tuple)) or len(weights) != len(pairs):
        said = f"has {len(weights)} elements" if isinstance(weights, (list, tuple)) else f"is a {_kind(weights)}"
        raise InputError(
            f"{weight_name} {said}, but eval_set has {len(pairs)} pairs. Pass a list with weights (or None) for each."
        )
    return [EvalRows(*pair, weight, name, at) for (name, at, pair), weight in zip(pairs, weights, strict=True)]


def _pairs(eval_set: Any) -> list[tuple[str, str, tuple[Any, Any]]]:
    """(name, argument, pair) of each."""
    if isinstance(eval_set, Mapping):
        named = [(name, f"eval_set[{name!r}]", pair) for name, pair in eval_set.items()]
    elif isinstance(eval_set, (list, tuple)):
        pairs = [eval_set] if _is_pair(eval_set) else eval_set
        named = [(f"validation_{i}", f"eval_set[{i}]", pair) for i, pair in enumerate(pairs)]
    else:
        raise InputTypeError(f"eval_set is a {_kind(eval_set)}. Pass a list of pairs: eval_set=[(X, y)].")
    for name, argument, pair in named:
        if not isinstance(name, str):
            raise InputTypeError(f'eval_set has the name {name!r}. Use text: eval_set={{"valid": (X, y)}}.')
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise InputError(
                f"{argument} is a {_kind(pair)}, not a pair (X, y). Pass a list of pairs: eval_set=[(X, y)]."
            )
    return [(name, argument, (pair[0], pair[1])) for name, argument, pair in named]


def _is_pair(eval_set: Any) -> bool:
    """Whether this is one pair (X, y), not a tuple of pairs."""
    return isinstance(eval_set, tuple) and len(eval_set) == 2 and not any(isinstance(part, tuple) for part in eval_set)


def _kind(value: Any) -> str:
    size = f" of length {len(value)}" if isinstance(value, (list, tuple)) else ""
    return f"{type(value).__name__}{size}"


def take_rows(table: Table, rows: NDArray[Any]) -> Table:
    """Some rows in the columns, levels and codes of the table; `Table.take` would forget levels that are gone."""
    if "category" not in table.schema.kinds:
        return Table(table.schema, table.storage.take(rows))
    columns = [Column(c.kind, table.values(j)[rows], c.levels) for j, c in enumerate(table.schema.columns)]
    return Table(table.schema, ColumnStorage(columns))


def hold_out(n: int, share: float, classes: Floats | None, groups: Ints | None, seed: int) -> Ints:
    """Rows, ascending, that only watch: a share of all rows, of each class if there are enough, or of the queries."""
    labels = classes if groups is None and classes is not None and _may_stratify(classes, share) else None
    units = n if groups is None else len(groups)
    try:
        _, held_out = train_test_split(np.arange(units), test_size=share, random_state=seed % 2**32, stratify=labels)
    except ValueError as error:
        what = "row" if groups is None else "query"
        raise InputError(
            f"validation_fraction={share} of {counted(units, what)} leaves too few to train or to watch. Use more of "
            "them, another share, or pass eval_set to fit."
        ) from error
    if groups is not None:
        return np.flatnonzero(np.isin(np.repeat(np.arange(units), groups), held_out)).astype(np.int64)
    return np.sort(held_out).astype(np.int64)


def _may_stratify(classes: Floats, share: float) -> bool:
    counts = np.unique(classes, return_counts=True)[1]
    n_held_out = int(np.ceil(share * len(classes)))
    return bool(counts.min() > 1 and min(n_held_out, len(classes) - n_held_out) >= len(counts))


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
                f"{name} returns to the query {label!r} in row {start}, but rows of a query must stand together. Make "
                "them so, for example by sorting the rows by query."
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
    except ValueError:  # lists of different lengths, of which `check_weight` tells
        return weight
    if given.ndim == 0:
        return weight
    if len(given) not in (len(groups), groups.sum()):
        raise InputError(
            f"{name} has {len(given)} elements, but there are {len(groups)} queries. Pass one weight for each query."
        )
    return given if len(given) == groups.sum() else np.repeat(given, groups)


def remaining_queries(groups: Ints, used: NDArray[np.intp]) -> Ints:
    """Numbers of rows of the queries after some rows were left out."""
    counts = np.bincount(np.repeat(np.arange(len(groups)), groups)[used])
    return counts[counts > 0].astype(np.int64)


def digests(parts: Sequence[Rows], start: Any) -> dict[str, str]:
    """Digests of the rows of training and evaluation, and of the model that is continued, by the names of arguments."""
    found = {}
    for number, rows in enumerate(parts):
        of = "" if number == 0 else f"eval_set[{number - 1}]: "
        found[f"{of}X"] = digest_table(rows.table)
        found[f"{of}y"] = digest_arrays(rows.y)
        found[f"{of}weight"] = digest_arrays(rows.weight, rows.measured)
        found[f"{of}group"] = digest_arrays(rows.groups)
    if start is not None:
        from sapwood.estimators.model_file import fingerprint  # which knows all estimators

        found["init_model"] = fingerprint(start)
    return found


def eval_queries(groups: Any, qids: Any, sets: Sequence[EvalRows]) -> list[tuple[Any, Any]]:
    """(group, qid) of every evaluation set."""
    found = []
    for given, name in ((groups, "eval_group"), (qids, "eval_qid")):
        if given is not None and (not isinstance(given, (list, tuple)) or len(given) != len(sets)):
            raise InputError(
                f"{name} is a {_kind(given)}, but eval_set has {len(sets)} pairs. Pass a list with one array for each."
            )
        found.append([None] * len(sets) if given is None else list(given))
    return list(zip(*found, strict=True))

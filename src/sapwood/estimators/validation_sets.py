"""Validation sets as users give them: pairs (X, y), or a share of the training rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sapwood.arrays import Floats, Ints
from sapwood.boosting.hold_out import held_out_rows
from sapwood.counted import counted
from sapwood.errors import InputError, InputTypeError, ParameterError
from sapwood.estimators.boosting_rows import GivenRows
from sapwood.estimators.source_columns import is_training_source
from sapwood.table.queries import read_queries

if TYPE_CHECKING:
    from sapwood.boosting.fitting import Rows
    from sapwood.estimators.newton_boosting import NewtonBoosting


def read_eval_set(eval_set: Any, weights: Any, weight_name: str) -> list[GivenRows]:
    """Every evaluation set, from a list of pairs, one pair, or a mapping from names to pairs."""
    if eval_set is None:
        if weights is not None:
            raise InputError(f"{weight_name} is given without eval_set. Pass eval_set=[(X, y)] too.")
        return []
    pairs = _pairs(eval_set)
    weights = [None] * len(pairs) if weights is None else weights
    if not isinstance(weights, (list, tuple)) or len(weights) != len(pairs):
        what = f"has {len(weights)} elements" if isinstance(weights, (list, tuple)) else f"is a {_kind(weights)}"
        raise InputError(
            f"{weight_name} {what}, but eval_set has {len(pairs)} pairs. Pass a list with weights (or None) for each."
        )
    return [
        GivenRows(*pair, weight, name=name, argument=argument)
        for (name, argument, pair), weight in zip(pairs, weights, strict=True)
    ]


def _pairs(eval_set: Any) -> list[tuple[str, str, tuple[Any, Any]]]:
    """(name, argument, pair) of each."""
    if isinstance(eval_set, Mapping):
        named = [(name, f"eval_set[{name!r}]", pair) for name, pair in eval_set.items()]
    elif isinstance(eval_set, (list, tuple)) or is_training_source(eval_set):
        pairs = [eval_set] if _is_pair(eval_set) or not isinstance(eval_set, (list, tuple)) else eval_set
        named = [(f"validation_{i}", f"eval_set[{i}]", pair) for i, pair in enumerate(pairs)]
    else:
        raise InputTypeError(f"eval_set is a {_kind(eval_set)}. Pass a list of pairs: eval_set=[(X, y)].")
    named = [(name, argument, _with_target(pair)) for name, argument, pair in named]
    for name, argument, pair in named:
        if not isinstance(name, str):
            raise InputTypeError(f'eval_set has the name {name!r}. Use text: eval_set={{"valid": (X, y)}}.')
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise InputError(
                f"{argument} is a {_kind(pair)}, not a pair (X, y). Pass a list of pairs: eval_set=[(X, y)]."
            )
    return [(name, argument, (pair[0], pair[1])) for name, argument, pair in named]


def _with_target(pair: Any) -> Any:
    """A pair; a source that stands alone has its target in a column."""
    return (pair, None) if not isinstance(pair, tuple) and is_training_source(pair) else pair


def _is_pair(eval_set: Any) -> bool:
    """Whether this is one pair (X, y), not a tuple of pairs."""
    return isinstance(eval_set, tuple) and len(eval_set) == 2 and not any(isinstance(part, tuple) for part in eval_set)


def _kind(value: Any) -> str:
    size = f" of length {len(value)}" if isinstance(value, (list, tuple)) else ""
    return f"{type(value).__name__}{size}"


def rows_held_out(estimator: NewtonBoosting, rows: Rows, is_class: bool) -> Ints:
    """Rows to validate on, since there are no validation sets."""
    if estimator.validation_fraction is None:
        raise ParameterError(
            f"early_stopping_rounds={estimator.early_stopping_rounds} needs a validation set. Pass eval_set=[(X, y)] "
            "to fit, or set validation_fraction=0.1."
        )
    classes = rows.y if is_class else None
    return hold_out(len(rows.y), estimator.validation_fraction, classes, rows.groups, estimator._seed)


def hold_out(n: int, share: float, classes: Floats | None, groups: Ints | None, seed: int) -> Ints:
    """Rows to validate on, ascending: a share of all rows, of each class if there are enough, or of the queries."""
    labels, units = None, n if groups is None else len(groups)
    n_held_out = int(np.ceil(share * units))
    if units - n_held_out < 1:
        what = "row" if groups is None else "query"
        raise InputError(
            f"validation_fraction={share} of {counted(units, what)} leaves too few to train or to validate on. Use "
            "more of them, another fraction, or pass eval_set to fit."
        )
    if groups is None and classes is not None:
        counts = np.unique(classes, return_counts=True)[1]
        if counts.min() > 1 and min(n_held_out, n - n_held_out) >= len(counts):
            labels = classes
    held_out = held_out_rows(units, share, labels, seed)
    if groups is None:
        return held_out
    return np.flatnonzero(np.repeat(np.isin(np.arange(units), held_out), groups)).astype(np.int64)


def with_queries(sets: Sequence[GivenRows], groups: Any, qids: Any) -> list[GivenRows]:
    """Every validation set of a ranking with its queries."""
    found = []
    for given, name in ((groups, "eval_group"), (qids, "eval_qid")):
        if given is not None and (not isinstance(given, (list, tuple)) or len(given) != len(sets)):
            raise InputError(
                f"{name} is a {_kind(given)}, but eval_set has {len(sets)} pairs. Pass a list with one array for each."
            )
        found.append([None] * len(sets) if given is None else list(given))
    return [
        replace(one, queries=partial(read_queries, group, qid, name=f"eval_group[{i}]"))
        for i, (one, group, qid) in enumerate(zip(sets, *found, strict=True))
    ]

"""How the columns of a training file were read, in a line."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sapwood.cli.sample import Sample
from sapwood.cli.task import expected_kind, is_text
from sapwood.counted import counted

_NOUNS = {
    "number": "number",
    "category": "category",
    "boolean": "boolean",
    "date": "date",
    "duration": "duration",
}
_MOST_NAMES = 5
_UNIQUE = 0.9  # share of rows with a value of their own, from which on text rather names the rows
_FEWEST_ROWS = 20


def column_report(sample: Sample, category: Collection[str]) -> str:
    """Kinds of columns with their names, and the columns that can teach nothing."""
    X = sample.X
    names: dict[str, list[str]] = {}
    for each in X.schema:
        names.setdefault(_kind(each.type, each.name in category), []).append(each.name)
    found = [(noun, names[kind]) for kind, noun in _NOUNS.items() if kind in names]
    kinds = [f"{counted(len(own), noun)} ({_listed(own)})" for noun, own in found]
    distinct = {each.name: _distinct(X.column(each.name)) for each in X.schema}
    parts = [f"{counted(X.num_columns, 'column')}: {', '.join(kinds)}"]
    constant = [name for name, number in distinct.items() if number <= 1]
    if constant:
        parts.append(f"constant: {_listed(constant)}")
    unique = [name for name in sample.text_columns if _is_unique(X.column(name), distinct[name])]
    if unique:
        parts.append(f"nearly unique: {_listed(unique)} (leave out with --drop {','.join(unique[:_MOST_NAMES])})")
    return "; ".join(parts) + "."


def _kind(kind: Any, is_category: bool) -> str:
    from pyarrow import types

    if is_category or is_text(kind):
        return "category"
    if types.is_boolean(kind):
        return "boolean"
    return "duration" if types.is_duration(kind) else expected_kind(kind) or "number"


def _distinct(column: Any) -> int:
    """Number of different values, missing among them; of lists and the like, which nothing can learn from, all."""
    import pyarrow as pa

    try:
        return len(column.unique())
    except pa.ArrowNotImplementedError:
        return len(column)


def _is_unique(column: Any, distinct: int) -> bool:
    n_rows = len(column) - int(column.null_count)
    return n_rows >= _FEWEST_ROWS and distinct - (n_rows < len(column)) >= _UNIQUE * n_rows


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:_MOST_NAMES])} and {more} more"

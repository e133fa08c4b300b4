"""Columns that a user names, as their numbers in the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from sapwood.errors import InputError, InputTypeError
from sapwood.table.names import nearest_name, shorten
from sapwood.table.schema import Schema


def column_number(column: object, schema: Schema, argument: str) -> int:
    """Number of a column given by name or number."""
    if isinstance(column, (int, np.integer)) and not isinstance(column, bool):
        if -schema.n_features <= column < schema.n_features:
            return int(column) % schema.n_features
    elif column in schema.names:
        return schema.names.index(column)
    hint = nearest_name(column, schema.names) if isinstance(column, str) else ""
    raise InputError(
        f"{argument} names {column!r}, which is not a column of the model.{hint} Its columns are "
        f"{shorten(schema.names)}; numbers count from 0."
    )


def column_numbers(columns: object, schema: Schema, argument: str) -> list[int]:
    """Sorted numbers of several columns, each once; a single name is a list of one."""
    if isinstance(columns, (str, int, np.integer)):
        columns = [columns]
    if isinstance(columns, Mapping) or not isinstance(columns, Iterable):
        raise InputTypeError(f"{argument}={columns!r} must be a list of columns, by name or number.")
    found = [column_number(column, schema, argument) for column in columns]
    if not found:
        raise InputError(f"{argument} is empty. Name one or more columns of {shorten(schema.names)}.")
    return sorted(set(found))


def column_groups(groups: object, schema: Schema) -> list[tuple[str, list[int]]]:
    """Named sets of columns; a column in none of them is a set of its own."""
    groups = {} if groups is None else groups
    if not isinstance(groups, Mapping):
        raise InputTypeError(
            f"groups is a {type(groups).__name__}. Pass a dictionary from names to columns, such as "
            "{'size': ['length', 'width']}."
        )
    given = [(str(name), column_numbers(own, schema, f"groups[{name!r}]")) for name, own in groups.items()]
    taken = {j for _, own in given for j in own}
    alone = {name: [j] for j, name in enumerate(schema.names) if j not in taken}
    for name, _ in given:
        if name in alone:
            raise InputError(
                f"groups names a set of columns {name!r}, which is the name of a column that is in no group. Choose "
                "another name, or put the column into the group."
            )
    return [*given, *alone.items()]

"""Names of categories that the caller gives, where a model of another library has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sapwood.errors import InputError
from sapwood.table.names import nearest_name, numbered_names, shorten


def named_levels(
    names: Sequence[str] | None, levels: Sequence[Sequence[Any] | None], given: Mapping[str, Sequence[Any]]
) -> list[Sequence[Any] | None]:
    """Levels of each column; those that the caller names replace the codes 0, 1, 2, … of the model."""
    columns = list(numbered_names(len(levels)) if names is None else names)
    found = list(levels)
    for name, own in given.items():
        if name not in columns:
            raise InputError(
                f"levels names the column {name!r}, which the model does not have.{nearest_name(str(name), columns)} "
                f"Its columns are {shorten(columns)}."
            )
        j = columns.index(name)
        known = found[j]
        if known is None:
            raise InputError(f"levels names the column {name!r}, which the model does not split as categories.")
        if len(own) < len(known):
            raise InputError(
                f"levels[{name!r}] has {len(own)} categories, but the model knows {len(known)}. Name all of them, in "
                "the order of their codes."
            )
        found[j] = list(own)
    return found

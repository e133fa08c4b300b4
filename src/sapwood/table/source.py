"""What every adapter offers: named columns that can be read one by one, or all at once."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from sapwood.table.column import Column, Kind
from sapwood.table.storage import Storage


class Whole(NamedTuple):
    """All columns at once, when they are of one kind and need no levels."""

    kind: Kind
    storage: Storage


class Source(Protocol):
    """Input of some container, recognised but not yet converted."""

    names: tuple[str, ...]
    named: bool
    n_rows: int

    def column(self, j: int, as_category: bool) -> Column:
        """Column j; numbers become a category if requested."""

    def whole(self) -> Whole | None:
        """Everything without looking at single columns, or None."""

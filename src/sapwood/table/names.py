"""Names of columns: read from a frame, made for an array, guessed after a typing error, and shown."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence

from sapwood.errors import InputTypeError


def numbered_names(n_features: int) -> tuple[str, ...]:
    """Names of columns that have none."""
    return tuple(f"x{j}" for j in range(n_features))


def read_names(labels: Sequence[object]) -> tuple[tuple[str, ...], bool]:
    """Names for the schema, and whether they are the frame's own."""
    strings = [isinstance(label, str) for label in labels]
    if not any(strings):
        return numbered_names(len(labels)), False
    if not all(strings):
        odd = labels[strings.index(False)]
        raise InputTypeError(
            f"X has column names of different types, among them {odd!r} (a {type(odd).__name__}). "
            "Make all names strings, for example with X.columns = X.columns.astype(str)."
        )
    return tuple(map(str, labels)), True


def repeated_names(names: Sequence[str]) -> list[str]:
    """Names that stand for more than one column."""
    return [name for name, count in Counter(names).items() if count > 1]


def nearest_name(name: str, names: Sequence[str]) -> str:
    """A hint at the name that was probably meant, or nothing."""
    close = difflib.get_close_matches(name, names, n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def shorten(items: Sequence[object], most: int = 8) -> str:
    """The items as text, the end left out if there are many."""
    text = ", ".join(map(repr, items[:most]))
    return f"[{text}]" if len(items) <= most else f"[{text}, … {len(items) - most} more]"

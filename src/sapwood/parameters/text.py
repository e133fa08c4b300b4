"""Texts in errors: lists of values, and the name that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


def closest(word: str, choices: Iterable[str]) -> str | None:
    """The choice that was probably mistyped; None if no choice is near."""
    by_lower_case = {choice.lower(): choice for choice in choices}
    matches = difflib.get_close_matches(word.lower(), by_lower_case, n=1)
    return by_lower_case[matches[0]] if matches else None


def listed(parts: Sequence[str], last: str) -> str:
    """All parts, separated by commas and, before the last one, by another text."""
    return last.join(part for part in (", ".join(parts[:-1]), parts[-1]) if part)

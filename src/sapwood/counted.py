"""A number and its noun."""

from __future__ import annotations

_PLURALS = {"leaf": "leaves", "category": "categories", "class": "classes", "query": "queries"}


def counted(number: int, noun: str) -> str:
    """Such as "1 tree" and "2 trees"."""
    return f"{number} {noun}" if number == 1 else f"{number} {_PLURALS.get(noun, noun + 's')}"

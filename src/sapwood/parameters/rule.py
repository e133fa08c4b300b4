"""A rule: what a value of a parameter may be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(frozen=True)
class Rule:
    """One alternative of what a parameter may be."""

    description: ClassVar[str] = ""
    remedy: str | None = field(default=None, kw_only=True)
    """The remedy, a sentence; without it one is made from the value."""

    def accepts(self, value: object) -> bool:
        """Return whether the value is legal; never raises."""
        raise NotImplementedError

    def describe(self) -> str:
        """Name the legal values in words that follow "it must be"."""
        return self.description

    def nearest(self, value: object) -> object | None:  # noqa: ARG002 - most rules have no nearest value
        """Return the legal value that was probably meant, or None."""
        return None

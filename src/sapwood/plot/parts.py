"""What a picture needs of a result: its parts, and the words if some are missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sapwood.errors import InputTypeError


def require_parts(argument: str, result: Any, names: Sequence[str], remedy: str) -> None:
    """Raise unless the result has all of these attributes."""
    missing = [name for name in names if not hasattr(result, name)]
    if missing:
        raise InputTypeError(f"{argument} is a {type(result).__name__} without {', '.join(missing)}. {remedy}")

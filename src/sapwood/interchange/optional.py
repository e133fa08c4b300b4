"""Libraries that may not be installed."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any


def installed(name: str) -> Any:
    """The library of that name, or None if it is not installed."""
    return import_module(name) if find_spec(name) is not None else None

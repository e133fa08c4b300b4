"""Parameters of a model given as text: name=value."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable
from typing import Any

from sapwood.errors import ParameterError

_WORDS = {"none": None, "null": None, "true": True, "false": False}


def parse_settings(texts: Iterable[str]) -> dict[str, Any]:
    """Parameters by name."""
    settings: dict[str, Any] = {}
    for text in texts:
        name, value = _split(text)
        if name in settings:
            raise ParameterError(f"--set gives {name} twice. Give each parameter once.")
        settings[name] = parse_value(value)
    return settings


def parse_value(text: str) -> Any:
    """A Python literal, or the text itself."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text


def _split(text: str) -> tuple[str, str]:
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals or not name.isidentifier() or not value:
        raise ParameterError(f"--set {text!r} cannot be read. Write a name, = and a value, such as --set max_depth=4.")
    return name, value

"""Names of other packages' models: whoever asks for one is told what to write instead, and `hasattr` says no."""

from __future__ import annotations

from typing import Any

from sapwood.errors import AbsentNameError
from sapwood.peer_names import ATTRIBUTES


class AbsentName:
    """A descriptor; a `__getattr__` of the class would do the same, and make every attribute of every model slower."""

    def __init__(self, name: str) -> None:
        self._name, self.__doc__ = name, f"Not an attribute of this class. {ATTRIBUTES[name]}"

    def __get__(self, instance: object, owner: type) -> Any:
        raise AbsentNameError(f"{owner.__name__!r} object has no attribute {self._name!r}. {ATTRIBUTES[self._name]}")


def absent_names() -> dict[str, AbsentName]:
    """A descriptor for each name."""
    return {name: AbsentName(name) for name in ATTRIBUTES}

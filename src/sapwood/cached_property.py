"""A property that is computed on first access, and kept.

The one of Python 3.11's functools holds a lock while it computes. A process that is forked meanwhile inherits the lock
but not the thread that would release it, and waits forever. Here two threads that read it at once may both compute, and
get the same object.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T_co = TypeVar("T_co", covariant=True)


class cached_property(Generic[T_co]):  # noqa: N801 - used like a decorator of the standard library
    """Kept in the object's `__dict__`, where Python finds it before this descriptor."""

    def __init__(self, compute: Callable[[Any], T_co]) -> None:
        self._compute = compute
        self._name = ""
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T_co: ...

    def __get__(self, instance: object | None, owner: type | None = None) -> Self | T_co:
        if instance is None:
            return self
        value: T_co = vars(instance).setdefault(self._name, self._compute(instance))
        return value

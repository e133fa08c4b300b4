"""What values of a file must be: each check is a small function that refuses an illegal value, naming its place."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sapwood.files.values import LONGEST_NAME, Json, expect, shown

Check = Callable[[object, str], None]
MOST = 2**53  # whole numbers up to here are floats, too


def whole(low: int = 0, high: int = MOST) -> Check:
    """A whole number within bounds."""

    def check(value: object, where: str) -> None:
        fits = type(value) is int and low <= value <= high
        expect(fits, where, f"must be a whole number from {low} to {high}, not {shown(value)}")

    return check


def number(value: object, where: str) -> None:
    """Any number, infinite or missing ones included."""
    fits = type(value) is float or (type(value) is int and -MOST <= value <= MOST)
    expect(fits, where, f"must be a number, not {shown(value)}")


def number_from_zero(value: object, where: str) -> None:
    """A finite number of at least 0."""
    number(value, where)
    expect(isinstance(value, (int, float)) and 0 <= value < float("inf"), where, f"must be at least 0, not {value}")


def anything(value: object, where: str) -> None:
    """What is checked elsewhere."""


def flag(value: object, where: str) -> None:
    """True or False."""
    expect(type(value) is bool, where, f"must be true or false, not {shown(value)}")


def text(value: object, where: str) -> None:
    """A string."""
    expect(type(value) is str, where, f"must be a string, not {shown(value)}")


def one_of(*allowed: object) -> Check:
    """One of a few values."""

    def check(value: object, where: str) -> None:
        fits = type(value) is type(allowed[0]) and value in allowed
        expect(fits, where, f"must be one of {', '.join(map(str, allowed))}, not {shown(value)}")

    return check


def is_a(*kinds: type) -> Check:
    """A record of a kind."""

    def check(value: object, where: str) -> None:
        expect(isinstance(value, kinds), where, f"must be a {kinds[0].__name__}, not a {type(value).__name__}")

    return check


def optional(check: Check) -> Check:
    """None, or what another check allows."""

    def check_or_none(value: object, where: str) -> None:
        if value is not None:
            check(value, where)

    return check_or_none


def each(check: Check, kind: type = list) -> Check:
    """A list or tuple, each item of which another check allows."""

    def check_all(value: Json, where: str) -> None:
        is_a(kind)(value, where)
        for i, item in enumerate(value):
            check(item, f"{where}.{i}")

    return check_all


def by_name(check: Check) -> Check:
    """A dictionary with names, each value of which another check allows."""

    def check_all(value: Json, where: str) -> None:
        expect(isinstance(value, dict) and all(isinstance(key, str) for key in value), where, "must have names")
        for key, item in value.items():
            check(item, f"{where}.{key[:LONGEST_NAME]}")

    return check_all


def floats(ndim: int = 1, finite: bool = False) -> Check:
    """An array of float64."""

    def check(value: Json, where: str) -> None:
        fits = isinstance(value, np.ndarray) and value.dtype == np.float64 and value.ndim == ndim
        expect(fits, where, f"must be an array of {ndim} dimensions and type float64")
        expect(not finite or bool(np.isfinite(value).all()), where, "holds numbers that are not finite")

    return check


def ints(below: int | None = None, ndim: int = 1) -> Check:
    """An array of whole numbers of at least 0, and below a limit."""

    def check(value: Json, where: str) -> None:
        fits = isinstance(value, np.ndarray) and value.dtype.kind in "iu" and value.ndim == ndim
        expect(fits, where, f"must be an array of {ndim} dimensions of whole numbers")
        in_range = not value.size or (value.min() >= 0 and (below is None or int(value.max()) < below))
        expect(in_range, where, f"holds numbers that are not from 0 to {below}")

    return check

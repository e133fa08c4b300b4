"""Values as JSON and arrays, and back: nothing but what is named here can come out of a file.

Plain values stand for themselves. Everything else is an object of one entry, whose name tells what it is:

| in the document | stands for |
|---|---|
| null, true, 3, 1.5, "text", [...] | None, bool, int, finite float, str, list |
| {"float": "nan"} | nan, inf, -inf |
| {"tuple": [...]}, {"dict": {...}}, {"map": [[key, value], ...]} | tuple; dictionary with names, or with other keys |
| {"array": "name"} | an array of numbers or truth values |
| {"times": "name", "unit": "M8[D]"} | an array of dates or durations, whose numbers are in the array |
| {"texts": [...]}, {"objects": [...]} | an array of strings; of other plain values |
| {"lost": "description"} | a function, which no file can hold |
| {"Schema": {...}} | a record, by the name of its kind (`records.py`) |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import ModelFileError
from sapwood.files.lost import Lost

Array = NDArray[Any]
Json = Any
DEEPEST = 40  # how far values may be nested
ODD_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
TIME_UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns")


@dataclass(frozen=True)
class RecordKind:
    """How objects of a class are written and read."""

    cls: type
    write: Callable[[Any, Writer, str], Json]
    read: Callable[[Json, Reader, str], Any]


@dataclass(eq=False)
class Writer:
    """Collects arrays, named after the place of the value that they belong to."""

    kinds: Mapping[str, RecordKind]
    arrays: dict[str, Array] = field(default_factory=dict)

    def write(self, value: Any, where: str) -> Json:
        """A value as JSON."""
        if isinstance(value, np.generic) and not isinstance(value, (np.datetime64, np.timedelta64)):
            value = value.item()
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": str(value)}
        ways = {list: self._list, tuple: self._tuple, dict: self._dict, np.ndarray: self._array}
        return ways.get(type(value), self._record)(value, where)

    def _list(self, value: Any, where: str) -> Json:
        return [self.write(item, f"{where}.{i}") for i, item in enumerate(value)]

    def _tuple(self, value: Any, where: str) -> Json:
        return {"tuple": self._list(value, where)}

    def keep(self, array: Array, where: str) -> str:
        """Keep an array under the name of its place; returns the name."""
        self.arrays[where] = array
        return where

    def _dict(self, value: Any, where: str) -> Json:
        if all(isinstance(key, str) for key in value):
            return {"dict": {key: self.write(item, f"{where}.{key}") for key, item in value.items()}}
        pairs = [
            (self.write(key, where), self.write(item, f"{where}.{i}")) for i, (key, item) in enumerate(value.items())
        ]
        return {"map": [list(pair) for pair in pairs]}

    def _array(self, value: Any, where: str) -> Json:
        if value.dtype.kind in "biuf" and value.dtype.itemsize <= 8:
            return {"array": self.keep(value, where)}
        if value.dtype.kind in "Mm":
            unit = value.dtype.str[1:]
            return {"times": self.keep(value.view(np.int64), where), "unit": unit}
        if value.ndim == 1 and value.dtype.kind == "U":
            return {"texts": value.tolist()}
        if value.ndim == 1 and value.dtype == object:
            return {"objects": self._list(value.tolist(), where)}
        raise ModelFileError(f"{where} is an array of type {value.dtype}, which a model file cannot hold. {ELSEWHERE}")

    def _record(self, value: Any, where: str) -> Json:
        for name, kind in self.kinds.items():
            if type(value) is kind.cls:
                return {name: kind.write(value, self, where)}
        if isinstance(value, Lost):
            return {"lost": value.described}
        if isinstance(value, (np.random.RandomState, np.random.Generator)):
            return {"lost": f"a {type(value).__name__}"}
        if callable(value) and not isinstance(value, type) and not hasattr(value, "get_params"):
            return {"lost": f"the function {getattr(value, '__qualname__', type(value).__name__)}"}
        raise ModelFileError(f"{where} is {value!r}, which a model file cannot hold. {ELSEWHERE}")


ELSEWHERE = "Use pickle or joblib for this model, and load it only from places that you trust."


@dataclass(eq=False)
class Reader:
    """Reads values; each array belongs to exactly one of them."""

    kinds: Mapping[str, RecordKind]
    arrays: dict[str, Array]
    depth: int = 0

    def read(self, found: Json, where: str) -> Any:
        """The value that JSON stands for."""
        if found is None or isinstance(found, (bool, int, str)):
            return found
        if isinstance(found, float):
            expect(math.isfinite(found), where, "is a number that JSON does not have")
            return found
        self.depth += 1
        expect(self.depth <= DEEPEST, where, "is nested too deeply")
        value = self._list(found, where) if isinstance(found, list) else self._tagged(found, where)
        self.depth -= 1
        return value

    def _list(self, found: Json, where: str) -> list[Any]:
        expect(isinstance(found, list), where, "must be a list")
        return [self.read(item, f"{where}.{i}") for i, item in enumerate(found)]

    def _tagged(self, found: Json, where: str) -> Any:
        expect(isinstance(found, dict) and len(found) > 0, where, "is an empty object")
        tag = next(iter(found))
        body = found[tag]
        expect(len(found) == (2 if tag == "times" else 1), where, f"must have one entry, not {len(found)}")
        if tag in self.kinds:
            return self.kinds[tag].read(body, self, where)
        plain: dict[str, Callable[[Json, str], Any]] = {
            "tuple": self._tuple,
            "dict": self._dict,
            "map": self._map,
            "float": _odd_float,
            "lost": _lost,
        }
        plain |= {"array": self.take, "texts": _texts, "objects": self._objects}
        if tag == "times":
            return self._times(body, found.get("unit"), where)
        expect(tag in plain, where, f"is of the unknown kind {tag!r}")
        return plain[tag](body, where)

    def take(self, name: Json, where: str) -> Array:
        """An array by name, once."""
        expect(isinstance(name, str) and name in self.arrays, where, f"needs an array {name!r}, which is not there")
        return self.arrays.pop(name)

    def _tuple(self, found: Json, where: str) -> tuple[Any, ...]:
        return tuple(self._list(found, where))

    def _dict(self, found: Json, where: str) -> dict[str, Any]:
        expect(isinstance(found, dict), where, "must be an object")
        return {key: self.read(item, f"{where}.{key}") for key, item in found.items()}

    def _map(self, found: Json, where: str) -> dict[Any, Any]:
        pairs = self._list(found, where)
        expect(all(isinstance(pair, list) and len(pair) == 2 for pair in pairs), where, "must hold pairs")
        expect(all(isinstance(key, (bool, int, float, str, tuple)) for key, _ in pairs), where, "has a key of no kind")
        return dict(pairs)

    def _objects(self, found: Json, where: str) -> Array:
        items = self._list(found, where)
        out = np.empty(len(items), dtype=object)
        out[:] = items
        return out

    def _times(self, name: Json, unit: Json, where: str) -> Array:
        known = {f"{kind}8[{step}]" for kind in "Mm" for step in TIME_UNITS}
        expect(unit in known, where, f"has the unknown unit {unit!r}")
        numbers = self.take(name, where)
        expect(numbers.dtype == np.int64, where, "must be made of whole numbers of 64 bits")
        return numbers.view(unit)


def expect(holds: bool, where: str, wrong: str) -> None:
    """Refuse a file in which something is wrong at a place."""
    if not holds:
        raise ModelFileError(f"The model file cannot be used: {where} {wrong}.")


def _odd_float(found: Json, where: str) -> float:
    expect(found in ODD_FLOATS, where, f"is no number: {found!r}")
    return ODD_FLOATS[found]


def _lost(found: Json, where: str) -> Lost:
    expect(isinstance(found, str), where, "must be described by text")
    return Lost(found)


def _texts(found: Json, where: str) -> Array:
    expect(isinstance(found, list) and all(isinstance(text, str) for text in found), where, "must be made of texts")
    widest = max(map(len, found), default=1)
    total = sum(map(len, found))
    expect(widest * len(found) <= 100 * (total + 100), where, "has one text that is much longer than the others")
    return np.array(found, dtype=f"<U{max(1, widest)}")

"""Values as JSON and arrays, and back: nothing but what is named here can come out of a file.

Plain values are written as they are. Everything else is an object of one entry, whose name is that of its kind:

| in the document | stands for |
|---|---|
| null, true, 3, 1.5, "text", [...] | None, bool, int of at most 64 bits, finite float, str, list |
| {"float": "nan"} | nan, inf, -inf |
| {"tuple": [...]}, {"dict": {...}} | tuple; dictionary with names |
| {"map": [[key, value], ...]} | dictionary with numbers or truth values among its keys |
| {"array": "name"} | an array of numbers or truth values |
| {"times": "name", "unit": "M8[D]"} | an array of dates or durations, whose numbers are in the array |
| {"texts": [...]}, {"objects": [...]} | an array of strings; of numbers, truth values, strings and None |
| {"lost": "description"} | a function, which no file can hold |
| {"Schema": {...}} | a record, by the name of its kind (`records.py`) |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from reprlib import Repr
from typing import Any

import numpy as np

from sapwood.arrays import Array
from sapwood.errors import ModelFileError
from sapwood.files.lost import Lost

Json = Any
DEEPEST = 40  # how far values may be nested
ODD_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
TIME_UNITS = {f"{kind}8[{step}]" for kind in "Mm" for step in ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns")}
KEYS = (bool, int, float, str)  # and no tuples: many with equal hashes are easily made, and would take forever
MOST_BITS = 64  # of whole numbers: of larger ones many with equal hashes are easily made, too
LONGEST_NAME = 60  # of an entry, in errors; otherwise places of values might be longer than the file
SHORT = Repr()
SHORT.maxstring = SHORT.maxother = SHORT.maxlong = LONGEST_NAME


@dataclass(frozen=True)
class RecordKind:
    """How objects of a class are written and read."""

    cls: type
    write: Callable[[Any, Writer, str], Json]
    read: Callable[[Json, Reader, str], Any]
    place: str | None = None  # the only one where it may be found; None for any


@dataclass(eq=False)
class Writer:
    """Collects arrays, named after the place of the value that they belong to."""

    kinds: Mapping[str, RecordKind]
    arrays: dict[str, Array] = field(default_factory=dict)

    def write(self, value: Any, where: str) -> Json:
        """A value as JSON."""
        if isinstance(value, np.generic) and not isinstance(value, (np.datetime64, np.timedelta64)):
            value = value.item()
        value = str(value) if isinstance(value, PurePath) else value
        if value is None or isinstance(value, (bool, str)) or _is_short(value):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": str(value)}
        value = value.to_numpy() if hasattr(value, "to_numpy") else value  # columns and labels of frames
        ways: dict[Any, Callable[[Any, str], Json]] = {(list, range): self._list, tuple: self._tuple}
        ways |= {Mapping: self._dict, np.ndarray: self._array}
        way = next((way for kind, way in ways.items() if isinstance(value, kind)), self._record)
        return way(value, where)

    def _list(self, value: Any, where: str) -> Json:
        return [self.write(item, f"{where}.{i}") for i, item in enumerate(value)]

    def _tuple(self, value: Any, where: str) -> Json:
        return {"tuple": self._list(value, where)}

    def keep(self, array: Array, where: str) -> str:
        """Keep an array under the name of its place, or one like it if that is taken; returns the name."""
        name = where if where not in self.arrays else f"{where}#{len(self.arrays)}"
        self.arrays[name] = array
        return name

    def _dict(self, value: Any, where: str) -> Json:
        if all(isinstance(key, str) for key in value):
            return {"dict": {key: self.write(item, f"{where}.{key}") for key, item in value.items()}}
        if not _are_plain(list(value)):
            raise ModelFileError(f"{where} has keys that a model file cannot hold. {ELSEWHERE}")
        pairs = [
            (self.write(key, where), self.write(item, f"{where}.{i}")) for i, (key, item) in enumerate(value.items())
        ]
        return {"map": [list(pair) for pair in pairs]}

    def _array(self, value: Any, where: str) -> Json:
        if value.dtype.kind in "biuf" and value.dtype.itemsize <= 8:
            return {"array": self.keep(value, where)}
        if value.dtype.kind in "Mm" and value.dtype.str[1:] in TIME_UNITS:
            numbers = value.astype(value.dtype.newbyteorder("=")).view(np.int64)
            return {"times": self.keep(numbers, where), "unit": value.dtype.str[1:]}
        if value.ndim == 1 and value.dtype.kind == "U" and _are_alike(value.tolist()):
            return {"texts": value.tolist()}
        if value.ndim == 1 and value.dtype.kind in "UO" and _are_plain(value.tolist()):
            return {"objects": self._list(value.tolist(), where)}
        raise ModelFileError(f"{where} is an array of type {value.dtype}, which a model file cannot hold. {ELSEWHERE}")

    def _record(self, value: Any, where: str) -> Json:
        for name, kind in self.kinds.items():
            if type(value) is kind.cls and kind.place in (None, where):
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
        if found is None or isinstance(found, (bool, str)):
            return found
        if isinstance(found, int):
            expect(_is_short(found), where, f"is a number of more than {MOST_BITS} bits")
            return found
        if isinstance(found, float):
            expect(math.isfinite(found), where, "is not a valid JSON number")
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
            expect(self.kinds[tag].place in (None, where), where, f"must not hold a {tag}")
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
        expect(tag in plain, where, f"is of the unknown kind {shown(tag)}")
        return plain[tag](body, where)

    def take(self, name: Json, where: str) -> Array:
        """An array by name, once."""
        found = isinstance(name, str) and name in self.arrays
        expect(found, where, f"needs an array {shown(name)}, which is missing")
        return self.arrays.pop(name)

    def _tuple(self, found: Json, where: str) -> tuple[Any, ...]:
        return tuple(self._list(found, where))

    def _dict(self, found: Json, where: str) -> dict[str, Any]:
        expect(isinstance(found, dict), where, "must be an object")
        return {key: self.read(item, f"{where}.{key[:LONGEST_NAME]}") for key, item in found.items()}

    def _map(self, found: Json, where: str) -> dict[Any, Any]:
        pairs = self._list(found, where)
        expect(all(isinstance(pair, list) and len(pair) == 2 for pair in pairs), where, "must hold pairs")
        expect(_are_plain(key for key, _ in pairs), where, "has a key that is neither a number nor a string")
        return dict(pairs)

    def _objects(self, found: Json, where: str) -> Array:
        items = self._list(found, where)
        expect(_are_plain(items), where, "holds something that is neither a number nor a string")
        out = np.empty(len(items), dtype=object)
        out[:] = items
        return out

    def _times(self, name: Json, unit: Json, where: str) -> Array:
        expect(isinstance(unit, str) and unit in TIME_UNITS, where, f"has the unknown unit {shown(unit)}")
        numbers = self.take(name, where)
        expect(numbers.dtype == np.int64, where, "must be made of whole numbers of 64 bits")
        return numbers.view(unit)


def expect(holds: bool, where: str, wrong: str) -> None:
    """Refuse a file in which something is wrong at a place."""
    if not holds:
        raise ModelFileError(f"The model file cannot be used: {where} {wrong}.")


def shown(value: object) -> str:
    """A value in an error: not too long, and only its type unless it is a number or string."""
    return SHORT.repr(value) if value is None or isinstance(value, KEYS) else f"a {type(value).__name__}"


def _is_short(value: object) -> bool:
    return isinstance(value, int) and value.bit_length() <= MOST_BITS


def _odd_float(found: Json, where: str) -> float:
    expect(isinstance(found, str) and found in ODD_FLOATS, where, f"is not a number: {shown(found)}")
    return ODD_FLOATS[found]


def _lost(found: Json, where: str) -> Lost:
    expect(isinstance(found, str), where, "must be described by text")
    return Lost(found)


def _texts(found: Json, where: str) -> Array:
    expect(isinstance(found, list) and all(isinstance(text, str) for text in found), where, "must be made of strings")
    expect(_are_alike(found), where, "has one text that is much longer than the others")
    return np.array(found, dtype=f"<U{max(1, max(map(len, found), default=1))}")


def _are_alike(texts: list[str]) -> bool:
    """Whether an array of texts, which has room for the longest of them everywhere, is not much larger than they."""
    return max(map(len, texts), default=0) * len(texts) <= 8 * (sum(map(len, texts)) + len(texts))


def _are_plain(items: Iterable[object]) -> bool:
    return all(item is None or isinstance(item, (*KEYS, np.generic)) for item in items)

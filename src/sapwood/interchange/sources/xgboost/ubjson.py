"""UBJSON, the binary form of JSON that XGBoost writes, for untrusted files.

Lengths are checked against the bytes that are left before anything is made of them, and values may be nested only so
deep, so a damaged or malicious file costs no more time and memory than its size.
"""

from __future__ import annotations

import numpy as np

from sapwood.errors import ModelFileError

DEEPEST = 64  # XGBoost needs about ten
NUMBERS = {  # marker to NumPy's type; all are stored with the most significant byte first
    ord("i"): ">i1",
    ord("U"): ">u1",
    ord("I"): ">i2",
    ord("l"): ">i4",
    ord("L"): ">i8",
    ord("d"): ">f4",
    ord("D"): ">f8",
}
CONSTANTS = {ord("Z"): None, ord("T"): True, ord("F"): False}


def read_ubjson(data: bytes) -> object:
    """The content of the bytes in Python's types; arrays of one type of number are NumPy arrays."""
    reader = _Reader(data)
    value = reader.value(reader.marker(), DEEPEST)
    if reader.at != len(data):
        raise reader.error(f"{len(data) - reader.at} bytes follow after the end of the model")
    return value


class _Reader:
    """A place in the bytes."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def error(self, what: str) -> ModelFileError:
        return ModelFileError(f"The UBJSON is damaged at byte {self.at}: {what}. Save the model again.")

    def take(self, n_bytes: int) -> bytes:
        """The next bytes, if there are enough."""
        left = len(self.data) - self.at
        if not 0 <= n_bytes <= left:
            raise self.error(f"{n_bytes} bytes are announced, but {left} are left")
        self.at += n_bytes
        return self.data[self.at - n_bytes : self.at]

    def marker(self) -> int:
        """The next type; no-ops are passed over."""
        found = self.take(1)[0]
        while found == ord("N"):
            found = self.take(1)[0]
        return found

    def length(self, marker: int) -> int:
        """A length, of which the marker was read."""
        if marker not in NUMBERS or NUMBERS[marker][1] == "f":
            raise self.error(f"a length is expected, but there is a {chr(marker)!r}")
        length = int(self.number(marker))
        if length < 0:
            raise self.error(f"a length is {length}")
        return length

    def number(self, marker: int) -> float:
        kind = np.dtype(NUMBERS[marker])
        found: float = np.frombuffer(self.take(kind.itemsize), dtype=kind)[0].item()
        return found

    def text(self) -> str:
        try:
            return self.take(self.length(self.marker())).decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.error("a string is not UTF-8") from error

    def value(self, marker: int, depth: int) -> object:
        if depth == 0:
            raise self.error(f"values are nested more than {DEEPEST} deep")
        if marker in CONSTANTS:
            return CONSTANTS[marker]
        if marker in NUMBERS:
            return self.number(marker)
        if marker == ord("C"):
            return chr(self.take(1)[0])
        if marker == ord("S"):
            return self.text()
        if marker == ord("["):
            return self.array(depth - 1)
        if marker == ord("{"):
            return self.mapping(depth - 1)
        raise self.error(f"{chr(marker)!r} is not a type")

    def head(self) -> tuple[int | None, int | None]:
        """Type and number of the items of a container, where they are announced."""
        kind = count = None
        if self.peek() == ord("$"):
            self.take(1)
            kind = self.take(1)[0]
            if self.peek() != ord("#"):
                raise self.error("a type of items is announced, but not their number")
        if self.peek() == ord("#"):
            self.take(1)
            count = self.length(self.take(1)[0])
        return kind, count

    def peek(self) -> int | None:
        return self.data[self.at] if self.at < len(self.data) else None

    def array(self, depth: int) -> object:
        kind, count = self.head()
        if kind is not None and count is not None:
            return self.typed(kind, count, depth)
        items: list[object] = []
        while count is None or len(items) < count:  # each item takes at least a byte
            marker = self.marker()
            if count is None and marker == ord("]"):
                break
            items.append(self.value(marker, depth))
        return items

    def typed(self, kind: int, count: int, depth: int) -> object:
        if kind in NUMBERS:
            dtype = np.dtype(NUMBERS[kind])
            return np.frombuffer(self.take(count * dtype.itemsize), dtype=dtype).astype(dtype.newbyteorder("="))
        if kind in CONSTANTS:
            raise self.error("items that take no bytes could be any number of them")
        return [self.value(kind, depth) for _ in range(count)]  # ends with an error when the bytes do

    def mapping(self, depth: int) -> dict[str, object]:
        kind, count = self.head()
        if kind in CONSTANTS:
            raise self.error("items that take no bytes could be any number of them")
        items: dict[str, object] = {}
        read = 0
        while count is None or read < count:
            if count is None and self.peek() == ord("}"):
                self.take(1)
                break
            name = self.text()
            if name in items:
                raise self.error(f"the name {name!r} stands twice in an object")
            items[name] = self.value(self.marker() if kind is None else kind, depth)
            read += 1
        return items


def is_ubjson(data: bytes) -> bool:
    """Whether an object begins as UBJSON does, with the length of a name, rather than as JSON, with the name."""
    return len(data) > 1 and data[:1] == b"{" and data[1] in (*NUMBERS, ord("$"), ord("#"), ord("N"))

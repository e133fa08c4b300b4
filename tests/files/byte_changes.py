"""Changes to bytes and headers of files, and checksums that are right again."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from sapwood.files.container import BLANK, DTYPES

Random = np.random.Generator
WHOLE = (0, 1, -1, 2, 3, 7, 8, 31, 32, 33, 255, 256, 2**15, 2**31 - 1, 2**31, 2**32, 2**53, 2**63, 2**64 - 1, 10**30)


def pick(random: Random, choices: Any) -> Any:
    return choices[random.integers(len(choices))]


def sealed(data: bytes) -> bytes:
    """The file with the checksum that it should have, if the place for it can be found."""
    place = data.find(b'"sha256":"') + len(b'"sha256":"')
    if place < 18 or place + len(BLANK) > len(data):
        return data
    blank = data[:place] + BLANK.encode() + data[place + len(BLANK) :]
    return blank[:place] + hashlib.sha256(blank).hexdigest().encode() + blank[place + len(BLANK) :]


def with_other_header(data: bytes, random: Random) -> bytes:
    """Types, shapes and places of arrays changed in the header, which is sealed again."""
    size = struct.unpack_from("<Q", data)[0]
    header = json.loads(data[8 : 8 + size])
    name = pick(random, [name for name in header if name != "__metadata__"])
    entry = header[name]
    change = random.integers(5)
    if change == 0:
        entry["dtype"] = pick(random, [*DTYPES, "F16", "BF16", "", 3])
    elif change == 1 and entry["shape"]:
        entry["shape"][random.integers(len(entry["shape"]))] = pick(random, WHOLE)
    elif change == 2:
        entry["data_offsets"][random.integers(2)] = int(random.integers(0, len(data)))
    elif change == 3:
        entry["shape"] = pick(random, [[], [0], [1, 1, 1, 1], [*entry["shape"], 1], [1, *entry["shape"]]])
    else:
        header = dict(sorted(header.items(), key=lambda _: random.random()))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 64)
    return sealed(struct.pack("<Q", len(text)) + text + data[8 + size :])


def _flip(data: bytearray, donor: bytes, random: Random) -> None:
    for _ in range(random.integers(1, 5)):
        data[random.integers(len(data))] ^= int(random.integers(1, 256))


def _truncate(data: bytearray, donor: bytes, random: Random) -> None:
    del data[int(random.integers(1, max(2, len(data)))) :]


def _splice(data: bytearray, donor: bytes, random: Random) -> None:
    start, size = random.integers(len(donor)), random.integers(1, 200)
    place = random.integers(len(data))
    data[place : place + size] = donor[start : start + size]


def _repeat(data: bytearray, donor: bytes, random: Random) -> None:
    start, size = random.integers(len(data)), random.integers(1, 100)
    data[start:start] = data[start : start + size]


def _blank(data: bytearray, donor: bytes, random: Random) -> None:
    start, size = random.integers(len(data)), random.integers(1, 40)
    data[start : start + size] = bytes([pick(random, (0, 255, 32))]) * len(data[start : start + size])


def _lengthen(data: bytearray, donor: bytes, random: Random) -> None:
    data[:8] = struct.pack("<Q", int(pick(random, [size for size in WHOLE if 0 <= size < 2**64])))


BYTE_CHANGES: tuple[Callable[[bytearray, bytes, Random], None], ...] = (
    *(_flip, _flip, _flip, _truncate, _splice, _repeat, _blank, _lengthen),
)

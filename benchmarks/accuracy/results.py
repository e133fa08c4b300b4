"""The file of results: a JSON list with a record on each line, one for each library, version, set and seed.

Every record is saved as soon as it is made. Several processes may write to the same file.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

Record = dict[str, Any]


class Key(NamedTuple):
    """What a record is about."""

    library: str
    version: str
    set: str
    seed: int


class Results:
    """The records of a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records = _read(path)

    def __contains__(self, key: Key) -> bool:
        return key in self.records

    def add(self, key: Key, record: Record) -> None:
        """Save one more record, in place of an earlier one of the same key."""
        with _locked(self.path):
            self.records = _read(self.path)
            self.records.pop(key, None)
            self.records[key] = {**key._asdict(), **record}
            _write(self.path, self.records)

    def newest(self) -> list[Record]:
        """For each library the records of the version that was saved last."""
        versions = {key.library: key.version for key in self.records}
        return [record for key, record in self.records.items() if versions[key.library] == key.version]


def _read(path: Path) -> dict[Key, Record]:
    records = json.loads(path.read_text()) if path.exists() else []
    return {Key(*(record[name] for name in Key._fields)): record for record in records}


def _write(path: Path, records: dict[Key, Record]) -> None:
    lines = ",\n".join(json.dumps(record) for record in records.values())
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(f"[\n{lines}\n]\n")
    fresh.replace(path)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.with_name(path.name + ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield

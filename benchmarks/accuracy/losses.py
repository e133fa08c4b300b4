"""Losses and seconds of libraries by set, each the mean over seeds."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from accuracy.results import Record

NEARLY_SOLVED = 0.01  # a log loss below it


@dataclass
class Losses:
    """For each library and set, the mean loss and the mean seconds of a fit; a fit that failed has an infinite loss.

    A set counts for a library once all seeds have run.
    """

    loss: dict[str, dict[str, float]] = field(default_factory=dict)
    seconds: dict[str, dict[str, float]] = field(default_factory=dict)
    facts: dict[str, Record] = field(default_factory=dict)  # a record of each set
    versions: dict[str, str] = field(default_factory=dict)  # of the libraries
    errors: list[Record] = field(default_factory=list)

    @property
    def libraries(self) -> list[str]:
        return list(self.loss)

    @property
    def sets(self) -> list[str]:
        return sorted({name for found in self.loss.values() for name in found})

    def finished(self) -> list[str]:
        """Libraries that have run on every set that any has run on."""
        return [library for library in self.libraries if len(self.loss[library]) == len(self.sets)]

    def best(self, name: str) -> float:
        """The least loss on a set."""
        return min(found[name] for found in self.loss.values() if name in found)

    def is_nearly_solved(self, name: str) -> bool:
        """Whether ratios of losses on the set say little; numbers have no such limit, as their units differ."""
        return self.facts[name]["task"] != "numbers" and self.best(name) < NEARLY_SOLVED

    def common(self, one: str, other: str) -> list[str]:
        """Sets that both libraries have run on."""
        return [name for name in self.sets if name in self.loss[one] and name in self.loss[other]]


def mean_losses(records: list[Record], libraries: Collection[str], sets: Collection[str], seeds: list[int]) -> Losses:
    """What the records say of these libraries, sets and seeds."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        if record["library"] in libraries and record["set"] in sets and record["seed"] in seeds:
            groups.setdefault((record["library"], record["set"]), []).append(record)
    found = Losses()
    for (library, name), group in groups.items():
        found.errors += [record for record in group if "error" in record]
        found.facts[name] = group[0]
        found.versions[library] = group[0]["version"]
        if len(group) == len(seeds):
            found.loss.setdefault(library, {})[name] = _mean(group, "loss", math.inf)
            found.seconds.setdefault(library, {})[name] = _mean(group, "fit_seconds", math.nan)
    return found


def _mean(group: list[Record], field_name: str, absent: float) -> float:
    return float(np.mean([record.get(field_name, absent) for record in group]))

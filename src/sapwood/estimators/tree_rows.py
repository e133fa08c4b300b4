"""Rows as trees and forests get them: table, target and weights, without rows that count for nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import InputError
from sapwood.table.digest import digest_arrays, digest_table
from sapwood.table.table import Table
from sapwood.table.target import ClassTarget, NumberTarget
from sapwood.table.weight import check_weight

Target = ClassTarget | NumberTarget
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TreeRows:
    """Rows with a weight above zero; `used` are their numbers among all rows given, None if these are all."""

    table: Table
    target: Any
    weight: Floats | None
    used: NDArray[np.intp] | None = None
    given: Floats | None = None  # weights without those of the classes, where they differ

    @classmethod
    def of(cls, table: Table, target: Target, sample_weight: Any) -> TreeRows:
        """Leave rows of weight zero out, as if they had never been there."""
        weight = check_weight(sample_weight, table.n_rows)
        if weight is None or weight.all():
            return cls(table, target, weight)
        used = np.flatnonzero(weight)
        return cls(table.take(used), take(target, used), weight[used], used)

    def refuse_overflow(self, n_members: int) -> None:
        """Refuse numbers whose sum over the members of an ensemble, or whose difference, no float can hold."""
        if not isinstance(self.target, NumberTarget):
            return
        largest = float(np.abs(self.target.values).max(initial=0.0))
        if largest > np.finfo(np.float64).max / max(2, n_members):
            raise InputError(
                f"y reaches {largest:.3g}: the sum of {n_members} such predictions is larger than a 64-bit float can "
                "be. Divide y by a constant."
            )

    def digests(self) -> dict[str, str]:
        """Digests of the rows, by the names of the arguments of `fit`."""
        is_class = isinstance(self.target, ClassTarget)
        labels = repr([own.tolist() for own in self.target.classes]) if is_class else ""
        return {
            "X": digest_table(self.table),
            "y": digest_arrays(self.target.codes if is_class else self.target.values) + labels,
            "sample_weight": digest_arrays(self.weight, self.used),
        }

    @property
    def weights(self) -> Floats:
        """Weight of every row."""
        return np.ones(self.table.n_rows) if self.weight is None else self.weight


def unless_equal(weight: Floats | None) -> Floats | None:
    """Weights, or None if all are the same: these tell no row from another."""
    return None if weight is None or (weight == weight[0]).all() else weight


def take(target: Target, rows: NDArray[np.intp]) -> Target:
    """The target of some rows, as if the others had never been there."""
    if isinstance(target, NumberTarget):
        return NumberTarget(target.values[rows], target.single)
    codes, classes = np.empty((len(rows), target.n_outputs), dtype=np.int32), []
    for o, labels in enumerate(target.classes):
        present, codes[:, o] = np.unique(target.codes[rows, o], return_inverse=True)
        classes.append(labels[present])
    return ClassTarget(codes, classes, target.single)

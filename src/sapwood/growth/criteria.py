"""Criteria by name, and the statistics of the target that growth sums up."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats, Ints
from sapwood.kernels import criteria as formulas
from sapwood.table.target import ClassTarget, NumberTarget

MOST_TALLIED_CLASSES = 256
MOST_TALLIED_WEIGHT = float(2**24 - 1)  # of all rows together, so that no sum of theirs is larger

CLASS_CRITERIA = {
    "gini": formulas.GINI,
    "entropy": formulas.ENTROPY,
    "log_loss": formulas.ENTROPY,
    "error": formulas.ERROR,
}
NUMBER_CRITERIA = {
    "squared_error": formulas.SQUARED,
    "friedman_mse": formulas.SQUARED,  # Friedman's improvement of a split is the decrease of the squared error
    "absolute_error": formulas.ABSOLUTE,
    "poisson": formulas.POISSON,
}


@dataclass(frozen=True, eq=False)
class Statistics:
    """Weights and targets of the rows, and how their sums are laid out."""

    wy: Floats  # (rows, 1 + outputs): weight, then targets or class numbers
    criterion: int
    n_classes: tuple[int, ...]  # per output; () for numbers
    tallied: NDArray[np.uint32] | None = None  # weights and classes that replace those of wy; see `tally`

    def counted(self, rows: Array, counts: Array) -> Statistics | None:
        """The statistics of rows that were drawn so often, if rows can be tallied; nothing is copied for the others."""
        if not self._may_tally or counts.sum() > MOST_TALLIED_WEIGHT:
            return None
        tally = np.zeros(len(self.wy), dtype=np.uint32)
        tally[rows] = counts.astype(np.uint32) << np.uint32(8) | self.wy[rows, 1].astype(np.uint32)
        return replace(self, tallied=tally)

    @property
    def _may_tally(self) -> bool:
        return self.n_outputs == 1 and self.is_class and self.n_classes[0] <= MOST_TALLIED_CLASSES

    @property
    def n_outputs(self) -> int:
        """Number of targets."""
        return int(self.wy.shape[1]) - 1

    @property
    def is_class(self) -> bool:
        """Whether the targets are classes."""
        return bool(self.n_classes)

    @property
    def is_absolute(self) -> bool:
        """Whether medians are needed."""
        return self.criterion == formulas.ABSOLUTE

    @property
    def is_pair(self) -> bool:
        """One output, and two classes or a number: the sums are (w, s)."""
        return self.n_outputs == 1 and not self.is_absolute and max(self.n_classes, default=2) <= 2

    def tally(self, rows: Array | None) -> NDArray[np.uint32] | None:
        """For each row weight << 8 | class, if there is one output of classes and weights are small whole numbers.

        Then sums are exact, and a row takes 4 bytes instead of 16. `rows` are those that count, None for all.
        """
        if self.tallied is not None or not self._may_tally:
            return self.tallied
        weight = self.wy[:, 0] if rows is None else self.wy[rows, 0]
        if weight.sum() > MOST_TALLIED_WEIGHT or (weight != np.rint(weight)).any():
            return None
        tally = np.zeros(len(self.wy), dtype=np.uint32)
        at = slice(None) if rows is None else rows
        tally[at] = weight.astype(np.uint32) << np.uint32(8) | self.wy[at, 1].astype(np.uint32)
        return tally

    @property
    def n_sums(self) -> int:
        """Length of a vector of sums."""
        return int(self.output_start[-1])

    @property
    def output_start(self) -> Ints:
        """Where each output's sums begin, and the end."""
        widths = self.n_classes if self.is_class and not self.is_pair else (1,) * self.n_outputs
        return np.concatenate(([0], np.cumsum(widths))).astype(np.int64)


def class_statistics(target: ClassTarget, weight: Floats, criterion: str) -> Statistics:
    """Statistics of classes; `weight` includes class weights."""
    wy = np.column_stack([weight, target.codes.astype(np.float64)])
    return Statistics(wy, CLASS_CRITERIA[criterion], tuple(len(c) for c in target.classes))


def number_statistics(target: NumberTarget, weight: Floats, criterion: str) -> Statistics:
    """Statistics of numbers."""
    return Statistics(np.column_stack([weight, target.values]), NUMBER_CRITERIA[criterion], ())

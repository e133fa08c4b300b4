"""Criteria by name, and the statistics of the target that growth sums up."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats, Ints
from sapwood.cached_property import cached_property
from sapwood.errors import InputError
from sapwood.kernels import criteria as formulas
from sapwood.table.target import ClassTarget, NumberTarget, Target

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

    def reweighted(self, rows: Array, weight: Array) -> Statistics:
        """The statistics of some rows with other weights; for counts that can be tallied, nothing is copied."""
        tally = self._tally(rows, weight) if weight.dtype.kind in "iu" else None
        if tally is not None:
            return replace(self, tallied=tally)
        wy = self.wy.copy()
        wy[rows, 0] = weight
        return replace(self, wy=wy)

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
        if self.tallied is not None:
            return self.tallied
        own = slice(None) if rows is None else rows
        return self._tally(own, self.wy[own, 0])

    def _tally(self, rows: Array | slice, weight: Array) -> NDArray[np.uint32] | None:
        if self.n_outputs > 1 or not self.is_class or self.n_classes[0] > MOST_TALLIED_CLASSES:
            return None
        if weight.sum() > MOST_TALLIED_WEIGHT or (weight.dtype.kind == "f" and (weight != np.rint(weight)).any()):
            return None
        tally = np.zeros(len(self.wy), dtype=np.uint32)
        tally[rows] = weight.astype(np.uint32) << np.uint32(8) | self.wy[rows, 1].astype(np.uint32)
        return tally

    @property
    def n_sums(self) -> int:
        """Length of a vector of sums."""
        return int(self.output_start[-1])

    @cached_property
    def output_start(self) -> Ints:
        """Where each output's sums begin, and the end."""
        widths = self.n_classes if self.is_class and not self.is_pair else (1,) * self.n_outputs
        return np.concatenate(([0], np.cumsum(widths))).astype(np.int64)


def statistics_of(target: Target, weight: Floats, criterion: str) -> Statistics:
    """Statistics of classes or numbers; `weight` includes the weights of the classes."""
    if isinstance(target, ClassTarget):
        wy = np.column_stack([weight, target.codes.astype(np.float64)])
        return Statistics(wy, CLASS_CRITERIA[criterion], target.n_classes)
    if criterion == "poisson":
        _check_counts(target)
    return Statistics(np.column_stack([weight, target.values]), NUMBER_CRITERIA[criterion], ())


def _check_counts(target: NumberTarget) -> None:
    bad = np.argwhere(target.values < 0)
    if len(bad):
        row, output = bad[0]
        raise InputError(
            f"y has the negative value {target.values[row, output]} in row {row}, but criterion='poisson' is for "
            "counts and rates. Use criterion='squared_error', or remove negative values."
        )
    if not target.values.sum(axis=0).all():
        raise InputError(
            "Sum of y is not strictly positive, which criterion='poisson' needs. Use criterion='squared_error' for a "
            "target that is always zero."
        )

"""Rules of growth: when a node may be split, and how its split is looked for."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, fdtri

from sapwood.kernels.records import LIMITS

UNLIMITED = 2**31 - 1
LARGEST_TABLE = 100_000  # beyond so many degrees of freedom a critical value of F no longer changes visibly


@dataclass(frozen=True)
class GrowthRules:
    """Options of growth, with every relative setting made absolute for the table at hand."""

    max_depth: int = UNLIMITED
    max_leaf_nodes: int = 0  # 0: no limit, depth first
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    impurity_threshold: float = 0.0
    significance: float | None = None
    max_features: int = UNLIMITED
    max_exhaustive: int = 10
    seed: int = 0

    def on(self, n_rows: int) -> GrowthRules:
        """These rules for a tree of n_rows rows: without a limit on leaves that so many rows cannot reach."""
        is_reached = 0 < self.max_leaf_nodes < n_rows // self.min_samples_leaf
        return self if is_reached else replace(self, max_leaf_nodes=0)

    def most_nodes(self, n_rows: int) -> int:
        """An upper bound on the nodes of a tree of n_rows rows under these rules."""
        leaves = max(1, n_rows // self.min_samples_leaf)
        by_depth: int = 2 ** min(self.max_depth, 40)
        return 2 * min(leaves, self.max_leaf_nodes or leaves, by_depth) + 1

    def limits(self, criterion: int) -> NDArray[np.void]:
        """The same as one record for the kernels."""
        record = np.zeros(1, dtype=LIMITS)
        record[0] = (
            criterion,
            self.max_depth,
            self.max_leaf_nodes,
            self.min_samples_split,
            self.min_samples_leaf,
            self.min_weight_leaf,
            self.min_impurity_decrease,
            self.impurity_threshold,
            self.max_features,
            self.max_exhaustive,
            self.seed,
        )
        return record


def critical_values(
    level: float | None, n_classes: tuple[int, ...], n_outputs: int, weight: float
) -> NDArray[np.float64] | None:
    """Least significant test statistic by degrees of freedom, after the level itself; None for no test.

    Classes: chi-squared of the table side x class. Numbers: F with one degree of freedom for the two sides (the outputs
    are pooled), by the second degrees of freedom.
    """
    if level is None:
        return None
    if n_classes:
        freedom = np.arange(1, sum(n_classes) + 1, dtype=float)
        values = chdtri(freedom, level)
    else:
        freedom = np.arange(1, min(int(weight) + 2, LARGEST_TABLE) + 1, dtype=float)
        values = fdtri(1.0, freedom, 1.0 - level) * n_outputs
    return np.concatenate(([level], values))

"""Rules of growth: when a node may be split, and how its split is looked for."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtri, fdtri

from sapwood.arrays import Floats

UNLIMITED = 2**31 - 1
LARGEST_TABLE = 100_000  # beyond this many degrees of freedom a critical value of F no longer changes visibly


@dataclass(frozen=True)
class GrowthRules:
    """Options of growth, with every relative setting made absolute for the table at hand."""

    max_depth: int = UNLIMITED
    max_leaves: int = 0  # 0: no limit, depth first
    min_split_rows: int = 2
    min_child_rows: int = 1
    min_child_weight: float = 0.0
    min_decrease: float = 0.0
    impurity_threshold: float = 0.0
    significance: float | None = None
    max_features: int = UNLIMITED
    max_exhaustive: int = 10
    seed: int = 0

    def on(self, n_rows: int, draws: bool) -> GrowthRules:
        """These rules for one tree: without a limit on leaves that its rows cannot reach, or a seed it does not use."""
        is_reached = 0 < self.max_leaves < n_rows // self.min_child_rows
        return replace(self, max_leaves=self.max_leaves if is_reached else 0, seed=self.seed if draws else 0)

    def most_nodes(self, n_rows: int) -> int:
        """An upper bound on the nodes of a tree of n_rows rows under these rules."""
        leaves = max(1, n_rows // self.min_child_rows)
        by_depth: int = 2 ** min(self.max_depth, 40)
        return 2 * min(leaves, self.max_leaves or leaves, by_depth) + 1

    @property
    def limits(self) -> dict[str, float]:
        """All but the significance; kernels have the same names for them."""
        return {name: value for name, value in vars(self).items() if name != "significance"}


def critical_values(level: float | None, n_classes: tuple[int, ...], n_outputs: int, weight: float) -> Floats | None:
    """Critical values of the test statistic by degrees of freedom, after the level itself; None for no test.

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


def rows_at_least(setting: int | float, n_rows: int, least: int) -> int:
    """A count of rows, or a share of them rounded up."""
    if isinstance(setting, (int, np.integer)):
        return int(setting)
    return max(least, math.ceil(setting * n_rows))


def n_features_drawn(setting: int | float | str | None, n_features: int) -> int:
    """How many columns a split may choose from."""
    if setting is None:
        return n_features
    if setting == "sqrt":
        return max(1, int(math.sqrt(n_features)))
    if setting == "third":
        return max(1, n_features // 3)
    if setting == "log2":
        return max(1, n_features.bit_length() - 1)
    if isinstance(setting, (int, np.integer)):
        return min(int(setting), n_features)
    return max(1, int(float(setting) * n_features))

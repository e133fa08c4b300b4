"""Options of one boosted tree, and of a round of boosting."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats
from sapwood.boosting.columns import ColumnOptions
from sapwood.cached_property import cached_property
from sapwood.codes.coding import Method
from sapwood.kernels.boosting_records import RULES
from sapwood.shard.gradient_units import GradientUnits

NO_LIMIT = 2**31


@dataclass(frozen=True)
class TreeOptions:
    """Limits and penalties of one tree. Zero means no limit for depth, leaves and step."""

    max_depth: int = 6
    max_leaves: int = 0
    leaf_wise: bool = False
    symmetric: bool = False  # one split for all nodes of a level
    gamma: float = 0.0
    reg_lambda: float = 1.0
    reg_alpha: float = 0.0
    max_delta_step: float = 0.0
    min_child_weight: float = 1.0
    min_child_rows: int = 1
    min_split_rows: int = 2
    min_child_share: float = 0.0  # minimum share of the root's hessian in a child
    min_decrease: float = 0.0  # least gain of a split, twice and per hessian of the root: a decrease of the mean square
    ccp_alpha: float = 0.0  # cost of a split in the same unit, for cost-complexity pruning
    cat_smooth: float = 0.0
    max_cat_to_onehot: int = 4
    max_cat_threshold: int = 64
    cat_l2: float = 0.0
    min_data_per_group: float = 0.0
    extra_trees: bool = False
    signs: NDArray[np.int8] | None = field(default=None, compare=False)  # monotone constraints

    @property
    def counts_rows(self) -> bool:
        """Whether histograms must count rows."""
        return self.min_child_rows > 1

    def leaf_weights(self, G: Floats, H: Floats, lower: Floats | float, upper: Floats | float) -> Floats:
        """Newton's step of nodes, see `kernels/newton.py`; zero where there is no curvature."""
        shrunk = np.sign(G) * np.maximum(np.abs(G) - self.reg_alpha, 0.0)
        denominator = H + self.reg_lambda
        weights = -np.divide(shrunk, denominator, out=np.zeros_like(G), where=denominator > 0)
        if self.max_delta_step > 0.0:
            weights = np.clip(weights, -self.max_delta_step, self.max_delta_step)
        clipped: Floats = np.clip(weights, lower, upper)
        return clipped

    def rules(self, units: GradientUnits, noise: float = 0.0) -> Array:
        """In the layout of the kernels; noise is the standard deviation of roots of scores."""
        record = self.unitless_rules.copy()
        record["noise"] = noise
        record["gradient_unit"], record["hessian_unit"] = units.gradient_unit, units.hessian_unit
        record["lambda_units"] = self.reg_lambda / units.hessian_unit
        record["score_unit"] = units.gradient_unit**2 / units.hessian_unit
        return record

    @cached_property
    def unitless_rules(self) -> Array:
        """Rules whose units are yet to be set."""
        record = np.zeros(1, dtype=RULES)
        for name in RULES.names or ():
            if hasattr(self, name):
                record[name] = getattr(self, name)
        record["max_depth"] = self.max_depth or NO_LIMIT
        record["min_child_rows"] = self.min_child_rows if self.counts_rows else 0
        bounded = self.signs is not None and bool(np.any(self.signs))
        record["is_plain"] = self.reg_alpha == 0.0 and self.max_delta_step == 0.0 and not bounded
        return record


@dataclass(frozen=True, eq=False)
class RoundOptions:
    """Options of a round."""

    tree: TreeOptions
    columns: ColumnOptions
    subsample: float = 1.0
    by_gradient: bool = False  # rows are drawn by the size of their gradients
    counted: bool = False  # a sample has the same number of rows in each round, not only on average
    line_search: bool = False  # one step length for the whole tree
    unit_hessian: bool = False  # trees are grown on gradients alone, as if the hessian was 1; leaves use the true one
    one_tree: bool = False  # for all scores of a round; False: one for each
    leaves_of_all_rows: bool = False  # a sample decides about splits only
    random_strength: float = 0.0  # of the noise of scores
    alternates: bool = False  # models of every other fold draw their thresholds
    method: Method = "hist"
    linear: bool | None = False  # leaves are regressions on the columns of their paths; None: if that is better
    linear_ridge: float = 1.0  # penalty of their slopes
    seed: int = 0
    n_jobs: int = 1
    n_shards: int = 1

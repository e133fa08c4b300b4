"""Growth of many trees on one coded table, for forests and AdaBoost.

Every tree depends on its own rows, weights and key alone, so trees can be grown in parallel and in any order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array
from sapwood.codes.coded import CodedTable, code_table
from sapwood.growth.criteria import Statistics
from sapwood.growth.grower import grow_tree
from sapwood.growth.prune import prune
from sapwood.growth.rules import GrowthRules
from sapwood.table.table import Table
from sapwood.tree import Tree

FEW_COLUMNS = 0.5  # trees that look at a smaller share of the columns in a node are grown on ranks, not on lists


@dataclass(frozen=True, eq=False)
class ForestGrower:
    """Grows trees that have all of this in common."""

    coded: CodedTable
    statistics: Statistics  # of all rows; a tree has weights of its own
    rules: GrowthRules
    n_levels: NDArray[np.int32]
    monotonic: NDArray[np.int8] | None = None
    leaf: str = "auto"
    draw_thresholds: bool = False
    ccp_alpha: float = 0.0
    min_weight_share: float = 0.0  # of the weight of a tree that a leaf must have

    @classmethod
    def of(
        cls, table: Table, statistics: Statistics, rules: GrowthRules, max_bins: int | None, n_jobs: int, **options: Any
    ) -> Self:
        """Code the table once for all trees; `options` are fields of the grower."""
        draws = options.get("draw_thresholds", False)
        coded = code_for_many(table, statistics, rules.max_features, max_bins=max_bins, draws=draws, n_jobs=n_jobs)
        return cls(coded, statistics, rules, table.schema.n_levels, **options)

    def grow(self, rows: Array, weight: Array, key: int, features: Array | None = None) -> Tree:
        """The tree of some rows, ascending, with these weights, or counts; of some columns, or all."""
        rules = replace(self.rules, seed=key, min_child_weight=self.min_weight_share * float(weight.sum()))
        # A stump never moves the rows of columns, so their lists need not be copied for it.
        is_stump = self.rules.max_depth == 1 and len(rows) == self.coded.n_rows
        tree = grow_tree(
            self.coded,
            self.statistics.reweighted(rows, weight),
            rules,
            n_levels=self.n_levels,
            monotonic=self.monotonic,
            leaf=self.leaf,
            draw_thresholds=self.draw_thresholds,
            rows=None if is_stump else rows,
            features=features,
        )
        return prune(tree, self.ccp_alpha) if self.ccp_alpha > 0 else tree


def code_for_many(
    table: Table, statistics: Statistics, max_features: int, *, max_bins: int | None, draws: bool, n_jobs: int = 1
) -> CodedTable:
    """Code a table for many trees.

    Lists of sorted rows follow every split, in every column. That pays if a node looks at most of the columns;
    otherwise every value gets its rank as a code, and a node counts the codes of the columns it looks at.
    """
    absolute = statistics.is_absolute
    few = max_features < FEW_COLUMNS * table.n_features
    return code_table(
        table,
        max_bins=max_bins,
        list_all=absolute,
        rank_all=few and not absolute,
        keep_values=draws,
        n_reserved=1 + statistics.n_outputs * absolute,
        n_jobs=n_jobs,
    )

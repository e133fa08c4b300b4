"""All statistics. Importing a statistic's file adds its versions to the functions of `statistic.py`."""

from __future__ import annotations

from sapwood.kernels.medians import total_medians  # noqa: F401
from sapwood.kernels.pair_sums import sum_pairs_of_node  # noqa: F401
from sapwood.kernels.pair_tallies import sum_tallies  # noqa: F401
from sapwood.kernels.statistic import (
    Medians,
    Pairs,
    PairTallies,
    Vectors,
    VectorTallies,
    begin_node,
    best_cut,
    best_subset,
    chi_squared,
    collect,
    node_value,
    recentred,
    total_node,
    total_sibling,
)
from sapwood.kernels.subsets import best_prefix  # noqa: F401
from sapwood.kernels.vector_sums import sum_vectors_of_node  # noqa: F401
from sapwood.kernels.vector_tallies import sum_class_tallies  # noqa: F401

__all__ = [
    "Medians",
    "PairTallies",
    "Pairs",
    "VectorTallies",
    "Vectors",
    "begin_node",
    "best_cut",
    "best_subset",
    "chi_squared",
    "collect",
    "node_value",
    "recentred",
    "total_node",
    "total_sibling",
]

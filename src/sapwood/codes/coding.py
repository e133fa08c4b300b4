"""Coding: the table in the form that a method of boosting requires."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from sapwood.arrays import Floats
from sapwood.codes.binned import bin_table, find_bins
from sapwood.codes.bins import MOST_BINS, Bins, NumberBins, StatisticBins
from sapwood.codes.ranked import RankedTable, Ranks, rank_bins, rank_table
from sapwood.codes.sparse import Binned, sparse_table, suits_sparse
from sapwood.codes.weighted import weighted_cuts
from sapwood.table.table import Table

Method = Literal["hist", "approx", "exact"]
Coded = Binned | RankedTable
Recode = Callable[[Floats], Coded]


def code(table: Table, method: Method, max_bins: int, n_jobs: int) -> tuple[Coded, Recode | None]:
    """The coded table, and for the approximate method a function that recodes it in each round."""
    n_jobs = table.jobs(n_jobs)
    if method == "exact":
        return rank_table(table, n_jobs), None
    if suits_sparse(table):
        max_bins = min(max_bins, MOST_BINS)
    binned = with_bins(table, find_bins(table, max_bins, n_jobs), n_jobs)
    return binned, recoder(table, max_bins, n_jobs) if method == "approx" else None


def with_bins(table: Table, bins: tuple[Bins, ...], n_jobs: int) -> Coded:
    """The table in these bins: sparse if few of its cells are stored, ranked if bytes do not hold all codes."""
    if suits_sparse(table):
        return sparse_table(table, bins, n_jobs)
    most = max((own.n_codes for own in bins), default=0)
    return (bin_table if most <= MOST_BINS else rank_bins)(table, bins, n_jobs)


def recoder(table: Table, max_bins: int, n_jobs: int) -> Recode:
    """Bins are percentiles of the values weighted by the hessian, as it is at the beginning of a round."""
    ranked = rank_table(table, n_jobs)

    def recode(weight: Floats) -> Coded:
        bins: list[Bins] = []
        for j, own in enumerate(ranked.bins):
            if isinstance(own, Ranks):
                mass = np.bincount(ranked.columns[j], weights=weight, minlength=own.n_codes + 1)
                bins.append(NumberBins(weighted_cuts(own.values, mass[1:].astype(np.float64), max_bins)))
            elif not isinstance(own, StatisticBins):  # these are put beside the others later
                bins.append(own)
        return with_bins(table, tuple(bins), n_jobs)

    return recode

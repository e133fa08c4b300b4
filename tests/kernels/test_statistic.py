"""Functions of which every statistic has a version: the compiler picks it by the type of the statistic."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from group_cases import (
    N_CLASSES,
    bitmap,
    check_codes,
    check_pairs,
    check_rows_and_weights,
    check_vectors,
    pair_totals,
    vector_arrays,
    vector_totals,
)
from kernel_cases import Frame, Lists, Node, arrange, node_frame
from numba import njit
from numba.core.errors import TypingError

from sapwood.kernels import statistic
from sapwood.kernels.criteria import GINI
from sapwood.kernels.pair_sums import fill_local
from sapwood.kernels.search import collect
from sapwood.kernels.statistic import Medians, Pairs, PairTallies, Vectors, VectorTallies, per_statistic
from sapwood.kernels.tallies import fill_tallies
from sapwood.kernels.tree_frame import COLUMN, NOTHING

KINDS = (Pairs, PairTallies, Vectors, VectorTallies, Medians)


class Toy(NamedTuple):
    """A statistic of no kernel file."""

    frame: Any


class Other(NamedTuple):
    """A statistic that has no version of anything."""

    frame: Any


@per_statistic
def doubled(stat: Any, x: Any) -> Any:
    """Twice a number."""
    raise NotImplementedError


@per_statistic
def halved(stat: Any, x: Any) -> Any:
    """Half a number."""
    return x / 2


@halved.of(Toy)
def _halved(stat: Any, x: float) -> float:
    return x / 2 + stat.frame


@doubled.of(Toy)
def _doubled(stat: Any, x: float) -> float:
    return stat.frame * x


@njit
def run(stat: Any, x: float) -> float:
    return float(doubled(stat, x))


def test_a_version_is_picked_by_the_type() -> None:
    @doubled.of(Pairs, Medians)
    def _by_adding(_stat: Any, x: float) -> float:
        return x + x + 0.25

    assert run(Toy(2.0), 4.0) == 8.0
    assert run(Pairs(2.0), 4.0) == run(Medians(2.0), 4.0) == 8.25


def test_the_function_itself_is_the_version_of_the_others() -> None:
    @njit
    def half(stat: Any, x: float) -> float:
        return float(halved(stat, x))

    assert half(Toy(1.0), 4.0) == halved(Toy(1.0), 4.0) == 3.0
    assert half(Other(1.0), 4.0) == halved(Other(1.0), 4.0) == 2.0


def test_a_statistic_without_a_version_is_named() -> None:
    with pytest.raises(TypingError, match=r"doubled has no version for Other\."):
        run(Other(2.0), 4.0)
    with pytest.raises(TypingError, match=r"doubled has no version for float64\."):
        run(2.0, 4.0)


def test_a_new_statistic_needs_no_change_of_the_kernels_that_use_it() -> None:
    @statistic.chi_squared.of(Toy)
    def _chi_squared(stat: Any, node: int, left: int, right: int) -> Any:
        return float(100 * node + 10 * left + right), stat.frame

    @njit
    def test_of(stat: Any) -> Any:
        return statistic.chi_squared(stat, 1, 2, 3)

    assert test_of(Toy(7.0)) == (123.0, 7.0)


def test_every_statistic_has_a_version_of_every_function() -> None:
    for name, function in vars(statistic).items():
        if hasattr(function, "of"):
            for kind in KINDS:
                assert "NotImplementedError" not in function.version_of(kind).__code__.co_names, name


@njit
def run_collect(stat: Any, codes: Any, columns: Any, totals: Any) -> Any:
    return collect(stat, codes, columns[0], totals, 0)


NODE = Node(
    rows=np.array([0, 2, 3, 4, 5, 7]),
    values=np.array([1.0, 9.0, np.nan, 3.0, 1.0, 2.0, 5.0, 3.0]),
    wy=np.column_stack([np.arange(1.0, 9.0), [0, 1, 1, 0, 1, 1, 0, 0]]),
)
CODES = np.where(np.isnan(NODE.values), 0, NODE.values).astype(np.uint16)


def frame_for(kind: type, lists: Lists, n_codes: int) -> Frame:
    """What a statistic needs to collect the groups of a column."""
    arrays: dict[str, Any] = {**bitmap(n_codes)}
    is_vector, n_rows = kind in {Vectors, VectorTallies}, len(NODE.values)
    n_sums = N_CLASSES if is_vector else 1
    if is_vector:
        arrays |= vector_arrays(NODE, GINI, np.zeros(1))
    if kind in {PairTallies, VectorTallies}:
        arrays["tally"] = (NODE.wy[:, 0] * 256 + NODE.wy[:, 1]).astype(np.uint32)
        arrays["local_tally"] = np.empty(len(NODE.rows), dtype=np.uint32)
        arrays["counts"] = np.zeros((n_codes + 1, max(2, n_sums)), dtype=np.uint64)
    else:
        arrays["hist"], arrays["local"] = np.zeros((n_codes + 1, 2 + n_sums)), np.empty((len(NODE.rows), 2))
    if kind is Medians:
        arrays |= {name: np.zeros(n_rows, dtype=np.uint32) for name in ("ordered", "missing_rows")}
    return node_frame(NODE, lists, **arrays)


@pytest.mark.parametrize("n_codes", [0, 9, 5000])  # sorted, a bitmap of one level, and of two
@pytest.mark.parametrize("kind", KINDS)
def test_every_statistic_collects_the_groups_of_every_column(kind: type, n_codes: int) -> None:
    lists = arrange(NODE, NOTHING, keep_empty=True)
    frame, columns = frame_for(kind, lists, n_codes), np.zeros(1, dtype=COLUMN)
    columns[0] = lists.column
    columns["code_row"], columns["n_codes"] = (0, n_codes) if n_codes else (-1, 0)
    if "tally" in frame.values:
        fill_tallies(frame.record, 0)
    elif kind is Pairs:
        fill_local(frame.record, 0, 0.0)
    totals = vector_totals(NODE) if kind in {Vectors, VectorTallies} else pair_totals(NODE, 0.0)
    found = run_collect(kind(frame.record), CODES[None], columns, totals)
    check_rows_and_weights(NODE, found, frame)
    if kind in {Pairs, PairTallies}:
        check_pairs(NODE, 0.0, found, frame)
    elif kind in {Vectors, VectorTallies}:
        check_vectors(NODE, np.zeros(1), found, frame)
    if n_codes:
        check_codes(NODE, CODES, frame)

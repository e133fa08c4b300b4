"""From a coded table and statistics to a Tree: sets the kernel up, and reads its nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Ints
from sapwood.codes.coded import CodedTable
from sapwood.codes.sorted_column import sort_column
from sapwood.growth.criteria import Statistics
from sapwood.growth.rules import GrowthRules, critical_values
from sapwood.growth.scale import Scale, shifted
from sapwood.growth.trees import GrownNodes, leaf_values, split_thresholds
from sapwood.kernels._jit import ONE
from sapwood.kernels.grow import grow
from sapwood.kernels.partition import select_list
from sapwood.kernels.sorting import write_entries
from sapwood.kernels.statistics import Medians, Pairs, PairTallies, Vectors, VectorTallies
from sapwood.kernels.tree_frame import ALL_PRESENT, COLUMN, FRAME, NODE, OPEN, SOME_MISSING, Values
from sapwood.tree import Tree

N_SLOTS = 64  # depth first, the smaller child first: at most log2(rows) nodes are open


@dataclass(frozen=True, eq=False)
class Lists:
    """All lists in one array: rows, orders of targets, the columns' lists, marks of coded columns, and an empty one."""

    entries: NDArray[np.uint32]
    lo: Ints
    hi: Ints
    n_always: int
    n_lists: int
    of_column: Ints  # (features, 3): below, above, missing; the last list, which is empty, for none

    @property
    def n_rows(self) -> int:
        """Rows of the tree."""
        return int(self.hi[0] - self.lo[0])


def grow_tree(
    coded: CodedTable,
    statistics: Statistics,
    rules: GrowthRules,
    *,
    n_levels: NDArray[np.int32],
    monotonic: NDArray[np.int8] | None = None,
    leaf: str = "auto",
    draw_thresholds: bool = False,
    rows: Array | None = None,
    features: Array | None = None,
) -> Tree:
    """Grow one tree: of all rows, which uses the coded table up, or of a sample of `rows`, ascending.

    `features` are the columns that the tree may use.
    """
    scale = Scale.of(statistics)
    statistics, rules = scale.statistics(statistics), scale.rules(rules)
    lists = _arrange_lists(coded, statistics) if rows is None else _sample_lists(coded, statistics, rows)
    allowed = np.arange(coded.n_features) if features is None else np.unique(features)
    rules = rules.on(lists.n_rows, draws=draw_thresholds or rules.max_features < len(allowed))
    grown = _run_kernel(coded, statistics, rules, lists, allowed, rows, monotonic, draw_thresholds)
    members = lists.entries[: lists.n_rows].copy()
    if rows is None:  # the entries go before the tree is put together: they are the largest part
        coded = replace(coded, entries=members[:0])
    del lists
    return Tree(
        **grown.links._asdict(),
        threshold=split_thresholds(coded, grown),
        value=leaf_values(grown, statistics, leaf, members, scale),
        impurity=shifted(grown.mass / grown.weight, scale.impurity),
        weighted_n_node_samples=shifted(grown.weight, scale.weight),
        subset_start=grown.subset_start,
        subsets=grown.subsets,
        n_levels=n_levels,
        n_classes=statistics.n_classes or (1,) * statistics.n_outputs,
    )


def _run_kernel(
    coded: CodedTable,
    statistics: Statistics,
    rules: GrowthRules,
    lists: Lists,
    allowed: Ints,
    members: Array | None,
    monotonic: Array | None,
    draws: bool,
) -> GrownNodes:
    arrays = _columns_and_rows(coded, statistics, lists, allowed, monotonic) | _nodes(statistics, rules, lists)
    kind, own = _statistic(coded, statistics, lists.n_rows, statistics.tally(members))
    arrays |= own | _groups(coded, statistics, lists.n_rows, by_tally=kind in {PairTallies, VectorTallies})
    if kind is Medians:
        arrays["medians"] = np.empty((len(arrays["nodes"]), statistics.n_outputs))
    is_bounded = monotonic is not None and bool(monotonic.any())
    if is_bounded:
        arrays["bounds"] = np.empty((len(arrays["nodes"]), 2))
    if coded.is_category.any():
        arrays |= _levels(coded, statistics, rules, arrays)
    frame = FRAME.fill(
        **arrays,
        **rules.limits,
        criterion=statistics.criterion,
        n_always=lists.n_always,
        n_lists=lists.n_lists,
        is_bounded=is_bounded,
        tosses_levels=draws and kind is not Medians,
    )
    values = _values(coded, lists.n_rows) if draws else None
    weight = float(statistics.wy[:, 0].sum())
    critical = critical_values(rules.significance, statistics.n_classes, statistics.n_outputs, weight)
    n_nodes, n_words = grow(kind(frame[0]), coded.codes, values, arrays.get("best_subset"), critical)
    return GrownNodes.read(arrays, n_nodes, n_words)


def _columns_and_rows(
    coded: CodedTable, statistics: Statistics, lists: Lists, allowed: Array, monotonic: Array | None
) -> dict[str, Array]:
    return {
        "columns": _columns(coded, lists, monotonic),
        "allowed": allowed.astype(np.int64),
        "drawn": np.empty(coded.n_features, dtype=np.int64),
        "wy": np.ascontiguousarray(statistics.wy),
        "entries": lists.entries,
        "side": np.zeros(coded.n_rows, dtype=np.uint8),
        "moved": np.empty(lists.n_rows + 1, dtype=np.uint32),
    }


def _nodes(statistics: Statistics, rules: GrowthRules, lists: Lists) -> dict[str, Array]:
    """Nodes, and slots for open ones. Pages of these arrays that no node is written to cost nothing."""
    n_slots, capacity = max(N_SLOTS, rules.max_leaves + 4), rules.most_nodes(lists.n_rows)
    lo, hi = np.zeros((2, n_slots, len(lists.lo)), dtype=np.int64)
    lo[0], hi[0] = lists.lo, lists.hi
    return {
        "lo": lo,
        "hi": hi,
        "nodes": np.empty(capacity, dtype=NODE),
        "sums": np.empty((capacity, statistics.n_sums)),
        "slots": np.zeros(n_slots, dtype=OPEN),
        "frontier": np.zeros(n_slots, dtype=np.int64),
        "free": np.zeros(n_slots, dtype=np.int64),
        "children": np.zeros(2, dtype=np.int64),
        "wanted": np.zeros(2, dtype=np.bool_),
    }


def _groups(coded: CodedTable, statistics: Statistics, n_rows: int, by_tally: bool) -> dict[str, Array]:
    """Sums of the groups of a column, and its histogram."""
    n_groups, n_codes, n_sums = n_rows + 2, int(coded.n_codes.max(initial=0)) + 1, statistics.n_sums
    arrays = {
        "cum_rows": np.zeros(n_groups, dtype=np.int64),
        "cum_weight": np.empty(n_groups),
        "cum_sum": np.zeros(n_groups),
        "code": np.zeros(n_groups, dtype=np.int64),
        "occupied": np.zeros(n_codes // 64 + 1, dtype=np.uint64),
        "summary": np.zeros((n_codes // 64 + 1) // 64 + 1, dtype=np.uint64),
    }
    if by_tally:
        return arrays | {"counts": np.zeros(n_codes * max(2, n_sums), dtype=np.uint64)}
    return arrays | {"hist": np.zeros((n_codes, 2 + n_sums))}


def _statistic(
    coded: CodedTable, statistics: Statistics, n_rows: int, tally: Array | None
) -> tuple[type, dict[str, Array]]:
    """The type of the statistic, and the arrays that it needs."""
    arrays: dict[str, Array] = {}
    if tally is not None:
        arrays = {"tally": tally, "local_tally": np.empty(n_rows, dtype=np.uint32)}
    if statistics.is_absolute:
        return Medians, _ranks(coded.n_rows, n_rows + 2, statistics)
    if statistics.is_pair:
        if tally is not None:
            return PairTallies, arrays
        return Pairs, {"local": np.empty((n_rows if coded.is_coded.any() else 0, 2))}
    vectors = ("left_sums", "right_sums", "missing_sums", "node_sums", "centers")
    arrays |= {name: np.zeros(statistics.n_sums) for name in vectors}
    arrays |= {"output_start": statistics.output_start, "cum_sums": np.empty((n_rows + 2, statistics.n_sums))}
    return (Vectors if tally is None else VectorTallies), arrays


def _ranks(n_rows: int, n_groups: int, statistics: Statistics) -> dict[str, Array]:
    """What the absolute error needs."""
    by_group = ("tree_weight", "tree_sum", "loss_left", "loss_right", "median_left", "median_right")
    arrays: dict[str, Array] = {name: np.empty(n_groups) for name in by_group}
    return arrays | {
        "rank_of": np.empty((statistics.n_outputs, n_rows), dtype=np.int64),
        "ranked": np.empty((statistics.n_outputs, n_rows)),
        "ordered": np.empty(n_rows, dtype=np.uint32),
        "missing_rows": np.empty(n_rows, dtype=np.uint32),
    }


def _levels(coded: CodedTable, statistics: Statistics, rules: GrowthRules, arrays: dict[str, Array]) -> dict[str, Any]:
    """What categories need: statistics and orders of levels, and subsets of nodes."""
    widest, n_sums = int(coded.n_codes[coded.is_category].max()), statistics.n_sums
    n_words, n_nodes = max(1, (widest + 31) // 32), len(arrays["nodes"])
    ints, floats = ("level_rows", "order", "position", "goes_left", "code_left"), ("level_weight", "level_sum", "key")
    return {
        "best_subset": np.zeros((len(arrays["slots"]), n_words), dtype=np.uint32),
        "subsets": np.empty(n_nodes // 2 * n_words, dtype=np.uint32),
        "level_sums": np.zeros((widest + 1, n_sums)),
        "table": np.empty((1 << (rules.max_exhaustive - 1), 2 + n_sums)),
        "side_entries": np.empty(coded.n_rows, dtype=np.uint32) if statistics.is_absolute else None,
        **{name: np.zeros(widest + 1, dtype=np.int64) for name in ints},
        **{name: np.zeros(widest + 1) for name in floats},
    }


def _values(coded: CodedTable, n_rows: int) -> Values:
    assert coded.values is not None
    of_row, of_code = coded.values
    return Values(of_row, of_code, np.empty(n_rows, dtype=of_row.dtype))


def _arrange_lists(coded: CodedTable, statistics: Statistics) -> Lists:
    """Rows and target orders fill the stretches reserved in front of the columns, so that nothing is copied."""
    n = coded.n_rows
    always = [np.arange(n, dtype=np.uint32) << ONE, *_target_orders(statistics)]
    coded.entries[: len(always) * n] = np.concatenate(always)
    columns = coded.lists
    return _lists(coded, coded.entries, len(always), n, columns, coded.ranges[tuple(columns.T)])


def _sample_lists(coded: CodedTable, statistics: Statistics, rows: Array) -> Lists:
    """Lists of some rows, copied from those of all."""
    inside = np.zeros(coded.n_rows, dtype=np.bool_)
    inside[rows] = True
    columns = coded.lists
    sources = [(order, 0, len(order)) for order in _target_orders(statistics)]
    n_always = 1 + len(sources)
    sources += [(coded.entries, *coded.ranges[j, k]) for j, k in columns]
    at = len(rows)
    entries = np.empty(at + sum(last - first for _, first, last in sources) + 1, dtype=np.uint32)
    entries[:at] = rows.astype(np.uint32) << ONE
    ends = [at]
    for source, first, last in sources:
        at += select_list(source, first, last, inside, entries[at:])
        ends.append(at)
    ranges = np.array(list(pairwise(ends[n_always - 1 :])), dtype=np.int64).reshape(-1, 2)
    return _lists(coded, entries, n_always, len(rows), columns, ranges)


def _lists(coded: CodedTable, entries: Array, n_always: int, n_rows: int, columns: Array, ranges: Array) -> Lists:
    """Lists of the columns behind n_always lists of n_rows each, then marks of coded columns, then an empty list."""
    coded_columns = np.flatnonzero(coded.is_coded)
    n_lists, n_marks = n_always + len(columns), len(coded_columns)
    of_column = np.full((coded.n_features, 3), n_lists + n_marks, dtype=np.int64)
    of_column[tuple(columns.T)] = n_always + np.arange(len(columns))
    of_column[coded_columns, 0] = n_lists + np.arange(n_marks)
    always = np.arange(n_always)[:, None] * n_rows + [0, n_rows]
    bounds = np.concatenate([always, ranges, np.tile([0, 1], (n_marks, 1)), [[0, 0]]]).astype(np.int64)
    return Lists(entries, bounds[:, 0].copy(), bounds[:, 1].copy(), n_always, n_lists, of_column)


def _target_orders(statistics: Statistics) -> list[NDArray[np.uint32]]:
    """For the absolute error, the rows in order of each target."""
    if not statistics.is_absolute:
        return []
    return [_target_order(statistics.wy[:, 1 + o]) for o in range(statistics.n_outputs)]


def _target_order(y: Array) -> NDArray[np.uint32]:
    column = sort_column(np.ascontiguousarray(y))
    entries = np.empty(len(y), dtype=np.uint32)
    write_entries(column.keys, column.rows, 0, len(y), entries)
    return entries


def _columns(coded: CodedTable, lists: Lists, monotonic: Array | None) -> NDArray[np.void]:
    columns = np.zeros(coded.n_features, dtype=COLUMN)
    columns["code_row"] = np.where(coded.is_coded, np.arange(coded.n_features), -1)
    columns["n_codes"] = coded.n_codes
    columns["is_category"] = coded.is_category
    columns["is_valued"] = np.where(coded.is_valued, np.where(coded.some_missing, SOME_MISSING, ALL_PRESENT), 0)
    columns["below"], columns["above"], columns["missing"] = lists.of_column.T
    columns["implicit"] = coded.implicit
    columns["monotonic"] = 0 if monotonic is None else monotonic
    return columns

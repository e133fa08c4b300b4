"""From a coded table and statistics to a Tree: sets the kernel up, and reads its nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.codes.coded import CodedTable
from sapwood.codes.sorted_column import sort_column
from sapwood.growth.criteria import Statistics
from sapwood.growth.leaves import leaf_values
from sapwood.growth.raw import RawTree
from sapwood.growth.rules import GrowthRules, critical_values
from sapwood.growth.scale import Scale, shifted
from sapwood.growth.thresholds import split_thresholds
from sapwood.kernels._jit import ONE
from sapwood.kernels.grow import grow
from sapwood.kernels.partition import select_list
from sapwood.kernels.records import COLUMN, NODE, OPEN, Levels, Medians, Vectors
from sapwood.kernels.search import ALL_PRESENT, SOME_MISSING
from sapwood.kernels.sorting import write_entries
from sapwood.tree import Tree

Array = NDArray[Any]
N_SLOTS = 64  # depth first, the smaller child first: at most log2(rows) nodes are open


@dataclass(frozen=True, eq=False)
class Lists:
    """All lists in one array: rows, orders of targets, the columns' lists, marks of coded columns, and an empty one."""

    entries: NDArray[np.uint32]
    lo: NDArray[np.int64]
    hi: NDArray[np.int64]
    n_always: int
    n_lists: int
    of_column: NDArray[np.int64]  # (features, 3): below, above, missing; the last list, which is empty, for none

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
    rows: NDArray[Any] | None = None,
    features: NDArray[Any] | None = None,
) -> Tree:
    """Grow one tree: of all rows, which uses the coded table up, or of a sample of `rows`, ascending.

    `features` are the columns that the tree may use.
    """
    scale = Scale.of(statistics)
    statistics, rules = scale.statistics(statistics), scale.rules(rules)
    values = coded.values if draw_thresholds else None
    lists = _arrange_lists(coded, statistics) if rows is None else _sample_lists(coded, statistics, rows)
    allowed = np.arange(coded.n_features) if features is None else np.unique(features)
    raw = _run_kernel(coded, statistics, rules.on(lists.n_rows), lists, allowed, rows, monotonic, values)
    members = lists.entries[: lists.n_rows].copy()
    if rows is None:  # the entries go before the tree is put together: they are the largest part
        coded = replace(coded, entries=members[:0])
    del lists
    return Tree(
        children_left=raw.left,
        children_right=raw.right,
        feature=raw.feature,
        threshold=split_thresholds(coded, raw),
        missing_go_to_left=raw.missing_left,
        value=leaf_values(raw, statistics, leaf, members, scale),
        impurity=shifted(raw.mass / raw.weight, scale.impurity),
        n_node_samples=raw.n_rows.astype(np.int64),
        weighted_n_node_samples=shifted(raw.weight, scale.weight),
        subset_start=raw.subset_start,
        subsets=raw.subsets,
        n_levels=n_levels,
        n_classes=statistics.n_classes or (1,) * statistics.n_outputs,
    )


def _run_kernel(
    coded: CodedTable,
    statistics: Statistics,
    rules: GrowthRules,
    lists: Lists,
    allowed: NDArray[np.int64],
    members: NDArray[Any] | None,
    monotonic: Array | None,
    values: tuple[Array, Array] | None,
) -> RawTree:
    n, n_sums, n_outputs = lists.n_rows, int(statistics.output_start[-1]), statistics.n_outputs
    groups, codes = n + 2, int(coded.n_codes.max(initial=0)) + 1
    n_words = codes // 64 + 1
    tally = statistics.tally(members)
    vectors = medians = levels = subsets = None
    if statistics.is_absolute:
        medians = _medians(coded.n_rows, n_outputs)
    elif not statistics.is_pair:
        vectors = Vectors(statistics.output_start, np.empty((groups, n_sums)), np.zeros((5, n_sums)))
    n_slots, capacity = max(N_SLOTS, rules.max_leaf_nodes + 4), rules.most_nodes(n)
    if coded.is_category.any():
        widest = int(coded.n_codes[coded.is_category].max())
        levels = _levels(widest, n_slots, n_sums, n, rules.max_exhaustive, bool(medians))
        subsets = np.empty(capacity // 2 * levels.subset.shape[1], dtype=np.uint32)
    lo, hi = np.zeros((2, n_slots, len(lists.lo)), dtype=np.int64)
    lo[0], hi[0] = lists.lo, lists.hi
    # Pages of these arrays that no node is written to cost nothing.
    nodes, sums = np.empty(capacity, dtype=NODE), np.empty((capacity, n_sums))
    middle = np.empty((capacity, n_outputs)) if medians else None
    bounds = np.empty((capacity, 2)) if monotonic is not None and monotonic.any() else None
    n_nodes, n_subset_words = grow(
        _columns(coded, lists, monotonic),
        coded.codes,
        statistics.wy,
        tally,
        rules.limits(statistics.criterion)[0],
        lists.entries,
        lists.n_always,
        lists.n_lists,
        np.zeros(n_slots, dtype=OPEN),
        lo,
        hi,
        nodes,
        sums,
        np.empty((8 if medians else 2, groups)),
        np.zeros((5, groups), dtype=np.int64),
        np.zeros((codes, 2 + n_sums)) if tally is None else None,
        None if tally is None else np.zeros(codes * max(2, n_sums), dtype=np.uint64),
        np.zeros(n_words, dtype=np.uint64),
        np.zeros(n_words // 64 + 1, dtype=np.uint64),
        np.empty((n if statistics.is_pair and coded.is_coded.any() else 0, 2)) if tally is None else None,
        None if tally is None else np.empty(n, dtype=np.uint32),
        np.empty(0 if values is None else n, dtype=np.float64 if values is None else values[0].dtype),
        np.empty(n + 1, dtype=np.uint32),
        np.zeros(coded.n_rows, dtype=np.uint8),
        allowed.astype(np.int64),
        np.zeros(coded.n_features, dtype=np.int64),
        np.zeros(n_slots, dtype=np.int64),
        np.zeros(n_slots, dtype=np.int64),
        np.zeros(2, dtype=np.int64),
        np.zeros(2, dtype=np.bool_),
        vectors,
        medians,
        middle,
        values,
        levels,
        subsets,
        critical_values(rules.significance, statistics.n_classes, n_outputs, float(statistics.wy[:, 0].sum())),
        bounds,
    )
    pool = np.empty(0, dtype=np.uint32) if subsets is None else subsets[:n_subset_words].copy()
    return RawTree.read(nodes, n_nodes, sums, middle, bounds, pool)


def _levels(widest: int, n_slots: int, n_sums: int, n_rows: int, max_exhaustive: int, absolute: bool) -> Levels:
    return Levels(
        subset=np.zeros((n_slots, max(1, (widest + 31) // 32)), dtype=np.uint32),
        w=np.zeros(widest + 1),
        s=np.zeros(widest + 1),
        sums=np.zeros((widest + 1, n_sums)),
        key=np.zeros(widest + 1),
        order=np.zeros(widest + 1, dtype=np.int64),
        table=np.empty((1 << (max_exhaustive - 1), 2 + n_sums)),
        left=np.zeros(widest + 1, dtype=np.int64),
        part=np.empty(n_rows if absolute else 0, dtype=np.uint32),
    )


def _medians(n_rows: int, n_outputs: int) -> Medians:
    return Medians(
        rank_of=np.empty((n_outputs, n_rows), dtype=np.int64),
        ranked=np.empty((n_outputs, n_rows)),
        rows=np.empty((2, n_rows), dtype=np.uint32),
    )


def _arrange_lists(coded: CodedTable, statistics: Statistics) -> Lists:
    """Rows and target orders fill the stretches reserved in front of the columns, so that nothing is copied."""
    n = coded.n_rows
    always = [np.arange(n, dtype=np.uint32) << ONE, *_target_orders(statistics)]
    coded.entries[: len(always) * n] = np.concatenate(always)
    columns = coded.lists
    return _lists(coded, coded.entries, len(always), n, columns, coded.ranges[tuple(columns.T)])


def _sample_lists(coded: CodedTable, statistics: Statistics, rows: NDArray[Any]) -> Lists:
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

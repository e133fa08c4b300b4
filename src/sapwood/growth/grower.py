"""From a coded table and statistics to a Tree: sets the kernel up, and reads its nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
from sapwood.kernels.grow import grow
from sapwood.kernels.nodes import preorder
from sapwood.kernels.records import COLUMN, NODE, OPEN, Levels, Medians, Vectors
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


def grow_tree(
    coded: CodedTable,
    statistics: Statistics,
    rules: GrowthRules,
    *,
    n_levels: NDArray[np.int32],
    monotonic: NDArray[np.int8] | None = None,
    leaf: str = "auto",
    values: Array | None = None,
) -> Tree:
    """Grow one tree and use up the coded table. `values` (features x rows) are for random thresholds only."""
    scale = Scale.of(statistics)
    statistics, rules = scale.statistics(statistics), scale.rules(rules)
    lists = _arrange_lists(coded, statistics)
    raw = _run_kernel(coded, statistics, rules, lists, monotonic, values)
    rows = lists.entries[: coded.n_rows].copy()
    coded = replace(
        coded, entries=rows[:0]
    )  # the entries go before the tree is put together: they are the largest part
    del lists
    return Tree(
        children_left=raw.links("left"),
        children_right=raw.links("right"),
        feature=raw.field("feature").astype(np.int32),
        threshold=split_thresholds(coded, raw),
        missing_go_to_left=raw.field("missing_left").astype(np.bool_),
        value=leaf_values(raw, statistics, leaf, rows, scale),
        impurity=shifted(raw.field("mass") / raw.field("weight"), scale.impurity),
        n_node_samples=raw.field("n_rows").astype(np.int64),
        weighted_n_node_samples=shifted(raw.field("weight"), scale.weight),
        subset_start=raw.field("subset_start").astype(np.int32),
        subsets=raw.subsets,
        n_levels=n_levels,
        n_classes=statistics.n_classes or (1,) * statistics.n_outputs,
    )


def _run_kernel(
    coded: CodedTable,
    statistics: Statistics,
    rules: GrowthRules,
    lists: Lists,
    monotonic: Array | None,
    values: Array | None,
) -> RawTree:
    n, n_sums, n_outputs = coded.n_rows, int(statistics.output_start[-1]), statistics.n_outputs
    groups, codes = n + 2, int(coded.n_codes.max(initial=0)) + 1
    vectors = medians = levels = subsets = None
    if statistics.is_absolute:
        medians = _medians(n, n_outputs)
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
    n_nodes, n_words = grow(
        _columns(coded, lists, monotonic),
        coded.codes,
        statistics.wy,
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
        np.zeros((codes, 2 + n_sums)),
        np.zeros(codes // 64 + 1, dtype=np.uint64),
        np.empty(n + 1, dtype=np.uint32),
        np.zeros(n, dtype=np.uint8),
        np.zeros(coded.n_features, dtype=np.int64),
        np.zeros(n_slots, dtype=np.int64),
        np.zeros(n_slots, dtype=np.int64),
        np.zeros(2, dtype=np.int64),
        np.zeros(2, dtype=np.bool_),
        vectors,
        medians,
        middle,
        None if values is None else _values_by_row_and_code(coded, values),
        levels,
        subsets,
        critical_values(rules.significance, statistics.n_classes, n_outputs, float(statistics.wy[:, 0].sum())),
        bounds,
    )
    pool = np.empty(0, dtype=np.uint32) if subsets is None else subsets[:n_words].copy()
    order = preorder(nodes["left"], nodes["right"], n_nodes)

    def ordered(by_node: Array | None) -> Array | None:
        return None if by_node is None else by_node[order]

    return RawTree(nodes, sums[order], ordered(middle), ordered(bounds), order, pool)


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
    n_rows, n_features = coded.n_rows, coded.n_features
    always = [np.arange(n_rows, dtype=np.uint32) << np.uint32(1)]
    if statistics.is_absolute:
        always += [_target_order(statistics.wy[:, 1 + o]) for o in range(statistics.n_outputs)]
    of_column = np.full((n_features, 3), -1, dtype=np.int64)
    n_always = len(always)
    ranges = [(o * n_rows, (o + 1) * n_rows) for o in range(n_always)]
    for j, k in np.argwhere((coded.ranges[:, :, 1] > coded.ranges[:, :, 0]) & ~coded.is_coded[:, None]):
        of_column[j, k] = len(ranges)
        ranges.append(tuple(coded.ranges[j, k]))
    n_lists = len(ranges)
    for j in np.flatnonzero(coded.is_coded):
        of_column[j, 0] = len(ranges)
        ranges.append((0, 1))
    of_column[of_column < 0] = len(ranges)
    ranges.append((0, 0))
    bounds = np.array(ranges, dtype=np.int64)
    coded.entries[: n_always * n_rows] = np.concatenate(always)
    return Lists(coded.entries, bounds[:, 0].copy(), bounds[:, 1].copy(), n_always, n_lists, of_column)


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
    columns["below"], columns["above"], columns["missing"] = lists.of_column.T
    columns["implicit"] = coded.implicit
    columns["monotonic"] = 0 if monotonic is None else monotonic
    return columns


def _values_by_row_and_code(coded: CodedTable, values: Array) -> tuple[Array, Array]:
    """Values for random thresholds: by row, the implicit value last; and by code."""
    by_code = np.zeros((coded.n_features, int(coded.n_codes.max(initial=0)) + 1))
    for j in np.flatnonzero(coded.is_coded & ~coded.is_category):
        by_code[j, : len(coded.high[j])] = coded.high[j]
    return np.column_stack([values, coded.implicit_value]), by_code

"""From a coded table and statistics to a Tree: sets the kernel up, and reads its nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

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
from sapwood.kernels.drawn_growth import grow_drawn
from sapwood.kernels.grow import grow
from sapwood.kernels.partition import select_list
from sapwood.kernels.sorting import write_entries
from sapwood.kernels.statistic import Medians, Pairs, PairTallies, Vectors, VectorTallies
from sapwood.kernels.tree_frame import ALL_PRESENT, COLUMN, FRAME, SOME_MISSING, Values
from sapwood.tree import Tree

N_SLOTS = 64  # depth first, the smaller child first: at most log2(rows) nodes are open


@dataclass(frozen=True, eq=False)
class Lists:
    """All lists in one array: rows, orders of targets, the columns' lists, marks of coded columns, and an empty one."""

    entries: NDArray[np.uint32]
    ranges: Ints  # (lists, 2): where each begins and ends
    n_always: int
    n_lists: int
    of_column: Ints  # (features, 3): below, above, missing; the last list, which is empty, for none

    @property
    def n_rows(self) -> int:
        """Rows of the tree."""
        return int(self.ranges[0, 1])


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
    if rows is None:  # frees the entries, the largest part, before the tree is built
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
    tally, is_bounded = statistics.tally(members), monotonic is not None and bool(monotonic.any())
    kind = _kind(statistics, tally)
    sizes, columns = _sizes(coded, statistics, rules, lists, kind), _columns(coded, lists, monotonic)
    cum_sums = np.empty((sizes["n_groups"], statistics.n_sums))
    given = {
        "columns": columns,
        "allowed": allowed.astype(np.int64),
        "wy": np.ascontiguousarray(statistics.wy),
        "tally": tally,
        "entries": lists.entries,
        "output_start": statistics.output_start,
        "cum_sums": cum_sums,
        "n_always": lists.n_always,
        "n_lists": lists.n_lists,
        "is_bounded": is_bounded,
        "tosses_levels": draws and kind is not Medians,
        **({"cum_sum": cum_sums[:, 0]} if statistics.is_pair else {}),
        **rules.limits,
        "criterion": statistics.criterion,
    }
    frame, arrays = FRAME.allocate(given, **sizes, n_bounded=sizes["n_nodes"] if is_bounded else 0)
    arrays["lo"][0], arrays["hi"][0] = lists.ranges.T
    values = _values(coded, lists.n_rows) if draws else None
    weight = float(statistics.wy[:, 0].sum())
    critical = critical_values(rules.significance, statistics.n_classes, statistics.n_outputs, weight)
    if kind is PairTallies and not is_bounded and values is not None and grows_by_values(rules, columns[allowed]):
        n_nodes, n_words = grow_drawn(frame[0], values), 0
    else:
        n_nodes, n_words = grow(kind(frame[0]), coded.codes, values, arrays.get("best_subset"), critical)
    kept = ("nodes", "sums", "medians", "bounds", "subsets")
    grown: dict[str, Array] = {name: arrays[name] for name in kept if name in arrays}
    del arrays, given, cum_sums  # scratch, before nodes are copied
    return GrownNodes.read(grown, n_nodes, n_words)


def grows_by_values(rules: GrowthRules, columns: NDArray[np.void]) -> bool:
    """Whether a tree of drawn thresholds needs nothing but values: none are missing, and no split waits for another."""
    return bool((columns["is_valued"] == ALL_PRESENT).all()) and not rules.max_leaves and rules.significance is None


def _kind(statistics: Statistics, tally: Array | None) -> type:
    """The type of the statistic."""
    if statistics.is_absolute:
        return Medians
    if statistics.is_pair:
        return Pairs if tally is None else PairTallies
    return Vectors if tally is None else VectorTallies


def _sizes(coded: CodedTable, statistics: Statistics, rules: GrowthRules, lists: Lists, kind: type) -> dict[str, int]:
    """Sizes of the arrays that kernels need: 0 for those that this tree does not use."""
    n_rows, n_nodes, n_sums = lists.n_rows, rules.most_nodes(lists.n_rows), statistics.n_sums
    n_codes, by_tally = int(coded.n_codes.max(initial=0)) + 1, kind in {PairTallies, VectorTallies}
    widest = int(coded.n_codes[coded.is_category].max(initial=-1))
    n_subset = (widest + 31) // 32
    return {
        "n_columns": coded.n_features,
        "n_rows": coded.n_rows,
        "n_ranges": len(lists.ranges),
        "n_slots": max(N_SLOTS, rules.max_leaves + 4),
        "n_nodes": n_nodes,
        "n_sums": n_sums,
        "n_vector": n_sums if kind in {Vectors, VectorTallies} else 0,
        "n_moved": n_rows + 1,
        "n_branches": n_rows + 1,
        "n_groups": max(n_rows + 2, 2**rules.max_exhaustive if n_subset > 0 else 0),  # subsets are groups too
        "n_local": n_rows if kind is Pairs and coded.is_coded.any() else 0,
        "n_local_tally": n_rows if by_tally else 0,
        "n_codes": n_codes,
        "n_classes": max(2, n_sums) if by_tally else 0,
        "n_bitmap": n_codes // 64 + 1,
        "n_summary": (n_codes // 64 + 1) // 64 + 1,
        "n_outputs": statistics.n_outputs if kind is Medians else 0,
        "n_ranks": n_rows + 2 if kind is Medians else 0,
        "n_levels": widest + 1,
        "n_subset": n_subset,
        "n_words": n_nodes // 2 * n_subset,
        "n_fields": 0 if by_tally else 2 + n_sums,
    }


def _values(coded: CodedTable, n_rows: int) -> Values:
    assert coded.values is not None
    of_row, of_code = coded.values
    return Values(of_row, of_code, np.empty((2, n_rows), dtype=of_row.dtype))


def _arrange_lists(coded: CodedTable, statistics: Statistics) -> Lists:
    """Rows and target orders fill the stretches reserved in front of the columns, so that nothing is copied."""
    n, columns = coded.n_rows, coded.lists
    always = [np.arange(n, dtype=np.uint32) << ONE, *_target_orders(statistics)]
    coded.entries[: len(always) * n] = np.concatenate(always)
    return _lists(coded, coded.entries, len(always), n, columns, coded.ranges[tuple(columns.T)])


def _sample_lists(coded: CodedTable, statistics: Statistics, rows: Array) -> Lists:
    """Lists of some rows, copied from those of all."""
    inside = np.zeros(coded.n_rows, dtype=np.bool_)
    inside[rows] = True
    sources = [(order, 0, len(order)) for order in _target_orders(statistics)]
    n_always, columns, ends = 1 + len(sources), coded.lists, [len(rows)]
    sources += [(coded.entries, *coded.ranges[j, k]) for j, k in columns]
    entries = np.empty(ends[0] + sum(last - first for _, first, last in sources) + 1, dtype=np.uint32)
    entries[: ends[0]] = rows.astype(np.uint32) << ONE
    for source, first, last in sources:
        ends.append(ends[-1] + select_list(source, first, last, inside, entries[ends[-1] :]))
    ranges = np.array(list(pairwise(ends[n_always - 1 :])), dtype=np.int64).reshape(-1, 2)
    return _lists(coded, entries, n_always, len(rows), columns, ranges)


def _lists(coded: CodedTable, entries: Array, n_always: int, n_rows: int, columns: Array, of_columns: Array) -> Lists:
    """Lists of the columns behind n_always lists of n_rows each, then marks of coded columns, then an empty list."""
    coded_columns = np.flatnonzero(coded.is_coded)
    n_lists, n_marks = n_always + len(columns), len(coded_columns)
    of_column = np.full((coded.n_features, 3), n_lists + n_marks, dtype=np.int64)
    of_column[tuple(columns.T)] = n_always + np.arange(len(columns))
    of_column[coded_columns, 0] = n_lists + np.arange(n_marks)
    always = np.arange(n_always)[:, None] * n_rows + [0, n_rows]
    ranges = np.concatenate([always, of_columns, np.tile([0, 1], (n_marks, 1)), [[0, 0]]]).astype(np.int64)
    return Lists(entries, ranges, n_always, n_lists, of_column)


def _target_orders(statistics: Statistics) -> list[NDArray[np.uint32]]:
    """For the absolute error, the rows in order of each target."""
    orders = []
    for o in range(statistics.n_outputs if statistics.is_absolute else 0):
        column = sort_column(np.ascontiguousarray(statistics.wy[:, 1 + o]))
        orders.append(np.empty(len(statistics.wy), dtype=np.uint32))
        write_entries(column.keys, column.rows, 0, len(column.rows), orders[o])
    return orders


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

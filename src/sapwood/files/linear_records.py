"""Linear leaves in files: how many lines each leaf has, and the lines of all trees as parallel arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Mask
from sapwood.files.values import Json, Reader, Writer, expect
from sapwood.kernels.linear_leaves import LINE, MOST_COLUMNS
from sapwood.linear_leaves import LinearLeaves, empty_lines
from sapwood.packed_tree import shortest
from sapwood.tree import Tree, lines_of_leaves

COUNTS = "counts"
NUMBERS = ("slope", "centre", "low", "high")


def write_lines(trees: Sequence[Tree], writer: Writer, where: str) -> Json:
    """The names of the arrays, or None if no leaf has a line."""
    joined = lines_of_leaves(trees)
    if not len(joined.lines):
        return None
    parts = {COUNTS: joined.counts.astype(np.uint8), **{name: joined.lines[name] for name in LINE.names or ()}}
    return {name: writer.keep(shortest(array), f"{where}.{name}") for name, array in parts.items()}


def read_lines(found: Json, trees: Sequence[Tree], reader: Reader, where: str) -> list[Tree]:
    """The trees with their lines, checked."""
    expect(isinstance(found, dict) and set(found) == {COUNTS, *(LINE.names or ())}, where, "does not describe lines")
    parts = {name: reader.take(found[name], f"{where}.{name}") for name in found}
    is_leaf = np.concatenate([tree.is_leaf for tree in trees])
    counts, columns = parts[COUNTS], parts["column"]
    fits = counts.dtype == np.uint8 and counts.shape == (int(is_leaf.sum()),)
    expect(fits and int(counts.max()) <= MOST_COLUMNS, f"{where}.{COUNTS}", "does not fit the leaves")
    n_lines = int(counts.sum(dtype=np.int64))
    for name, array in parts.items():
        expect(name == COUNTS or array.shape == (n_lines,), f"{where}.{name}", f"is not for {n_lines} lines")
    _check_columns(columns, trees[0].n_levels, f"{where}.column")
    for name in NUMBERS:
        fits = parts[name].dtype.kind in "fu" and bool(np.isfinite(parts[name]).all())
        expect(fits, f"{where}.{name}", "is not made of finite numbers")
    lines = empty_lines(n_lines)
    for name in LINE.names or ():
        lines[name] = parts[name]
    in_order = (lines["low"] <= lines["centre"]) & (lines["centre"] <= lines["high"])
    expect(bool(in_order.all()), f"{where}.centre", "is not from low to high")
    return _with_lines(trees, is_leaf, counts, lines, where)


def _check_columns(columns: Array, n_levels: NDArray[np.int32], where: str) -> None:
    fits = columns.dtype.kind == "u" and bool((columns < len(n_levels)).all())
    expect(fits, where, f"names a column beyond {len(n_levels)}")
    expect(not n_levels[columns].any(), where, "names a column of categories")


def _with_lines(trees: Sequence[Tree], is_leaf: Mask, counts: Array, lines: Array, where: str) -> list[Tree]:
    of_node = np.zeros(len(is_leaf), dtype=np.int64)
    of_node[is_leaf] = counts
    made, node, line = [], 0, 0
    for tree in trees:
        own = of_node[node : node + tree.node_count]
        part = lines[line : line + int(own.sum())]
        node, line = node + tree.node_count, line + len(part)
        is_split = np.zeros(tree.n_features, dtype=np.bool_)
        is_split[tree.feature[~tree.is_leaf]] = True
        expect(bool(is_split[part["column"]].all()), f"{where}.column", "names a column that its tree does not split")
        made.append(replace(tree, linear=LinearLeaves.of(own, part)) if len(part) else tree)
    return made

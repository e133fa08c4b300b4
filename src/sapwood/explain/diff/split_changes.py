"""Thresholds and sets of levels that only one of two models has, column by column."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sapwood.arrays import Floats
from sapwood.counted import counted
from sapwood.explain.column_values import plain, to_native
from sapwood.explain.diff.column_pairs import ColumnPairs, Pair
from sapwood.one_line import one_line
from sapwood.result import Part, Result
from sapwood.show.value import levels_text, threshold_text
from sapwood.table.levels import sort_levels
from sapwood.table.schema import ColumnSchema
from sapwood.tree import Tree
from sapwood.tree_sum import TreeSum

Split = float | tuple[object, ...]
"""A threshold, or the levels that go left."""

SHOWN = 3
"""Splits that are listed in print."""


@dataclass(frozen=True, eq=False, repr=False)
class SplitChange(Result):
    """How two models split a column: number of splits, and the splits that only one of them has.

    A split is a number, a date, a duration, or a tuple of the levels that go left. Those in `turned` are in both
    models, but missing values go to the other side.
    """

    feature: str
    splits_before: int
    splits_after: int
    came: tuple[Any, ...]
    went: tuple[Any, ...]
    turned: tuple[Any, ...]
    description: str

    def _parts(self) -> Iterator[Part]:
        yield self.description

    @property
    def is_change(self) -> bool:
        """Whether anything is different."""
        return self.splits_before != self.splits_after or bool(self.came or self.went or self.turned)

    @property
    def n_new(self) -> int:
        """How many splits came or went."""
        return len(self.came) + len(self.went)


@dataclass(eq=False)
class _Splits:
    """Splits of a model on one column, and where missing values go at each."""

    count: int = 0
    missing_left: dict[Split, set[bool]] = field(default_factory=lambda: defaultdict(set))

    def add(self, splits: Iterable[Split], missing_left: Iterable[bool]) -> None:
        for split, left in zip(splits, missing_left, strict=True):
            self.count += 1
            self.missing_left[split].add(left)


def split_changes(tree_sums: Sequence[TreeSum], pairs: ColumnPairs) -> tuple[SplitChange, ...]:
    """Splits of every column that one of the models splits, those of most changes first."""
    before, after = (_splits_of(tree_sum, pairs, side) for side, tree_sum in enumerate(tree_sums))
    used = sorted(before.keys() | after.keys())
    found = [_change(pairs.names[k], pairs.pairs[k], before.get(k, _Splits()), after.get(k, _Splits())) for k in used]
    return tuple(sorted(found, key=lambda change: -change.n_new))


def _splits_of(tree_sum: TreeSum, pairs: ColumnPairs, side: int) -> dict[int, _Splits]:
    """Splits of a model by the number of the pair of the column."""
    found: dict[int, _Splits] = defaultdict(_Splits)
    for tree in (term.tree for term in tree_sum):
        for j in np.unique(tree.feature[~tree.is_leaf]).tolist():
            k = int(pairs.places[side][j])
            column = pairs.pairs[k][side]
            assert column is not None
            nodes = np.flatnonzero(tree.feature == j)
            found[k].add(_read(tree, nodes.tolist(), column), tree.missing_go_to_left[nodes].tolist())
    return found


def _read(tree: Tree, nodes: list[int], column: ColumnSchema) -> list[Split]:
    if column.kind != "category":
        cuts = tree.threshold[nodes]
        if column.kind == "boolean":  # thresholds drawn at random all separate false and true
            cuts = np.where((cuts >= 0.0) & (cuts < 1.0), 0.5, cuts)
        return list(cuts.tolist())
    return [sort_levels(column.levels[code] for code in tree.left_levels(node)) for node in nodes]


def _change(name: str, pair: Pair, before: _Splits, after: _Splits) -> SplitChange:
    old, new = pair[0] or pair[1], pair[1] or pair[0]
    assert old is not None
    assert new is not None
    both = before.missing_left.keys() & after.missing_left.keys()
    turns = both if old.has_missing or new.has_missing else set()
    turned = (split for split in turns if before.missing_left[split] != after.missing_left[split])
    listed = {
        "came": (new, _sorted(after.missing_left.keys() - both)),
        "went": (old, _sorted(before.missing_left.keys() - both)),
        "missing values change sides at": (new, _sorted(turned)),
    }
    before_it = f"{before.count} → " if before.count != after.count else ""
    text = [f"{one_line(name)}: {before_it}{counted(after.count, 'split')}"]
    cuts = np.array([split for _, splits in listed.values() for split in splits if isinstance(split, float)])
    text += [f"{verb} {_listed(column, splits, cuts)}" for verb, (column, splits) in listed.items() if splits]
    native = [tuple(_native(column, split) for split in splits) for column, splits in listed.values()]
    return SplitChange(name, before.count, after.count, native[0], native[1], native[2], "; ".join(text))


def _sorted(splits: Iterable[Split]) -> list[Split]:
    """Thresholds ascending, then sets by size and names."""

    def place(split: Split) -> tuple[int, float, str]:
        return (1, len(split), repr(split)) if isinstance(split, tuple) else (0, split, "")

    return sorted(splits, key=place)


def _listed(column: ColumnSchema, splits: list[Split], cuts: Floats) -> str:
    rest = len(splits) - SHOWN
    text = ", ".join(_text(column, split, cuts) for split in splits[:SHOWN])
    return f"{text}, … +{rest} more" if rest > 0 else text


def _text(column: ColumnSchema, split: Split, cuts: Floats) -> str:
    """A split as text, with enough digits to distinguish it from the other cuts."""
    if isinstance(split, tuple):
        return levels_text(split)
    if split == math.inf:
        return "missing or not"
    if column.kind == "boolean":
        return "false or true"
    gaps = np.abs(cuts[cuts != split] - split)
    return threshold_text(column, split, 2, float(gaps.min(initial=math.inf)), trim=True)


def _native(column: ColumnSchema, split: Split) -> object:
    if isinstance(split, tuple) or column.kind not in ("date", "duration") or not math.isfinite(split):
        return split
    return plain(to_native(np.array([split]), column)[0])

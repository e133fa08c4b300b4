"""Leaves that rows can reach whose columns are known up to sets of candidates, and the largest values of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Floats, Ints, Mask
from sapwood.explain.counterfactual.candidates import Candidates
from sapwood.tree import Tree

Slice = tuple[int, int]  # first and last candidate of numbers
Choice = Slice | Mask  # candidates that a column may be in: neighbours, or any


@dataclass(frozen=True, eq=False)
class ReachableLeaves:
    """The leaves of all trees that the row can reach by changes of the free columns, and the candidates they admit."""

    starts: NDArray[np.intp]  # of each tree's leaves
    first: Ints  # (leaves, ordered columns)
    last: Ints
    admits: tuple[Mask, ...]  # (leaves, candidates) of each column that is not ordered
    gains: Floats  # (leaves, margins)

    def most(self, choices: Sequence[Choice]) -> tuple[Floats, Ints]:
        """The largest margins of each tree (trees, margins), and for each column how many leaves its choice divides."""
        slices = [choice for choice in choices if isinstance(choice, tuple)]
        masks = [choice for choice in choices if not isinstance(choice, tuple)]
        low, high = (np.array([s[end] for s in slices], dtype=np.int64) for end in (0, 1))
        inside = np.asarray(((self.first <= high) & (self.last >= low)).all(axis=1))
        for admits, mask in zip(self.admits, masks, strict=True):
            inside &= admits[:, mask].any(axis=1)
        per_tree = np.maximum.reduceat(np.where(inside[:, None], self.gains, -np.inf), self.starts, axis=0)
        cut = np.asarray((self.first > low) | (self.last < high))[inside]
        divided = iter(cut.sum(axis=0).tolist())
        other = (int((~a[inside][:, m].all(axis=1)).sum()) for a, m in zip(self.admits, masks, strict=True))
        return per_tree, np.array([next(divided) if isinstance(c, tuple) else next(other) for c in choices])


def reachable_leaves(
    trees: Sequence[Tree], gains: Sequence[Floats], free: Sequence[Candidates], codes: Floats
) -> ReachableLeaves:
    """Follow splits of free columns to both sides, and splits of other columns to the side of the row."""
    parts = [_leaves(tree, free, codes) for tree in trees]
    leaves = [part[0] for part in parts]
    starts = np.concatenate([[0], np.cumsum([len(own) for own in leaves])[:-1]])
    masks = zip(*(part[3] for part in parts), strict=True)
    return ReachableLeaves(
        starts,
        np.concatenate([part[1] for part in parts]),
        np.concatenate([part[2] for part in parts]),
        tuple(np.concatenate(own) for own in masks),
        np.concatenate([own[at] for own, at in zip(gains, leaves, strict=True)]),
    )


Parts = tuple[NDArray[np.intp], Ints, Ints, list[Mask]]


def _leaves(tree: Tree, free: Sequence[Candidates], codes: Floats) -> Parts:
    """Leaves that can be reached, and what they admit; parents before children."""
    n, ordered = tree.node_count, [candidates for candidates in free if candidates.ordered]
    others = [candidates for candidates in free if not candidates.ordered]
    place = {candidates.number: k for own in (ordered, others) for k, candidates in enumerate(own)}
    is_ordered = {candidates.number: candidates.ordered for candidates in free}
    first, last = np.zeros((n, len(ordered)), np.int64), np.zeros((n, len(ordered)), np.int64)
    last[0] = [len(candidates) - 1 for candidates in ordered]
    admits = [np.ones((n, len(candidates)), dtype=np.bool_) for candidates in others]
    alive = np.ones(n, dtype=np.bool_)
    cut = _cut_candidates(tree, free)
    goes_left = _goes_left(tree, codes)
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        sides, j = [tree.children_left[node], tree.children_right[node]], int(tree.feature[node])
        alive[sides] = alive[node]
        if not alive[node]:
            continue
        first[sides], last[sides] = first[node], last[node]
        for mask in admits:
            mask[sides] = mask[node]
        if j not in place:
            alive[sides[0]], alive[sides[1]] = goes_left[node], not goes_left[node]
        elif is_ordered[j]:
            last[sides[0], place[j]] = min(last[node, place[j]], cut[node])
            first[sides[1], place[j]] = max(first[node, place[j]], cut[node] + 1)
            alive[sides] = (first[sides, place[j]] <= last[sides, place[j]]).tolist()
        else:
            left = _left_candidates(tree, node, others[place[j]], int(cut[node]))
            own = admits[place[j]]
            own[sides[0]] &= left
            own[sides[1]] &= ~left
            alive[sides] = own[sides].any(axis=1)
    leaves = np.flatnonzero(tree.is_leaf & alive)
    return leaves, first[leaves], last[leaves], [mask[leaves] for mask in admits]


def _cut_candidates(tree: Tree, free: Sequence[Candidates]) -> Ints:
    """For each split of numbers in a free column, the last candidate that goes left."""
    cut = np.zeros(tree.node_count, dtype=np.int64)
    for candidates in free:
        here = (tree.feature == candidates.number) & (tree.subset_start < 0)
        cut[here] = np.searchsorted(candidates.cuts, tree.threshold[here])
    return cut


def _goes_left(tree: Tree, codes: Floats) -> Mask:
    """For each split whether the row itself goes left there."""
    inner = np.flatnonzero(~tree.is_leaf)
    left = np.zeros(tree.node_count, dtype=np.bool_)
    x = codes[tree.feature[inner]]
    left[inner] = (x <= tree.threshold[inner]) | (np.isnan(x) & tree.missing_go_to_left[inner])
    for node in inner[tree.subset_start[inner] >= 0].tolist():
        code = codes[tree.feature[node]]
        known = 0 <= code < tree.n_levels[tree.feature[node]]
        left[node] = int(code) in tree.left_levels(node) if known else tree.missing_go_to_left[node]
    return left


def _left_candidates(tree: Tree, node: int, candidates: Candidates, cut: int) -> Mask:
    """Candidates that go left; the one after all levels and numbers is that of a missing value."""
    left = np.zeros(len(candidates), dtype=np.bool_)
    if tree.is_subset_split(node):
        left[tree.left_levels(node)] = True
        n_known = len(candidates.column.levels)
    else:
        n_known = len(candidates) - 1
        left[: cut + 1] = True
    left[n_known:] = tree.missing_go_to_left[node]
    return left

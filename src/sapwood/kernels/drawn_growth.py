"""Growth of a whole tree of drawn thresholds in one call: two classes, whole-number weights, no missing values.

open the root
while branches are open:
    take the last one opened and make its node, so that nodes are in preorder
    if it may be split: draw columns and their thresholds, and keep the best split
    move its rows, and open the right child, then the left one

The tree is that of `grow.py`, the plain twin, in two thirds of its time. Sums are exact, so those of the children
follow from the split; there are no lists, marks or bounds to pass on, and no heap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sapwood.kernels._jit import ONE, inner_kernel, lean_kernel, part
from sapwood.kernels.criteria import pair_decrease, pair_mass
from sapwood.kernels.drawn import drawn_threshold, gather_values
from sapwood.kernels.draws import mix
from sapwood.kernels.grow import is_splittable, new_leaf, set_least_gain
from sapwood.kernels.levels import is_heavier
from sapwood.kernels.node_totals import totals_of
from sapwood.kernels.pair_sums import mass_of_pair
from sapwood.kernels.rules import are_large_enough, is_worth_it
from sapwood.kernels.search import visit
from sapwood.kernels.split_order import least_decrease, rounded
from sapwood.kernels.tallies import fill_tallies, finish_totals, sum_tallies_up_to


class Drawn(NamedTuple):
    """A split, the sums of its left child, and which of two arrays has the values of its column."""

    feature: int
    threshold: float
    decrease: float
    n_left: int
    weight_left: float
    sum_left: float
    place: int


NO_SPLIT = Drawn(-1, np.nan, -np.inf, 0, 0.0, 0.0, 1)


@part
def open_branch(frame, at, first, n_rows, weight, total, depth, parent, key):
    """Write a branch; OUT branches."""
    branch = frame.branches[at]
    branch.first, branch.n_rows, branch.weight, branch.sum = first, n_rows, weight, total
    branch.depth, branch.parent, branch.key = depth, parent, key


@inner_kernel
def open_root(frame):
    """Open the branch of all rows; OUT frame."""
    weight, total, tally, entries = 0.0, 0.0, frame.tally, frame.entries
    for i in range(frame.hi[0, 0]):
        own = tally[entries[i] >> ONE]
        weight += np.float64(own >> np.uint32(8))
        total += np.float64(own >> np.uint32(8)) * np.float64(own & ONE)
    open_branch(frame, 0, 0, frame.hi[0, 0], weight, total, 0, -1, mix(frame.seed, np.int64(0)))
    frame.n_made = 0


@part
def take_branch(frame, size):
    """Make the node of the last of `size` branches, which slot 0 then stands for; returns whether it may be split."""
    branch, slot, node = frame.branches[size - 1], frame.slots[0], frame.n_made
    own = frame.nodes[node]
    new_leaf(own)
    own.n_rows, own.first_row, own.weight = branch.n_rows, branch.first, branch.weight
    frame.sums[node, 0] = branch.sum
    if branch.parent >= 0:
        frame.nodes[branch.parent].right = node
    slot.node, slot.depth, slot.key = node, branch.depth, branch.key
    frame.lo[0, 0], frame.hi[0, 0] = branch.first, branch.first + branch.n_rows
    frame.n_made += 1
    pure = finish_totals(frame, node, mass_of_pair)
    return is_splittable(frame, node, branch.depth, pure)


@part
def search_drawn(frame, values, totals):
    """The best of the drawn splits of the node in slot 0; OUT values.gathered: those of its column, at its place."""
    key, place, found, best = frame.slots[0].key, np.int64(0), NO_SPLIT, least_decrease(totals)
    mass = pair_mass(frame.criterion, totals.weight, totals.sum)
    fill_tallies(frame, 0)
    for i in range(len(frame.allowed)):
        if i >= frame.max_features and found.feature >= 0:
            break
        f, gathered = visit(frame, i, key), values.gathered[place]
        low, high = gather_values(frame, values.of_row[f], gathered, 0)
        if not low < high:
            continue
        threshold = drawn_threshold(low, high, key, f)
        n, w, s = sum_tallies_up_to(gathered, totals.rows, frame.local_tally, threshold)
        decrease = pair_decrease(frame.criterion, mass, w, s, totals.weight, totals.sum)
        if decrease > best and rounded(totals, decrease) > best and are_large_enough(frame, totals, n, w):
            best, found = rounded(totals, decrease), Drawn(f, threshold, decrease, n, w, s, place)
            place = 1 - place
        if best >= rounded(totals, totals.mass):
            break  # both children are pure: nothing can be better
    return found


@inner_kernel
def move_gathered(frame, gathered, threshold):
    """Move the rows of the node in slot 0, whose values were gathered: those up to the threshold first; OUT entries."""
    entries, moved, first = frame.entries, frame.moved, np.uint64(frame.lo[0, 0])
    left, right = first, np.uint64(0)
    for i in range(first, np.uint64(frame.hi[0, 0])):
        entry, own = entries[i], gathered[i - first] <= threshold
        entries[left] = entry
        moved[right] = entry
        left += np.uint64(own)
        right += np.uint64(not own)
    for i in range(right):
        entries[left + i] = moved[i]


@part
def split_branch(frame, size, totals, found):
    """Turn the node in slot 0 into an inner node, and open its children in place of its branch; OUT frame."""
    slot, first, n, w, s = frame.slots[0], frame.lo[0, 0], found.n_left, found.weight_left, found.sum_left
    own, depth = frame.nodes[slot.node], slot.depth + 1
    own.left, own.feature, own.threshold = slot.node + 1, found.feature, found.threshold
    own.at_left, own.at_right = 0, 1
    own.missing_left = np.int64(is_heavier(w, totals.weight))
    n_right, w_right, s_right = totals.rows - n, totals.weight - w, totals.sum - s
    open_branch(frame, size - 1, first + n, n_right, w_right, s_right, depth, slot.node, mix(slot.key, 2))
    open_branch(frame, size, first, n, w, s, depth, -1, mix(slot.key, 1))


@part
def grow_branch(frame, values, size):
    """Make the node of the last of `size` branches; returns whether it was split: two branches take its place."""
    may_split = take_branch(frame, size)
    if frame.n_made == 1:
        set_least_gain(frame)
    if not may_split:
        return False
    totals = totals_of(frame, 0)
    found = search_drawn(frame, values, totals)
    if found.feature < 0 or not is_worth_it(frame, found.decrease):
        return False
    move_gathered(frame, values.gathered[found.place], found.threshold)
    split_branch(frame, size, totals, found)
    return True


@lean_kernel
def grow_drawn(frame, values):
    """Grow a tree; returns how many nodes. OUT frame.

    List 0 of the frame holds the rows, and row 0 of lo and hi says where.
    """
    open_root(frame)
    size = 1
    while size > 0:
        size += 1 if grow_branch(frame, values, size) else -1
    return frame.n_made

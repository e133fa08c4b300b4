"""Columns of many codes: the best split of a node, from the sums of the codes that its rows have.

A histogram of tens of thousands of codes for every open node would fill the memory, so nothing is kept: a node's rows
are summed up when it is searched, in room for one column, and only the codes that occur are looked at and cleared.

**Doubt.** Levels are tried in the order of their gradients, so even levels that mean nothing make a gain: those of one
row each, an identifier, would win every split. So where there are many levels, a level counts for what its rows say of
each other. With d the gradient sum of a level beyond the node's mean and q the sum of squares of its rows' gradients
around that mean, d shrinks to d max(0, 1 - doubt q / d^2). A level of one row has q = d^2 and says nothing; one of n
rows that all agree has q = d^2 / n. Gains are those of the shrunk sums, and levels are in the order of the leaves that
these would give; the leaves of the tree are those of the true sums.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sapwood.kernels._jit import ONE, lean_kernel
from sapwood.kernels.boosting_records import IN_SET
from sapwood.kernels.newton import NO_GAIN, worth_of
from sapwood.kernels.scan import LEAST_GAIN, gain_of, is_large_enough, keep, with_missing, worth_of_children

Array = Any
HALF = np.uint64(32)
SIXTEEN = np.uint64(16)
LOW = np.uint64(0xFFFF)


class WideRows(NamedTuple):
    """Rows of nodes in all shards: an item of each tuple is a shard's."""

    records: tuple[Array, ...]
    codes: tuple[Array, ...]  # (columns, rows)
    ranges: tuple[Array, ...]  # (nodes, 2) first and last record of each node


class WideColumns(NamedTuple):
    """What is known of the columns of many codes, in order of their numbers."""

    features: Array  # number of the column among all columns
    places: Array  # its row among the codes
    n_codes: Array  # largest code
    is_category: Array
    signs: Array  # monotone constraints
    doubt: Array  # how much levels shrink; 0: they are so few that they count in full


class CodeSums(NamedTuple):
    """Room for one column and one thread; `sums` are zero before and after."""

    sums: Array  # (codes, 4) gradient, hessian, rows, squares of gradients
    shrunk: Array  # gradient of each code beyond the node's mean, in units, as far as it is believed
    order: Array  # codes
    keys: Array
    spare_order: Array
    spare_keys: Array


def new_code_sums(n_codes: int) -> CodeSums:
    """Room for codes 0…n_codes."""
    ints, floats = np.empty((2, n_codes + 1), dtype=np.int64), np.empty((3, n_codes + 1))
    return CodeSums(np.zeros((n_codes + 1, 4), dtype=np.int64), floats[2], ints[0], floats[0], ints[1], floats[1])


@lean_kernel
def add_codes(records, first, last, column, quanta, shift, sums, seen, n_seen):
    """Add records to the sums of their codes, squares in units of 4^shift; OUT sums, seen; returns how many."""
    for i in range(np.uint64(first), np.uint64(last)):
        record = records[i]
        row = record >> HALF
        if quanta is None:
            g, h = np.int64(np.int16(record >> SIXTEEN)), np.int64(record & LOW)
        else:
            g, h = quanta[row, 0], quanta[row, 1]
        code = np.uint64(column[row])
        own = sums[code]
        if own[2] == 0:
            seen[n_seen] = code
            n_seen += 1
        own[0] += g
        own[1] += h
        own[2] += 1
        short = g >> shift
        own[3] += short * short
    return n_seen


@lean_kernel
def comes_first(key, code, other_key, other_code):
    """The order of codes: by key, equal ones by code."""
    return key < other_key or (key == other_key and code < other_code)


@lean_kernel
def merge(keys, order, first, middle, last, out_keys, out_order):
    """Merge two sorted neighbours; OUT out_keys, out_order."""
    i, k = first, middle
    for at in range(first, last):
        if i < middle and (k >= last or not comes_first(keys[k], order[k], keys[i], order[i])):
            out_keys[at], out_order[at] = keys[i], order[i]
            i += 1
        else:
            out_keys[at], out_order[at] = keys[k], order[k]
            k += 1


@lean_kernel
def sort_codes(count, room):
    """Sort the first codes by key; OUT room.order, room.keys."""
    keys, order, spare_keys, spare_order = room.keys, room.order, room.spare_keys, room.spare_order
    width = 1
    while width < count:
        for first in range(0, count, 2 * width):
            merge(keys, order, first, min(first + width, count), min(first + 2 * width, count), spare_keys, spare_order)
        keys, spare_keys = spare_keys, keys
        order, spare_order = spare_order, order
        width *= 2
    for i in range(count):  # a copy onto itself after an even number of turns
        room.keys[i], room.order[i] = keys[i], order[i]


@lean_kernel
def shrink_level(own, mean_g, per_hessian, doubt, shift):
    """A level's gradient beyond the node's mean, in units, as far as its rows agree on it."""
    d = own[0] - own[1] * per_hessian
    squares = own[3] * 4.0**shift - 2.0 * mean_g * own[0] + own[2] * mean_g * mean_g
    noise = doubt * max(squares, d * d / own[2])
    return d * max(0.0, 1.0 - noise / (d * d)) if d != 0.0 else 0.0


@lean_kernel
def key_of(code, is_category, doubt, shift, rules, node, room):
    """What a code is sorted by: numbers by the code, levels by gradient over hessian; OUT room.shrunk."""
    if not is_category:
        return np.float64(code)
    g, h = np.float64(room.sums[code, 0]), room.sums[code, 1] * rules.hessian_unit + rules.cat_smooth
    if doubt > 0.0:
        h += rules.reg_lambda
        per_hessian = node.gradient / np.float64(node.hessian)
        g = shrink_level(room.sums[code], node.gradient / node.n_rows, per_hessian, doubt, shift)
        room.shrunk[code] = g
    return g * rules.gradient_unit / h if g != 0.0 else 0.0  # also where h is 0


@lean_kernel
def order_codes(n_seen, is_category, doubt, shift, rules, node, room):
    """Codes of values among those seen, in the order in which they are tried; OUT room; returns how many.

    Rows without gradient and hessian do not count, so that their codes are none of the node's.
    """
    count = 0
    for i in range(n_seen):
        code = room.order[i]
        if code > 0 and (room.sums[code, 1] > 0 or room.sums[code, 0] != 0):
            key = key_of(code, is_category, doubt, shift, rules, node, room)
            room.order[count], room.keys[count] = code, key
            count += 1
        elif code > 0:
            room.sums[code] = 0
    sort_codes(count, room)
    return count


@lean_kernel
def net_gain_beyond(left_g, left_h, left_n, rules, counts, sign, parent, node):
    """Gain of a candidate if it beats the node's best so far, else NO_GAIN; left_g may be a shrunk sum."""
    g, h, gain = node.gradient, node.hessian, NO_GAIN
    if is_large_enough(left_h, left_n, rules, counts) and is_large_enough(
        h - left_h, node.n_rows - left_n, rules, counts
    ):
        gain = gain_of(worth_of_children(left_g, left_h, g, h, rules, sign, node), parent, node.gain)
    return gain


@lean_kernel
def sum_of_shrunk(count, node, room):
    """Shrunk sums of all levels, the missing rows' own sum included."""
    total = room.sums[0, 0] - room.sums[0, 1] * (node.gradient / np.float64(node.hessian))
    for i in range(count):
        total += room.shrunk[room.order[i]]
    return total


@lean_kernel
def believed(left_h, left_d, total, node):
    """Gradient sum of a left child whose levels are worth left_d; what no level is believed to have is everybody's."""
    share = left_h / np.float64(node.hessian)
    return (node.gradient - total) * share + left_d


@lean_kernel
def write_set(order, count, first, last, missing_left, words):
    """Levels order[first:last] go left; those that the node does not have go where missing rows go; OUT words."""
    words[:] = ~np.uint32(0) if missing_left else np.uint32(0)
    for i in range(count):
        code, bit = order[i] >> 5, ONE << np.uint32(order[i] & 31)
        if first <= i < last:
            words[code] |= bit
        else:
            words[code] &= ~bit


@lean_kernel
def scan_level_sums(count, feature, doubt, rules, counts, parent, room, node, words):
    """Try subsets of levels: one against the rest while few, else beginnings of their order; OUT node, words."""
    hist, order = room.sums, room.order
    some_missing = hist[0, 1] > 0 or hist[0, 0] != 0
    single = count <= rules.max_cat_to_onehot
    total = sum_of_shrunk(count, node, room) if doubt > 0.0 else 0.0
    missing_d = hist[0, 0] - hist[0, 1] * (node.gradient / np.float64(node.hessian))
    first, last = 0, 0
    left_g, left_h, left_n, left_d = 0, 0, 0, 0.0
    for i in range(count):
        if single:
            left_g, left_h, left_n, left_d = 0, 0, 0, 0.0
        left_g += hist[order[i], 0]
        left_h += hist[order[i], 1]
        left_n += hist[order[i], 2]
        left_d += room.shrunk[order[i]]
        if min(i + 1, count - i - 1) > rules.max_cat_threshold and not single:
            continue
        for turn in range(2 if some_missing else 1):
            with_g, with_h, with_n = with_missing(hist, turn, left_g, left_h, left_n)
            if doubt > 0.0:
                g = believed(with_h, left_d + turn * missing_d, total, node)
                gain = net_gain_beyond(g, with_h, with_n, rules, counts, 0, parent, node)
            else:
                gain = net_gain_beyond(with_g, with_h, with_n, rules, counts, 0, parent, node)
            if gain > NO_GAIN:
                keep(node, gain, feature, IN_SET, 0, turn == 1, with_g, with_h)
                first, last = i if single else 0, i + 1
    if last > 0:
        if not some_missing:
            node.missing_left = 2 * node.left_hessian > node.hessian
        write_set(order, count, first, last, node.missing_left, words)


@lean_kernel
def scan_number_sums(count, feature, sign, rules, counts, parent, room, node):
    """Try all cuts between codes; OUT node, if a better one is found."""
    hist, order = room.sums, room.order
    some_missing = hist[0, 1] > 0 or hist[0, 0] != 0
    left_g, left_h, left_n = 0, 0, 0
    for i in range(count if some_missing else count - 1):
        left_g += hist[order[i], 0]
        left_h += hist[order[i], 1]
        left_n += hist[order[i], 2]
        for turn in range(2 if some_missing else 1):
            with_g, with_h, with_n = with_missing(hist, turn, left_g, left_h, left_n)
            gain = net_gain_beyond(with_g, with_h, with_n, rules, counts, sign, parent, node)
            if gain > NO_GAIN:
                ahead = order[i + 1] if i + 1 < count else np.int64(0)
                keep(node, gain, feature, order[i], ahead, turn == 1, with_g, with_h)
    if node.feature == feature and not some_missing:
        node.missing_left = 2 * node.left_hessian > node.hessian  # rows without a value follow the larger child


@lean_kernel
def search_pairs(pairs, rows, quanta, columns, shift, rules, room, found, sets):
    """Best split of each pair (node, column) by itself; OUT found, sets (nodes, columns, words)."""
    counts = rules.min_child_rows > 1
    for p in range(len(pairs)):
        k, w = pairs[p, 0], pairs[p, 1]
        node, n_seen = found[k, w], np.int64(0)
        for s in range(len(rows.records)):
            column, first, last = rows.codes[s][columns.places[w]], rows.ranges[s][k, 0], rows.ranges[s][k, 1]
            records = rows.records[s]
            if quanta is None:
                n_seen = add_codes(records, first, last, column, None, shift, room.sums, room.order, n_seen)
            else:
                n_seen = add_codes(records, first, last, column, quanta[s], shift, room.sums, room.order, n_seen)
        node.gain, node.feature = NO_GAIN, -1
        parent, doubt = worth_of(node, rules), columns.doubt[w]
        count = order_codes(n_seen, columns.is_category[w], doubt, shift, rules, node, room)
        if columns.is_category[w]:
            scan_level_sums(count, columns.features[w], doubt, rules, counts, parent, room, node, sets[k, w])
        else:
            scan_number_sums(count, columns.features[w], columns.signs[w], rules, counts, parent, room, node)
        for i in range(count):
            room.sums[room.order[i]] = 0
        room.sums[0] = 0


@lean_kernel
def beats(gain, other, parent):
    """Whether a split truly beats that of a column that was looked at before."""
    return gain > NO_GAIN and gain > other + LEAST_GAIN * abs(2.0 * gain + parent)


@lean_kernel
def best_column(node, found, columns, rules):
    """Of the node's own split and those found for columns of many codes, the best; -1 for the node's own.

    Columns are compared in their order, so that of equal splits that of the lowest column wins.
    """
    parent, best, gain, waits = worth_of(node, rules), -1, NO_GAIN, node.feature >= 0
    for w in range(len(found)):
        if waits and node.feature < columns.features[w]:
            waits = False
            if beats(node.gain, gain, parent):
                best, gain = -1, node.gain
        if beats(found[w].gain, gain, parent):
            best, gain = w, found[w].gain
    return -1 if waits and beats(node.gain, gain, parent) else best


@lean_kernel
def take_best(ids, found, columns, rules, nodes, winners):
    """Give nodes the best of their own split and those found; OUT nodes, winners (column, or -1 for their own)."""
    for k in range(len(ids)):
        node = nodes[ids[k]]
        w = best_column(node, found[k], columns, rules)
        winners[k] = w
        if w >= 0:
            new = found[k, w]
            keep(
                node,
                new.gain,
                new.feature,
                new.code,
                new.next_code,
                new.missing_left,
                new.left_gradient,
                new.left_hessian,
            )

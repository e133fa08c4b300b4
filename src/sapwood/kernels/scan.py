"""Scan: the best split of a node, from its histograms.

Code 0 of a column is "missing", codes 1…n are values in order or levels of a category. Missing rows are tried on both
sides, the right one first. Which of two candidates is better is decided in `split_order.py`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sapwood.kernels._jit import ONE, lane_kernel, lean_kernel, part
from sapwood.kernels.float_bits import to_30_bits
from sapwood.kernels.frame import Array, Layout
from sapwood.kernels.newton import NO_GAIN, leaf_weight, score_at, score_of_both
from sapwood.kernels.rules import is_large_enough
from sapwood.kernels.split_order import begin_search, comes_first


class Columns(NamedTuple):
    """Columns of a histogram."""

    starts: Any  # (columns + 1,) where the codes of each begin
    n_codes: Any  # (columns,)
    is_category: Any
    signs: Any  # of monotone constraints


LANES = Layout(  # room for the candidates of one column
    codes=Array(np.int64, 256),  # 1, 2, …
    left_g=Array(np.int64, 256),  # sums of the codes up to each
    left_h=Array(np.int64, 256),
    both=Array(np.float64, 257),  # scores of the two children if the cut is after it
    both_missing=Array(np.float64, 257),  # the same with missing rows on the left
    bits=Array(np.int64, 257),  # the memory of `both` as whole numbers
    bits_missing=Array(np.int64, 257),
    keys=Array(np.float64, 256),  # levels in order
    order=Array(np.int64, 256),
)


def new_lanes() -> tuple[Any, dict[str, Any]]:
    """Lanes for one thread, and their arrays, to be kept alive."""
    lanes, arrays = LANES.allocate()
    arrays["codes"][:] = np.arange(1, 257)
    bits = {"bits": arrays["both"].view(np.int64), "bits_missing": arrays["both_missing"].view(np.int64)}
    LANES.update(lanes[0], **bits)
    return lanes, {**arrays, **bits}


@lean_kernel
def score_of_children(left_g, left_h, g, h, rules, sign, node):
    """Scores of both children together; NO_GAIN if a monotone constraint forbids them."""
    if rules.is_plain:
        D_left, D_right = np.float64(left_h) + rules.lambda_units, np.float64(h - left_h) + rules.lambda_units
        return rules.score_unit * score_of_both(np.float64(left_g), D_left, np.float64(g - left_g), D_right)
    G_left, H_left = left_g * rules.gradient_unit, left_h * rules.hessian_unit
    G_right, H_right = (g - left_g) * rules.gradient_unit, (h - left_h) * rules.hessian_unit
    left = leaf_weight(G_left, H_left, rules, node.lower, node.upper)
    right = leaf_weight(G_right, H_right, rules, node.lower, node.upper)
    if sign * (right - left) < 0.0:
        return NO_GAIN
    return score_at(G_left, H_left, rules, left) + score_at(G_right, H_right, rules, right)


@lean_kernel
def score_if_first(left_g, left_h, left_n, rules, sign, feature, node):
    """Scores of the children of a candidate, together, if it comes before the node's best so far, else NO_GAIN."""
    g, h, unit = node.gradient, node.hessian, rules.hessian_unit
    left_fits = is_large_enough(rules, left_n, left_h * unit)
    if left_fits and is_large_enough(rules, node.n_rows - left_n, (h - left_h) * unit):
        both = score_of_children(left_g, left_h, g, h, rules, sign, node)
        if comes_first(to_30_bits(both), feature, node):
            return both
    return NO_GAIN


@part
def keep(node, both, parent, feature, code, next_code, missing_left, left_g, left_h):
    """Write a candidate, whose children have these scores together, into the node; OUT node."""
    node.score, node.gain = to_30_bits(both), 0.5 * (both - parent)
    node.feature, node.code, node.next_code = feature, code, next_code
    node.missing_left, node.left_gradient, node.left_hessian = missing_left, left_g, left_h


@lean_kernel
def sum_left(hist, codes, count, left_g, left_h):
    """Sums of the codes up to each; OUT left_g, left_h."""
    g, h = np.int64(0), np.int64(0)
    for i in range(count):
        code = codes[i]
        g += hist[code, 0]
        h += hist[code, 1]
        left_g[i], left_h[i] = g, h


@lane_kernel
def weigh(left_g, left_h, count, more_g, more_h, g, h, lambda_, least_h, both):
    """Scores of both children of each cut, in units; `more` goes left, too. OUT both."""
    for i in range(count):
        own_g, own_h = left_g[i] + more_g, left_h[i] + more_h
        H_left, H_right = np.float64(own_h), np.float64(h - own_h)
        found = score_of_both(np.float64(own_g), H_left + lambda_, np.float64(g - own_g), H_right + lambda_)
        both[i] = found if min(H_left, H_right) >= least_h else NO_GAIN


@lane_kernel
def largest_of(both, bits, count):
    """The largest of some numbers that are not negative, NO_GAIN aside, with room for one more.

    `bits` are those of `both`: as whole numbers they are ordered in the same way, and many are compared at once.
    """
    most = np.int64(-1)
    for i in range(count):
        most = max(most, bits[i])
    if most < 0:
        return NO_GAIN
    bits[256] = most
    return both[256]


@lean_kernel
def next_present(hist, codes, count, i):
    """The first code after the i-th that the node has, or 0."""
    for k in range(i + 1, count):
        if hist[codes[k], 1] != 0 or hist[codes[k], 0] != 0:
            return codes[k]
    return np.int64(0)


@lean_kernel
def first_of(both, both_missing, count, unit, score):
    """The first cut of this score, missing rows on the right before left: its place, and whether they go left."""
    for i in range(count):
        if to_30_bits(unit * both[i]) == score:
            return i, False
        if both_missing is not None and to_30_bits(unit * both_missing[i]) == score:
            return i, True
    return -1, False


@lean_kernel
def scan_plain(hist, codes, count, rules, parent, feature, lanes, node):
    """Try all cuts between codes by the short formula, many at once; OUT node, if a better one is found."""
    g, h = node.gradient, node.hessian
    least_h = max(rules.min_child_weight / rules.hessian_unit, 1.0)
    missing_g, missing_h = hist[0, 0], hist[0, 1]
    some_missing = missing_h > 0 or missing_g != 0
    left_g, left_h, both, both_missing = lanes.left_g, lanes.left_h, lanes.both, lanes.both_missing
    sum_left(hist, codes, count, left_g, left_h)
    lambda_ = rules.lambda_units
    weigh(left_g, left_h, count, 0, 0, g, h, lambda_, least_h, both)
    most = largest_of(both, lanes.bits, count)
    if some_missing:
        weigh(left_g, left_h, count, missing_g, missing_h, g, h, lambda_, least_h, both_missing)
        i = 0
        while i < count and left_h[i] == 0 and left_g[i] == 0:  # no values yet: missing rows would be alone
            both_missing[i] = NO_GAIN
            i += 1
        most = max(most, largest_of(both_missing, lanes.bits_missing, count))
    unit = rules.score_unit
    score = to_30_bits(unit * most)  # rounding keeps the order, so this is the largest score
    if not comes_first(score, feature, node):
        return
    if some_missing:
        i, missing_left = first_of(both, both_missing, count, unit, score)
    else:
        i, missing_left = first_of(both, None, count, unit, score)
    chosen, own_g, own_h = unit * both[i], left_g[i], left_h[i]
    if missing_left:
        chosen, own_g, own_h = unit * both_missing[i], own_g + missing_g, own_h + missing_h
    elif not some_missing:
        missing_left = 2 * own_h > h  # rows without a value follow the larger child
    keep(node, chosen, parent, feature, codes[i], next_present(hist, codes, count, i), missing_left, own_g, own_h)


@lean_kernel
def with_missing(hist, turn, left_g, left_h, left_n):
    """Sums of the left child without missing rows (turn 0) or with them (turn 1)."""
    n = hist[0, 2] if hist.shape[1] > 2 else np.int64(0)
    return left_g + turn * hist[0, 0], left_h + turn * hist[0, 1], left_n + turn * n


@lean_kernel
def scan_numbers(hist, codes, count, rules, sign, parent, feature, node):
    """Try all cuts between codes, one by one; OUT node, if a better one is found."""
    counts = hist.shape[1] > 2
    some_missing = hist[0, 1] > 0 or hist[0, 0] != 0
    left_g, left_h, left_n = 0, 0, 0
    found = -1
    for i in range(count if some_missing else count - 1):
        code = codes[i]
        if hist[code, 1] == 0 and hist[code, 0] == 0:
            continue
        left_g += hist[code, 0]
        left_h += hist[code, 1]
        if counts:
            left_n += hist[code, 2]
        for turn in range(2 if some_missing else 1):
            with_g, with_h, with_n = with_missing(hist, turn, left_g, left_h, left_n)
            both = score_if_first(with_g, with_h, with_n, rules, sign, feature, node)
            if both > NO_GAIN:
                keep(node, both, parent, feature, code, 0, turn == 1, with_g, with_h)
                found = i
    if found >= 0:
        node.next_code = next_present(hist, codes, count, found)
        if not some_missing:
            node.missing_left = 2 * node.left_hessian > node.hessian  # rows without a value follow the larger child


@lean_kernel
def scan_column(hist, codes, count, rules, sign, parent, feature, lanes, node):
    """Try all cuts between some ascending codes, those of a node's values among them; OUT node."""
    if rules.is_plain and hist.shape[1] == 2:
        scan_plain(hist, codes, count, rules, parent, feature, lanes, node)
    else:
        scan_numbers(hist, codes, count, rules, sign, parent, feature, node)


@lean_kernel
def order_levels(hist, n_codes, rules, keys, order):
    """Levels present in the node in order of gradient by (smoothed) hessian; OUT order; returns how many."""
    count = 0
    for code in range(1, n_codes + 1):
        if hist[code, 1] > 0 or hist[code, 0] != 0:
            key = hist[code, 0] * rules.gradient_unit / (hist[code, 1] * rules.hessian_unit + rules.cat_smooth)
            i = count
            while i > 0 and keys[i - 1] > key:
                keys[i], order[i] = keys[i - 1], order[i - 1]
                i -= 1
            keys[i], order[i] = key, code
            count += 1
    return count


@part
def set_bit(words, code):
    """Add a code to a subset; OUT words."""
    words[code >> 5] |= ONE << np.uint32(code & 31)


@lean_kernel
def write_subset(hist, n_codes, order, first, last, node):
    """Levels order[first:last] go left; those absent from the node go where missing rows go; OUT node.subset."""
    for word in range(8):
        node.subset[word] = np.uint32(0)
    if node.missing_left:
        for code in range(256):
            if code == 0 or code > n_codes or (hist[code, 1] == 0 and hist[code, 0] == 0):
                set_bit(node.subset, code)
    for i in range(first, last):
        set_bit(node.subset, order[i])


@lean_kernel
def scan_levels(hist, n_codes, rules, parent, feature, lanes, node):
    """Try subsets of levels: one against the rest while few, else beginnings of their order; OUT node."""
    counts = hist.shape[1] > 2
    some_missing = hist[0, 1] > 0 or hist[0, 0] != 0
    order = lanes.order
    n_present = order_levels(hist, n_codes, rules, lanes.keys, order)
    single = n_present <= rules.max_cat_to_onehot
    first, last = 0, 0
    left_g, left_h, left_n = 0, 0, 0
    for i in range(n_present):
        if single:
            left_g, left_h, left_n = 0, 0, 0
        left_g += hist[order[i], 0]
        left_h += hist[order[i], 1]
        if counts:
            left_n += hist[order[i], 2]
        if min(i + 1, n_present - i - 1) > rules.max_cat_threshold and not single:
            continue
        for turn in range(2 if some_missing else 1):
            with_g, with_h, with_n = with_missing(hist, turn, left_g, left_h, left_n)
            both = score_if_first(with_g, with_h, with_n, rules, 0, feature, node)
            if both > NO_GAIN:
                keep(node, both, parent, feature, -1, 0, turn == 1, with_g, with_h)
                first, last = i if single else 0, i + 1
    if last > 0:
        if not some_missing:
            node.missing_left = 2 * node.left_hessian > node.hessian
        write_subset(hist, n_codes, order, first, last, node)


@lean_kernel
def scan_node(hists, mask, columns, rules, lanes, node):
    """Best split of a node among those of the columns in the mask; OUT node."""
    parent = begin_search(node, rules)
    for f in range(len(mask)):
        if mask[f]:
            hist = hists[columns.starts[f] : columns.starts[f + 1]]
            if columns.is_category[f]:
                scan_levels(hist, columns.n_codes[f], rules, parent, f, lanes, node)
            else:
                scan_column(hist, lanes.codes, columns.n_codes[f], rules, columns.signs[f], parent, f, lanes, node)


@lean_kernel
def scan_nodes(pool, ids, usable, columns, rules, lanes, nodes):
    """Best split of each node; one row of `usable` may serve all. OUT nodes."""
    for k in range(len(ids)):
        node = nodes[ids[k]]
        mask = usable[k if len(usable) > 1 else 0]
        scan_node(pool[node.slot], mask, columns, rules, lanes, node)

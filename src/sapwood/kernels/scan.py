"""Scan: the best split of a node, from its histograms.

Code 0 of a column is "missing", codes 1…n are values in order or levels of a category. Missing rows are tried on both
sides, the right one first. Which of two candidates is better is decided in `split_order.py`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sapwood.kernels._jit import ONE, inner_kernel, lane_kernel, lean_kernel, part
from sapwood.kernels.draws import mix, uniform
from sapwood.kernels.float_bits import HALF_A_BIT, bits_of, to_30_bits
from sapwood.kernels.frame import Array, Layout
from sapwood.kernels.newton import NO_GAIN, leaf_weight, score_at, score_of_both
from sapwood.kernels.rules import is_large_enough
from sapwood.kernels.split_order import begin_column, begin_search, comes_first, order_of

BY_CUT = np.int64(5)  # keeps the draws of cuts apart
ALL, NO_LEVEL = np.uint32(0xFFFFFFFF), np.uint32(0)  # levels of a word


class Columns(NamedTuple):
    """Columns of a histogram."""

    starts: np.ndarray  # (columns + 1,) where the codes of each begin
    n_codes: np.ndarray  # (columns,)
    is_category: np.ndarray
    signs: np.ndarray  # of monotone constraints


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


def new_lanes() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Lanes for one thread, and their arrays, to be kept alive."""
    lanes, arrays = LANES.allocate()
    arrays["codes"][:] = np.arange(1, 257)
    bits = {"bits": arrays["both"].view(np.int64), "bits_missing": arrays["both_missing"].view(np.int64)}
    LANES.update(lanes[0], **bits)
    return lanes, {**arrays, **bits}


@inner_kernel
def score_of_children(left_g, left_h, more_l2, rules, sign, node):
    """Scores of both children together, `more_l2` added to lambda; NO_GAIN if a monotone constraint forbids them."""
    g, h = node.gradient, node.hessian
    if rules.is_plain:
        lambda_ = rules.lambda_units + more_l2 / rules.hessian_unit
        D_left, D_right = np.float64(left_h) + lambda_, np.float64(h - left_h) + lambda_
        return rules.score_unit * score_of_both(np.float64(left_g), D_left, np.float64(g - left_g), D_right)
    G_left, H_left = left_g * rules.gradient_unit, left_h * rules.hessian_unit + more_l2
    G_right, H_right = (g - left_g) * rules.gradient_unit, (h - left_h) * rules.hessian_unit + more_l2
    left = leaf_weight(G_left, H_left, rules, node.lower, node.upper)
    right = leaf_weight(G_right, H_right, rules, node.lower, node.upper)
    if sign * (right - left) < 0.0:
        return NO_GAIN
    return score_at(G_left, H_left, rules, left) + score_at(G_right, H_right, rules, right)


@inner_kernel
def keep(node, both, parent, feature, code, next_code, missing_left, left_g, left_h):
    """Write a candidate, whose children have these scores together, into the node; OUT node."""
    node.score, node.gain = order_of(both, node), 0.5 * (both - parent)
    node.feature, node.code, node.next_code = feature, code, next_code
    node.missing_left, node.left_gradient, node.left_hessian = missing_left, left_g, left_h


@inner_kernel
def try_split(left, more_l2, rules, sign, parent, feature, code, next_code, missing_left, node):
    """Keep a candidate, whose left child has these sums and rows, if it comes before the node's best so far.

    OUT node; returns whether it is kept.
    """
    left_g, left_h, left_n = left
    unit = rules.hessian_unit
    left_fits = is_large_enough(rules, left_n, left_h * unit)
    if left_fits and is_large_enough(rules, node.n_rows - left_n, (node.hessian - left_h) * unit):
        both = score_of_children(left_g, left_h, more_l2, rules, sign, node)
        if comes_first(order_of(both, node), feature, node):
            keep(node, both, parent, feature, code, next_code, missing_left, left_g, left_h)
            return True
    return False


@inner_kernel
def sum_left(hist, codes, count, left_g, left_h):
    """Sums of the codes up to each; OUT left_g, left_h."""
    g, h = np.int64(0), np.int64(0)
    for i in range(np.uint64(count)):
        code = np.uint64(codes[i])
        g += hist[code, 0]
        h += hist[code, 1]
        left_g[i], left_h[i] = g, h


@lane_kernel
def weigh(left_g, left_h, count, more_g, more_h, g, h, lambda_, least_h, both):
    """Scores of both children of each cut, in units; `more` goes left, too. OUT both, also somewhat beyond the count.

    Up to a multiple of 16, so that all are computed by many lanes.
    """
    for i in range((count + 15) & ~15):
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


@part
def has_rows(hist, code):
    """Whether some rows of a code weigh something."""
    return hist[code, 1] != 0 or hist[code, 0] != 0


@inner_kernel
def next_present(hist, codes, count, i):
    """The first code after the i-th that the node has, or 0."""
    for k in range(i + 1, count):
        if has_rows(hist, codes[k]):
            return codes[k]
    return np.int64(0)


@inner_kernel
def first_of(both, both_missing, some_missing, count, unit, score):
    """The first cut of the largest score, missing rows on the right before left: its place, and whether they go left.

    As none is larger, all from `least` on are rounded to it.
    """
    least = np.int64(bits_of(score) - HALF_A_BIT)
    for i in range(count):
        if np.int64(bits_of(unit * both[i])) >= least:
            return i, False
        if some_missing and np.int64(bits_of(unit * both_missing[i])) >= least:
            return i, True
    return -1, False


@inner_kernel
def scan_plain(hist, codes, count, rules, parent, feature, lanes, node):
    """Try all cuts between codes by the short formula, many at once; OUT node, if a better one is found."""
    g, h = node.gradient, node.hessian
    least_h = max(rules.min_child_weight / rules.hessian_unit, 1.0)
    missing_g, missing_h = hist[0, 0], hist[0, 1]
    some_missing = has_rows(hist, 0)
    left_g, left_h, both, both_missing = lanes.left_g, lanes.left_h, lanes.both, lanes.both_missing
    sum_left(hist, codes, count, left_g, left_h)
    lambda_ = rules.lambda_units
    weigh(left_g, left_h, count, 0, 0, g, h, lambda_, least_h, both)
    if some_missing:
        weigh(left_g, left_h, count, missing_g, missing_h, g, h, lambda_, least_h, both_missing)
        i = 0
        while i < count and left_h[i] == 0 and left_g[i] == 0:  # no values yet: missing rows would be alone
            both_missing[i] = NO_GAIN
            i += 1
    most = largest_of(both, lanes.bits, count)
    if some_missing:
        most = max(most, largest_of(both_missing, lanes.bits_missing, count))
    unit = rules.score_unit
    if not comes_first(order_of(unit * most, node), feature, node):
        return
    score = to_30_bits(unit * most)  # rounding keeps the order, so this is the largest score
    i, missing_left = first_of(both, both_missing, some_missing, count, unit, score)
    chosen, own_g, own_h = unit * both[i], left_g[i], left_h[i]
    if missing_left:
        chosen, own_g, own_h = unit * both_missing[i], own_g + missing_g, own_h + missing_h
    elif not some_missing:
        missing_left = 2 * own_h > h  # rows without a value follow the larger child
    keep(node, chosen, parent, feature, codes[i], next_present(hist, codes, count, i), missing_left, own_g, own_h)


@inner_kernel
def order_codes(hist, codes, count, is_category, least_h, rules, lanes):
    """Codes present in the node; levels in order of gradient by (smoothed) hessian, without those below the least one.

    OUT lanes.order; returns how many.
    """
    keys, order = lanes.keys, lanes.order
    n_present = 0
    for k in range(count):
        code = codes[k]
        if has_rows(hist, code) and hist[code, 1] >= least_h:
            i = n_present
            if is_category:
                key = hist[code, 0] * rules.gradient_unit / (hist[code, 1] * rules.hessian_unit + rules.cat_smooth)
                while i > 0 and keys[i - 1] > key:
                    keys[i], order[i] = keys[i - 1], order[i - 1]
                    i -= 1
                keys[i] = key
            order[i] = code
            n_present += 1
    return n_present


@inner_kernel
def pool_rare(hist, codes, count, rules, lanes, node):
    """Where levels are split in order, those of few rows go where missing rows go.

    Returns how many levels are left in lanes.order, and what the others and missing rows have together. The rows of a
    level are its share of the hessian of the node's.
    """
    least_h = rules.min_data_per_group * node.hessian / node.n_rows
    n_left = order_codes(hist, codes, count, True, least_h, rules, lanes)
    rest_g, rest_h, rest_n = hist[0, 0], hist[0, 1], hist[0, 2] if hist.shape[1] > 2 else 0
    for k in range(count):
        if hist[codes[k], 1] < least_h:
            rest_g += hist[codes[k], 0]
            rest_h += hist[codes[k], 1]
            if hist.shape[1] > 2:
                rest_n += hist[codes[k], 2]
    return n_left, (rest_g, rest_h, rest_n)


@inner_kernel
def write_subset(order, n_present, first, last, node):
    """Levels order[first:last] go left, others right; those absent from the node go where missing rows go; OUT node."""
    for word in range(8):
        node.subset[word] = ALL if node.missing_left else NO_LEVEL
    for i in range(n_present):
        word, bit = order[i] >> 5, ONE << np.uint32(order[i] & 31)
        if first <= i < last:
            node.subset[word] |= bit
        else:
            node.subset[word] &= ALL ^ bit


@inner_kernel
def scan_one_by_one(hist, codes, count, is_category, rules, sign, parent, feature, lanes, node):
    """Try all cuts of the order of the codes present; of few levels, each one against the rest; OUT node."""
    counts, order = hist.shape[1] > 2, lanes.order
    rest = hist[0, 0], hist[0, 1], hist[0, 2] if counts else 0  # what may go to either side
    n_present = order_codes(hist, codes, count, is_category, 0, rules, lanes)
    single = is_category and n_present <= rules.max_cat_to_onehot
    most, more_l2 = n_present, 0.0
    if is_category and not single:
        most, more_l2 = rules.max_cat_threshold, rules.cat_l2
        if rules.min_data_per_group > 0.0:
            n_present, rest = pool_rare(hist, codes, count, rules, lanes, node)
    some_rest = rest[0] != 0 or rest[1] != 0
    left_g, left_h, left_n = 0, 0, 0
    found = -1
    for i in range(n_present):
        if single:
            left_g, left_h, left_n = 0, 0, 0
        left_g += hist[order[i], 0]
        left_h += hist[order[i], 1]
        if counts:
            left_n += hist[order[i], 2]
        if min(i + 1, n_present - i - 1) > most:
            continue
        code, next_code = order[i], order[i + 1] if i + 1 < n_present else 0
        if is_category:
            code, next_code = -1, 0
        for turn in range(2 if some_rest else 1):
            left = left_g + turn * rest[0], left_h + turn * rest[1], left_n + turn * rest[2]
            if try_split(left, more_l2, rules, sign, parent, feature, code, next_code, turn == 1, node):
                found = i
    if found >= 0:
        if not some_rest:
            node.missing_left = 2 * node.left_hessian > node.hessian  # rows without a value follow the larger child
        if is_category:
            write_subset(order, n_present, found if single else 0, found + 1, node)


@part
def draw_cut(n_cuts, feature, node):
    """The number of the cut to try of a column with so many, counted from 1; 0 if it has none."""
    return np.int64(uniform(mix(mix(node.key, BY_CUT), np.int64(feature))) * n_cuts) + np.int64(n_cuts > 0)


@inner_kernel
def scan_drawn(hist, codes, count, rules, sign, parent, feature, node):
    """Try one of the cuts behind the codes of a node, all equally likely; OUT node."""
    n_present, some_missing = 0, has_rows(hist, 0)
    for i in range(count):
        n_present += np.int64(has_rows(hist, codes[i]))
    drawn = draw_cut(n_present - np.int64(not some_missing), feature, node)
    left_g, left_h, left_n, i, behind = 0, 0, 0, -1, drawn
    while behind > 0:
        i += 1
        left_g += hist[codes[i], 0]
        left_h += hist[codes[i], 1]
        if hist.shape[1] > 2:
            left_n += hist[codes[i], 2]
        behind -= np.int64(has_rows(hist, codes[i]))
    for turn in range(0 if drawn == 0 else 2 if some_missing else 1):
        missing_n = hist[0, 2] if hist.shape[1] > 2 else 0
        left = left_g + turn * hist[0, 0], left_h + turn * hist[0, 1], left_n + turn * missing_n
        next_code = next_present(hist, codes, count, i)
        is_kept = try_split(left, 0.0, rules, sign, parent, feature, codes[i], next_code, turn == 1, node)
        if is_kept and not some_missing:
            node.missing_left = 2 * node.left_hessian > node.hessian  # as in the other searches


@inner_kernel
def scan_column(hist, codes, count, is_category, rules, sign, parent, feature, lanes, node):
    """Try all cuts between some ascending codes, those of a node's values among them, or sets of levels; OUT node."""
    begin_column(node, feature, rules)
    if rules.extra_trees and not is_category:
        scan_drawn(hist, codes, count, rules, sign, parent, feature, node)
    elif rules.is_plain and hist.shape[1] == 2 and not is_category:
        scan_plain(hist, codes, count, rules, parent, feature, lanes, node)
    else:
        scan_one_by_one(hist, codes, count, is_category, rules, sign, parent, feature, lanes, node)


@lean_kernel
def scan_nodes(pool, ids, usable, columns, rules, lanes, nodes):
    """Best split of each node; one row of `usable` may serve all. OUT nodes."""
    for k in range(len(ids)):
        node = nodes[ids[k]]
        hists, mask = pool[node.slot], usable[k if len(usable) > 1 else 0]
        parent = begin_search(node, rules)
        for f in range(len(mask)):
            if mask[f]:
                hist, n_codes = hists[columns.starts[f] : columns.starts[f + 1]], columns.n_codes[f]
                is_category, sign = columns.is_category[f], columns.signs[f]
                scan_column(hist, lanes.codes, n_codes, is_category, rules, sign, parent, f, lanes, node)

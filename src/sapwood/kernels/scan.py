"""Scan: the best split of a node, from its histograms.

Code 0 of a column is "missing", codes 1…n are values in order or levels of a category. Missing rows are tried on both
sides, the right one first; a better split must be truly better, so that of equal ones the lowest column and code win.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import ONE, lean_kernel, part
from sapwood.kernels.newton import NO_GAIN, leaf_weight, worth, worth_at

LEAST_GAIN = 1e-9  # of what the children are worth: smaller gains, and smaller differences of gains, are rounding


@part
def is_large_enough(h, n, rules, counts):
    """A child has the hessian and the rows it needs."""
    return h > 0 and h * rules.hessian_unit >= rules.min_child_weight and (not counts or n >= rules.min_child_rows)


@lean_kernel
def worth_of_children(left_g, left_h, g, h, rules, sign, node):
    """What both children are worth together; NO_GAIN if a monotone constraint forbids them."""
    G_left, H_left = left_g * rules.gradient_unit, left_h * rules.hessian_unit
    G_right, H_right = (g - left_g) * rules.gradient_unit, (h - left_h) * rules.hessian_unit
    if rules.is_plain:
        return G_left * G_left / (H_left + rules.reg_lambda) + G_right * G_right / (H_right + rules.reg_lambda)
    left = leaf_weight(G_left, H_left, rules, node.lower, node.upper)
    right = leaf_weight(G_right, H_right, rules, node.lower, node.upper)
    if sign * (right - left) < 0.0:
        return NO_GAIN
    return worth_at(G_left, H_left, rules, left) + worth_at(G_right, H_right, rules, right)


@lean_kernel
def gain_beyond(left_g, left_h, left_n, rules, counts, sign, parent, node):
    """Gain of a candidate if it beats the node's best so far, else NO_GAIN."""
    g, h, gain = node.gradient, node.hessian, NO_GAIN
    if is_large_enough(left_h, left_n, rules, counts) and is_large_enough(
        h - left_h, node.n_rows - left_n, rules, counts
    ):
        both = worth_of_children(left_g, left_h, g, h, rules, sign, node)
        slack = LEAST_GAIN * abs(both)
        if both - parent > slack:
            gain = 0.5 * (both - parent)
            if gain <= node.gain + slack:
                gain = NO_GAIN
    return gain


@part
def keep(node, gain, feature, code, next_code, missing_left, left_g, left_h):
    """Write a candidate into the node; OUT node."""
    node.gain, node.feature, node.code, node.next_code = gain, feature, code, next_code
    node.missing_left, node.left_gradient, node.left_hessian = missing_left, left_g, left_h


@lean_kernel
def list_codes(hist, n_codes, codes):
    """Codes of values present in the node, ascending; OUT codes; returns how many."""
    count = 0
    for code in range(1, n_codes + 1):
        codes[count] = code
        count += np.int64(hist[code, 1] != 0 or hist[code, 0] != 0)
    return count


@lean_kernel
def scan_numbers(hist, codes, count, rules, sign, parent, feature, node):
    """Try all cuts between the codes present; OUT node, if a better one is found."""
    counts = hist.shape[1] > 2
    some_missing = hist[0, 1] > 0 or hist[0, 0] != 0
    left_g, left_h, left_n = 0, 0, 0
    found = False
    for i in range(count if some_missing else count - 1):
        code = codes[i]
        left_g += hist[code, 0]
        left_h += hist[code, 1]
        if counts:
            left_n += hist[code, 2]
        gain = gain_beyond(left_g, left_h, left_n, rules, counts, sign, parent, node)
        if gain > NO_GAIN:
            keep(node, gain, feature, code, codes[i + 1] if i + 1 < count else 0, False, left_g, left_h)
            found = True
        if some_missing:
            with_g, with_h, with_n = left_g + hist[0, 0], left_h + hist[0, 1], left_n
            if counts:
                with_n += hist[0, 2]
            gain = gain_beyond(with_g, with_h, with_n, rules, counts, sign, parent, node)
            if gain > NO_GAIN:
                keep(node, gain, feature, code, codes[i + 1] if i + 1 < count else 0, True, with_g, with_h)
                found = True
    if found and not some_missing:
        node.missing_left = 2 * node.left_hessian > node.hessian  # rows without a value follow the larger child


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
def scan_levels(hist, n_codes, rules, parent, feature, keys, order, node):
    """Try subsets of levels: one against the rest while few, else beginnings of their order; OUT node."""
    counts = hist.shape[1] > 2
    some_missing = hist[0, 1] > 0 or hist[0, 0] != 0
    n_present = order_levels(hist, n_codes, rules, keys, order)
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
            with_g, with_h, with_n = left_g, left_h, left_n
            if turn == 1:
                with_g, with_h = with_g + hist[0, 0], with_h + hist[0, 1]
                if counts:
                    with_n += hist[0, 2]
            gain = gain_beyond(with_g, with_h, with_n, rules, counts, 0, parent, node)
            if gain > NO_GAIN:
                keep(node, gain, feature, -1, 0, turn == 1, with_g, with_h)
                first, last = i if single else 0, i + 1
    if last > 0:
        if not some_missing:
            node.missing_left = 2 * node.left_hessian > node.hessian
        write_subset(hist, n_codes, order, first, last, node)


@lean_kernel
def scan_node(hists, mask, first, last, n_codes, is_category, signs, rules, keys, order, node):
    """Best split of a node among those of the columns first…last-1 that are in the mask; OUT node."""
    node.gain, node.feature = NO_GAIN, -1
    G, H = node.gradient * rules.gradient_unit, node.hessian * rules.hessian_unit
    parent = worth(G, H, rules, node.lower, node.upper)
    for f in range(first, last):
        if mask[f]:
            hist = hists[256 * f : 256 * f + 256]
            if is_category[f]:
                scan_levels(hist, n_codes[f], rules, parent, f, keys, order, node)
            else:
                scan_numbers(hist, order, list_codes(hist, n_codes[f], order), rules, signs[f], parent, f, node)


@lean_kernel
def scan_nodes(pool, ids, usable, first, last, n_codes, is_category, signs, rules, keys, order, nodes):
    """Best split of each node; one row of `usable` may serve all. OUT nodes."""
    for k in range(len(ids)):
        node = nodes[ids[k]]
        mask = usable[k if len(usable) > 1 else 0]
        scan_node(pool[node.slot], mask, first, last, n_codes, is_category, signs, rules, keys, order, node)

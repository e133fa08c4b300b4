"""One split for all nodes of a level, as symmetric trees have it, from the histograms of the nodes.

A candidate gains the sum of what it gains in the nodes. A node in which it gains nothing, or in which a child would be
too small, counts for nothing and is not split by it. The level is a record like a node (`boosting_records.py`), with
the sums of its nodes, so the order of candidates is that of a node's (`split_order.py`), and so are draws.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import inner_kernel, lean_kernel
from sapwood.kernels.branching import write_table
from sapwood.kernels.draws import mix
from sapwood.kernels.frame import Array, Layout, Scratch
from sapwood.kernels.newton import NO_GAIN, score_of
from sapwood.kernels.rules import is_large_enough, is_worth_it
from sapwood.kernels.scan import (
    LANES,
    draw_cut,
    has_rows,
    keep,
    next_present,
    order_codes,
    pool_rare,
    score_of_children,
    sum_left,
    weigh,
    write_subset,
)
from sapwood.kernels.split_order import LEAST_GAIN, begin_column, comes_first, order_of

BY_LEVEL = np.int64(6)  # keeps draws of levels apart from those of nodes

LEVEL = Layout(  # scratch for one thread
    lanes=LANES,
    first=np.int64,  # where the codes of the column begin in a histogram, and end
    last=np.int64,
    scores=np.float64,  # of the nodes without a split
    sums=Array(np.int64, 256, 3),  # of the codes of a column, over all nodes
    gains=Array(np.float64, 2, 256),  # of each cut: rest on the right, and on the left
    table=Scratch(np.uint8, 256),
)


def new_level(lanes: np.ndarray) -> tuple[np.ndarray, object]:
    """Scratch for a thread that has these lanes, and its arrays, to be kept alive."""
    frame, arrays = LEVEL.allocate()
    frame["lanes"] = lanes
    return frame, arrays


@lean_kernel
def begin_level(ids, depth, rules, nodes, level):
    """Sums of some nodes, their scores together, and no split yet; OUT level."""
    level.gradient, level.hessian, level.n_rows, level.least = 0, 0, 0, 0.0
    for at in ids:
        level.gradient += nodes[at].gradient
        level.hessian += nodes[at].hessian
        level.n_rows += nodes[at].n_rows
        level.least += score_of(nodes[at], rules)
    level.least += LEAST_GAIN * abs(level.least)
    level.key = mix(mix(nodes[0].key, BY_LEVEL), np.int64(depth))
    level.gain, level.feature, level.next_code, level.missing_left = NO_GAIN, -1, 0, False
    level.score, level.bump = level.least if rules.noise == 0.0 else NO_GAIN, 0.0


@inner_kernel
def begin_column_of_level(pool, ids, feature, columns, frame, nodes):
    """Sums of the codes of a column over all nodes, and no gains yet; OUT frame."""
    sums, start = frame.sums, columns.starts[feature]
    frame.first, frame.last = start, start + columns.n_codes[feature] + 1
    sums[:] = 0
    frame.gains[:] = 0.0
    for at in ids:
        hist = pool[nodes[at].slot, frame.first : frame.last]
        for code in range(len(hist)):
            for k in range(hist.shape[1]):
                sums[code, k] += hist[code, k]


@inner_kernel
def add_gains_of_cuts(hist, count, turns, rules, node, parent, frame):
    """What a node gains by each cut between codes, many at once; OUT frame.gains."""
    lanes = frame.lanes
    left_g, left_h, both = lanes.left_g, lanes.left_h, lanes.both
    least_h, unit = max(rules.min_child_weight / rules.hessian_unit, 1.0), rules.score_unit
    sum_left(hist, lanes.codes, count, left_g, left_h)
    for turn in range(turns):
        more_g, more_h, gains = turn * hist[0, 0], turn * hist[0, 1], frame.gains[turn]
        weigh(left_g, left_h, count, more_g, more_h, node.gradient, node.hessian, rules.lambda_units, least_h, both)
        for i in range(count):
            gains[i] += max(unit * both[i] - parent, 0.0)


@inner_kernel
def score_if_fit(left_g, left_h, left_n, more_l2, rules, sign, node):
    """Scores of both children of a node together; NO_GAIN if one is too small or a constraint forbids them."""
    unit = rules.hessian_unit
    left_fits = is_large_enough(rules, left_n, left_h * unit)
    if left_fits and is_large_enough(rules, node.n_rows - left_n, (node.hessian - left_h) * unit):
        return score_of_children(left_g, left_h, more_l2, rules, sign, node)
    return NO_GAIN


@inner_kernel
def add_gains_in_order(hist, n_present, is_single, more_l2, turns, rules, sign, node, parent, frame):
    """What a node gains by each cut of the order of codes, or by each code against the others; OUT frame.gains."""
    order, counts = frame.lanes.order, hist.shape[1] > 2
    rest_g, rest_h, rest_n = node.gradient, node.hessian, node.n_rows if counts else 0
    for i in range(n_present):
        rest_g -= hist[order[i], 0]
        rest_h -= hist[order[i], 1]
        rest_n -= hist[order[i], 2] if counts else 0
    left_g, left_h, left_n = 0, 0, 0
    for i in range(n_present):
        if is_single:
            left_g, left_h, left_n = 0, 0, 0
        left_g += hist[order[i], 0]
        left_h += hist[order[i], 1]
        left_n += hist[order[i], 2] if counts else 0
        for turn in range(turns):
            own_g, own_h, own_n = left_g + turn * rest_g, left_h + turn * rest_h, left_n + turn * rest_n
            both = score_if_fit(own_g, own_h, own_n, more_l2, rules, sign, node)
            frame.gains[turn, i] += max(both - parent, 0.0)


@inner_kernel
def keep_best(order, n_present, most, drawn, turns, feature, frame, level):
    """Keep the best cut of a column in the level if it comes before the best so far; OUT level; returns its place.

    `drawn` is the only cut to look at, or -1. A cut at a code without rows is that of the code before it; before all
    codes that have rows, it would tell missing values from all others by a threshold below every number of the level.
    """
    found, scores = -1, frame.scores
    for i in range(n_present):
        if min(i + 1, n_present - i - 1) > most or (drawn >= 0 and i != drawn) or not has_rows(frame.sums, order[i]):
            continue
        for turn in range(turns):
            both = scores + frame.gains[turn, i]
            if comes_first(order_of(both, level), feature, level):
                keep(level, both, scores, feature, order[i], 0, turn == 1, 0, 0)
                found = i
    return found


@inner_kernel
def follow_larger(sums, order, first, last, level):
    """Without missing rows in a level, missing values go to the side of larger hessian; OUT level."""
    left_h = 0
    for i in range(first, last):
        left_h += sums[order[i], 1]
    level.missing_left = 2 * left_h > level.hessian


@inner_kernel
def place_of_drawn(sums, codes, count, some_missing, feature, level):
    """The place of the only cut to try, if thresholds are drawn; past the end if there is none."""
    n_present = 0
    for i in range(count):
        n_present += np.int64(has_rows(sums, codes[i]))
    behind = draw_cut(n_present - np.int64(not some_missing), feature, level)
    if behind == 0:
        return count
    i = -1
    while behind > 0:
        i += 1
        behind -= np.int64(has_rows(sums, codes[i]))
    return i


@inner_kernel
def scan_numbers(pool, ids, feature, rules, sign, frame, nodes, level):
    """The best cut of a numeric column for all nodes; OUT level, if it is better."""
    sums, codes, count = frame.sums, frame.lanes.codes, frame.last - frame.first - 1
    turns = 2 if has_rows(sums, 0) else 1
    is_fast = rules.is_plain and pool.shape[2] == 2
    for i in range(count):
        frame.lanes.order[i] = codes[i]
    for at in ids:
        hist, parent = pool[nodes[at].slot, frame.first : frame.last], score_of(nodes[at], rules)
        if is_fast:
            add_gains_of_cuts(hist, count, turns, rules, nodes[at], parent, frame)
        else:
            add_gains_in_order(hist, count, False, 0.0, turns, rules, sign, nodes[at], parent, frame)
    drawn = place_of_drawn(sums, codes, count, turns == 2, feature, level) if rules.extra_trees else -1
    found = keep_best(codes, count, count, drawn, turns, feature, frame, level)
    if found >= 0:
        level.next_code = next_present(sums, codes, count, found)
        if turns == 1:
            follow_larger(sums, codes, 0, found + 1, level)


@inner_kernel
def scan_levels(pool, ids, feature, rules, sign, frame, nodes, level):
    """The best set of levels of a category for all nodes; OUT level, if it is better."""
    sums, lanes, count = frame.sums, frame.lanes, frame.last - frame.first - 1
    n_present = order_codes(sums, lanes.codes, count, True, 0, rules, lanes)
    is_single = n_present <= rules.max_cat_to_onehot
    some_rest, most, more_l2 = has_rows(sums, 0), n_present, 0.0
    if not is_single:
        most, more_l2 = rules.max_cat_threshold, rules.cat_l2
        if rules.min_data_per_group > 0.0:
            n_present, rest = pool_rare(sums, lanes.codes, count, rules, lanes, level)
            some_rest = rest[0] != 0 or rest[1] != 0
    turns = 2 if some_rest else 1
    for at in ids:
        hist, parent = pool[nodes[at].slot, frame.first : frame.last], score_of(nodes[at], rules)
        add_gains_in_order(hist, n_present, is_single, more_l2, turns, rules, sign, nodes[at], parent, frame)
    found = keep_best(lanes.order, n_present, most, -1, turns, feature, frame, level)
    if found >= 0:
        begin = found if is_single else 0
        if not some_rest:
            follow_larger(sums, lanes.order, begin, found + 1, level)
        level.code = -1
        write_subset(lanes.order, n_present, begin, found + 1, level)


@lean_kernel
def scan_level(pool, ids, drawn, columns, rules, frame, nodes, level):
    """The best split of the drawn columns for all nodes together; OUT level, if it is better than its own."""
    frame.scores = 0.0
    for at in ids:
        frame.scores += score_of(nodes[at], rules)
    for f in drawn:
        begin_column_of_level(pool, ids, f, columns, frame, nodes)
        begin_column(level, f, rules)
        if columns.is_category[f]:
            scan_levels(pool, ids, f, rules, columns.signs[f], frame, nodes, level)
        else:
            scan_numbers(pool, ids, f, rules, columns.signs[f], frame, nodes, level)


@inner_kernel
def l2_of_split(level, columns, sums, rules):
    """What is added to lambda by the split of a level."""
    n_present = 0
    for code in range(1, columns.n_codes[level.feature] + 1):
        n_present += np.int64(has_rows(sums, code))
    return rules.cat_l2 if level.code < 0 and n_present > rules.max_cat_to_onehot else 0.0


@lean_kernel
def give_split(pool, ids, columns, rules, frame, nodes, level, takes):
    """Give the split of a level to its nodes; OUT nodes, takes: which of them gain by it."""
    f = level.feature
    begin_column_of_level(pool, ids, f, columns, frame, nodes)
    more_l2, table = l2_of_split(level, columns, frame.sums, rules), frame.table
    write_table(level, table)
    for k in range(len(ids)):
        node = nodes[ids[k]]
        hist, left_g, left_h, left_n = pool[node.slot, frame.first : frame.last], 0, 0, 0
        for code in range(len(hist)):
            left_g += table[code] * hist[code, 0]
            left_h += table[code] * hist[code, 1]
            left_n += table[code] * hist[code, 2] if hist.shape[1] > 2 else 0
        both = score_if_fit(left_g, left_h, left_n, more_l2, rules, columns.signs[f], node)
        parent = score_of(node, rules)
        takes[k] = both > parent + LEAST_GAIN * abs(parent) and is_worth_it(rules, 0.5 * (both - parent))
        if takes[k]:
            keep(node, both, parent, f, level.code, level.next_code, level.missing_left, left_g, left_h)
            for word in range(8):
                node.subset[word] = level.subset[word]

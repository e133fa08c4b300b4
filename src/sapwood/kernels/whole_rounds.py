"""Whole rounds of boosting in one call: those of `boosting/rounds.py`, with the same bits.

With a thousand rows, most of a round's time would otherwise go into the calls between its steps.

    derivatives ─► draws of rows and columns ─► for each tree: growth, leaf values, new scores ─► losses of other rows
"""

from __future__ import annotations

import math

import numpy as np

from sapwood.kernels._jit import inner_kernel, kernel, part
from sapwood.kernels.bagging import draw_rows
from sapwood.kernels.draws import mix
from sapwood.kernels.entry import call_at
from sapwood.kernels.loss_rows import differentiate, measure
from sapwood.kernels.newton import newton_values
from sapwood.kernels.noise import noise_of
from sapwood.kernels.projection import project, write_factors
from sapwood.kernels.routing import add_by_leaf, largest, settle_together, sum_by_leaf, write_records
from sapwood.kernels.team import end
from sapwood.kernels.used_columns import draw_columns, list_columns
from sapwood.kernels.vector_leaves import add_all_by_leaf, largest_of_all, sum_all_by_leaf, values_of_all

WIDE_BITS, SUM_BITS, LEAST_EXPONENT = 40, 62, -1000  # see `shard/gradient_units.py`
NOWHERE = np.uint16(0xFFFF)  # the leaf of a row that took no part


@inner_kernel
def fine_bits(n_rows):
    """Bits of a number such that sums of all rows do not overflow."""
    length = 0
    while n_rows - 1 >> length > 0:
        length += 1
    return min(WIDE_BITS, SUM_BITS - max(1, length))


@inner_kernel
def unit_of(most, bits):
    """The power of two that makes the largest number at most 2^bits - 1 units."""
    if not 0.0 < most < np.inf:
        return 1.0
    _, exponent = math.frexp(most)
    found = math.ldexp(1.0, max(exponent - bits, LEAST_EXPONENT))
    return found if np.rint(most / found) <= (1 << bits) - 1 else 2.0 * found


@inner_kernel
def draw_sample(state, key):
    """The rows of a round, ascending; OUT state.sample; returns how many."""
    candidates, sample = state.candidates, state.sample
    if state.subsample >= 1.0:
        for i in range(len(candidates)):
            sample[i] = candidates[i]
        return np.int64(len(candidates))
    return max(np.int64(draw_rows(key, None, state.subsample, candidates, 0, sample)), np.int64(1))


@inner_kernel
def write_fine_units(most, n_rows, units):
    """Units of the sums of leaves by the largest derivatives (scores, 2); OUT units."""
    bits = fine_bits(n_rows)
    for k in range(len(most)):
        units[k, 0], units[k, 1] = unit_of(most[k, 0], bits), unit_of(most[k, 1], bits)


@part
def set_units(most_g, most_h, n_rows, template, rules):
    """The rules of growth in units that suit the rows of a tree; OUT rules."""
    bits = fine_bits(n_rows)
    rules[0] = template[0]
    gradient_unit, hessian_unit = unit_of(most_g, bits), unit_of(most_h, bits)
    rules[0].gradient_unit, rules[0].hessian_unit = gradient_unit, hessian_unit
    rules[0].lambda_units = rules[0].reg_lambda / hessian_unit
    rules[0].score_unit = gradient_unit * gradient_unit / hessian_unit


@part
def grow(state, gradient, hessian, n_drawn, length, key, template, rules):
    """Grow a tree on these derivatives of the sample; OUT state.nodes, state.splits, rules; returns how many nodes."""
    team, n_rows, nodes, splits = state.team, len(gradient), state.nodes, state.splits
    most_g, most_h = largest(gradient, hessian, state.weight, 0, n_rows)
    set_units(most_g, most_h, n_drawn, template, rules)
    if state.random_strength > 0.0:
        rules[0].noise = noise_of(gradient, hessian, state.weight, state.random_strength, length, state.noise_sums)
    scales = 1.0 / rules[0].gradient_unit, 1.0 / rules[0].hessian_unit
    records, quantized = team.shard.records[0], team.shard.quantized
    sample = state.sample[:n_drawn]
    write_records(sample, gradient, hessian, state.weight, scales[0], scales[1], 0, n_drawn, records, quantized)
    if n_drawn < n_rows:
        team.shard.short_leaf_of[:] = NOWHERE
    if state.n_wanted < len(state.column_keys):
        shard = team.shard
        draw_columns(key, state.n_wanted, state.origins, state.pool, state.column_keys, state.mask)
        list_columns(state.mask, shard.bundle_of, shard.bundle_starts, shard.drawn, shard.places, shard.n_used)
    splits[:] = False
    call_at(state.grow, (nodes, splits, key, n_drawn, state.own_slots, state.stack_slots, team, rules[0]))
    return team.node_count[0]


@inner_kernel
def settle_rest(state, nodes, splits, n_drawn):
    """Find the leaves of the rows that took no part."""
    shard = state.team.shard
    n_rows = shard.columns.shape[1]
    if n_drawn < n_rows:
        routes = state.route_feature, state.route_after, state.route_tables
        settle_together(shard.columns, nodes, splits, routes, state.route_rows, shard.short_leaf_of)


@inner_kernel
def write_steps(state, derivatives, weight, first, last, nodes, splits, rules, rate, values):
    """The rate times Newton's steps of all nodes by the rows that have their leaves; OUT values."""
    n_rows = derivatives.shape[2]
    gradient, hessian, most, units = derivatives[0, first:last], derivatives[1, first:last], state.most, state.units
    sums = state.sums[: last - first, : len(nodes)]
    largest_of_all(gradient, hessian, weight, most[: last - first])
    write_fine_units(most[: last - first], n_rows, units)
    sums[:] = 0
    sum_all_by_leaf(state.team.shard.short_leaf_of, gradient, hessian, weight, units, 0, n_rows, sums)
    values_of_all(nodes, splits, sums, units, rules[0], state.factor, values)
    for at in range(len(nodes)):
        for k in range(last - first):
            values[at, k] *= rate


@part
def add_own_tree(state, k, n_drawn, nodes, splits, rules, rate, values):
    """Values of nodes by the sums of growth's own rows, which are added to score k; OUT values, state.score."""
    gradient, hessian, leaf_of = state.derivatives[0, k], state.derivatives[1, k], state.team.shard.short_leaf_of
    sums, unit_g, unit_h = state.sums[0, : len(nodes)], rules[0].gradient_unit, rules[0].hessian_unit
    sums[:] = 0
    sum_by_leaf(leaf_of, gradient, hessian, state.weight, 1.0 / unit_g, 1.0 / unit_h, 0, len(gradient), sums)
    newton_values(nodes, splits, sums, unit_g, unit_h, rules[0], state.factor, values[:, 0])
    for at in range(len(nodes)):
        values[at, 0] *= rate
    settle_rest(state, nodes, splits, n_drawn)
    add_by_leaf(leaf_of, values[:, 0], state.score[k], 0, len(gradient))


@part
def add_tree(state, k, n_drawn, nodes, splits, rules, rate, values):
    """Leaf values of a grown tree, and new scores; OUT values (nodes, scores), state.score, state.replay_score."""
    first, last = k, k + 1
    if state.one_tree:
        first, last = 0, len(state.score)
    leaf_of, n_rows = state.team.shard.short_leaf_of, state.score.shape[1]
    if state.apart:
        if state.leaves_of_all_rows:
            settle_rest(state, nodes, splits, n_drawn)
        write_steps(state, state.derivatives, state.weight, first, last, nodes, splits, rules, rate, values)
        if not state.leaves_of_all_rows:
            settle_rest(state, nodes, splits, n_drawn)
        add_all_by_leaf(leaf_of, values, state.score[first:last], 0, n_rows)
    else:
        add_own_tree(state, k, n_drawn, nodes, splits, rules, rate, values)
    if state.replays:
        weight = state.replay_weight
        write_steps(state, state.replay_derivatives, weight, first, last, nodes, splits, rules, rate, values)
        add_all_by_leaf(leaf_of, values, state.replay_score[first:last], 0, n_rows)


@part
def keep_nodes(state, at, n_nodes, trees):
    """Put the nodes that have grown behind those of the trees before; returns these, which are split, their values."""
    start, stop = trees.starts[at], trees.starts[at] + n_nodes
    trees.starts[at + 1] = stop
    nodes, splits = trees.nodes[start:stop], trees.splits[start:stop]
    for i in range(n_nodes):
        nodes[i], splits[i] = state.nodes[i], state.splits[i]
    return nodes, splits, trees.values[start:stop]


@part
def advance(state, t, rate, template, rules, trees):
    """One round; OUT state, trees."""
    n_trees, n_rows = state.n_trees, state.score.shape[1]
    gradient, hessian = state.derivatives[0], state.derivatives[1]
    differentiate(state.loss, state.y, state.score, state.row_most, state.row_total, gradient, hessian)
    if state.replays:
        own = state.replay_derivatives
        differentiate(state.loss, state.y, state.replay_score, state.row_most, state.row_total, own[0], own[1])
    key = mix(state.seed, np.int64(state.n_done + t))
    n_drawn, length = draw_sample(state, key), rate * (state.n_done + t)
    if state.one_tree:
        write_factors(key, state.sums_to_zero, state.scales, state.factors)
        project(gradient, hessian, state.factors, 0, n_rows, state.mixture)
        gradient, hessian = state.mixture[0:1], state.mixture[1:2]
    for k in range(n_trees):
        at, tree_key = t * n_trees + k, mix(key, np.int64(k + 1))
        n_nodes = grow(state, gradient[k], hessian[k], n_drawn, length, tree_key, template, rules)
        nodes, splits, values = keep_nodes(state, at, n_nodes, trees)
        add_tree(state, k, n_drawn, nodes, splits, rules, rate, values)
        trees.hessian_units[at] = rules[0].hessian_unit
    measured, scores = state.measured, state.row_scores[t]
    for k in range(len(scores)):
        for i in range(len(measured)):
            scores[k, i] = state.score[k, measured[i]]
    measure(state.loss, state.y_measured, scores, state.loss_factors, state.measured_parts, state.row_losses[t])


@kernel
def advance_all(state, rates, template, rules, trees):
    """One round for each rate. Rules begin as the template in each tree. OUT state, trees.

    The caller leads a team, whose other threads help to grow all trees.
    """
    for t in range(len(rates)):
        advance(state, t, rates[t], template, rules, trees)
    end(state.team.board)

"""A whole boosted tree in one call, for one thread and one shard: small data has no time for more.

The same tree as growth by levels or leaves makes; only the order in which nodes are numbered differs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.branching import branch_one, may_split, write_table
from sapwood.kernels.histogram import build_one, subtract_one
from sapwood.kernels.newton import NO_GAIN
from sapwood.kernels.routing import split_records
from sapwood.kernels.scan import scan_node
from sapwood.kernels.small_nodes import SMALL, gather, remove_rows, scan_rows

Array = Any


class RowWork(NamedTuple):
    """What a shard knows of its rows."""

    records: Array
    spare: Array
    columns: Array
    words: Array
    n_words: Array
    n_features: Array
    block_rows: Array
    packed: Array


class ColumnWork(NamedTuple):
    """What the search knows of columns."""

    mask: Array
    n_codes: Array
    is_category: Array
    signs: Array


class Scratch(NamedTuple):
    """Room for what is soon forgotten."""

    keys: Array  # (256,)
    order: Array  # (256,)
    table: Array  # (256,) where codes go
    hist: Array  # (256, sums), zero
    codes: Array  # (257,)
    present: Array  # (4,) bitmap of codes
    rows: Array  # (SMALL,)
    values: Array  # (SMALL, 2)


@lean_kernel
def comes_before(nodes, a, b):
    """Larger gain, then the higher node, then the smaller key: the same whatever the numbers of nodes are."""
    if nodes[a].gain != nodes[b].gain:
        return nodes[a].gain > nodes[b].gain
    if nodes[a].depth != nodes[b].depth:
        return nodes[a].depth < nodes[b].depth
    return nodes[a].key < nodes[b].key


@lean_kernel
def next_open(nodes, open_, n_open, leaf_wise):
    """Place of the node to split next: the last one opened, or the best."""
    at = n_open - 1
    if leaf_wise:
        for i in range(n_open - 1):
            if comes_before(nodes, open_[i], open_[at]):
                at = i
    return at


@lean_kernel
def drop_weak(node, weak):
    """A gain that is too weak is none; OUT node."""
    if node.gain < weak:
        node.gain = NO_GAIN


@lean_kernel
def find_split(node, hists, rules, weak, column, scratch):
    """Best split of a node from its histogram; OUT node."""
    about = column.n_codes, column.is_category, column.signs
    scan_node(
        hists, column.mask, 0, len(column.mask), about[0], about[1], about[2], rules, scratch.keys, scratch.order, node
    )
    drop_weak(node, weak)


@lean_kernel
def find_small_split(node, first, last, work, quanta, rules, weak, column, scratch):
    """Best split of a small node from its rows; OUT node."""
    gather(work.records, first, last, quanta, scratch.rows, scratch.values)
    scan_rows(
        scratch.rows,
        scratch.values,
        last - first,
        work.columns,
        column.mask,
        column.n_codes,
        column.is_category,
        column.signs,
        rules,
        scratch,
        node,
    )
    drop_weak(node, weak)


@lean_kernel
def split_rows(nodes, at, work, table, firsts, lasts):
    """Move the rows of a node to its children; OUT nodes, firsts, lasts."""
    node = nodes[at]
    write_table(node, table)
    cut = split_records(work.records, firsts[at], lasts[at], work.columns[node.feature], table, work.spare)
    firsts[node.left], lasts[node.left] = firsts[at], cut
    firsts[node.right], lasts[node.right] = cut, lasts[at]
    nodes[node.left].n_rows, nodes[node.right].n_rows = cut - firsts[at], lasts[at] - cut


@lean_kernel
def share_histogram(parent, own, small, large, firsts, lasts, work, quanta, scratch, pool):
    """The parent's slot becomes the larger child's; a smaller child that is not small gets slot `own`. OUT pool."""
    if small.n_rows <= SMALL:
        gather(work.records, firsts, lasts, quanta, scratch.rows, scratch.values)
        remove_rows(scratch.rows, scratch.values, small.n_rows, work.columns, pool[parent])
        return
    build_one(
        firsts,
        lasts,
        work.records,
        work.words,
        work.n_words,
        work.n_features,
        work.block_rows,
        quanta,
        work.packed,
        pool[own],
    )
    if large.n_rows > SMALL:
        subtract_one(pool[parent], pool[own])


@lean_kernel
def grow_whole(
    nodes, rules, weak, max_leaves, leaf_wise, work, column, quanta, pool, free, scratch, firsts, lasts, open_
):
    """Grow a tree whose root has its sums and its histogram; returns how many nodes it has.

    A node with children is split. `free` are the slots of the pool that are not lent, and room for one more. Depth
    first, the smaller child is split first, so that few slots are enough. OUT nodes, firsts, lasts (ranges of records).
    """
    n_nodes, n_open, n_leaves, n_free = 1, 0, 1, len(free) - 1
    if may_split(nodes[0], rules):
        find_split(nodes[0], pool[nodes[0].slot], rules, weak, column, scratch)
        if nodes[0].gain > NO_GAIN:
            open_[0] = 0
            n_open = 1
    while n_open > 0 and n_leaves < max_leaves:
        place = next_open(nodes, open_, n_open, leaf_wise)
        at = open_[place]
        n_open -= 1
        open_[place] = open_[n_open]
        left = np.int64(n_nodes)
        branch_one(nodes, at, left, column.signs, rules)
        n_nodes += 2
        n_leaves += 1
        split_rows(nodes, at, work, scratch.table, firsts, lasts)
        small, large = (left, left + 1) if nodes[left].n_rows <= nodes[left + 1].n_rows else (left + 1, left)
        parent_slot, own_slot = nodes[at].slot, np.int64(-1)
        nodes[at].slot = -1
        wants_large = may_split(nodes[large], rules)
        if (wants_large or may_split(nodes[small], rules)) and nodes[large].n_rows > SMALL:
            if nodes[small].n_rows > SMALL:
                n_free -= 1
                own_slot = free[n_free]
            share_histogram(
                parent_slot,
                own_slot,
                nodes[small],
                nodes[large],
                firsts[small],
                lasts[small],
                work,
                quanta,
                scratch,
                pool,
            )
        for child in (large, small):
            node = nodes[child]
            slot = own_slot
            if child == large and node.n_rows > SMALL:
                slot, parent_slot = parent_slot, np.int64(-1)
            elif child == large:
                slot = np.int64(-1)
            if may_split(node, rules):
                if node.n_rows <= SMALL:
                    find_small_split(node, firsts[child], lasts[child], work, quanta, rules, weak, column, scratch)
                else:
                    find_split(node, pool[slot], rules, weak, column, scratch)
            if node.gain > NO_GAIN:
                node.slot = slot
                open_[n_open] = child
                n_open += 1
            elif slot >= 0:
                free[n_free] = slot
                n_free += 1
        if parent_slot >= 0:
            free[n_free] = parent_slot
            n_free += 1
    return n_nodes

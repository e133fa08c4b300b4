"""A whole boosted tree in one call, for one thread and one shard: small data has no time for more.

The same tree as growth by levels or leaves makes; only the order in which nodes are numbered differs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.branching import branch_one, may_split, write_table
from sapwood.kernels.histogram import build_one, subtract_one
from sapwood.kernels.newton import NO_GAIN
from sapwood.kernels.routing import split_records
from sapwood.kernels.scan import scan_node

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
    """What the search knows of columns, and its scratch."""

    mask: Array
    n_codes: Array
    is_category: Array
    signs: Array
    keys: Array
    order: Array


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
def find_split(node, hists, rules, weak, column):
    """Best split of a node, if it is not too weak; OUT node."""
    n = len(column.mask)
    scan_node(
        hists,
        column.mask,
        0,
        n,
        column.n_codes,
        column.is_category,
        column.signs,
        rules,
        column.keys,
        column.order,
        node,
    )
    if node.gain < weak:
        node.gain = NO_GAIN


@lean_kernel
def sum_rows(firsts, lasts, at, work, quanta, out):
    """Histogram of a node; OUT out."""
    build_one(
        firsts[at],
        lasts[at],
        work.records,
        work.words,
        work.n_words,
        work.n_features,
        work.block_rows,
        quanta,
        work.packed,
        out,
    )


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
def grow_whole(
    nodes, rules, weak, max_leaves, leaf_wise, work, column, quanta, pool, free, table, firsts, lasts, open_
):
    """Grow a tree whose root has its sums and its histogram; returns how many nodes it has.

    A node with children is split. `free` are the slots of the pool that are not lent, and room for one more. Depth
    first, the smaller child is split first, so that few slots are enough. OUT nodes, firsts, lasts (ranges of records).
    """
    n_nodes, n_open, n_leaves, n_free = 1, 0, 1, len(free) - 1
    if may_split(nodes[0], rules):
        find_split(nodes[0], pool[nodes[0].slot], rules, weak, column)
        if nodes[0].gain > NO_GAIN:
            open_[0] = 0
            n_open = 1
    while n_open > 0 and n_leaves < max_leaves:
        place = next_open(nodes, open_, n_open, leaf_wise)
        at = open_[place]
        n_open -= 1
        open_[place] = open_[n_open]
        left = n_nodes
        branch_one(nodes, at, left, column.signs, rules)
        n_nodes += 2
        n_leaves += 1
        split_rows(nodes, at, work, table, firsts, lasts)
        small, large = (left, left + 1) if nodes[left].n_rows <= nodes[left + 1].n_rows else (left + 1, left)
        slot = nodes[at].slot
        nodes[at].slot = -1
        wants_small, wants_large = may_split(nodes[small], rules), may_split(nodes[large], rules)
        kept = False
        if wants_small or wants_large:
            n_free -= 1
            other = free[n_free]
            sum_rows(firsts, lasts, small, work, quanta, pool[other])
            if wants_large:
                subtract_one(pool[slot], pool[other])
                find_split(nodes[large], pool[slot], rules, weak, column)
                if nodes[large].gain > NO_GAIN:
                    nodes[large].slot = slot
                    open_[n_open] = large
                    n_open += 1
                    kept = True
            if wants_small:
                find_split(nodes[small], pool[other], rules, weak, column)
            if wants_small and nodes[small].gain > NO_GAIN:
                nodes[small].slot = other
                open_[n_open] = small
                n_open += 1
            else:
                free[n_free] = other
                n_free += 1
        if not kept:
            free[n_free] = slot
            n_free += 1
    return n_nodes

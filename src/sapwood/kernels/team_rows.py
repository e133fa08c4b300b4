"""Row work of a team: sums of pieces of a node, and the moving of rows.

Records move between two buffers: those of a node are in `records[depth & 1]`, from `first` on. A thread writes those
that go left from the front and those that go right from the back, so that a row is read and written once; rows of a
node are then in ascending or descending order, which sums of whole numbers do not mind.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import inner_kernel, lean_kernel, part
from sapwood.kernels.branching import write_table
from sapwood.kernels.histogram import HALF, NONE, ONE, THREE, add_bundles, add_rows, packed_numbers, widen
from sapwood.kernels.team_frame import records_at

LEAST_PIECE, MOST_PIECE = 1 << 16, 1 << 16  # cells, and rows, that a thread takes at a time


@inner_kernel
def piece_rows(node, team):
    """Rows of a node that a thread takes at a time: enough to be worth it, few enough for all to have the same."""
    share = (node.n_rows + 16 * team.n_threads - 1) // (16 * team.n_threads)
    return min(max(share, LEAST_PIECE // team.n_columns + 1), MOST_PIECE)


@inner_kernel
def count_pieces(node, team):
    """How many such pieces a node has."""
    size = piece_rows(node, team)
    return (node.n_rows + size - 1) // size


@inner_kernel
def widen_own(team, me):
    """Move a thread's packed sums to its slot of the pool."""
    thread, shard = team.threads[me], team.shard
    if thread.pending > 0:
        widen(shard.packed[me], shard, me, 0, shard.n_used[0], team.pool[me])
        thread.pending = 0


@part
def sum_piece(team, node, piece, me):
    """Add a piece of a node's records to the thread's own sums: packed ones as long as they cannot overflow."""
    shard, thread, size = team.shard, team.threads[me], piece_rows(node, team)
    first = node.first + piece * size
    last = min(first + size, node.first + node.n_rows)
    records = records_at(team, node.depth)
    if shard.is_packed:
        if thread.pending + last - first > np.int64(shard.block_rows):
            widen_own(team, me)
        last_place = np.uint64(shard.n_used[1])
        add_bundles(records, np.uint64(first), np.uint64(last), shard, NONE, last_place, shard.packed[me])
        thread.pending += last - first
    else:
        add_rows(records, first, last, shard, me, 0, shard.n_used[0], team.pool[me])


@inner_kernel
def sum_rows(team, node):
    """Sums of the rows of a node."""
    records, quantized, g, h = records_at(team, node.depth), team.shard.quantized, np.int64(0), np.int64(0)
    for i in range(node.first, node.first + node.n_rows):
        if team.shard.is_packed:
            own_g, own_h = packed_numbers(records[i])
        else:
            own_g, own_h = quantized[records[i] >> HALF, 0], quantized[records[i] >> HALF, 1]
        g += own_g
        h += own_h
    return g, h


@inner_kernel
def gather_rows(team, node, thread):
    """Rows of a small node, as places of their codes, and their whole numbers; OUT thread.rows, thread.values."""
    records, rows, values = records_at(team, node.depth), thread.rows, thread.values
    distance = team.shard.words_of_row << THREE if team.by_tiles else ONE
    is_packed, quantized = team.shard.is_packed, team.shard.quantized
    for i in range(node.n_rows):
        record = records[node.first + i]
        row = record >> HALF
        rows[i] = row * distance
        if is_packed:
            values[i, 0], values[i, 1] = packed_numbers(record)
        else:
            values[i, 0], values[i, 1] = quantized[row, 0], quantized[row, 1]


@inner_kernel
def thread_rows(node, thread, team):
    """Where a thread's share of a node's records begins and ends."""
    n = team.n_threads
    return node.first + node.n_rows * thread // n, node.first + node.n_rows * (thread + 1) // n


@inner_kernel
def move_rows(source, first, last, column, table, target):
    """Write records that go left from the front, others from the back; OUT target; returns how many go left.

    Each is written to both ends, and stays at one of them: two stores take less time than the choice of a place.
    """
    left, right = np.uint64(first), np.uint64(last) - ONE
    for i in range(np.uint64(first), np.uint64(last)):
        record = source[i]
        goes_left = np.uint64(table[column[record >> HALF]])
        target[left] = record
        target[right] = record
        left += goes_left
        right -= ONE - goes_left
    return np.int64(left) - first


@inner_kernel
def mark_rows(source, first, last, column, table, left, right, leaf_of):
    """Write the leaf of each row, one of two; OUT leaf_of; returns how many go left."""
    count = np.uint64(0)
    for i in range(np.uint64(first), np.uint64(last)):
        row = source[i] >> HALF
        goes_left = np.uint64(table[column[row]])
        leaf_of[row] = left if goes_left else right
        count += goes_left
    return np.int64(count)


@inner_kernel
def part_rows(team, node, first, last, are_leaves, me):
    """Move some of a node's records to its children, or write which of them is the leaf of each row.

    Returns how many go left.
    """
    shard, source, table = team.shard, records_at(team, node.depth), team.threads[me].table
    column = shard.columns[node.feature]
    write_table(node, table)
    if not are_leaves:
        return move_rows(source, first, last, column, table, records_at(team, node.depth + 1))
    if shard.is_short:
        left, right = np.uint16(node.left), np.uint16(node.right)
        return mark_rows(source, first, last, column, table, left, right, shard.short_leaf_of)
    long_left, long_right = np.uint32(node.left), np.uint32(node.right)
    return mark_rows(source, first, last, column, table, long_left, long_right, shard.long_leaf_of)


@inner_kernel
def write_leaf(records, first, last, leaf, leaf_of):
    """Write the leaf of rows; OUT leaf_of."""
    for i in range(np.uint64(first), np.uint64(last)):
        leaf_of[records[i] >> HALF] = leaf


@inner_kernel
def settle_node(team, node, at):
    """Write the leaf of all rows of a node."""
    records, first, last = records_at(team, node.depth), node.first, node.first + node.n_rows
    if team.shard.is_short:
        write_leaf(records, first, last, np.uint16(at), team.shard.short_leaf_of)
    else:
        write_leaf(records, first, last, np.uint32(at), team.shard.long_leaf_of)


@lean_kernel
def add_up(team, out, first, last):
    """Add what the threads have summed up for some of the tree's columns; OUT the slot `out`; theirs become zero."""
    drawn, starts, n_codes, pool = team.shard.drawn, team.shard.starts, team.shard.n_codes, team.pool
    total = pool[out]
    for place in range(first, last):
        start, stop = starts[drawn[place]], starts[drawn[place]] + n_codes[drawn[place]] + 1
        total[start:stop] = 0
        for thread in range(team.n_threads):
            own = pool[thread]
            for i in range(start, stop):
                for d in range(total.shape[1]):
                    total[i, d] += own[i, d]
                    own[i, d] = 0

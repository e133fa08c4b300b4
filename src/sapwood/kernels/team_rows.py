"""Row work of a team: where its arrays are, sums of pieces of a node, and the moving of rows.

Records move between two buffers: those of a node are in `records[depth & 1]`, from `first` on. A thread writes those
that go left from the front and those that go right from the back, so that a row is read and written once; rows of a
node are then in ascending or descending order, which sums of whole numbers do not mind.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import lean_kernel, part
from sapwood.kernels.branching import write_table
from sapwood.kernels.histogram import RowCodes, add_block, add_rows, widen_all
from sapwood.kernels.memory import (
    byte_table_at,
    bytes_at,
    floats_at,
    int_table_at,
    ints_at,
    shorts_at,
    uints_at,
    words_at,
)
from sapwood.kernels.phases import ADD, MARK
from sapwood.kernels.scan import Lanes
from sapwood.kernels.small_nodes import SMALL, gather, remove_rows

HALF = np.uint64(32)
ONE = np.uint64(1)
LEAST_PIECE, MOST_PIECE = 1 << 16, 1 << 16  # cells, and rows, that a thread takes at a time

# Room for what a thread soon forgets.
SCRATCH = np.dtype(
    [
        ("table", np.uint8, 256),  # where codes go
        ("codes", np.int64, 257),
        ("present", np.uint64, 4),  # bitmap of codes
        ("rows", np.uint32, SMALL),
        ("values", np.int64, (SMALL, 2)),
        ("all_codes", np.int64, 256),  # 1, 2, …
        ("left_g", np.int64, 256),  # and so on: see `Lanes`
        ("left_h", np.int64, 256),
        ("both", np.float64, 257),
        ("both_missing", np.float64, 257),
        ("keys", np.float64, 256),
        ("order", np.int64, 256),
    ]
)
SIZE = SCRATCH.itemsize
TABLE, CODES, PRESENT, ROWS, VALUES, ALL, LEFT_G, LEFT_H, BOTH, MISSING, KEYS, ORDER = (
    place[1] for place in (SCRATCH.fields or {}).values()
)


@part
def lanes_of(team, me):
    """A thread's own lanes."""
    at = team.scratch + me * SIZE
    return Lanes(
        ints_at(at + ALL, 256),
        ints_at(at + LEFT_G, 256),
        ints_at(at + LEFT_H, 256),
        floats_at(at + BOTH, 257),
        floats_at(at + MISSING, 257),
        ints_at(at + BOTH, 257),
        ints_at(at + MISSING, 257),
        floats_at(at + KEYS, 256),
        ints_at(at + ORDER, 256),
    )


@part
def codes_of(team):
    """Codes of the rows."""
    return RowCodes(
        words_at(team.words, team.n_rows * team.n_words),
        np.uint64(team.n_words),
        np.uint64(team.n_bundles),
        ints_at(team.sizes, team.n_bundles),
        ints_at(team.n_codes, team.n_columns),
        ints_at(team.home, team.n_columns),
        ints_at(team.meaning_of, team.n_columns),
        byte_table_at(team.meanings, team.n_meanings, 256),
    )


@part
def records_at(team, depth):
    """Records of nodes of this depth are here."""
    return words_at(team.records + 8 * team.n_rows * (depth & 1), team.n_rows)


@part
def slot_of(team, slot):
    """A slot of the pool."""
    n = 256 * team.n_columns
    return int_table_at(team.pool + 8 * slot * n * team.n_sums, n, team.n_sums)


@part
def column_at(team, feature):
    """Codes of a column."""
    return bytes_at(team.columns + feature * team.n_rows, team.n_rows)


@lean_kernel
def sum_rows(team, node, first, last, me, out):
    """Add some of a node's records to a histogram; OUT out."""
    codes, n = codes_of(team), 256 * team.n_bundles
    records, packed = records_at(team, node.depth), ints_at(team.packed + 8 * me * n, n)
    sums = int_table_at(team.bundle_sums + 8 * me * n * team.n_sums, n, team.n_sums)
    block_rows = np.uint64(team.block_rows)
    if team.is_packed:
        add_rows(records, first, last, codes, block_rows, None, packed, sums, out)
    else:
        quanta = int_table_at(team.quanta, team.n_rows, 2)
        add_rows(records, first, last, codes, block_rows, quanta, packed, sums, out)


@part
def sum_piece(team, node, first, last, me):
    """Add some of a node's records to the thread's own sums: packed ones as long as they cannot overflow."""
    if team.is_packed:
        n, pending = 256 * team.n_bundles, ints_at(team.pending + 64 * me, 1)
        if pending[0] + last - first > team.block_rows:
            widen_own(team, me)
        add_block(records_at(team, node.depth), first, last, codes_of(team), ints_at(team.packed + 8 * me * n, n))
        pending[0] += last - first
    else:
        sum_rows(team, node, first, last, me, slot_of(team, me))


@lean_kernel
def widen_own(team, thread):
    """Move a thread's packed sums to its slot of the pool."""
    n, pending = 256 * team.n_bundles, ints_at(team.pending + 64 * thread, 1)
    if pending[0] > 0:
        widen_all(ints_at(team.packed + 8 * thread * n, n), codes_of(team), slot_of(team, thread))
        pending[0] = 0


@lean_kernel
def gather_rows(team, node, me):
    """Rows of a small node and their numbers; OUT the thread's scratch."""
    at, records = team.scratch + me * SIZE, records_at(team, node.depth)
    rows, values = uints_at(at + ROWS, SMALL), int_table_at(at + VALUES, SMALL, 2)
    if team.is_packed:
        gather(records, node.first, node.first + node.n_rows, None, rows, values)
    else:
        gather(records, node.first, node.first + node.n_rows, int_table_at(team.quanta, team.n_rows, 2), rows, values)


@lean_kernel
def remove_node(team, small, slot, me):
    """Take the rows of a small node out of a histogram; OUT the slot."""
    gather_rows(team, small, me)
    at = team.scratch + me * SIZE
    rows, values = uints_at(at + ROWS, SMALL), int_table_at(at + VALUES, SMALL, 2)
    columns = byte_table_at(team.columns, team.n_columns, team.n_rows)
    remove_rows(rows, values, small.n_rows, columns, slot_of(team, slot))


@lean_kernel
def piece_rows(node, team):
    """Rows of a node that a thread takes at a time: enough to be worth it, few enough for all to have the same."""
    share = (node.n_rows + 16 * team.n_threads - 1) // (16 * team.n_threads)
    return min(max(share, LEAST_PIECE // team.n_columns + 1), MOST_PIECE)


@lean_kernel
def count_pieces(node, team):
    """How many such pieces a node has."""
    size = piece_rows(node, team)
    return (node.n_rows + size - 1) // size


@lean_kernel
def thread_rows(node, thread, team):
    """Where a thread's share of a node's records begins and ends."""
    n = team.n_threads
    return node.first + node.n_rows * thread // n, node.first + node.n_rows * (thread + 1) // n


@lean_kernel
def move_rows(source, first, last, column, table, left, right, target):
    """Write records that go left from `left` upwards, others from `right` downwards; OUT target; how many go left."""
    begin = np.uint64(left)
    left, right = np.uint64(left), np.uint64(right)
    for i in range(np.uint64(first), np.uint64(last)):
        record = source[i]
        goes_left = np.uint64(table[column[record >> HALF]])
        target[left if goes_left else right] = record
        left += goes_left
        right -= ONE - goes_left
    return np.int64(left - begin)


@lean_kernel
def mark_rows(source, first, last, column, table, left, right, leaf_of):
    """Write the leaf of each row, one of two; OUT leaf_of; returns how many go left."""
    count = np.uint64(0)
    for i in range(np.uint64(first), np.uint64(last)):
        row = source[i] >> HALF
        goes_left = np.uint64(table[column[row]])
        leaf_of[row] = left if goes_left else right
        count += goes_left
    return np.int64(count)


@lean_kernel
def settle_rows(source, first, last, leaf, leaf_of):
    """Write the leaf of rows; OUT leaf_of."""
    for i in range(np.uint64(first), np.uint64(last)):
        leaf_of[source[i] >> HALF] = leaf


@lean_kernel
def mark_children(team, node, first, last, me):
    """Tell some of a node's rows which of its children is their leaf; returns how many go left."""
    records, column = records_at(team, node.depth), column_at(team, node.feature)
    table = bytes_at(team.scratch + me * SIZE + TABLE, 256)
    if team.is_short:
        leaf_of = shorts_at(team.leaf_of, team.n_rows)
        return mark_rows(records, first, last, column, table, np.uint16(node.left), np.uint16(node.right), leaf_of)
    long_leaf_of = uints_at(team.leaf_of, team.n_rows)
    return mark_rows(records, first, last, column, table, np.uint32(node.left), np.uint32(node.right), long_leaf_of)


@lean_kernel
def settle_node(team, node, at):
    """Tell all rows of a node that it is their leaf."""
    records, first, last = records_at(team, node.depth), node.first, node.first + node.n_rows
    if team.is_short:
        settle_rows(records, first, last, np.uint16(at), shorts_at(team.leaf_of, team.n_rows))
    else:
        settle_rows(records, first, last, np.uint32(at), uints_at(team.leaf_of, team.n_rows))


@part
def do_piece(kind, node, task, team, me):
    """Work on some of a node's rows."""
    size = piece_rows(node, team)
    first = node.first + task * size
    last = min(first + size, node.first + node.n_rows)
    if kind == ADD:
        sum_piece(team, node, first, last, me)
        return
    first, last = thread_rows(node, task, team)
    table, n_left = bytes_at(team.scratch + me * SIZE + TABLE, 256), np.int64(0)
    write_table(node, table)
    if kind == MARK:
        n_left = mark_children(team, node, first, last, me)
    else:
        source, target = records_at(team, node.depth), records_at(team, node.depth + 1)
        n_left = move_rows(source, first, last, column_at(team, node.feature), table, first, last - 1, target)
    ints_at(team.counts + 8 * task, 1)[0] = n_left


@lean_kernel
def add_up(team, out, first, last):
    """Add what the threads have summed up for some columns; OUT the slot `out`; theirs become zero."""
    n_codes, total = ints_at(team.n_codes, team.n_columns), slot_of(team, out)
    for f in range(first, last):
        total[256 * f : 256 * f + n_codes[f] + 1] = 0
        for thread in range(team.n_threads):
            own = slot_of(team, thread)
            for i in range(256 * f, 256 * f + n_codes[f] + 1):
                for d in range(total.shape[1]):
                    total[i, d] += own[i, d]
                    own[i, d] = 0

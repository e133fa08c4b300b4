"""Arrays from addresses: a kernel that works on thirty arrays takes one record that says where they are.

Numba passes an array as seven numbers, and links the code of every kernel into all that call it: kernels that hand
thirty arrays to each other take twice as long to compile. Whoever fills in the addresses keeps the arrays alive.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import from_dtype
from numba.core import types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from sapwood.kernels.boosting_records import NODE


def _array(context: Any, builder: Any, kind: Any, address: Any, shape: list[Any]) -> Any:
    array = context.make_array(kind)(context, builder)
    itemsize = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    word = ir.IntType(64)
    strides = [word(itemsize)] if len(shape) == 1 else [builder.mul(shape[1], word(itemsize)), word(itemsize)]
    data = builder.inttoptr(address, array.data.type)
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=word(itemsize), meminfo=None)
    return array._getvalue()


def _line(dtype: Any) -> Any:
    kind = types.Array(dtype, 1, "C")

    @intrinsic
    def at(_context: Any, _address: Any, _n: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return _array(context, builder, kind, arguments[0], [arguments[1]])

        return kind(types.int64, types.int64), generate

    return at


def _table(dtype: Any) -> Any:
    kind = types.Array(dtype, 2, "C")

    @intrinsic
    def at(_context: Any, _address: Any, _n: Any, _m: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return _array(context, builder, kind, arguments[0], [arguments[1], arguments[2]])

        return kind(types.int64, types.int64, types.int64), generate

    return at


bytes_at, shorts_at, uints_at, words_at = (_line(t) for t in (types.uint8, types.uint16, types.uint32, types.uint64))
ints_at, floats_at, flags_at = (_line(t) for t in (types.int64, types.float64, types.boolean))
signs_at, nodes_at = _line(types.int8), _line(from_dtype(NODE))
int_table_at, byte_table_at = _table(types.int64), _table(types.uint8)


def address(array: Any) -> int:
    """Where an array begins; it must be contiguous."""
    assert array.flags.c_contiguous
    return int(array.ctypes.data)


TEAM = np.dtype(
    [
        # Rows, of one shard:
        ("n_rows", np.int64),
        ("records", np.int64),  # uint64 (2, rows)
        ("columns", np.int64),  # uint8 (columns, rows)
        ("words", np.int64),  # uint64: codes of a row, eight in a word
        ("n_words", np.int64),  # of a row
        ("n_bundles", np.int64),
        ("sizes", np.int64),  # int64 (bundles,), see `RowCodes`
        ("home", np.int64),  # int64 (columns,)
        ("meaning_of", np.int64),  # int64 (columns,)
        ("n_meanings", np.int64),
        ("meanings", np.int64),  # uint8 (meanings, 256)
        ("block_rows", np.int64),
        ("is_packed", np.bool_),
        ("quanta", np.int64),  # int64 (rows, 2), if not packed
        ("packed", np.int64),  # int64 (threads, 256 * bundles), zero
        ("pending", np.int64),  # int64 (threads, 8): rows in a thread's packed sums, in a cache line of its own
        ("bundle_sums", np.int64),  # int64 (threads, 256 * bundles, sums), zero, if not packed and bundled
        ("leaf_of", np.int64),  # uint16 or uint32 (rows,), OUT: the node that each row ends in
        ("is_short", np.bool_),  # uint16
        # Columns:
        ("n_columns", np.int64),
        ("mask", np.int64),  # bool (columns,): those that may be used
        ("n_codes", np.int64),  # int64 (columns,)
        ("is_category", np.int64),  # bool (columns,)
        ("signs", np.int64),  # int8 (columns,)
        # Histograms:
        ("n_sums", np.int64),
        ("pool", np.int64),  # int64 (slots, 256 * columns, sums); the first ones, a slot for each thread, are zero
        # The team:
        ("n_threads", np.int64),
        ("board", np.int64),
        ("n_nodes", np.int64),  # int64 (1,)
        ("ids", np.int64),  # int64: nodes of a phase, a task for each
        ("n_ids", np.int64),
        ("lent", np.int64),  # int64: slots for their smaller children
        ("branches", np.int64),  # int64: nodes below which branches will be grown, the largest first
        ("n_branches", np.int64),
        ("counts", np.int64),  # int64 (pieces,): rows of each piece of a node that go left
        ("found", np.int64),  # NODE (2 * blocks of columns,): best splits of the smaller and the larger child
        ("open", np.int64),  # int64: nodes that wait
        ("free", np.int64),  # int64: slots of the pool that the leader may use
        ("n_free", np.int64),
        ("scratch", np.int64),  # SCRATCH (threads,)
        ("hist", np.int64),  # int64 (threads, 256, sums), zero
        ("stack", np.int64),  # int64 (threads, n_stack): slots that a thread may use, their number first
        ("n_stack", np.int64),
        ("waiting", np.int64),  # int64 (threads, n_stack): nodes that wait for a thread
        # What the leader remembers:
        ("step", np.int64),  # the phase that is being done, see `whole_tree.py`
        ("at", np.int64),  # the node that is being split together
        ("n_open", np.int64),
        ("n_leaves", np.int64),
        # Limits:
        ("large", np.int64),  # nodes of more rows are split by all threads together
        ("share", np.int64),  # nodes of more rows are split before branches are grown below their children
        ("by_tiles", np.bool_),  # there are so many columns that threads share them instead of rows
        ("leaf_wise", np.bool_),
        ("max_leaves", np.int64),
        ("most_branches", np.int64),
    ],
    align=True,
)

"""A team inside a kernel: threads that are already running hand work to each other within a microsecond.

One worker leads. It posts phases, each of so many tasks, works through them like all others, and goes on when all
tasks are done. Others take tasks while there are any and leave when the leader has ended or has had nothing for them
for a while. The leader never waits for a worker that has not taken a task, so one that comes late, or not at all, costs
nothing but its help.

A board is an array of int64, a cache line for each number on it:

    ticket  number of tasks << 32 | next task; a task is taken by exchanging it for the next ticket
    done    tasks done in this phase

What a phase is about is written before its ticket, anywhere, and does not change until all its tasks are done.
"""

from __future__ import annotations

import platform

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from sapwood.kernels._jit import inner_kernel, lean_kernel
from sapwood.kernels.intrinsic_types import BaseContext, Intrinsic, Signature, Values

LINE = 8  # numbers in a cache line
TICKET, DONE = 0, LINE
BOARD = 2 * LINE
TASK_BITS = np.int64(32)
TASKS = np.int64((1 << 32) - 1)
END, NONE = np.int64(-1), np.int64(-2)
PATIENCE = 300_000  # pauses, some milliseconds, that a worker without tasks waits


def _place(context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values) -> ir.Value:
    data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
    return builder.gep(data, [arguments[1]])


@intrinsic
def read(_context: object, board: types.Type, _index: types.Type) -> Intrinsic:
    """The number at an index; what its writer wrote before it can be seen."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values) -> ir.Value:
        return builder.load_atomic(_place(context, builder, signature, arguments), "acquire", 8)

    return types.int64(board, types.int64), generate


@intrinsic
def write(_context: object, board: types.Type, _index: types.Type, _value: types.Type) -> Intrinsic:
    """Set the number at an index; whoever reads it sees what was written before."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values) -> ir.Value:
        builder.store_atomic(arguments[2], _place(context, builder, signature, arguments), "release", 8)
        return context.get_dummy_value()

    return types.void(board, types.int64, types.int64), generate


@intrinsic
def add(_context: object, board: types.Type, _index: types.Type, _value: types.Type) -> Intrinsic:
    """Add to the number at an index; returns what it was."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values) -> ir.Value:
        return builder.atomic_rmw("add", _place(context, builder, signature, arguments), arguments[2], "acq_rel")

    return types.int64(board, types.int64, types.int64), generate


@intrinsic
def exchange(_context: object, board: types.Type, _index: types.Type, _old: types.Type, _new: types.Type) -> Intrinsic:
    """Set the number at an index if it is still the old one; returns whether it was."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values) -> ir.Value:
        place = _place(context, builder, signature, arguments)
        return builder.extract_value(builder.cmpxchg(place, arguments[2], arguments[3], "acq_rel", "acquire"), 1)

    return types.boolean(board, types.int64, types.int64, types.int64), generate


@intrinsic
def pause(_context: object) -> Intrinsic:
    """Tell the processor, if it wants to know, that this is a loop that waits."""

    def generate(context: BaseContext, builder: ir.IRBuilder, _signature: Signature, _arguments: Values) -> ir.Value:
        if platform.machine().lower() in {"x86_64", "amd64"}:
            function = ir.FunctionType(ir.VoidType(), [])
            builder.call(cgutils.get_or_insert_function(builder.module, function, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), generate


@inner_kernel
def post(board, n_tasks):
    """Begin a phase: the leader's call, when all tasks of the one before are done; OUT board."""
    write(board, DONE, 0)
    write(board, TICKET, n_tasks << TASK_BITS)


@lean_kernel
def take(board):
    """The number of a task, or a negative number if there is none now (NONE) or any more (END); OUT board."""
    while True:
        ticket = read(board, TICKET)
        if ticket < 0:
            return END
        task = ticket & TASKS
        if task >= ticket >> TASK_BITS:
            return NONE
        if exchange(board, TICKET, ticket, ticket + 1):
            return task


@inner_kernel
def await_all(board, n_tasks):
    """Wait for the tasks that others have taken."""
    while read(board, DONE) < n_tasks:
        pause()


@lean_kernel
def end(board):
    """There will be no more phases; OUT board."""
    write(board, TICKET, END)

"""The frontier: open nodes that wait to be split, as a stack (depth first) or a binary heap (best first)."""

from __future__ import annotations

from sapwood.kernels._jit import lean_kernel, part
from sapwood.kernels.float_bits import to_30_bits


@part
def comes_before(slots, a, b):
    """Best first: larger decrease, then the older node. Last bits, which depend on the order of rows, do not count."""
    one, other = to_30_bits(slots[a].decrease), to_30_bits(slots[b].decrease)
    if one != other:
        return one > other
    return slots[a].node < slots[b].node


@part
def push(frame, size, slot):
    """Add a slot to the frontier of `size` slots; OUT frontier."""
    frontier, slots, at = frame.frontier, frame.slots, size
    if frame.max_leaves > 0:
        while at > 0 and comes_before(slots, slot, frontier[(at - 1) // 2]):
            frontier[at] = frontier[(at - 1) // 2]
            at = (at - 1) // 2
    frontier[at] = slot


@lean_kernel
def pop(frame, size):
    """Take the next slot off the frontier of `size` slots; OUT frontier."""
    frontier, slots = frame.frontier, frame.slots
    if frame.max_leaves == 0:
        return frontier[size - 1]
    top, last = frontier[0], frontier[size - 1]
    at, end = 0, size - 1
    while 2 * at + 1 < end:
        child = 2 * at + 1
        if child + 1 < end and comes_before(slots, frontier[child + 1], frontier[child]):
            child += 1
        if not comes_before(slots, frontier[child], last):
            break
        frontier[at] = frontier[child]
        at = child
    frontier[at] = last
    return top

"""The frontier: nodes that wait to be split, best first, as a binary heap of their numbers."""

from __future__ import annotations

from sapwood.kernels._jit import lean_kernel, part
from sapwood.kernels.float_bits import to_30_bits


@part
def comes_before(one, other):
    """Whether a node is split before another: larger gain, then less depth, then the smaller key of its path.

    Last bits of gains, which may depend on the order of rows, do not count.
    """
    gain, other_gain = to_30_bits(one.gain), to_30_bits(other.gain)
    if gain != other_gain:
        return gain > other_gain
    if one.depth != other.depth:
        return one.depth < other.depth
    return one.key < other.key


@lean_kernel
def push(nodes, heap, size, node):
    """Add a node to a heap of `size` nodes; OUT heap."""
    at = size
    while at > 0 and comes_before(nodes[node], nodes[heap[(at - 1) // 2]]):
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = node


@lean_kernel
def pop(nodes, heap, size):
    """Take the best of `size` nodes off a heap, and put it behind the others; OUT heap."""
    best, last, at, end = heap[0], heap[size - 1], 0, size - 1
    while 2 * at + 1 < end:
        child = 2 * at + 1
        if child + 1 < end and comes_before(nodes[heap[child + 1]], nodes[heap[child]]):
            child += 1
        if not comes_before(nodes[heap[child]], nodes[last]):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = last
    heap[end] = best
    return best


@lean_kernel
def best_without_children(nodes, heap, size, most, out):
    """The best nodes of a heap that have no children yet, `most` of them or fewer; OUT out; returns how many."""
    rest, count = size, 0
    while rest > 0 and count < most:
        node = pop(nodes, heap, rest)
        rest -= 1
        if nodes[node].left < 0:
            out[count] = node
            count += 1
    while rest < size:
        push(nodes, heap, rest, heap[rest])
        rest += 1
    return count

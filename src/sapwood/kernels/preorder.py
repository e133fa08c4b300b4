"""Trees from the order of their nodes: in preorder, which nodes are leaves tells everything about the links.

The nodes of all trees stand one behind the other; `starts[t]` is where tree t begins. Read from the end, a leaf is a
finished branch, and an inner node joins the two branches finished last: the left one, then the right one.
"""

from __future__ import annotations

from sapwood.kernels._jit import lean_kernel


@lean_kernel
def link(is_leaf, starts, finished, right):
    """Right child of every inner node, counted within its tree, -1 for leaves; OUT right, scratch finished.

    Returns the first tree whose nodes do not form one, or -1.
    """
    for t in range(len(starts) - 1):
        first = starts[t]
        n = 0
        for i in range(starts[t + 1] - 1, first - 1, -1):
            right[i] = -1
            if not is_leaf[i]:
                if n < 2:
                    return t
                n -= 2
                right[i] = finished[n]
            finished[n] = i - first
            n += 1
        if n != 1:
            return t
    return -1


@lean_kernel
def add_up(is_leaf, starts, right, sums):
    """Inner nodes become the sums of their children, column by column; OUT sums (nodes, columns)."""
    for t in range(len(starts) - 1):
        first = starts[t]
        for i in range(starts[t + 1] - 1, first - 1, -1):
            if not is_leaf[i]:
                for k in range(sums.shape[1]):
                    sums[i, k] = sums[i + 1, k] + sums[first + right[i], k]

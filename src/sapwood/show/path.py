"""Paths through a tree, found without search because nodes are in preorder."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sapwood.tree import LEAF, Tree


def ancestors(tree: Tree, node: int) -> list[int]:
    """Nodes from the root down to the parent."""
    above: list[int] = []
    here = 0
    while here != node:
        above.append(here)
        here = int(tree.children_left[here] if node < tree.children_right[here] else tree.children_right[here])
    return above


def last_descendant(tree: Tree, node: int) -> int:
    """Last node of the subtree: it fills the nodes from `node` to this one."""
    while tree.children_right[node] != LEAF:
        node = int(tree.children_right[node])
    return node


def heights(tree: Tree) -> NDArray[np.int64]:
    """Depth of the subtree below each node; a leaf has 1."""
    height = np.ones(tree.node_count, dtype=np.int64)
    for node in np.flatnonzero(~tree.is_leaf)[::-1]:
        height[node] = 1 + max(height[tree.children_left[node]], height[tree.children_right[node]])
    return height

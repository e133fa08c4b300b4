"""Rows of tables with columns of many codes, on their way to the children of a node and to their leaf."""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.exact import goes_left, split_by_node
from sapwood.kernels.routing import split_records


@lean_kernel
def split_mixed(pieces, records, columns, wide, places, is_wide, nodes, tables, sets, spare, cuts):
    """Split pieces (first, last, node), by table or, on columns of many codes, by the node; OUT records, cuts."""
    for p in range(len(pieces)):
        first, last, node = pieces[p, 0], pieces[p, 1], nodes[pieces[p, 2]]
        place = places[node.feature]
        if is_wide[node.feature]:
            cuts[p] = split_by_node(records, first, last, wide[place], node, sets, spare)
        else:
            cuts[p] = split_records(records, first, last, columns[place], tables[p], spare)


@lean_kernel
def settle_mixed(columns, wide, places, is_wide, nodes, sets, splits, first, last, leaf_of):
    """Find the leaf of those of the rows first…last-1 that are in none; OUT leaf_of."""
    for row in range(first, last):
        if leaf_of[row] >= len(splits):
            at = 0
            while splits[at]:
                node = nodes[at]
                place = places[node.feature]
                if is_wide[node.feature]:
                    code = np.int64(wide[place, row])
                else:
                    code = np.int64(columns[place, row])
                at = node.left if goes_left(node, code, sets) else node.right
            leaf_of[row] = at

"""Phases of the growth of a tree by a team: what all threads do at the same time.

Large nodes are split by all threads together, step by step; smaller ones by one thread each.
"""

from __future__ import annotations

# Together, on the rows of one node:
ADD = 0  # sum up pieces of it, every thread for itself
MOVE = 1  # to its children, a share of the rows each
MARK = 2  # with its children as leaves, a share each
# Together, on the columns:
WIDEN = 3  # the packed sums of each thread
SEARCH = 4  # add up what the threads have summed, and search the children, some columns each
TILES = 5  # sum up the smaller child and search both, some columns each
# Alone:
BRANCH = 6  # grow all that is below a node
EXPAND = 7  # split one node
SETTLE = 8  # tell the rows of some leaves which one is theirs

BEGIN = -1  # no phase yet
UNKNOWN = -2  # instead of a column: the root has not been searched yet
SETTLED = -2  # instead of a slot: the rows of the node need not be told that it is their leaf
BLOCK = 8  # columns of a task of SEARCH
LEAVES = 16  # leaves of a task of SETTLE
AHEAD = 4  # leaves that are split at a time, before it is certain that they will be
MOST_AHEAD = 16  # leaves that may be split in vain

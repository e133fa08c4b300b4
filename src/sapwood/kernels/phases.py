"""Phases of the growth of a tree by a team: what all threads do at the same time, task by task.

Large nodes are split by all threads together, step by step; smaller ones by one thread each.
"""

from __future__ import annotations

from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.branch_growth import expand_alone, grow_branch
from sapwood.kernels.team import DONE, END, PATIENCE, add, await_all, pause, take
from sapwood.kernels.team_rows import part_rows, settle_node, sum_piece, thread_rows, widen_own
from sapwood.kernels.team_search import search_block

# Together, on the rows of one node:
ADD = 0  # sum up pieces of it, every thread for itself
MOVE = 1  # to its children, a share of the rows each
MARK = 2  # with its children as leaves, a share each
# Together, on the columns:
WIDEN = 3  # the packed sums of each thread
SEARCH = 4  # sum up the smaller child, or add up what the threads have summed, and search both, some columns each
# Alone:
BRANCH = 5  # grow all that is below a node
EXPAND = 6  # split one node
SETTLE = 7  # write the leaf of each row of some nodes

BEGIN = -1  # no phase yet
LEAVES = 16  # leaves of a task of SETTLE
AHEAD = 4  # leaves that are split at a time, before it is certain that they will be
MOST_AHEAD = 16  # leaves that may be split without need


@lean_kernel
def work_as(me, n_tasks, nodes, team, rules):
    """Take tasks: the leader (0) those of one phase, the others all there are until the leader ends or is idle long."""
    board, ids, waited = team.board, team.ids, 0
    while waited < PATIENCE:
        task = take(board)
        if task < 0:
            if me == 0:
                await_all(board, n_tasks)
            if me == 0 or task == END:
                return
            waited += 1
            pause()
            continue
        step = team.step
        if step == ADD:
            sum_piece(team, nodes[team.smaller], task, me)
        elif step in (MOVE, MARK):
            first, last = thread_rows(nodes[team.at], task, team)
            team.counts[task] = part_rows(team, nodes[team.at], first, last, step == MARK, me)
        elif step == WIDEN:
            widen_own(team, task)
        elif step == SEARCH:
            search_block(nodes, task, team, rules, me)
        elif step == BRANCH:
            grow_branch(nodes, team.branches[task], team, rules, me)
        elif step == EXPAND:
            team.child_slots[task] = expand_alone(nodes, ids[task], team.child_slots[task], team, rules, me)
        else:
            for i in range(LEAVES * task, min(LEAVES * task + LEAVES, team.n_ids)):
                settle_node(team, nodes[ids[i]], ids[i])
        add(board, DONE, 1)
        waited = 0

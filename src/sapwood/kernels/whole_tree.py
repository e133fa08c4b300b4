"""A whole boosted tree in one call, by a team of threads on one shard.

The leader says what is done next (`kernels/leader.py`), and all threads do it, task by task. The tree is the same as
`boosting/grower.py` makes, by levels or by leaves; only the order in which nodes are numbered differs.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import lean_kernel, part
from sapwood.kernels.branch_growth import expand_alone, grow_branch
from sapwood.kernels.leader import next_phase
from sapwood.kernels.phases import BRANCH, EXPAND, LEAVES, MARK, SEARCH, TILES, WIDEN
from sapwood.kernels.team import DONE, END, PATIENCE, TASKS, add, await_all, end, pause, post, take, topic_of
from sapwood.kernels.team_rows import do_piece, settle_node, widen_own
from sapwood.kernels.team_search import search_block, search_tile


@part
def do_task(topic, task, nodes, team, rules, me):
    """One task of a phase."""
    kind, at = topic & 15, topic >> 4
    if kind <= MARK:
        do_piece(kind, nodes[at], task, team, me)
    elif kind == WIDEN:
        widen_own(team, task)
    elif kind == SEARCH:
        search_block(nodes, at, task, team, rules, me)
    elif kind == TILES:
        search_tile(nodes, at, task, team, rules, me)
    else:
        ids, child_slots = team.ids, team.child_slots
        if kind == BRANCH:
            grow_branch(nodes, team.branches[task], team, rules, me)
        elif kind == EXPAND:
            child_slots[task] = expand_alone(nodes, ids[task], child_slots[task], team, rules, me)
        else:
            for i in range(LEAVES * task, min(LEAVES * task + LEAVES, team.n_ids)):
                settle_node(team, nodes[ids[i]], ids[i])


@lean_kernel
def work_as(me, topic, n_tasks, nodes, team, rules):
    """Take tasks: the leader (0) those of one phase, the others all there are until the leader ends or is idle long."""
    board = team.board
    waited = 0
    while waited < PATIENCE:
        ticket = take(board)
        if ticket >= 0:
            do_task(topic if me == 0 else topic_of(board, ticket), ticket & TASKS, nodes, team, rules, me)
            add(board, DONE, 1)
            waited = 0
        elif me == 0:
            break
        elif ticket == END:
            return
        else:
            waited += 1
            pause()
    if me == 0:
        await_all(board, n_tasks)


@lean_kernel
def lead(nodes, splits, team, rules):
    """Grow a tree whose root has its rows and a slot; returns how many nodes it has.

    OUT nodes, splits (nodes that are split), and the leaf of every row in the shard's frame.
    """
    board, number = team.board, np.int64(1)
    topic, n_tasks = next_phase(nodes, splits, team, rules)
    while n_tasks >= 0:
        post(board, number, topic, n_tasks)
        work_as(np.int64(0), topic, n_tasks, nodes, team, rules)
        number += 1
        topic, n_tasks = next_phase(nodes, splits, team, rules)
    end(board)
    return team.node_count[0]

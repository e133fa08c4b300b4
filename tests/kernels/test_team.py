"""A team inside kernels: every task is done once, whoever comes and whenever."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.team import BOARD, DONE, END, TASKS, add, await_all, end, pause, post, take, topic_of

Array = NDArray[Any]


@lean_kernel
def work(board, me, leads, n_phases, n_tasks, done):
    """Phases of tasks, each of which notes who did it; the leader goes on when all are done."""
    if leads:
        for number in range(1, n_phases + 1):
            post(board, np.int64(number), np.int64(100 + number), np.int64(n_tasks))
            while True:
                ticket = take(board)
                if ticket < 0:
                    break
                done[topic_of(board, ticket) - 101, ticket & TASKS] += 1 + me
                add(board, DONE, 1)
            await_all(board, n_tasks)
        end(board)
        return
    while True:
        ticket = take(board)
        if ticket == END:
            return
        if ticket < 0:
            pause()
            continue
        done[topic_of(board, ticket) - 101, ticket & TASKS] += 1 + me
        add(board, DONE, 1)


@pytest.mark.parametrize("n_helpers", [0, 1, 3])
@pytest.mark.parametrize("n_tasks", [0, 1, 7, 500])
def test_every_task_is_done_once(n_helpers: int, n_tasks: int) -> None:
    n_phases = 60
    board, done = np.zeros(BOARD, dtype=np.int64), np.zeros((n_phases, max(n_tasks, 1)), dtype=np.int64)
    helpers = [threading.Thread(target=work, args=(board, me, False, 0, 0, done)) for me in range(1, n_helpers + 1)]
    for helper in helpers:
        helper.start()
    work(board, 0, True, n_phases, n_tasks, done)
    for helper in helpers:
        helper.join(60)
        assert not helper.is_alive()
    if n_tasks:
        assert done.min() >= 1  # by whom is not certain, but
        assert done.max() <= 1 + n_helpers  # nobody did another's


def test_who_comes_after_the_end_leaves_at_once() -> None:
    board, done = np.zeros(BOARD, dtype=np.int64), np.zeros((2, 3), dtype=np.int64)
    work(board, 0, True, 2, 3, done)
    work(board, 1, False, 0, 0, done)
    assert (done == 1).all()

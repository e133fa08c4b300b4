"""A team inside kernels: every task is done once, whoever comes and whenever."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.team import BOARD, DONE, END, add, await_all, end, pause, post, take

Array = NDArray[Any]


@lean_kernel
def work(board, me, leads, phase, n_tasks, done):
    """Phases of tasks, each of which notes who did it; the leader goes on when all are done. OUT phase: its number."""
    if leads:
        for number in range(len(done)):
            phase[0] = number
            post(board, np.int64(n_tasks))
            while True:
                task = take(board)
                if task < 0:
                    break
                done[phase[0], task] += 1 + me
                add(board, DONE, 1)
            await_all(board, n_tasks)
        end(board)
        return
    while True:
        task = take(board)
        if task == END:
            return
        if task < 0:
            pause()
            continue
        done[phase[0], task] += 1 + me
        add(board, DONE, 1)


@pytest.mark.parametrize("n_helpers", [0, 1, 3])
@pytest.mark.parametrize("n_tasks", [0, 1, 7, 500])
def test_every_task_is_done_once(n_helpers: int, n_tasks: int) -> None:
    board, phase = np.zeros(BOARD, dtype=np.int64), np.zeros(1, dtype=np.int64)
    done = np.zeros((60, max(n_tasks, 1)), dtype=np.int64)
    helpers = [threading.Thread(target=work, args=(board, me, False, phase, 0, done)) for me in range(1, n_helpers + 1)]
    for helper in helpers:
        helper.start()
    work(board, 0, True, phase, n_tasks, done)
    for helper in helpers:
        helper.join(60)
        assert not helper.is_alive()
    if n_tasks:
        assert done.min() >= 1  # by whom is not certain, but
        assert done.max() <= 1 + n_helpers  # nobody did another's


def test_who_comes_after_the_end_leaves_at_once() -> None:
    board, phase = np.zeros(BOARD, dtype=np.int64), np.zeros(1, dtype=np.int64)
    done = np.zeros((2, 3), dtype=np.int64)
    work(board, 0, True, phase, 3, done)
    work(board, 1, False, phase, 0, done)
    assert (done == 1).all()

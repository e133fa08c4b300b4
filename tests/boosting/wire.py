"""Shards that share no memory with their leader: every message and every answer is pickled."""

from __future__ import annotations

import pickle
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.codes.binned import BinnedTable
from sapwood.shard.round_shard import RoundShard
from sapwood.shard.row_state import RowState
from sapwood.shard.shard import Shard
from sapwood.shard.shards import Command, Shards

Array = NDArray[Any]
LONGEST_DELAY = 1e-3  # seconds


class Wire:
    """Runs commands on copies, all shards at a time, each after a random delay, as if it was a machine of its own."""

    local = None

    def __init__(self, shards: Sequence[RoundShard], seed: int = 0) -> None:
        self._shards = shards
        self._delays = np.random.default_rng(seed)

    def exchange(self, commands: Sequence[Command]) -> list[Any]:
        def run(number: int, delay: float) -> bytes:
            message = pickle.dumps([command.of(number) for command in commands])
            time.sleep(delay)
            return pickle.dumps([command.run(self._shards[number]) for command in pickle.loads(message)][-1])

        delays = self._delays.uniform(0.0, LONGEST_DELAY, len(self._shards))
        with ThreadPoolExecutor(len(self._shards)) as threads:
            return [pickle.loads(answer) for answer in threads.map(run, range(len(self._shards)), delays)]


def wired(
    table: BinnedTable, rows: RowState, borders: Sequence[int], most_trees: int = 1, copies_samples: bool = False
) -> Shards:
    """The rows in parts between borders, each with arrays of its own."""
    shards = []
    for start, stop in pairwise(borders):
        state = pickle.loads(pickle.dumps(rows.part(start, stop).alone()))
        shards.append(RoundShard(Shard(table.part(start, stop), rows.n_jobs, start), state, copies_samples))
    return Shards(Wire(shards), rows.n_rows, has_validation_rows=rows.own is not None, most_trees=most_trees)

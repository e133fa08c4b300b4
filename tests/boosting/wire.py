"""Shards that share no memory with their leader: every message and every answer is pickled."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
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


class Wire:
    """Runs commands on copies, one shard after the other in any order, as if each was a machine of its own."""

    local = None

    def __init__(self, shards: Sequence[RoundShard], seed: int = 0) -> None:
        self._shards = shards
        self._order = np.random.default_rng(seed)
        self.sent = 0  # bytes to a shard, and back

    def exchange(self, commands: Sequence[Command]) -> list[Any]:
        answers: dict[int, bytes] = {}
        for number in self._order.permutation(len(self._shards)).tolist():
            message = pickle.dumps([command.of(number) for command in commands])
            found = [command.run(self._shards[number]) for command in pickle.loads(message)]
            answers[number] = pickle.dumps(found[-1])
            self.sent += len(message) + len(answers[number])
        return [pickle.loads(answers[number]) for number in range(len(self._shards))]


def wired(
    table: BinnedTable, rows: RowState, borders: Sequence[int], most_trees: int = 1, copies_samples: bool = False
) -> Shards:
    """The rows in parts between borders, each with arrays of its own."""
    shards = []
    for start, stop in pairwise(borders):
        state = pickle.loads(pickle.dumps(rows.part(start, stop).alone()))
        shards.append(RoundShard(Shard(table.part(start, stop), rows.n_jobs, start), state, copies_samples))
    return Shards(Wire(shards), rows.n_rows, has_validation_rows=rows.own is not None, most_trees=most_trees)

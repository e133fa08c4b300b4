"""Shards on disk: each is a block of a code file, whose codes are in memory only while it is being worked on.

An exchange visits one block after the other. While one is worked on, the system reads the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from sapwood.codes.block_table import BlockTable
from sapwood.shard.arrays_of_rows import ArraysOfRows
from sapwood.shard.round_shard import RoundShard, add_answer
from sapwood.shard.row_state import RowState
from sapwood.shard.shard import Room, Shard
from sapwood.shard.shards import Command, Shards

READS_CODES = frozenset({"settle_rest", "begin_groups", "reroute"})


class BlockVisits:
    """Runs commands block by block."""

    local: Sequence[RoundShard] | None = None

    def __init__(self, table: BlockTable, rows: RowState, arrays: ArraysOfRows, copies_samples: bool) -> None:
        self._file, self._arrays = table.file, arrays
        self._blocks = self._file.blocks()
        tables = [block.table for block in self._blocks]
        room = Room.of(max(own.n_rows for own in tables), max(own.n_bundles for own in tables), rows.n_jobs)
        self._shards = []
        for own, (start, stop) in zip(tables, pairwise(self._file.starts()), strict=True):
            shard = Shard(own, rows.n_jobs, start, arrays, room)
            self._shards.append(RoundShard(shard, rows.part(start, stop), copies_samples))

    def exchange(self, commands: Sequence[Command]) -> list[Any]:
        """Answers to the last of the commands; sums for trees are those of all blocks, as one answer."""
        reads_codes, answers = any(self._reads_codes(command) for command in commands), list[Any]()
        for number, (block, shard) in enumerate(zip(self._blocks, self._shards, strict=True)):
            if reads_codes:
                self._file.read_ahead(number + 1)
                shard.restore_groups()
            answers.append([command.of(number).run(shard) for command in commands][-1])
            if number and commands[-1].method == "work":  # histograms of one block at a time
                first, other = answers[0], answers.pop()
                answers[0] = [add_answer(*own) for own in zip(first, other, strict=True)]
            if reads_codes:
                block.release()
            self._arrays.release()
        return answers

    def _reads_codes(self, command: Command) -> bool:
        """Whether the codes of all rows are needed."""
        if command.method != "work":
            return command.method in READS_CODES
        (messages,) = command.arguments
        return any(self._shards[0].reads_codes(message) for _, message in messages)


def block_shards(table: BlockTable, rows: RowState, arrays: ArraysOfRows, copies_samples: bool = False) -> Shards:
    """Rows whose codes are on disk; their other arrays are where `arrays` makes them.

    With copies of the codes of samples in memory, trees that grow on a sample read all codes once, not once a level.
    """
    visits = BlockVisits(table, rows, arrays, copies_samples)
    return Shards(visits, rows.n_rows, rows, has_validation_rows=rows.own is not None)

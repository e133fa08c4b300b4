"""The rows of all shards, as losses and metrics ask about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sapwood.row_parts.rows import RowPart, RowParts
from sapwood.shard.asked import Asked
from sapwood.shard.shards import Shards

T = TypeVar("T")


class ShardRows(RowParts):
    """Questions go to the shards in one exchange each."""

    def __init__(self, shards: Shards, asked: Asked = Asked(), n_groups: int = 1) -> None:  # noqa: B008 - a constant
        self._shards, self._asked, self.n_groups = shards, asked, n_groups

    def ask(self, question: Callable[[RowPart], T]) -> list[T]:
        """The answers of all shards."""
        return self._shards.ask("answer", question, self._asked)

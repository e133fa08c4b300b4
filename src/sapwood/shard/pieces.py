"""Pieces of the records of nodes, in shares of equal size for threads."""

from __future__ import annotations

from collections.abc import Sequence


def deal(ranges: Sequence[tuple[int, int]], n_parts: int) -> list[list[tuple[int, int, int]]]:
    """Cut the concatenated ranges into parts of equal size; a range is cut where a part ends.

    Pieces are (which range, first, last).
    """
    total = sum(last - first for first, last in ranges)
    share = -(-total // n_parts)
    parts: list[list[tuple[int, int, int]]] = [[]]
    room = share
    for node, (start, last) in enumerate(ranges):
        first = start
        while last - first > room:
            parts[-1].append((node, first, first + room))
            first += room
            parts.append([])
            room = share
        parts[-1].append((node, first, last))
        room -= last - first
        if room == 0 and len(parts) < n_parts:
            parts.append([])
            room = share
    return [part for part in parts if part]

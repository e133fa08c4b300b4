"""How busy others keep the machine while something is measured. Linux only."""

from __future__ import annotations

import os
import time
from pathlib import Path

_IDLE_FIELDS = (3, 4)  # idle, and idle while waiting for a disk
_GUEST_FIELDS = slice(8, None)  # counted as user time already


class Neighbours:
    """Processor time that others took since this was made.

    Threads that wait for each other in short steps suffer more than their share when somebody else takes a core: times
    of OpenMP libraries can be many times too long. So a result should say how quiet it was.
    """

    def __init__(self) -> None:
        self._start = time.perf_counter(), _others_seconds()

    def cores(self) -> float:
        """Mean number of cores that others kept busy."""
        wall, others = time.perf_counter(), _others_seconds()
        return max(0.0, others - self._start[1]) / (wall - self._start[0])


def _others_seconds() -> float:
    ours = os.times()
    return _busy_seconds() - ours.user - ours.system - ours.children_user - ours.children_system


def _busy_seconds() -> float:
    """Time that all cores together were not idle, including what the host of a virtual machine took away."""
    fields = [int(field) for field in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
    del fields[_GUEST_FIELDS]
    idle = sum(fields[place] for place in _IDLE_FIELDS)
    return (sum(fields) - idle) / os.sysconf("SC_CLK_TCK")

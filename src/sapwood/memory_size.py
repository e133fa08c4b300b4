"""Amounts of memory: what users write, and what is free."""

from __future__ import annotations

import re
from pathlib import Path

from sapwood.errors import ParameterError

FREE_SHARE = 0.7  # of the free memory that is used if nobody says how much
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_CGROUP = Path("/sys/fs/cgroup")
_LIMITS = (("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"))
_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([KMGT]?)(?:i?B)?\s*", re.IGNORECASE)


def read_size(given: str | float | None, name: str = "max_memory") -> int:
    """Bytes of "8GB", "500 MB" or a number; None is a share of what is free. A GB has 2^30 bytes."""
    if given is None:
        return int(FREE_SHARE * free_memory())
    if isinstance(given, str):
        found = _SIZE.fullmatch(given)
        if found is not None and float(found[1]) > 0:
            return int(float(found[1]) * UNITS[found[2].upper()])
    elif given > 0:
        return int(given)
    raise ParameterError(f'{name}={given!r} is not an amount of memory. Use a number of bytes, or text such as "8GB".')


def written_size(n_bytes: float) -> str:
    """An amount for people to read."""
    for unit in ("GB", "MB"):
        size = n_bytes / UNITS[unit[0]]
        if size >= 1.0:
            return f"{size:.3g} {unit}"
    return f"{n_bytes / UNITS['K']:.3g} KB"


def free_memory() -> int:
    """What the system, and the control group of the process, leave free."""
    free = [_free_of_system()]
    for limit, used in _LIMITS:
        try:
            free.append(int((_CGROUP / limit).read_text()) - int((_CGROUP / used).read_text()))
        except (OSError, ValueError):  # no such group, or no limit
            continue
    return max(0, min(free))


def _free_of_system() -> int:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return 4 << 30  # of other systems nothing is known

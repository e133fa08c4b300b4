"""Memory of a fitted model: how much the process grows when a pickle of it is loaded, in MB."""

from __future__ import annotations

import gc
import pickle
import sys
from pathlib import Path

import sklearn.ensemble
import sklearn.tree  # noqa: F401

import sapwood

for name in sapwood.__all__:
    getattr(sapwood, name)


def resident() -> float:
    """Memory that is private to the process and in use."""
    gc.collect()
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024


data = Path(sys.argv[1]).read_bytes()
before = resident()
model = pickle.loads(data)
print(resident() - before)

"""Processes that save models and are killed meanwhile: what they leave behind.

    python tests/files/kills.py --kills 500

Forks save two models to the same path by turns until they are killed at a random moment.
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import sapwood as sw

LATEST = 0.05  # seconds until a kill


def models() -> list[Any]:
    """Two forests that take some milliseconds to save."""
    X = np.random.default_rng(0).normal(size=(3000, 4))
    return [sw.RandomForestRegressor(n_estimators=8, random_state=seed).fit(X, X.sum(axis=1)) for seed in (0, 1)]


def save_for_ever(given: list[Any], path: Path) -> None:
    """By turns, until somebody ends it."""
    while True:
        for model in given:
            sw.save(model, path)


def kill_while_saving(times: int, folder: Path, seed: int = 0) -> Counter[str]:
    """How often the file was the first or the second model, or damaged, and how many temporary files were left."""
    given, path, random = models(), folder / "model.sapwood", np.random.default_rng(seed)
    known = {sw.fingerprint(model): name for model, name in zip(given, ("first", "second"), strict=True)}
    sw.save(given[0], path)
    found: Counter[str] = Counter()
    for turn in range(times):
        child = os.fork()
        if child == 0:
            save_for_ever(given[:: 1 if turn % 2 else -1], path)
        time.sleep(random.uniform(0.0, LATEST))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        found[_state(path, known)] += 1
        for left in folder.iterdir():
            if left != path:
                found["left behind" if left.name.startswith(".") else "wrong name"] += 1
                left.unlink()
    return found


def _state(path: Path, known: dict[str, str]) -> str:
    try:
        return known[sw.fingerprint(sw.load(path))]
    except (sw.SapwoodError, KeyError):
        return "damaged"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = kill_while_saving(given.kills, Path(folder), given.seed)
    print(
        f"{given.kills} kills: {found['first']} times the first model, {found['second']} times the second, "
        f"{found['damaged']} damaged; {found['left behind']} temporary files left, {found['wrong name']} others"
    )


if __name__ == "__main__":
    main()

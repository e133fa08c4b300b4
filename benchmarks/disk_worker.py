"""Trains one library on files of rows in a process of its own: `disk_worker.py LIBRARY FOLDER ROUNDS MEMORY COLD`.

Prints one line of JSON: seconds of reading and coding, seconds of each tree, and the peak of resident memory beyond
what the process had before (in bytes).
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "2")

import numpy as np
from peak_memory import HIGHEST, PRESENT, status

THREADS, RATE, DEPTH, BINS = 2, 0.1, 6, 255
TARGET = "y"


class Clock:
    """The time of each round."""

    def __init__(self) -> None:
        self.begin = time.perf_counter()
        self.times: list[float] = []

    def __call__(self, *_: object) -> None:
        self.times.append(time.perf_counter())

    def result(self) -> dict[str, float]:
        """Seconds before the second round, and the median of the others."""
        steps = np.diff(self.times)
        return {"setup": self.times[0] - self.begin - float(np.median(steps)), "tree": float(np.median(steps))}


def frames(folder: Path) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows and targets of all files, file by file."""
    import pyarrow.parquet as pq

    for path in sorted(folder.glob("*.parquet")):
        for batch in pq.ParquetFile(path).iter_batches(batch_size=1 << 19):
            columns = [batch.column(j).to_numpy() for j in range(batch.num_columns)]
            yield np.column_stack(columns[:-1]), columns[-1]


def drop_cache(folder: Path) -> None:
    """Ask the system to forget the pages of files."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def sapwood(folder: Path, rounds: int, memory: str | None, clock: Clock, cold: bool) -> Callable[[], None]:
    import pandas as pd

    import sapwood as sw

    def after(progress: object) -> None:
        clock(progress)
        if cold:
            drop_cache(folder / "scratch")

    def run(n_rounds: int, source: object) -> object:
        model = sw.NewtonBoostingClassifier(
            recipe="xgboost",
            n_estimators=n_rounds,
            learning_rate=RATE,
            max_depth=DEPTH,
            n_jobs=THREADS,
            max_memory=memory,
            scratch=str(folder / "scratch"),
            callbacks=[after],
            random_state=0,
        )
        return model.fit(source, target=TARGET)

    few = [
        pd.DataFrame({**{f"x{j}": block[:, j] for j in range(block.shape[1])}, TARGET: np.arange(len(block)) % 2})
        for block in np.random.default_rng(0).normal(size=(4, 60_000, 28)).astype(np.float32)
    ]
    run(2, few)  # all of the compiled code is loaded here
    clock.times.clear()
    return lambda: print(sw.fingerprint(run(rounds, str(folder / "*.parquet"))), file=sys.stderr)


def xgboost(folder: Path, rounds: int, memory: str | None, clock: Clock, cold: bool) -> Callable[[], None]:  # noqa: ARG001
    import xgboost as xgb

    class Blocks(xgb.DataIter):
        def __init__(self) -> None:
            super().__init__(cache_prefix=str(folder / "scratch" / "xgb"), on_host=False)
            self._rows: Iterator[tuple[np.ndarray, np.ndarray]] = iter(())

        def reset(self) -> None:
            self._rows = frames(folder)

        def next(self, input_data: Callable[..., None]) -> bool:
            for X, y in self._rows:
                input_data(data=X, label=y)
                return True
            return False

    class After(xgb.callback.TrainingCallback):
        def after_iteration(self, *_: object) -> bool:
            clock()
            return False

    def run() -> None:
        source = Blocks()
        source.reset()
        data = xgb.ExtMemQuantileDMatrix(source, max_bin=BINS + 1, nthread=THREADS)
        options = {"objective": "binary:logistic", "max_depth": DEPTH, "eta": RATE, "nthread": THREADS}
        xgb.train(options | {"tree_method": "hist", "max_bin": BINS + 1}, data, rounds, callbacks=[After()])

    return run


def lightgbm(folder: Path, rounds: int, memory: str | None, clock: Clock, cold: bool) -> Callable[[], None]:  # noqa: ARG001
    """From a binary file of codes, which it holds in memory; its columns are found from a sample of the rows."""
    import lightgbm as lgb

    class Rows(lgb.Sequence):
        batch_size = 1 << 19

        def __init__(self, path: Path) -> None:
            self._rows = np.load(path, mmap_mode="r")

        def __getitem__(self, index: object) -> np.ndarray:
            return np.asarray(self._rows[index], dtype=np.float64)  # type: ignore[index]

        def __len__(self) -> int:
            return len(self._rows)

    def run() -> None:
        cells = [Rows(path) for path in sorted(folder.glob("*.npy"))]
        y = np.concatenate([y for _, y in frames(folder)])
        data = lgb.Dataset(cells, label=y, params={"max_bin": BINS, "num_threads": THREADS, "verbosity": -1})
        options = {"objective": "binary", "max_depth": DEPTH, "num_leaves": 1 << DEPTH, "learning_rate": RATE}
        options |= {"num_threads": THREADS, "verbosity": -1, "max_bin": BINS}
        lgb.train(options, data, rounds, callbacks=[clock])

    return run


LIBRARIES = {"sapwood": sapwood, "xgboost": xgboost, "lightgbm": lightgbm}


def main() -> None:
    name, folder, rounds, memory, cold = sys.argv[1:]
    clock = Clock()
    run = LIBRARIES[name](Path(folder), int(rounds), memory if memory != "-" else None, clock, cold == "cold")
    Path("/proc/self/clear_refs").write_text("5")
    before = status(PRESENT)
    clock.begin = time.perf_counter()
    run()
    print(json.dumps(clock.result() | {"peak": (status(HIGHEST) - before) << 10}))


if __name__ == "__main__":
    main()

"""Default fits of boosting libraries on a million rows: time of fit, and loss on rows kept apart.

    python benchmarks/bench_million.py [--rows 1000000] [--libraries lightgbm sapwood] [--tasks numbers] [--repeats 3]

Rows are made up (28 numeric columns), with two classes or numbers to predict. Only the seed and the
number of threads are set. Libraries take turns; compiling is not timed. Ratios are of LightGBM's time.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "2")

import time
from typing import Any, get_args

import numpy as np
from accuracy.libraries import LIBRARIES, Job, Library
from accuracy.score import predict, score
from data import Split, Task, make_split

FEATURES, WARM_UP_ROWS = 28, 250_000  # as many as take the same kernels


def main() -> None:
    """Print one table for each kind of target."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--libraries", nargs="+", default=["lightgbm", "sapwood", "xgboost"], choices=sorted(LIBRARIES))
    parser.add_argument("--tasks", nargs="+", default=list(get_args(Task)), choices=get_args(Task))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    for task in options.tasks:
        race(task, make_split(options.rows, FEATURES, task), options)


def race(task: Task, split: Split, options: argparse.Namespace) -> None:
    """Fit every library, in turns, and print the medians."""
    seconds: dict[str, list[float]] = {name: [] for name in options.libraries}
    losses: dict[str, float] = {}
    n_classes = 0 if task == "numbers" else len(np.unique(split.y))
    for turn in range(-1, options.repeats):  # the first one is for compiling
        rows = slice(WARM_UP_ROWS) if turn < 0 else slice(None)
        for name in options.libraries:
            job = Job(split.X[rows], split.y[rows], n_classes, seed=max(turn, 0), threads=options.threads)
            model, time_taken = fit(LIBRARIES[name], job)
            if turn < 0:
                continue
            seconds[name].append(time_taken)
            losses[name] = score(split.y_test, predict(model, split.X_test, n_classes), n_classes)["loss"]
    print(f"\n{task}: {len(split.y)} x {split.X.shape[1]}, {options.threads} threads, median of {options.repeats}")
    base = float(np.median(seconds.get("lightgbm", seconds[options.libraries[0]])))
    for name in options.libraries:
        median = float(np.median(seconds[name]))
        print(f"{name:16s} {median:8.2f} s   {median / base:5.2f}   loss {losses[name]:.5f}", flush=True)


def fit(library: Library, job: Job) -> tuple[Any, float]:
    """A fitted model, and the seconds it took."""
    start = time.perf_counter()
    model = library.fit(job)
    return model, time.perf_counter() - start


if __name__ == "__main__":
    main()

"""Several numeric targets: a tree for each against one tree for all, by R² and processor time of the fit.

    python benchmarks/bench_targets.py [--rows 6000] [--seeds 0 1]

Targets are columns of the sets in SAPWOOD_DATA that the others are to predict, and two synthetic problems.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import r2_score

import sapwood as sw

STRATEGIES = ("one_output_per_tree", "multi_output_tree")
SETS: dict[str, tuple[list[str], list[str]]] = {  # targets, and columns that are left out
    "abalone": (["WholeWeight", "ShuckedWeight", "VisceraWeight", "ShellWeight", "Rings"], []),
    "bike_hour": (["casual", "registered"], ["instant", "dteday", "cnt"]),
    "california_housing_raw": (["median_house_value", "median_income", "housing_median_age"], []),
    "cpu_act": (["usr", "scall", "fork", "runqsz"], []),
    "diamonds": (["price", "carat", "depth", "table"], []),
    "house8L": (["price", "P3", "H40p4"], []),
    "kc_housing": (["price", "sqft_living15", "grade", "yr_built"], ["date"]),
    "nycflights13": (
        ["arr_delay", "dep_delay", "air_time"],
        ["dep_time", "arr_time", "tailnum", "flight", "time_hour", "year"],
    ),
}


def problems(n_rows: int, seed: int) -> Iterator[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """Names, columns and targets."""
    folder = Path(os.environ["SAPWOOD_DATA"])
    for name, (targets, others) in SETS.items():
        data = pd.read_parquet(folder / f"{name}.parquet").dropna(subset=targets)
        data = data.sample(min(n_rows, len(data)), random_state=seed).reset_index(drop=True)
        yield name, data.drop(columns=[*targets, *others]), data[targets].astype(float)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 12))
    parts = np.column_stack([X[:, 0] * X[:, 1], np.sin(2 * X[:, 2]) + X[:, 3], np.abs(X[:, 4]) + (X[:, 5] > 0)])
    noise = rng.normal(size=(n_rows, 8))
    yield "shared parts", pd.DataFrame(X), pd.DataFrame(parts @ rng.normal(size=(3, 8)) + 0.5 * noise)
    apart = np.column_stack([np.sin(2 * X[:, k]) + X[:, (k + 1) % 8] ** 2 for k in range(8)])
    yield "parts of their own", pd.DataFrame(X), pd.DataFrame(apart + 0.5 * noise)


def main() -> None:
    """Print a line of the table for each problem."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=6000)
    options.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    options.add_argument("--problems", nargs="+", default=[])
    given = options.parse_args()
    found: dict[str, list[list[float]]] = {}
    for seed in given.seeds:
        for name, X, Y in problems(given.rows, seed):
            if given.problems and name not in given.problems:
                continue
            train = np.random.default_rng(seed).random(len(X)) < 0.75
            row: list[float] = [Y.shape[1]]
            for strategy in STRATEGIES:
                model = sw.NewtonBoostingRegressor(multi_strategy=strategy, random_state=seed)
                begin = time.process_time()
                model.fit(X[train], Y[train])
                seconds = time.process_time() - begin
                row += [r2_score(Y[~train], model.predict(X[~train])), seconds]
            found.setdefault(name, []).append(row)
            print(seed, name, row, flush=True)
    for name, rows in found.items():
        targets, *numbers = np.mean(rows, axis=0)
        print(f"| {name} | {targets:.0f} | {numbers[0]:.4f}; {numbers[1]:.1f} | {numbers[2]:.4f}; {numbers[3]:.1f} |")


if __name__ == "__main__":
    main()

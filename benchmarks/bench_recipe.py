"""The learning rate and the leaves that the recipe chooses, against larger and smaller ones.

    SAPWOOD_DATA=… python benchmarks/bench_recipe.py [--share 0.25 0.5] [--seeds 0 1] [--threads 2]

It uses the sets to tune on (`bench_accuracy.py --part tune`), but trains on a share of their training rows only: so the
constants are judged on other rows, and other numbers of rows, than those they were chosen on. Printed are medians of
100 ln(loss / loss of the recipe) by stratum, below 0 is better, and how many fits were better.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from typing import Any

import numpy as np
from accuracy.rows import Rows, read_table, split_table
from accuracy.score import predict, score
from accuracy.sets import all_sets, parts

import sapwood

LEAST_ROWS = 250  # recipes do not validate on fewer than 200
FEW_ROWS = 5000
FACTORS = {"learning_rate": (0.5, 0.7, 1.4, 2.0), "max_leaves": (0.5, 2.0)}


def main() -> None:
    """Fit and print."""
    options = _read_options()
    sets = all_sets()
    part_of = parts(sets)
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for name, each in sets.items():
        if part_of[name] == "tune":
            table = read_table(each)
            for seed in options.seeds:
                rows = split_table(table, seed)
                for share in options.share:
                    _compare(_share_of(rows, share, seed), seed, options.threads, found)
    print(f"{'':22} {'':16} fits  better  median")
    for (variant, stratum), ratios in sorted(found.items()):
        values = np.array(ratios)
        print(f"{variant:22} {stratum:16} {len(values):4} {np.sum(values < 0):7} {np.median(values):7.2f}")


def _compare(rows: Rows | None, seed: int, threads: int, found: dict[tuple[str, str], list[float]]) -> None:
    """Add the ratios of one training table."""
    if rows is None:
        return
    base, parameters = _loss(rows, seed, threads)
    if base < 0.01 and rows.n_classes:  # nearly solved
        return
    stratum = f"{rows.task} {'<' if len(rows.y) < FEW_ROWS else '≥'} {FEW_ROWS}"
    for name, factors in FACTORS.items():
        for factor in factors:
            value = type(parameters[name])(parameters[name] * factor)
            loss, _ = _loss(rows, seed, threads, **{name: value})
            for place in (stratum, "all"):
                found[f"{factor} {name}", place].append(100 * float(np.log(loss / base)))


def _loss(rows: Rows, seed: int, threads: int, **parameters: Any) -> tuple[float, dict[str, Any]]:
    """The loss on the test rows, and the parameters that were chosen."""
    kind = sapwood.NewtonBoostingClassifier if rows.n_classes else sapwood.NewtonBoostingRegressor
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kind(n_jobs=threads, random_state=seed, **parameters).fit(rows.X, rows.y)
        return score(rows.y_test, predict(model, rows.X_test, rows.n_classes), rows.n_classes)["loss"], model.params_


def _share_of(rows: Rows, share: float, seed: int) -> Rows | None:
    """A share of the training rows, drawn by seed; None if these are too few, or lack a class."""
    drawn = np.sort(np.random.default_rng(seed).permutation(len(rows.y))[: int(share * len(rows.y))])
    y = rows.y[drawn]
    if len(y) < LEAST_ROWS or (rows.n_classes and len(np.unique(y)) < rows.n_classes):
        return None
    return Rows(rows.task, rows.X.iloc[drawn].reset_index(drop=True), y, rows.X_test, rows.y_test, rows.n_classes)


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", nargs="+", type=float, default=[0.25, 0.5], help="of the training rows")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


if __name__ == "__main__":
    main()

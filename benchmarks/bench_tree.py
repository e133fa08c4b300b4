"""Decision trees next to scikit-learn's: speed, quality, agreement, memory, start-up.

    python benchmarks/bench_tree.py [--quick] [--repeats 3] [--cases 100k 10k covertype predict startup]

One thread each; rivals take turns and the median counts. "×faster" compares the clock on the wall, "×CPU" processor
time, steadier when others use the machine. Trees with `max_bins` are compared with scikit-learn's exact trees, which
have no bins. scikit-learn breaks ties at random, so two of its own trees that differ only in `random_state` do not
agree on every row: "self" is their agreement, the yardstick for "agree".
"""

from __future__ import annotations

import argparse
import os

os.environ["OMP_NUM_THREADS"] = "1"

import platform
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numba
import numpy as np
import sklearn
from data import DATA_FOLDER, TASKS, Split, Task, covertype_split, draw_target, higgs_like, make_split
from measure import Seconds, first_fit_seconds, import_seconds, median_microseconds, peak_megabytes, take_turns
from models import NAMES, make_model
from numpy.typing import NDArray
from text import Table

import sapwood

SK, SW = "scikit-learn", "sapwood"
SIZES = {"100k": (100_000, 28), "10k": (10_000, 20)}
QUICK_SIZES = {"100k": (20_000, 28), "10k": (5_000, 20)}
CASES = ("100k", "10k", "covertype", "predict", "startup")
DEPTHS = (None, 8)
BINS = (None, 255)
FIT_BARS = {"100k": 5.0, "10k": 3.0}  # how many times faster fully grown exact trees should be
PREDICT_BAR, FIRST_FIT_BAR, IMPORT_BAR = 2.0, 10.0, 1.0
MEGA = 2.0**20
FIT_COLUMNS = (
    "data task depth bins sk_s sw_s ×faster ×CPU bar sk_test sw_test agree self "
    "sk_leaves sw_leaves sk_MB sw_MB codes_MB"
)


@dataclass
class Rival:
    """Fits one kind of tree again and again and keeps the fitted models; every repeat has another random_state."""

    library: str
    task: Task
    split: Split
    parameters: dict[str, Any]
    models: list[Any] = field(default_factory=list)

    def fit(self) -> None:
        model = make_model(self.library, self.task, random_state=len(self.models), **self.parameters)
        self.models.append(model.fit(self.split.X, self.split.y))

    def warm_up(self) -> None:
        make_model(self.library, self.task, **self.parameters).fit(self.split.X[:200], self.split.y[:200])

    def predict(self, which: int = 0) -> NDArray:
        return np.asarray(self.models[which].predict(self.split.X_test))

    def metric(self) -> float:
        """Accuracy or root mean squared error on the test rows."""
        if self.task == "classes":
            return float(np.mean(self.predict() == self.split.y_test))
        return float(np.sqrt(np.mean((self.predict() - self.split.y_test) ** 2)))

    def peak(self) -> float:
        return peak_megabytes(self.library, self.task, self.split.X, self.split.y, self.parameters)


def main() -> None:
    """Print every table that was asked for."""
    options = _read_options()
    _print_settings(options)
    for case in CASES[:3]:
        if case in options.cases:
            bench_fit(case, options)
    if "predict" in options.cases:
        bench_predict(options)
    if "startup" in options.cases:
        bench_startup()


def bench_fit(case: str, options: argparse.Namespace) -> None:
    """Time, quality, agreement and memory of fitting."""
    table = Table(FIT_COLUMNS)
    for task in TASKS:
        split = _load(case, task, options.quick)
        if split is None:
            print(f"\n{case}: skipped, environment variable {DATA_FOLDER} names no folder", flush=True)
            return
        for depth in DEPTHS:
            for row in _fit_rows(case, task, depth, split, options):
                table.add(*row)
    table.print("Fit (sk: scikit-learn, sw: sapwood; test: accuracy or RMSE; MB: peak of fit, codes: 4 bytes × cells)")


def _fit_rows(
    case: str, task: Task, depth: int | None, split: Split, options: argparse.Namespace
) -> Iterator[tuple[Any, ...]]:
    """scikit-learn, exact sapwood and binned sapwood take turns; one row for each of the latter."""
    theirs = Rival(SK, task, split, {"max_depth": depth})
    ours = {bins: Rival(SW, task, split, {"max_depth": depth, "max_bins": bins}) for bins in BINS}
    rivals = {SK: theirs, **{f"{SW} {bins}": rival for bins, rival in ours.items()}}
    for rival in rivals.values():
        rival.warm_up()
    seconds = take_turns({name: rival.fit for name, rival in rivals.items()}, options.repeats)
    if options.repeats == 1:
        theirs.fit()
    themselves = _agreement(theirs.predict(0), theirs.predict(1))
    peak, codes = theirs.peak(), 4 * split.X.size / MEGA
    for bins, rival in ours.items():
        yield (
            *(f"{len(split.y)}×{split.X.shape[1]} {case}", task, depth or "full", bins or "exact"),
            *_compare(seconds[SK], seconds[f"{SW} {bins}"]),
            _fit_bar(case, depth, bins) if not options.quick else "",
            *(f"{theirs.metric():.4f}", f"{rival.metric():.4f}"),
            *(f"{_agreement(theirs.predict(), rival.predict()):.4f}", f"{themselves:.4f}"),
            *(theirs.models[0].get_n_leaves(), rival.models[0].get_n_leaves()),
            *(f"{peak:.0f}", f"{rival.peak():.0f}", f"{codes:.0f}"),
        )


def bench_predict(options: argparse.Namespace) -> None:
    """Many rows at once, and one row."""
    n_train, n_rows = (20_000, 100_000) if options.quick else (100_000, 1_000_000)
    X, score = higgs_like(n_rows, 28, seed=2)
    table = Table("task depth nodes sk_s sw_s ×faster ×CPU bar sk_row_µs sw_row_µs")
    for task in TASKS:
        y = draw_target(score[:n_train], task)
        for depth in DEPTHS:
            models = {name: make_model(name, task, max_depth=depth).fit(X[:n_train], y) for name in (SK, SW)}
            for model in models.values():
                model.predict(X[:100])
            runs = {name: lambda model=model: model.predict(X) for name, model in models.items()}
            seconds = take_turns(runs, max(5, options.repeats))
            alone = {name: median_microseconds(lambda m=model: m.predict(X[:1])) for name, model in models.items()}
            table.add(
                *(task, depth or "full", models[SW].tree_.node_count),
                *_compare(seconds[SK], seconds[SW]),
                *(f"≥{PREDICT_BAR:g}", f"{alone[SK]:.0f}", f"{alone[SW]:.0f}"),
            )
    table.print(f"Predict {n_rows} rows × 28 (float32, C order), and one row")


def bench_startup() -> None:
    """What a user waits for before anything is compiled, and at every start."""
    table = Table("what s CPU_s bar")
    for name, target in zip(NAMES.values(), ("int64", "float64"), strict=True):
        seconds = first_fit_seconds(name, target)
        table.add(f"first fit ever, {name}", f"{seconds.wall:.1f}", f"{seconds.cpu:.1f}", f"≤{FIRST_FIT_BAR:g}")
    for module, seconds in import_seconds(("sapwood", "sklearn.tree")).items():
        bar = f"<{IMPORT_BAR:g}" if module == "sapwood" else ""
        table.add(f"import {module}", f"{seconds.wall:.2f}", f"{seconds.cpu:.2f}", bar)
    table.print("Start-up (fresh processes; first fit: empty compiler cache, import included, 1000 rows)")


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller data and a single repeat")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=CASES)
    options = parser.parse_args()
    if options.quick:
        options.repeats = 1
    return options


def _print_settings(options: argparse.Namespace) -> None:
    versions = {"sapwood": sapwood, "scikit-learn": sklearn, "numpy": np, "numba": numba}
    print(", ".join(f"{name} {module.__version__}" for name, module in versions.items()), end="; ")
    print(f"Python {platform.python_version()}; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(f"one thread each, float32 in C order, median of {options.repeats} repeats in turns", flush=True)


def _load(case: str, task: Task, quick: bool) -> Split | None:
    if case == "covertype":
        return covertype_split(task)
    return make_split(*(QUICK_SIZES if quick else SIZES)[case], task)


def _agreement(a: NDArray, b: NDArray) -> float:
    """Share of equal predictions; numbers may differ by rounding."""
    return float(np.mean(np.isclose(a, b, rtol=1e-9, atol=1e-9)))


def _compare(theirs: Seconds, ours: Seconds) -> tuple[str, ...]:
    """Seconds of both, and how many times faster ours is by either clock."""
    return f"{theirs.wall:.3f}", f"{ours.wall:.3f}", f"{theirs.wall / ours.wall:.1f}", f"{theirs.cpu / ours.cpu:.1f}"


def _fit_bar(case: str, depth: int | None, bins: int | None) -> str:
    return f"≥{FIT_BARS[case]:g}" if case in FIT_BARS and depth is None and bins is None else ""


if __name__ == "__main__":
    main()

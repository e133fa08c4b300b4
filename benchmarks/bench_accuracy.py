"""Accuracy of the defaults of tree libraries on real data sets.

    SAPWOOD_DATA=… python benchmarks/bench_accuracy.py [--libraries lightgbm sapwood] [--sets adult car] [--part tune]
        [--seeds 0 1] [--threads 2] [--results accuracy.json] [--again sapwood]
    SAPWOOD_DATA=… python benchmarks/bench_accuracy.py --report [--of sapwood] [--against catboost] [--table]

For each set and seed, a quarter of the rows is for testing and the others are for training, at most 20 000 each. The
loss is the log loss for classes, and the root mean squared error for numbers. Results are saved after each fit, and a
later run only fits what is missing. "Accuracy of defaults" in NOTES.md has the protocol.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "2")

import platform
from pathlib import Path

from accuracy.libraries import LIBRARIES
from accuracy.losses import mean_losses
from accuracy.report import print_report
from accuracy.results import Key, Record, Results
from accuracy.rows import read_table, split_table
from accuracy.sets import PARTS, DataSet, all_sets, parts
from accuracy.trial import Trials

MAX_SEEDS = 5


def main() -> None:
    """Fit what is missing, then print the report."""
    options = _read_options()
    sets = _chosen_sets(options)
    results = Results(options.results)
    if not options.report:
        _print_settings(options, sets)
        for name in options.libraries:
            reason = LIBRARIES[name].why_absent()
            if reason:
                print(f"{name}: skipped, {reason}", flush=True)
            else:
                run_library(name, sets, results, options)
    losses = mean_losses(results.newest(), options.libraries, sets, options.seeds)
    print_report(losses, options.of, options.against, options.table)


def run_library(name: str, sets: dict[str, DataSet], results: Results, options: argparse.Namespace) -> None:
    """Fit one library to all sets, for all seeds, where there is no result yet."""
    library = LIBRARIES[name]
    trials = Trials(library, options.threads)
    for number, data_set in enumerate(sets.values(), start=1):
        keys = [Key(name, library.version, data_set.name, seed) for seed in options.seeds]
        missing = [key for key in keys if key not in results or name in options.again]
        if not missing:
            continue
        table = read_table(data_set)
        for key in missing:
            record = trials.run(split_table(table, key.seed), key.seed)
            results.add(key, record)
            print(f"{number}/{len(sets)} {_line(key, record)}", flush=True)


def _line(key: Key, record: Record) -> str:
    start = f"{key.library} {key.set}, seed {key.seed}, {record['rows']} x {record['columns']}"
    if "error" in record:
        return f"{start}: FAILED, {record['error']}"
    seconds = f"fit {record['fit_seconds']:.2f} s, predict {record['predict_seconds']:.2f} s"
    return f"{start}: loss {record['loss']:.5g}, {seconds}"


def _chosen_sets(options: argparse.Namespace) -> dict[str, DataSet]:
    sets = all_sets()
    unknown = set(options.sets or []) - sets.keys()
    if unknown:
        raise SystemExit(f"There are no such sets: {', '.join(sorted(unknown))}. There are {', '.join(sets)}.")
    part_of = parts(sets)
    return {
        name: each
        for name, each in sets.items()
        if options.part in ("all", part_of[name]) and (not options.sets or name in options.sets)
    }


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--libraries", nargs="+", choices=LIBRARIES, default=list(LIBRARIES))
    parser.add_argument("--sets", nargs="+", help="instead of all")
    parser.add_argument("--part", choices=(*PARTS, "all"), default="all", help="tune: to choose defaults by")
    parser.add_argument("--seeds", nargs="+", type=int, choices=range(MAX_SEEDS), default=[0, 1])
    parser.add_argument("--threads", type=int, default=2, help="of each library")
    parser.add_argument("--results", type=Path, default=Path("accuracy.json"), help="the file that keeps them")
    parser.add_argument("--again", nargs="+", choices=LIBRARIES, default=[], help="libraries to fit anew")
    parser.add_argument("--report", action="store_true", help="only print what is known")
    parser.add_argument("--of", choices=LIBRARIES, default="sapwood", help="the library that is compared")
    parser.add_argument("--against", nargs="+", choices=LIBRARIES, help="with these instead of all")
    parser.add_argument("--table", action="store_true", help="print the losses by set, too")
    options = parser.parse_args()
    options.libraries = list(dict.fromkeys(options.libraries))
    return options


def _print_settings(options: argparse.Namespace, sets: dict[str, DataSet]) -> None:
    print(f"Python {platform.python_version()}; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", end="; ")
    print(f"{len(sets)} sets, seeds {options.seeds}, {options.threads} threads each, compiling not timed", flush=True)


if __name__ == "__main__":
    main()

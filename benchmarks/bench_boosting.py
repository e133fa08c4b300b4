"""Boosted trees of Sapwood next to those of other libraries: time, quality and memory of fitting.

    python benchmarks/bench_boosting.py [--cases 1m 100k tiny] [--libraries lightgbm sapwood] [--repeats 3]

All libraries do equal work: the same rounds, depth or leaves, bins, rate and limits, no shrinking of leaves, no
sampling, two threads, float32 in C order (a frame where there are categories). Making a library's own kind of data set
is part of the time. Before anything is timed, every library fits up to 70 000 rows, so compiling and loading are not
part of it, and LightGBM's two layouts are tried for ten rounds and the faster one is kept. Libraries take turns and the
median counts; the memory is the peak of a fit of at most twenty rounds in a fresh process. "of fastest" and "of
hessboost" are a library's time over that of the fastest library other than hessboost and Sapwood, and over hessboost's.
"""

from __future__ import annotations

import argparse
import os

os.environ["OMP_NUM_THREADS"] = "2"

import platform
from dataclasses import replace

import numpy as np
from boosters import BOOSTERS, Booster, Settings
from boosting_cases import CASES, load_split
from contender import Contender, enter, race
from data import DATA_FOLDER, Split
from measure import take_turns
from neighbours import Neighbours
from text import Table
from verdict import HB, SW, Verdict

THREADS = int(os.environ["OMP_NUM_THREADS"])
LGB = "lightgbm"
SPEED_UP_BAR = 1.7
QUIET, DISTURBED = 0.1, ": too many to trust the times, above all those of libraries that use OpenMP"
ANSWERS = {True: "met", False: "MISSED", None: "open"}
SUMMARY = "case fastest_peer s bar Sapwood_s of_fastest of_hessboost bars others"


def main() -> None:
    """Print a table for every case, then all bars together."""
    options = _read_options()
    _print_settings(options)
    boosters = _present(options.libraries)
    summary = Table(SUMMARY)
    for key in options.cases:
        split = load_split(CASES[key], options.rows_scale)
        if split is None:
            print(f"\n{key}: skipped, environment variable {DATA_FOLDER} names no folder", flush=True)
        else:
            summary.add(*_summary_row(key, bench_case(key, split, boosters, options)))
    summary.print("Summary (bars of time are shares; of: Sapwood's time over theirs; others: cores they kept busy)")


def bench_case(key: str, split: Split, boosters: dict[str, Booster], options: argparse.Namespace) -> Verdict:
    """One table; for the first case also what a second thread gains, and memory next to LightGBM's."""
    case = CASES[key]
    settings = Settings(
        rounds=options.rounds or case.rounds,
        n_classes=len(np.unique(split.y)),
        leaves=case.leaves,
        threads=THREADS,
        min_rows=options.min_rows,
    )
    contenders = enter(boosters, split, settings)
    neighbours = Neighbours()
    race(list(contenders.values()), options.repeats, options.seconds_limit)
    others = neighbours.cores()
    seconds = {name: contender.seconds.wall for name, contender in contenders.items()}
    quality = {name: contender.quality() for name, contender in contenders.items()}
    verdict = Verdict(case, seconds, quality, others)
    peaks = {name: contender.peak() for name, contender in contenders.items()}
    _print_case(f"{key}: {case.title}, {_size(split)}, {settings.rounds} rounds", contenders, verdict, peaks)
    print(f"  others kept {others:.2f} cores busy meanwhile{DISTURBED if others > QUIET else ''}", flush=True)
    if key == "1m":
        _print_extras(contenders, peaks, options.repeats)
    return verdict


def _print_case(title: str, contenders: dict[str, Contender], verdict: Verdict, peaks: dict[str, float]) -> None:
    hits = "accuracy" if verdict.case.many_classes else "AUC"
    table = Table(f"library version s least_s CPU_s runs of_fastest of_hessboost {hits} log_loss leaves peak_MB bars")
    for key, contender in contenders.items():
        table.add(
            *(contender.booster.label, contender.booster.version),
            *(f"{contender.seconds.wall:.3f}", f"{contender.least:.3f}", f"{contender.seconds.cpu:.3f}"),
            len(contender.times),
            *(_share(verdict, key, verdict.fastest), _share(verdict, key, HB)),
            *(f"{verdict.quality[key].hits:.5f}", f"{verdict.quality[key].loss:.5f}"),
            *(f"{contender.booster.count_leaves(contender.model):.1f}", f"{peaks[key]:.0f}"),
            ANSWERS[verdict.is_met] if key == SW else "",
        )
    table.print(title)
    for text, answer in verdict.lines():
        print(f"  bar: {text}: {ANSWERS[answer]}", flush=True)


def _print_extras(contenders: dict[str, Contender], peaks: dict[str, float], repeats: int) -> None:
    """How Sapwood uses a second thread, and memory."""
    if SW not in contenders:
        print("  speed-up by a second thread, memory next to LightGBM's: open", flush=True)
        return
    ours = contenders[SW]
    runs = {n: Contender(ours.booster, ours.split, replace(ours.settings, threads=n)) for n in (1, THREADS)}
    seconds = take_turns({str(n): run.fit for n, run in runs.items()}, repeats)
    gain = seconds["1"].wall / seconds[str(THREADS)].wall
    print(f"  bar: speed-up by a second thread of {SPEED_UP_BAR}: {gain:.2f}: {ANSWERS[gain >= SPEED_UP_BAR]}")
    if LGB in peaks:
        share = peaks[SW] / peaks[LGB]
        print(f"  peak memory: Sapwood {peaks[SW]:.0f} MB, LightGBM {peaks[LGB]:.0f} MB: {share:.2f}", flush=True)


def _summary_row(key: str, verdict: Verdict) -> tuple[str, ...]:
    fastest = verdict.fastest
    return (
        *(key, fastest or "", f"{verdict.seconds[fastest]:.3f}" if fastest else ""),
        *(f"{verdict.case.bar:g}", f"{verdict.seconds[SW]:.3f}" if SW in verdict.seconds else ""),
        *(_share(verdict, SW, fastest), _share(verdict, SW, HB), ANSWERS[verdict.is_met]),
        f"{verdict.others:.2f}",
    )


def _share(verdict: Verdict, key: str, rival: str | None) -> str:
    ratio = verdict.ratio(key, rival)
    return "" if ratio is None else f"{ratio:.2f}"


def _size(split: Split) -> str:
    return f"{len(split.y)} rows to fit and {len(split.y_test)} to test"


def _present(names: list[str]) -> dict[str, Booster]:
    """Those of the libraries that can run; a note for each of the others."""
    boosters = {name: BOOSTERS[name]() for name in names}
    reasons = {name: booster.why_absent() for name, booster in boosters.items()}
    for name, reason in reasons.items():
        if reason:
            print(f"{name}: skipped, {reason}", flush=True)
    return {name: booster for name, booster in boosters.items() if not reasons[name]}


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--libraries", nargs="+", choices=BOOSTERS, default=list(BOOSTERS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rounds", type=int, help="instead of those of the case")
    parser.add_argument("--min-rows", type=int, default=1, help="of a leaf, for libraries that have such a limit")
    parser.add_argument("--seconds-limit", type=float, default=np.inf, help="libraries slower than this run only once")
    parser.add_argument("--rows-scale", type=float, default=1.0, help="share of the rows to keep, for a quick look")
    return parser.parse_args()


def _print_settings(options: argparse.Namespace) -> None:
    print(f"Python {platform.python_version()}; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", end="; ")
    print(f"{THREADS} threads each, median of {options.repeats} repeats in turns, rows of a leaf ≥ {options.min_rows}")
    print("data set construction counted; compiling and loading not counted (a small fit before)", flush=True)


if __name__ == "__main__":
    main()

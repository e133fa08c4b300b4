"""Prediction by Sapwood next to that of other libraries and of engines that take their models.

    python benchmarks/bench_predict.py [--cases batch leaves forest one-row classes flights] [--repeats 7]
                                       [--libraries xgboost onedal sapwood] [--rows 200000] [--seconds-limit 1]
                                       [--compile-all]

Every library learns its own model from the same rows with the same settings as in `bench_boosting.py`; engines convert
the model of XGBoost or LightGBM (the forest: of scikit-learn), whichever suits them best: both are tried. Converting
and compiling are not part of the times but stand under "ready s". Batches: two threads each, float32 in C order, a
frame where there are categories (engines that know no frames get a matrix of codes that is made before). Predictors
take turns and the median counts; one slower than the limit and four times the fastest runs once. "of XGBoost"
is a share of the time of `inplace_predict`, "of fastest" of the fastest peer that does not compile code for the model.
One row: one thread each, 1 000 different rows, fifty of them at a turn. All answers are judged: engines must say what
the library says whose model they took, and areas under curves must be alike (with categories and with many classes
they are not: libraries differ in what they make of them). Covertype and flights need SAPWOOD_DATA. Engines that compile
take part only in batch and one-row, in the other cases with --compile-all: each needs up to a minute.
"""

from __future__ import annotations

import argparse
import os

os.environ["OMP_NUM_THREADS"] = "2"

import platform
import statistics
import time
import warnings
from typing import Any

import numpy as np
from entrant import Entrant, as_shares, enter, note, race
from measure import call_microseconds
from neighbours import Neighbours
from numpy.typing import NDArray
from predict_cases import CASES, Case, Models, models_of
from predictors import PREDICTORS, Call, Task
from text import Table
from threadpoolctl import threadpool_limits

THREADS = int(os.environ["OMP_NUM_THREADS"])
SW, XGB, SKL = "sapwood", "xgboost", "sklearn"
QUALITY_SLACK, CONVERSION_SLACK = 0.01, 1e-3  # between areas under curves; of probabilities, on average
CALLS, CHECKED_ROWS = 1_000, 50
QUIET, DISTURBED = 0.1, ": too many to trust the times, above all those of libraries that use OpenMP"
ANSWERS = {True: "met", False: "MISSED"}


def main() -> None:
    """Print a table for every case, then all bars together."""
    warnings.filterwarnings("ignore")
    options = _read_options()
    _print_settings(options)
    bars, start = {}, time.perf_counter()
    for key in options.cases:
        case = CASES[key]
        rows = options.rows or case.ground.rows
        models = models_of(case.ground, rows, THREADS)
        if models is None:
            print(f"\n{key}: left out, SAPWOOD_DATA is not set", flush=True)
        else:
            bars[key] = (bench_one_row if case.is_single else bench_batch)(key, case, models, options)
    print(f"\nBars (all of it took {time.perf_counter() - start:.0f} s)")
    for key, lines in bars.items():
        for text, is_met in lines:
            print(f"  {key}: {text}: {ANSWERS[is_met]}", flush=True)


def bench_batch(key: str, case: Case, models: Models, options: argparse.Namespace) -> list[tuple[str, bool]]:
    """Many rows at once; the bars in words."""
    names = [
        name for name in options.libraries if case.compiles or options.compile_all or not PREDICTORS[name].is_compiled
    ]
    entrants = enter(names, models, _task(case, models, THREADS))
    neighbours = Neighbours()
    race(entrants, options.repeats, options.seconds_limit, {SW, _base(models)})
    others = neighbours.cores()
    seconds = {name: entrant.seconds for name, entrant in entrants.items()}
    rivals = [name for name in entrants if name != SW and not entrants[name].predictor.is_compiled]
    fastest = min(rivals, key=seconds.__getitem__, default=None)
    lines = _bars(case, seconds, fastest)
    _print_case(f"{key}: {len(models.split.y_test)} rows, {case.title}", entrants, models, fastest, lines)
    _print_checks(entrants, models)
    _print_bars(lines, others)
    return lines


def bench_one_row(key: str, case: Case, models: Models, options: argparse.Namespace) -> list[tuple[str, bool]]:
    """One row at a time, in every way a library offers."""
    table = Table("library call µs least_µs of_XGBoost code bar bars")
    with threadpool_limits(1):
        entrants = enter(options.libraries, models, _task(case, models, 1))
        found = [found for entrant in entrants.values() for found in _checked_calls(entrant, models)]
        X = models.split.X_test
        rows = [np.ascontiguousarray(X[place : place + 1]) for place in range(min(CALLS, len(X)))]
        rivals = {str(place): (call.ask, list(map(call.form, rows))) for place, (_, call) in enumerate(found)}
        neighbours = Neighbours()
        times = call_microseconds(rivals, CALLS)
        others = neighbours.cores()
    micros = {place: statistics.median(each) for place, each in times.items()}
    base = next((micros[str(place)] for place, (entrant, _) in enumerate(found) if _is_inplace(entrant)), None)
    lines = []
    for place, (entrant, call) in enumerate(found):
        taken = micros[str(place)]
        if call.bar is not None:
            lines.append((f"{call.label} in at most {call.bar:g} µs: {taken:.1f}", taken <= call.bar))
        table.add(
            *(entrant.predictor.label, call.label, f"{taken:.1f}", f"{min(times[str(place)]):.1f}"),
            *(f"{taken / base:.2f}" if base else "", "compiled" if entrant.predictor.is_compiled else ""),
            *(("", "") if call.bar is None else (f"{call.bar:g}", ANSWERS[taken <= call.bar])),
        )
    table.print(f"{key}: {case.title}, one thread, median of {CALLS} calls")
    _print_bars(lines, others)
    return lines


def _task(case: Case, models: Models, threads: int) -> Task:
    return Task(
        n_classes=models.n_classes,
        n_columns=models.split.X.shape[1],
        threads=threads,
        is_forest=case.ground.is_forest,
        has_categories=models.has_categories,
        is_single=case.is_single,
        folder=models.folder,
    )


def _bars(case: Case, seconds: dict[str, float], fastest: str | None) -> list[tuple[str, bool]]:
    if SW not in seconds:
        return []
    lines = []
    for rival, bar in case.bars.items():
        if rival in seconds:
            share = seconds[SW] / seconds[rival]
            lines.append((f"at most {bar:g} of the time of {PREDICTORS[rival].name}: {share:.3f}", share <= bar))
    if case.must_lead and fastest:
        share = seconds[SW] / seconds[fastest]
        text = f"faster than every peer that does not compile: {share:.3f} of {PREDICTORS[fastest].name}"
        lines.append((text, share < 1))
    return lines


def _print_case(
    title: str, entrants: dict[str, Entrant], models: Models, fastest: str | None, lines: list[tuple[str, bool]]
) -> None:
    base = _base(models)
    name = "of_scikit-learn" if models.ground.is_forest else "of_XGBoost"
    table = Table(f"library version ms least_ms runs ns_a_row_and_tree {name} of_fastest AUC ready_s code bars")
    n_visits = len(models.split.y_test) * models.n_trees
    for key, entrant in entrants.items():
        table.add(
            *(entrant.predictor.label, entrant.predictor.version),
            *(f"{entrant.seconds * 1e3:.1f}", f"{entrant.least * 1e3:.1f}", len(entrant.times)),
            f"{entrant.seconds / n_visits * 1e9:.2f}",
            *(_share(entrants, key, base), _share(entrants, key, fastest)),
            *(f"{entrant.quality(models.split.y_test):.5f}", f"{entrant.ready:.1f}"),
            "compiled" if entrant.predictor.is_compiled else "",
            ANSWERS[all(is_met for _, is_met in lines)] if key == SW and lines else "",
        )
    table.print(title)


def _base(models: Models) -> str:
    """Whose time is the measure of the others."""
    return SKL if models.ground.is_forest else XGB


def _share(entrants: dict[str, Entrant], key: str, rival: str | None) -> str:
    return f"{entrants[key].seconds / entrants[rival].seconds:.2f}" if rival in entrants else ""


def _print_checks(entrants: dict[str, Entrant], models: Models) -> None:
    """Whether all predict about equally well, and engines the same as the library whose model they took."""
    qualities = {entrant.predictor.label: entrant.quality(models.split.y_test) for entrant in entrants.values()}
    if qualities:
        worst, best = (pick(qualities, key=qualities.__getitem__) for pick in (min, max))
        spread = qualities[best] - qualities[worst]
        word = "fine" if spread <= QUALITY_SLACK else f"DIFFERS, {worst} is lowest, {best} highest"
        print(f"  check: areas under the curve within {QUALITY_SLACK}: {spread:.4f}: {word}", flush=True)
    for entrant in entrants.values():
        source = entrants.get(entrant.predictor.source)
        if source is not None and source is not entrant:
            gap = float(np.mean(np.abs(source.said - entrant.said)))
            if gap > CONVERSION_SLACK:
                print(f"  check: {entrant.predictor.label}: DIFFERS by {gap:.4f} from the model it took", flush=True)


def _checked_calls(entrant: Entrant, models: Models) -> list[tuple[Entrant, Call]]:
    """Calls that give the answers of a batch, and are warm by that; a line for each of the others."""
    X = models.split.X_test[:CHECKED_ROWS]
    expected = as_shares(entrant.predictor.predict(X), len(X), models.n_classes)
    found = []
    for call in entrant.predictor.calls():
        try:
            _check(call, X, expected)
        except Exception as error:
            note(f"{entrant.predictor.label}, {call.label}", error)
        else:
            found.append((entrant, call))
    return found


def _check(call: Call, X: NDArray[np.float32], expected: NDArray[Any]) -> None:
    """The answer is a label, or its last number is the probability of the second class."""
    said = [float(np.ravel(call.ask(call.form(X[row : row + 1].copy())))[-1]) for row in range(len(X))]
    if not np.allclose(said, expected > 0.5 if call.gives_label else expected, atol=1e-5):
        raise ValueError("it differs from the batch")


def _is_inplace(entrant: Entrant) -> bool:
    return type(entrant.predictor) is PREDICTORS[XGB]


def _print_bars(lines: list[tuple[str, bool]], others: float) -> None:
    for text, is_met in lines:
        print(f"  bar: {text}: {ANSWERS[is_met]}")
    print(f"  others kept {others:.2f} cores busy meanwhile{DISTURBED if others > QUIET else ''}", flush=True)


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--libraries", nargs="+", choices=PREDICTORS, default=list(PREDICTORS))
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--rows", type=int, help="to predict, instead of those of the case")
    parser.add_argument("--seconds-limit", type=float, default=1.0, help="predictors slower than this run only once")
    parser.add_argument("--compile-all", action="store_true", help="in cases where compiling takes very long, too")
    return parser.parse_args()


def _print_settings(options: argparse.Namespace) -> None:
    print(f"Python {platform.python_version()}; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", end="; ")
    print(f"batches: {THREADS} threads each, median of {options.repeats} repeats in turns")
    print("converting, compiling and loading not counted (a small batch before)", flush=True)


if __name__ == "__main__":
    main()

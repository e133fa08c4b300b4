"""Sapwood at another commit and in the working tree: time and memory of fits, and time of compiling.

    python benchmarks/compare.py REV [--only tree forest boosting compile] [--cases '*100k*'] [--repeats 7]
                                     [--compile-uses 'boosting*']

Both packages are copied to a temporary folder and have kernel caches of their own. For each case of bench_tree,
bench_forest and bench_boosting there is one process for each commit, which loads its data, compiles its kernels and
makes some fits before times are taken; then the two take turns, A B B A and so on, and the median counts. A turn of a
short fit is several fits. MB is the peak of the arrays of a fit. Compiling: every use of `warmup` in a fresh process
with an empty cache, processor time. Ratios are those of the working tree (after) to REV (before). `--cases` and
`--compile-uses` are patterns as of file names. Covertype and flights need SAPWOOD_DATA.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from compare_cases import KINDS, names
from measure import HERE, Seconds, median
from neighbours import Neighbours
from text import Table

ROOT = HERE.parent
WORKER = HERE / "compare_worker.py"
HEADINGS = "case s_before s_after ratio CPU_ratio MB_before MB_after MB_ratio model others"

LEAST_PEAK = 0.1  # MB; less is not told apart


@dataclass(frozen=True)
class Side:
    """The package of one commit."""

    folder: Path

    def environment(self, cache: Path) -> dict[str, str]:
        """Where the package is, and the only folder that compiled kernels are read from: nobody else writes there."""
        own = {"PYTHONPATH": str(self.folder / "src"), "NUMBA_CACHE_DIR": str(cache), "XDG_CACHE_HOME": str(cache)}
        return {**os.environ, **own, "SAPWOOD_QUIET": "1"}

    def ask(self, *arguments: str) -> Any:
        """The answer of a fresh process that finds no compiled kernels."""
        with tempfile.TemporaryDirectory(dir=self.folder) as cache:
            command, environment = [sys.executable, str(WORKER), *arguments], self.environment(Path(cache))
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        return json.loads(done.stdout)


class Worker:
    """A process of a side that fits one case whenever it is told to."""

    def __init__(self, side: Side, case: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(WORKER), "fit", case],
            env=side.environment(side.folder / "cache"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()  # closes its input, and waits

    def first(self) -> dict[str, Any] | None:
        """Peak and fingerprint of the first fits; None if there is no data."""
        return self._read()

    def turn(self) -> Seconds:
        """Seconds of one fit."""
        assert self._process.stdin is not None
        print("go", file=self._process.stdin, flush=True)
        return Seconds(*self._read())

    def _read(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("a worker has ended without an answer")
        return json.loads(line)


def main() -> None:
    """Print the tables that were asked for."""
    options = _read_options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the copies are removed
    chosen = {kind: _matching(names(kind), options.cases) for kind in KINDS if kind in options.only}
    with copies(options.rev) as sides:
        if any(chosen.values()):
            compare_fits([case for cases in chosen.values() for case in cases], sides, options.repeats)
        if "compile" in options.only:
            compare_compiling(options.compile_uses, sides)


@contextmanager
def copies(rev: str) -> Iterator[tuple[Side, Side]]:
    """The package of a commit and that of the working tree, neither with compiled kernels."""
    with tempfile.TemporaryDirectory(prefix="sapwood-compare-") as folder:
        before, after = Path(folder) / "before", Path(folder) / "after"
        archive = subprocess.run(["git", "archive", rev, "src"], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(before, filter="data")
        shutil.copytree(ROOT / "src", after / "src", ignore=shutil.ignore_patterns("__pycache__"))
        yield Side(before), Side(after)


def compare_fits(cases: Sequence[str], sides: tuple[Side, Side], repeats: int) -> None:
    """A table of all cases, each of which is told when it is done."""
    table, ratios = Table(HEADINGS), []
    for case in cases:
        found = _compare_fit(case, sides, repeats)
        if found is None:
            print(f"{case}: left out, SAPWOOD_DATA is not set", flush=True)
            continue
        row, ratio = found
        table.add(case.replace(" ", "_"), *row)
        ratios.append(ratio)
        print(f"{case}: {ratio:.3f}", flush=True)
    table.print(f"Fits, median of {repeats} turns (others: cores that others kept busy)")
    _print_mean(ratios)


def _compare_fit(case: str, sides: tuple[Side, Side], repeats: int) -> tuple[list[str], float] | None:
    neighbours = Neighbours()
    with ExitStack() as stack:
        workers = [stack.enter_context(Worker(side, case)) for side in sides]
        firsts = [worker.first() for worker in workers]
        if None in firsts:
            return None
        times: list[list[Seconds]] = [[], []]
        for number in range(repeats):
            for place in (0, 1) if number % 2 == 0 else (1, 0):
                times[place].append(workers[place].turn())
    before, after = map(median, times)
    peaks = [max(first["peak"], LEAST_PEAK) for first in firsts]
    same = firsts[0]["fingerprint"] == firsts[1]["fingerprint"]
    row = [f"{before.wall:.4f}", f"{after.wall:.4f}", f"{after.wall / before.wall:.3f}"]
    row += [f"{after.cpu / before.cpu:.3f}", *(f"{peak:.1f}" for peak in peaks), f"{peaks[1] / peaks[0]:.3f}"]
    return [*row, "same" if same else "OTHER", f"{neighbours.cores():.2f}"], after.wall / before.wall


def compare_compiling(patterns: Sequence[str], sides: tuple[Side, Side]) -> None:
    """A table of the uses of `warmup` that both commits have."""
    known = [side.ask("uses") for side in sides]
    for use in sorted(set(known[0]) ^ set(known[1])):
        print(f"{use}: left out, only one of the commits has this use", flush=True)
    table, ratios = Table("use CPU_s_before CPU_s_after ratio"), []
    for use in _matching([use for use in known[1] if use in known[0]], patterns):
        before, after = (side.ask("use", use) for side in sides)
        table.add(use, f"{before:.2f}", f"{after:.2f}", f"{after / before:.3f}")
        ratios.append(after / before)
        print(f"{use}: {before:.2f} s, {after:.2f} s: {ratios[-1]:.3f}", flush=True)
    table.print("Compiling from nothing")
    _print_mean(ratios)


def _print_mean(ratios: Sequence[float]) -> None:
    if ratios:
        mean = statistics.geometric_mean(ratios)
        print(f"geometric mean of {len(ratios)} ratios: {mean:.3f}; largest: {max(ratios):.3f}", flush=True)


def _matching(known: Sequence[str], patterns: Sequence[str]) -> list[str]:
    return [name for name in known if any(fnmatch(name, pattern) for pattern in patterns)]


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rev", help="the commit to compare with")
    parser.add_argument("--only", nargs="+", choices=(*KINDS, "compile"), default=[*KINDS, "compile"])
    parser.add_argument("--cases", nargs="+", default=["*"], help="patterns of names, such as 'tree 10k*'")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--compile-uses", nargs="+", default=["*"], help="patterns of names")
    return parser.parse_args()


if __name__ == "__main__":
    main()

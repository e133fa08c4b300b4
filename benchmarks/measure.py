"""Times of competitors that take turns, and figures that need a fresh process: peak memory, start-up."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent
FIRST_FIT = """
import numpy as np
from sapwood import {estimator}
X = np.random.default_rng(0).random((1000, 10), dtype=np.float32)
{estimator}().fit(X, (X[:, 0] + X[:, 1] > 1).astype(np.{target}))
"""


class Seconds(NamedTuple):
    """What the clock on the wall says, and how long the processor was busy, the steadier figure on a shared machine."""

    wall: float
    cpu: float


def take_turns(rivals: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, Seconds]:
    """Median times of each rival; they take turns, so that a busy machine is busy for all."""
    return {name: median(times) for name, times in all_turns(rivals, repeats).items()}


def all_turns(rivals: Mapping[str, Callable[[], object]], repeats: int, pause: float = 0.0) -> dict[str, list[Seconds]]:
    """Every time of each rival; a pause before each lets threads of the one before come to rest."""
    times: dict[str, list[Seconds]] = {name: [] for name in rivals}
    for _ in range(repeats):
        for name, run in rivals.items():
            if pause:
                time.sleep(pause)
            times[name].append(_timed(run))
    return times


def median(times: Sequence[Seconds]) -> Seconds:
    """Median of either clock."""
    return Seconds(*map(statistics.median, zip(*times, strict=True)))


def call_microseconds(
    rivals: Mapping[str, tuple[Callable[[Any], object], Sequence[Any]]], calls: int, turn: int = 50
) -> dict[str, list[float]]:
    """Times of short calls, each with another argument; a turn is so many calls in a row, as a service makes them."""
    times: dict[str, list[float]] = {name: [] for name in rivals}
    for start in range(0, calls, turn):
        for name, (call, arguments) in rivals.items():
            for place in range(start, min(start + turn, calls)):
                argument = arguments[place % len(arguments)]
                begin = time.perf_counter_ns()
                call(argument)
                times[name].append((time.perf_counter_ns() - begin) / 1e3)
    return times


def median_microseconds(run: Callable[[], object], calls: int = 1000) -> float:
    """Median time of a short call."""
    return take_turns({"": run}, calls)[""].wall * 1e6


def peak_megabytes(library: str, task: str, X: NDArray, y: NDArray, parameters: Mapping[str, int | None]) -> float:
    """Memory that `fit` needs at its peak beyond what was there before, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "X.npy", X)
        np.save(Path(folder) / "y.npy", y)
        settings = [f"{name}={value}" for name, value in parameters.items()]
        return float(_run(str(HERE / "peak_memory.py"), library, task, folder, *settings))


def first_fit_seconds(estimator: str, target: str) -> Seconds:
    """Import and fit of 1000 rows where nothing was ever compiled."""
    with tempfile.TemporaryDirectory() as folder:
        program = FIRST_FIT.format(estimator=estimator, target=target)
        return _timed(lambda: _run("-P", "-c", program, environment={"NUMBA_CACHE_DIR": folder}))


def import_seconds(modules: Sequence[str], repeats: int = 5) -> dict[str, Seconds]:
    """Import of each module in a fresh process, beyond the start of Python itself."""
    programs = {"": "pass", **{module: f"import {module}" for module in modules}}
    runs = {module: lambda program=program: _run("-P", "-c", program) for module, program in programs.items()}
    seconds = take_turns(runs, repeats)
    return {module: Seconds(*np.subtract(seconds[module], seconds[""])) for module in modules}


def process_seconds(programs: Mapping[str, str], repeats: int) -> tuple[dict[str, Seconds], dict[str, str]]:
    """Whole life of a fresh process that runs each program, the start of Python included, and what each prints."""
    printed: dict[str, str] = {}

    def run(name: str) -> None:
        printed[name] = _run("-P", "-c", programs[name]).strip()

    return take_turns({name: partial(run, name) for name in programs}, repeats), printed


def _timed(run: Callable[[], object]) -> Seconds:
    wall, cpu = time.perf_counter(), _cpu_seconds()
    run()
    return Seconds(time.perf_counter() - wall, _cpu_seconds() - cpu)


def _cpu_seconds() -> float:
    """Processor time of this process and of the children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _run(*arguments: str, environment: Mapping[str, str] | None = None) -> str:
    """Output of Python; programs are given -P, or a folder `sapwood` in the present one would be imported."""
    command = [sys.executable, *arguments]
    variables = {**os.environ, **(environment or {})}
    return subprocess.run(command, env=variables, check=True, stdout=subprocess.PIPE, text=True).stdout

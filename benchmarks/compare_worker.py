"""One commit at work on one case: a program that `compare.py` starts, with the package of that commit in PYTHONPATH.

    compare_worker.py fit CASE    answers with facts of some fits, then with the seconds of a turn for each line read
    compare_worker.py use NAME    compiles what a use of `warmup` needs, and answers with the seconds
    compare_worker.py uses        answers with the names of all uses

Answers are lines of JSON.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

import sapwood

LEAST_TURN = 0.3  # seconds; short fits are repeated


def answer(value: Any) -> None:
    """One line for the program that waits for it."""
    print(json.dumps(value), flush=True)


def fit(name: str) -> None:
    """First fits for their memory and the model, then turns until the input ends."""
    from compare_cases import load
    from measure import Seconds, all_turns

    job = load(name)
    if job is None:
        answer(None)
        return
    job.warm_up()
    peak = _peak(job)
    start = time.perf_counter()
    model = job.run()
    calls = math.ceil(LEAST_TURN / (time.perf_counter() - start))
    answer({"peak": peak, "fingerprint": sapwood.fingerprint(model)})
    del model
    for _ in sys.stdin:
        turns = all_turns({"": job.run}, calls)[""]
        answer(Seconds(*(sum(clock) / calls for clock in zip(*turns, strict=True))))


def _peak(job: Any) -> float:
    """Memory that arrays and objects of a fit take at their peak, in MB, the same in every run.

    What a process takes of the system depends on how threads meet, by some MB; kernels allocate next to nothing.
    """
    tracemalloc.start()
    try:
        job.run()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def use(name: str) -> None:
    """Processor time of a use, imports not counted."""
    from sapwood.compilation.uses import uses

    run, start = uses()[name], time.process_time()
    run()
    answer(time.process_time() - start)


def all_uses() -> None:
    """The uses this commit knows."""
    from sapwood.compilation.uses import uses

    answer(list(uses()))


if __name__ == "__main__":
    if not Path(sapwood.__file__).is_relative_to(os.environ["PYTHONPATH"]):
        raise SystemExit(f"{sapwood.__file__} is not the package of {os.environ['PYTHONPATH']}")
    {"fit": fit, "use": use, "uses": all_uses}[sys.argv[1]](*sys.argv[2:])

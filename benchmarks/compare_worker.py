"""One commit at work on one case: a program that `compare.py` starts, with the package of that commit in PYTHONPATH.

    compare_worker.py fit CASE    answers with facts of some fits, then with the seconds of a turn for each line read
    compare_worker.py use NAME    compiles what a use of `warmup` needs, and answers with the seconds
    compare_worker.py uses        answers with the names of all uses

Answers are lines of JSON.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import sys
import time
from pathlib import Path
from typing import Any

import sapwood

PEAK_FITS = 3  # the least peak counts: how threads meet decides about some of it
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
    peaks = [_peak(job) for _ in range(PEAK_FITS)]
    start = time.perf_counter()
    model = job.run()
    calls = math.ceil(LEAST_TURN / (time.perf_counter() - start))
    answer({"peak": min(peaks), "fingerprint": sapwood.fingerprint(model)})
    del model
    for _ in sys.stdin:
        turns = all_turns({"": job.run}, calls)[""]
        answer(Seconds(*(sum(clock) / calls for clock in zip(*turns, strict=True))))


def _peak(job: Any) -> float:
    """Memory that a fit takes at its peak beyond what was there before, in MB."""
    from peak_memory import HIGHEST, PRESENT, _status

    ctypes.CDLL(None).malloc_trim(0)  # what an earlier fit has left would hide what this one takes
    Path("/proc/self/clear_refs").write_text("5")
    before = _status(PRESENT)
    job.run()
    return (_status(HIGHEST) - before) / 1024


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

"""Processes that compile at the same time.

They are started as `python -m sapwood.compilation.workers` and read the names of the uses, one line at a time: unlike
those of multiprocessing they neither inherit the caller's threads nor run its script again. What one has compiled the
others find on disk; every second one begins at the other end of the list, where the kernels are different.
"""

from __future__ import annotations

import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import IO

from sapwood.errors import InternalError
from sapwood.kernels._helper import environment

Report = Callable[[str, int, int], None]


def share_out(names: Sequence[str], n_jobs: int, report: Report) -> None:
    """Divide all uses among processes; `report` is called for each that is done."""
    work = _Work(names, report)
    with ThreadPoolExecutor(min(n_jobs, len(names))) as pool:
        for done in [pool.submit(work.serve, number % 2 == 0) for number in range(min(n_jobs, len(names)))]:
            done.result()


class _Work:
    """What is left to do, shared by threads that each manage a process."""

    def __init__(self, names: Sequence[str], report: Report) -> None:
        self._waiting = deque(names)
        self._wanted = len(names)
        self._done = 0
        self._report = report
        self._lock = Lock()

    def serve(self, from_start: bool) -> None:
        """Start a process and give it one name after another."""
        process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env=environment(),
        )
        assert process.stdin is not None
        assert process.stdout is not None
        with process:
            try:
                while (name := self._take(from_start)) is not None:
                    _ask(process.stdin, process.stdout, name)
                    self._tell(name)
            except BaseException:
                process.kill()
                raise

    def _take(self, from_start: bool) -> str | None:
        with self._lock:
            if not self._waiting:
                return None
            return self._waiting.popleft() if from_start else self._waiting.pop()

    def _tell(self, name: str) -> None:
        with self._lock:
            self._done += 1
            self._report(name, self._done, self._wanted)


def _ask(questions: IO[str], answers: IO[str], name: str) -> None:
    questions.write(name + "\n")
    questions.flush()
    if answers.readline().rstrip("\n") != name:
        raise InternalError(f"The process that compiles kernels ended at {name!r}. Try warmup(n_jobs=1).")


def main() -> None:
    """Do what the lines of the standard input name, and answer each with its name."""
    from sapwood.compilation.uses import uses

    known = uses()
    for line in sys.stdin:
        known[line.rstrip("\n")]()
        print(line, end="", flush=True)


if __name__ == "__main__":
    main()

"""How many threads a call may use, and the team of threads that helps it.

Compiled kernels release the interpreter's lock, so plain Python threads run them in parallel. The caller always works
through its own tasks and helpers only take what is left: a call from any thread never waits for a free
helper, only for tasks that are already running.
"""

import contextlib
import math
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from queue import SimpleQueue
from typing import Generic, TypeVar

from sapwood.parameters import Interval, Nothing, check_parameters

__all__ = ["JOBS", "available_cores", "blocks", "resolve_jobs", "run_all"]

T = TypeVar("T")

JOBS = (
    Interval(int, low=1, remedy="Use n_jobs=1 for one thread or n_jobs=-1 for all cores."),
    Interval(int, high=-1),
    Nothing(),
)
"""The rule of every parameter `n_jobs`."""

_MOST_HELPERS = 255
_GLANCE = 0.1
_CONTROL_GROUPS = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")


def resolve_jobs(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` requests.

    None is 1, or that of the surrounding `joblib.parallel_config`; -1 is all available cores, -2 all but one, ….
    """
    check_parameters("the thread team", {"n_jobs": JOBS}, {"n_jobs": n_jobs})
    wanted = _configured_jobs() if n_jobs is None else int(n_jobs)
    return wanted if wanted > 0 else max(1, available_cores() + 1 + wanted)


def available_cores() -> int:
    """Return how many cores this process may use, by its affinity and by its container's quota; at least 1."""
    return max(1, math.ceil(min(_affinity(), _recent_quota(int(time.monotonic())))))


def blocks(n_rows: int, block_rows: int) -> list[tuple[int, int]]:
    """Cut rows into consecutive (start, stop) blocks, the same for every number of threads."""
    return [(start, min(start + block_rows, n_rows)) for start in range(0, n_rows, block_rows)]


def run_all(tasks: Sequence[Callable[[], T]], n_jobs: int) -> list[T]:
    """Run the tasks on at most `n_jobs` threads, the caller's among them, and return their results in order.

    After an error no further task starts; once the running ones have ended, the first error in task order is raised.
    """
    helpers = min(n_jobs, len(tasks), _MOST_HELPERS + 1) - 1
    if helpers < 1:
        return [task() for task in tasks]
    work = _Round(tasks)
    try:
        _team.offer(work.take_part, helpers)
        work.take_part()
        work.wait()
        return work.results()
    finally:
        work.forget()


class _Round(Generic[T]):
    """The tasks of one call, and what became of them."""

    def __init__(self, tasks: Sequence[Callable[[], T]]) -> None:
        self._waiting = deque(enumerate(tasks))
        self._n_tasks = len(tasks)
        self._n_running = 0
        self._ended = threading.Condition(threading.Lock())
        self._results: dict[int, T] = {}
        self._errors: dict[int, BaseException] = {}

    def take_part(self) -> None:
        """Run tasks until none is left."""
        while (claim := self._claim()) is not None:
            self._run(*claim)

    def wait(self) -> None:
        """Wait for the tasks that helpers still run."""
        with self._ended:
            while self._n_running:
                # An endless wait would ignore Ctrl-C on some systems.
                self._ended.wait(_GLANCE)

    def results(self) -> list[T]:
        """Return the results in the order of the tasks, or raise the first error in that order.

        Tasks start in order, so all tasks before the first failing one have run, and the error is always the same one.
        """
        if self._errors:
            raise self._errors[min(self._errors)]
        return [self._results[index] for index in range(self._n_tasks)]

    def forget(self) -> None:
        """Start nothing more and release everything: offers that no thread has taken still refer to this object."""
        with self._ended:
            self._waiting.clear()
        self._results, self._errors = {}, {}

    def _claim(self) -> tuple[int, Callable[[], T]] | None:
        with self._ended:
            if not self._waiting:
                return None
            self._n_running += 1
            return self._waiting.popleft()

    def _run(self, index: int, task: Callable[[], T]) -> None:
        try:
            self._results[index] = task()
        except Exception as error:
            self._fail(index, error)
        except BaseException as error:
            # An interrupt must leave the caller at once, without waiting for the helpers.
            self._fail(index, error)
            raise
        finally:
            self._finish()

    def _fail(self, index: int, error: BaseException) -> None:
        self._errors[index] = error
        with self._ended:
            self._waiting.clear()

    def _finish(self) -> None:
        with self._ended:
            self._n_running -= 1
            if not self._n_running:
                self._ended.notify()


class _Team:
    """Idle threads that wait for offers of work; as many as the largest call so far needed."""

    def __init__(self) -> None:
        self._offers: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._hiring = threading.Lock()
        self._size = 0

    def offer(self, work: Callable[[], None], helpers: int) -> None:
        """Offer the work to this many threads, without waiting for them; to fewer if there are not enough."""
        if self._size < helpers:
            self._grow(helpers)
        for _ in range(min(helpers, self._size)):
            self._offers.put(work)

    def _grow(self, size: int) -> None:
        # Where the system grants no more threads, the caller simply does more of the work itself.
        with self._hiring, contextlib.suppress(RuntimeError):
            while self._size < size:
                threading.Thread(target=_serve, args=(self._offers,), name="sapwood-helper", daemon=True).start()
                self._size += 1


def _serve(offers: SimpleQueue[Callable[[], None]]) -> None:
    """Take part in one offer after another; the caller reports any error of a task."""
    while True:
        with contextlib.suppress(BaseException):
            # Without a name for the offer, an idle thread keeps nothing alive.
            offers.get()()


_team = _Team()


def _replace_team() -> None:
    """Start again in a forked child, which inherits the team's locks and queue but none of its threads."""
    global _team  # noqa: PLW0603 - the team is this module's one piece of state
    _team = _Team()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_replace_team)


def _configured_jobs() -> int:
    """The setting of `joblib.parallel_config`, if the caller uses joblib, which takes long to import."""
    if "joblib.parallel" not in sys.modules:
        return 1
    from joblib.parallel import get_active_backend

    _, n_jobs = get_active_backend()
    return int(n_jobs) if n_jobs else 1


def _affinity() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@lru_cache(maxsize=1)
def _recent_quota(_second: int) -> float:
    """The quota, read once a second: reading it takes longer than predicting a few rows."""
    return _quota(_CONTROL_GROUPS, _MEMBERSHIP)


def _quota(mount: Path, membership: Path) -> float:
    """Return the smallest quota of cores set on this process's control groups and their parents, or infinity."""
    folders = {mount, mount / "cpu"}
    for hierarchy, group in _groups(mount, membership):
        folders.update(_descent(hierarchy, group))
    return min(_group_quota(folder) for folder in folders)


def _groups(mount: Path, membership: Path) -> Iterator[tuple[Path, str]]:
    """Yield each hierarchy that limits cores (versions 2 and 1) and the group this process has in it."""
    for line in _read(membership).splitlines():
        _, controllers, group = line.split(":", 2) if line.count(":") > 1 else ("", "none", "")
        if not controllers:
            yield mount, group
        elif "cpu" in controllers.split(","):
            yield mount / "cpu", group


def _descent(hierarchy: Path, group: str) -> Iterator[Path]:
    """Yield the folders below the hierarchy's top, down to the group."""
    folder = hierarchy
    for part in group.split("/"):
        if part and part != "..":
            folder /= part
            yield folder


def _group_quota(folder: Path) -> float:
    newer = _read(folder / "cpu.max").split()
    return _ratio(newer or [_read(folder / "cpu.cfs_quota_us"), _read(folder / "cpu.cfs_period_us")])


def _ratio(quota_and_period: list[str]) -> float:
    """Return quota by period; "max", -1 and anything unreadable mean no limit."""
    try:
        quota, period = map(int, quota_and_period)
    except ValueError:
        return math.inf
    return quota / period if quota > 0 and period > 0 else math.inf


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except (OSError, ValueError):
        return ""

"""Few threads, few cores, little memory: the same model or a clean error, and never a hang or a crash."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sapwood

pytest.importorskip("resource", reason="this system has no limits of processes")

LIMIT = 280
SOURCE = str(Path(sapwood.__file__).parent.parent)
_READ = "+dac_read_search"
NOBODY = f"setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps={_READ} --ambient-caps={_READ}".split()

FIT = """
import hashlib, os, resource, sys, threading, warnings
import numpy as np
import sapwood

rng = np.random.default_rng(0)
X = rng.normal(size=(40_000, 6))
y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=40_000)

def models(n_jobs):
    yield sapwood.NewtonBoostingRegressor(recipe="xgboost", n_estimators=3, n_jobs=n_jobs)
    yield sapwood.RandomForestRegressor(3, max_depth=6, random_state=0, n_jobs=n_jobs)
    yield sapwood.DecisionTreeRegressor(max_depth=5, n_jobs=n_jobs)

def digest(n_jobs):
    found = hashlib.sha256()
    for model in models(n_jobs):
        found.update(model.fit(X, y).predict(X).tobytes())
    return found.hexdigest()
"""
NO_THREADS = """
started = threading.active_count()
{limit}
try:
    threading.Thread(target=print).start()
    print("threads can be started")
except RuntimeError:
    pass
print(digest(4), threading.active_count() - started)
"""
MEMORY = """
{fitted}
before = model.predict(X)
huge = np.zeros((3_000_000, 12))
target = np.arange(3_000_000.0)
with open("/proc/self/statm") as file:
    size = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + 100 * 2**20, -1))
try:
    model.fit(huge, target)
    print("fitted")
except MemoryError as error:
    print("MemoryError")
assert np.array_equal(model.predict(X), before)
print("intact")
"""


def run(script: str, *command: str, environment: dict[str, str] | None = None) -> list[str]:
    done = subprocess.run(
        [*command, sys.executable, "-c", FIT + script],
        env={**os.environ, "PYTHONPATH": SOURCE, **(environment or {})},
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-3000:])
    return done.stdout.split("\n")[:-1]


@pytest.fixture(scope="module")
def expected() -> str:
    """The models of two threads without limits; what is compiled here is found by the others."""
    return run("print(digest(2))")[0]


def test_a_system_that_grants_no_threads(expected: str) -> None:
    refuse = 'def refuse(*_): raise RuntimeError("can\'t start new thread")\nthreading._start_new_thread = refuse'
    assert run(NO_THREADS.format(limit=refuse)) == [f"{expected} 0"]


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="needs a user of whom nothing runs")
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv")
def test_a_user_who_may_start_no_more_threads(expected: str) -> None:
    limit = "resource.setrlimit(resource.RLIMIT_NPROC, (1, 1)); warnings.simplefilter('ignore')"
    assert run(NO_THREADS.format(limit=limit), *NOBODY, environment={"OPENBLAS_NUM_THREADS": "1"}) == [f"{expected} 0"]


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system pins no processes")
def test_a_single_core(expected: str) -> None:
    assert run("os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\nprint(digest(-1))") == [expected]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs the size of the process")
@pytest.mark.parametrize(
    "model",
    [
        "sapwood.NewtonBoostingRegressor(recipe='xgboost', n_estimators=3, n_jobs=2)",
        "sapwood.GradientBoostingRegressor(n_estimators=3)",
        "sapwood.DecisionTreeRegressor(max_depth=5)",
    ],
)
@pytest.mark.usefixtures("expected")
def test_too_little_memory_is_a_memory_error_and_keeps_the_old_model(model: str) -> None:
    assert run(MEMORY.format(fitted=f"model = {model}.fit(X[:2000], y[:2000])")) == ["MemoryError", "intact"]

"""A child that is forked while other threads of its parent work neither hangs nor differs."""

from __future__ import annotations

import ast
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core import event

from sapwood import GradientBoostingRegressor, NewtonBoostingRegressor, RandomForestRegressor
from sapwood.cached_property import cached_property
from sapwood.codes.bins import NumberBins
from sapwood.kernels._jit import lean_kernel

LIMIT = 120  # seconds for a child, which may have to compile

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
    # That a child of a threaded parent works is the point.
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
    pytest.mark.timeout(3 * LIMIT),
]


def in_child(work: Callable[[], Any]) -> Any:
    """What a forked child returns; it is ended, and the test fails, if it hangs."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    child = context.Process(target=lambda: there.send(work()))
    child.start()
    there.close()
    try:
        assert here.poll(LIMIT), "the child hangs"
        return here.recv()
    finally:
        child.kill()
        child.join()


@contextmanager
def in_thread(work: Callable[[], Any]) -> Iterator[threading.Thread]:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield thread
    thread.join(LIMIT)
    assert not thread.is_alive()


def test_a_cached_property_is_computed_once_and_kept() -> None:
    computed = []

    class Sample:
        @cached_property
        def value(self) -> object:
            """A value."""
            computed.append(self)
            return object()

    sample = Sample()
    assert sample.value is sample.value
    assert len(computed) == 1
    assert Sample.value.__doc__ == "A value."
    del sample.value
    sample.value  # noqa: B018 - computed again
    assert len(computed) == 2


def test_threads_that_ask_at_once_get_the_same_object() -> None:
    both = threading.Barrier(2, timeout=LIMIT)

    class Sample:
        @cached_property
        def value(self) -> object:
            both.wait()  # with a lock, the second would never come here
            return object()

    sample, found = Sample(), []
    with in_thread(lambda: found.append(sample.value)):
        found.append(sample.value)
    assert found[0] is found[1]


def test_a_child_forked_while_a_thread_computes_a_property_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(500, 3))
    model = NewtonBoostingRegressor(recipe="xgboost", n_estimators=2)
    expected = model.fit(X, X[:, 0]).predict(X)
    inside, go_on, parent = threading.Event(), threading.Event(), os.getpid()
    for name in ("_exact_start", "_safe_start"):
        kept = vars(NumberBins)[name]

        def compute(bins: NumberBins, compute: Callable[[NumberBins], Any] = kept._compute) -> Any:
            if os.getpid() == parent:
                inside.set()
                assert go_on.wait(LIMIT)
            return compute(bins)

        monkeypatch.setattr(kept, "_compute", compute)
    with in_thread(lambda: NewtonBoostingRegressor(recipe="xgboost", n_estimators=2).fit(X, X[:, 0])):
        assert inside.wait(LIMIT)
        found = in_child(lambda: NewtonBoostingRegressor(recipe="xgboost", n_estimators=2).fit(X, X[:, 0]).predict(X))
        go_on.set()
    np.testing.assert_array_equal(found, expected)


def test_no_property_of_the_library_holds_a_lock() -> None:
    package = Path(next(iter(find_spec("sapwood").submodule_search_locations)))
    for path in package.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "functools":
                assert "cached_property" not in {alias.name for alias in node.names}, path


def test_a_fork_waits_for_a_compilation_and_its_child_can_compile() -> None:
    @lean_kernel
    def one(x: Any) -> Any:
        return x + 1

    inside, go_on, forked = threading.Event(), threading.Event(), []

    class Hold(event.Listener):
        def on_start(self, data: event.Event) -> None:
            if data.data["dispatcher"] is one:
                inside.set()
                assert go_on.wait(LIMIT)

        def on_end(self, data: event.Event) -> None:
            pass

    def release() -> None:
        forked.append("not before")
        go_on.set()

    with event.install_listener("numba:compile", Hold()), in_thread(lambda: one(1)):
        assert inside.wait(LIMIT)
        threading.Timer(1.0, release).start()
        assert in_child(lambda: (list(forked), one(2.5))) == (["not before"], 3.5)
    assert one(1) == 2


@pytest.mark.slow
@pytest.mark.parametrize("model", [GradientBoostingRegressor, NewtonBoostingRegressor, RandomForestRegressor])
def test_children_forked_while_four_threads_fit(model: type) -> None:
    X = np.random.default_rng(0).normal(size=(2000, 5))
    y = X[:, 0] + X[:, 1] ** 2

    def work() -> np.ndarray:
        return model(n_estimators=5, n_jobs=2, random_state=0).fit(X, y).predict(X)

    expected, stop = work(), threading.Event()

    def go_round() -> None:
        while not stop.is_set():
            work()

    threads = [threading.Thread(target=go_round, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(40):
            np.testing.assert_array_equal(in_child(work), expected)
    finally:
        stop.set()
        for thread in threads:
            thread.join(LIMIT)

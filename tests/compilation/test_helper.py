"""Processes that compile for another one: when they start, what they compile, and that they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from package_copy import copy_package
from sapwood import NewtonBoostingClassifier
from sapwood.compilation.helper import kinds_of_growth, kinds_of_rounds
from sapwood.kernels import _helper
from sapwood.kernels.leader import lead
from sapwood.kernels.whole_rounds import advance_all

WAIT = """
import signal, sys, time
from sapwood.compilation import helper
helper.PARTS["wait"] = lambda: (print("begun", flush=True), time.sleep(200))
sys.argv = ["helper", "wait"]
helper.main()
"""


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[Any]]:
    """Helpers that this test starts, which do nothing until they are ended."""
    helpers: list[Any] = []
    (tmp_path / "idle_helper.py").write_text("import sys; sys.stdin.read()")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(_helper, "_HELPER", "idle_helper")
    monkeypatch.setattr(_helper, "_helpers", helpers)
    monkeypatch.setattr(_helper, "available_cores", lambda: 2)
    monkeypatch.setattr(_helper.atexit, "register", lambda _: None)
    monkeypatch.delenv(_helper.ALONE, raising=False)
    yield helpers
    _helper._end_helpers()
    for _, process in helpers:
        process.wait()


def compilation(module: str = "sapwood.kernels.phases") -> Any:
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=SimpleNamespace(__module__=module))})


def test_helpers_compile_for_the_types_that_a_fit_has() -> None:
    X, y = np.arange(400.0).reshape(100, 4) % 37, np.arange(100) % 2
    NewtonBoostingClassifier(n_estimators=2).fit(X, y)
    assert list(lead.overloads) == [kinds_of_growth()]
    assert list(advance_all.overloads) == [kinds_of_rounds()]


def test_a_helper_starts_when_something_is_compiled_meanwhile(started: list[Any]) -> None:
    _helper._need.on_start(compilation())
    with _helper.shared("growth"):
        _helper._need.on_start(compilation("somebody.else"))
        assert not started
        _helper._need.on_start(compilation())
    assert len(started) == 1
    assert started[0][1].args[1:] == ["-m", "idle_helper", "growth"]
    with _helper.shared("growth", "rounds"):
        _helper._need.on_start(compilation())
    assert len(started) == 1


def test_no_helper_starts_if_nothing_is_compiled(started: list[Any]) -> None:
    with _helper.shared("growth"):
        pass
    _helper._need.on_start(compilation())
    assert not started


def test_as_many_helpers_start_as_there_are_parts_and_free_cores(
    started: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_helper, "available_cores", lambda: 3)
    _helper.start_helpers(("one", "two", "three"))
    assert [process.args[3:] for _, process in started] == [["one", "three"], ["two"]]


def test_helpers_end_with_the_process_that_started_them_and_are_not_left_as_zombies(started: list[Any]) -> None:
    _helper.start_helpers(("growth",))
    ((owner, process),) = started
    assert owner == os.getpid()
    _helper._end_helpers()
    with pytest.raises(ChildProcessError):
        os.waitpid(process.pid, os.WNOHANG)


def test_a_forked_process_leaves_the_helpers_of_its_parent_alone(started: list[Any]) -> None:
    _helper.start_helpers(("growth",))
    started[0] = (-1, started[0][1])
    _helper._end_helpers()
    assert started[0][1].poll() is None
    started[0] = (os.getpid(), started[0][1])


@pytest.mark.parametrize("reason", ["told so", "one core", "read-only", "embedded", "frozen", "no name", "a worker"])
def test_no_helper_starts_where_it_could_not_help(
    reason: str, started: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    if reason == "told so":
        monkeypatch.setenv(_helper.ALONE, "1")
    elif reason == "one core":
        monkeypatch.setattr(_helper, "available_cores", lambda: 1)
    elif reason == "read-only":
        monkeypatch.setattr(_helper, "can_store", lambda: False)
    elif reason == "frozen":
        monkeypatch.setattr(sys, "frozen", True, raising=False)
    elif reason == "a worker":
        monkeypatch.setattr(_helper, "current_process", lambda: SimpleNamespace(name="LokyProcess-1"))
    else:
        monkeypatch.setattr(sys, "executable", "/usr/bin/uwsgi" if reason == "embedded" else None)
    _helper.start_helpers(("growth",))
    assert not started


def test_a_program_that_cannot_be_started_is_done_without(
    started: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    _helper.start_helpers(("growth",))
    assert not started


def test_a_helper_outlives_an_interrupt_but_not_the_other_process() -> None:
    command = [sys.executable, "-c", WAIT]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.2)
        process.stdin.close()
        assert process.wait(60) == 0


def test_helpers_start_ahead_only_if_nothing_is_stored(started: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_helper, "is_stored", lambda kernel: kernel == "phases.work_as")
    _helper.start_ahead("growth", unless_stored="phases.work_as")
    assert not started
    _helper.start_ahead("growth", unless_stored="phases.other")
    assert len(started) == 1


def test_a_stored_kernel_is_known_by_its_name_and_sources(tmp_path: Path) -> None:
    copy = copy_package(tmp_path / "site")
    copy.add_toy()
    asked = "from sapwood.kernels._cache import is_stored; print(is_stored('toy.toy'), is_stored('toy.no'))"
    assert copy.run(asked).stdout == "False False\n"
    copy.toy()
    assert copy.run(asked).stdout == "True False\n"
    with (copy.kernels / "toy_part.py").open("a") as file:
        file.write("\n# changed\n")
    assert copy.run(asked).stdout == "False False\n"


def test_a_wrong_level_of_processors_is_an_error_without_a_wheel_too(tmp_path: Path) -> None:
    copy = copy_package(tmp_path / "site")
    copy.add_toy()
    copy.environment["SAPWOOD_CPU"] = "fast"
    done = copy.run("from sapwood.kernels.toy import toy; toy(1)", check=False)
    assert done.returncode == 1
    assert "SAPWOOD_CPU='fast' is not allowed" in done.stderr

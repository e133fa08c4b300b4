"""Whoever waits for the compiler is told so, once, and only then."""

from __future__ import annotations

import gc
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from package_copy import copy_package
from sapwood.kernels._compiling import TEXT, Compilations

COMPILE_TWICE = """
from sapwood.kernels import _compiling
_compiling.PATIENCE = 0.0
from sapwood.kernels.toy import toy
toy(1), toy(2.5), toy(True)
"""


def compilation(module: str = "sapwood.kernels.grow") -> Any:
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=SimpleNamespace(__module__=module))})


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.delenv("SAPWOOD_QUIET", raising=False)
    return Clock()


def compile_for(watch: Compilations, clock: Clock, seconds: float, module: str = "sapwood.kernels.grow") -> None:
    watch.on_start(compilation(module))
    clock.now += seconds
    watch.on_end(compilation(module))


def test_many_short_compilations_are_told_of_once(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    watch = Compilations(clock)
    for _ in range(2):
        compile_for(watch, clock, 0.5)
        clock.now += 100.0  # time between compilations does not count
    assert capsys.readouterr().err == ""
    for _ in range(5):
        compile_for(watch, clock, 0.5)
    assert capsys.readouterr() == ("", TEXT + "\n")


def test_a_long_one_is_told_of_when_it_compiles_others(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    watch = Compilations(clock)
    watch.on_start(compilation())
    clock.now += 1.5
    compile_for(watch, clock, 0.1)
    assert capsys.readouterr().err == TEXT + "\n"
    watch.on_end(compilation())


def test_kernels_of_others_do_not_count(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    watch = Compilations(clock)
    for _ in range(9):
        compile_for(watch, clock, 1.0, "somebody.else")
    compile_for(watch, clock, 0.5)
    assert capsys.readouterr().err == ""


def test_it_can_be_silenced(clock: Clock, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAPWOOD_QUIET", "1")
    watch = Compilations(clock)
    for _ in range(9):
        compile_for(watch, clock, 1.0)
    assert capsys.readouterr().err == ""


def test_a_process_without_standard_error_compiles_all_the_same(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    watch = Compilations(clock)
    for _ in range(3):
        compile_for(watch, clock, 1.0)


def test_the_first_process_is_told_and_the_second_is_not(tmp_path: Any) -> None:
    copy = copy_package(tmp_path / "site")
    copy.add_toy()
    copy.environment["SAPWOOD_QUIET"] = "0"
    assert copy.run(COMPILE_TWICE).stderr.count(TEXT) == 1
    assert TEXT not in copy.run(COMPILE_TWICE).stderr


def test_no_garbage_is_collected_until_the_outermost_kernel_is_compiled(clock: Clock) -> None:
    watch = Compilations(clock)
    watch.on_start(compilation("somebody.else"))
    assert gc.isenabled()
    watch.on_start(compilation())
    compile_for(watch, clock, 0.1)
    assert not gc.isenabled()
    watch.on_end(compilation())
    assert gc.isenabled()

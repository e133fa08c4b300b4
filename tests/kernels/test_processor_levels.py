"""The levels of processors whose compiled kernels may be used."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sapwood.errors import ParameterError
from sapwood.kernels import _processor_levels as _levels

ALL = ["x86-64-v4", "x86-64-v3", "generic"]


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("SAPWOOD_CPU", raising=False)
    _levels.levels.cache_clear()
    yield
    _levels.levels.cache_clear()


def processor(monkeypatch: pytest.MonkeyPatch, triple: str, *features: str) -> None:
    monkeypatch.setattr(_levels.binding, "get_process_triple", lambda: triple)
    monkeypatch.setattr(_levels, "get_host_cpu_features", lambda: ",".join(f"+{name}" for name in features))


@pytest.mark.parametrize(
    ("features", "expected"), [((), ALL[2:]), (_levels._V3, ALL[1:]), (_levels._V4, ALL), (_levels._V4[1:], ALL[2:])]
)
def test_a_level_needs_all_of_its_features(
    monkeypatch: pytest.MonkeyPatch, features: tuple[str, ...], expected: list[str]
) -> None:
    processor(monkeypatch, "x86_64-unknown-linux-gnu", *features)
    assert list(_levels.chosen_levels()) == expected


@pytest.mark.parametrize("triple", ["aarch64-unknown-linux-gnu", "arm64-apple-darwin23.1.0"])
def test_processors_of_arm_have_one_level(monkeypatch: pytest.MonkeyPatch, triple: str) -> None:
    processor(monkeypatch, triple)
    assert _levels.chosen_levels() == ("generic",)


def test_other_platforms_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    processor(monkeypatch, "riscv64-unknown-linux-gnu")
    assert _levels.chosen_levels() == ()


def test_one_level_can_be_chosen_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    processor(monkeypatch, "x86_64-unknown-linux-gnu", *_levels._V3)
    monkeypatch.setenv("SAPWOOD_CPU", "generic")
    assert _levels.chosen_levels() == ("generic",)
    monkeypatch.setenv("SAPWOOD_CPU", "native")
    assert _levels.chosen_levels() == ()


def test_a_level_that_the_processor_lacks_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    processor(monkeypatch, "x86_64-unknown-linux-gnu", *_levels._V3)
    monkeypatch.setenv("SAPWOOD_CPU", "x86-64-v4")
    with pytest.raises(ParameterError, match=r"SAPWOOD_CPU='x86-64-v4'.*x86-64-v3, generic, native"):
        _levels.chosen_levels()

"""The check of sizes finds what is too large, and exceptions that are larger than needed."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "check_size.py"


def _load():
    spec = spec_from_file_location("check_size", SCRIPT)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check_size = _load()


def names(n: int) -> str:
    return ", ".join(f"a{number}" for number in range(n))


def found(folder: Path, file: str, text: str, allowed: str = "") -> list[str]:
    """The complaints about a package of one file."""
    (folder / "src" / file).parent.mkdir(parents=True, exist_ok=True)
    (folder / "src" / file).write_text(text)
    (folder / "exceptions.txt").write_text("# a comment\n\n" + allowed)
    sizes = check_size.measure(folder / "src")
    return list(check_size.complaints(sizes, check_size.read_exceptions(folder / "exceptions.txt")))


BODY = "    x = 1\n"
TOO_LARGE = {
    "file 351 a.py": "#\n" * 351,
    "function 61 a.py f": f"def f():\n{BODY * 60}",
    "function 61 a.py C.f": f'class C:\n  def f(self):\n    """Say.\n\n    More."""\n{BODY * 60}',
    "parameters 11 a.py f": f"def f({names(9)}, *, k, **more): pass",
    "parameters 11 a.py C.f": f"class C:\n def f(self, {names(11)}): pass",
    "parameters 11 a.py f.g": f"def f():\n def g({names(11)}): pass",
    "arguments 13 a.py f -> g": f"def f(): return g({names(13)})",
    "arguments 13 a.py -> m.g": f"m.g(a, *({names(12)}))",
    "parameters 11 cli/train.py train": f"def train({names(11)}): pass",
    "parameters 11 estimators/a.py _C.__init__": f"class _C:\n def __init__(self, {names(11)}): pass",
    "parameters 11 growth/a.py C.__init__": f"class C:\n def __init__(self, {names(11)}): pass",
}
FINE = {
    "file": ("a.py", "#\n" * 350),
    "function": ("a.py", f'def f():\n    """Say.\n\n    More."""\n{BODY * 59}'),
    "parameters": ("a.py", f"class C:\n def f(self, {names(10)}): pass"),
    "arguments": ("a.py", f"f({names(11)}, *rest, key=1)"),
    "constructor": ("estimators/a.py", f"class C:\n def __init__(self, {names(40)}): pass"),
}


@pytest.mark.parametrize("line", TOO_LARGE)
def test_what_is_too_large_is_named_unless_it_is_an_exception(line: str, tmp_path: Path) -> None:
    kind, size, place = line.split(maxsplit=2)
    file, text = place.split()[0], TOO_LARGE[line]
    assert [place in each and f" {size} " in each for each in found(tmp_path, file, text)] == [True]
    assert found(tmp_path, file, text, line) == []
    assert "allowed are" in found(tmp_path, file, text, f"{kind} {int(size) - 1} {place}")[0]


@pytest.mark.parametrize("kind", FINE)
def test_what_is_at_its_limit_or_exempt_is_fine(kind: str, tmp_path: Path) -> None:
    assert found(tmp_path, *FINE[kind]) == []


@pytest.mark.parametrize("line", TOO_LARGE)
def test_an_exception_may_only_shrink(line: str, tmp_path: Path) -> None:
    kind, size, place = line.split(maxsplit=2)
    larger = f"{kind} {int(size) + 5} {place}"
    assert f"Lower it to {size}." in found(tmp_path, place.split()[0], TOO_LARGE[line], larger)[0]


@pytest.mark.parametrize("text", ["x = 1", "def f(a): pass"])
def test_an_exception_that_is_not_needed_is_to_be_deleted(text: str, tmp_path: Path) -> None:
    line = "parameters 11 a.py f"
    assert [line in each and each.endswith("Delete this line.") for each in found(tmp_path, "a.py", text, line)] == [
        True
    ]


def test_a_summary_counts_packages() -> None:
    arguments = ["--package", "kernels", "growth"]
    lines = subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=True).stdout
    kernels, growth, together = ([int(word) for word in line.split()[1:4]] for line in lines.splitlines()[1:])
    assert [a + b for a, b in zip(kernels, growth, strict=True)] == together

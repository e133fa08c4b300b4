"""What is imported before anything is asked for: the modules are counted, not the seconds."""

from __future__ import annotations

import subprocess
import sys

import pytest

import sapwood

HEAVY = {"joblib", "matplotlib", "narwhals", "numba", "pandas", "pyarrow", "scipy", "sklearn"}
LISTED = """
import sys
sys.argv = ["sapwood", *sys.argv[1:]]
from sapwood.cli.main import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print("\\nloaded:", *sys.modules)
"""


def loaded(code: str, *arguments: str) -> tuple[str, list[str]]:
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    said, _, names = done.stdout.partition("\nloaded:")
    return said, names.split()


def test_the_package_alone_is_a_handful_of_modules() -> None:
    _, names = loaded(
        "import sys; before = set(sys.modules); import sapwood; print('\\nloaded:', *set(sys.modules) - before)"
    )
    assert [name for name in names if name.startswith("sapwood")] == ["sapwood"]
    assert len(names) < 50, names
    assert not HEAVY & set(names)


def test_the_errors_need_no_scikit_learn_until_theirs_is_asked_for() -> None:
    code = "import sys; from sapwood.errors import SapwoodError; print('\\nloaded:', *sys.modules)"
    assert not HEAVY & set(loaded(code)[1])


@pytest.mark.parametrize("argument", ["--version", "--help"])
def test_version_and_help_import_nothing_heavy(argument: str) -> None:
    said, names = loaded(LISTED, argument)
    assert (f"sapwood {sapwood.__version__}" if argument == "--version" else "warmup") in said
    assert not HEAVY & set(names)


def test_the_package_can_be_run_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "sapwood", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"sapwood {sapwood.__version__}\n"
    done = subprocess.run([sys.executable, "-m", "sapwood", "no-such"], capture_output=True, text=True, check=False)
    assert done.returncode == 2

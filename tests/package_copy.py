"""A copy of the package in a folder of its own, run by another process: perhaps read-only, as a user without a home."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

LIMIT = 280
_UNSET = {"HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "PYTHONPATH", "LOCALAPPDATA"}
# A user who may read everything, so that any interpreter can be started, and write nothing of others.
_NOBODY = (
    "setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=+dac_read_search --ambient-caps=+dac_read_search"
)

PART = """
from sapwood.kernels._jit import part

@part
def change(x):
    return x + 1
"""
TOY = """
from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.toy_part import change

@lean_kernel
def toy(x):
    return change(x)
"""
RUN_TOY = """
import json, sys, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from sapwood.kernels.toy import toy
    results = [toy(value) for value in json.loads(sys.argv[1])]
hits, misses = (sum(counter.values()) for counter in (toy.stats.cache_hits, toy.stats.cache_misses))
print(json.dumps({"results": results, "hits": hits, "misses": misses,
                  "warnings": [f"{type(w.message).__name__}: {w.message}" for w in caught]}))
"""


@dataclass
class Copy:
    """Where the copy is, the environment it runs in, and who runs it."""

    home: Path
    environment: dict[str, str] = field(default_factory=dict)
    nobody: bool = False

    @property
    def kernels(self) -> Path:
        return self.home / "sapwood" / "kernels"

    @property
    def stored(self) -> list[Path]:
        """The compiled kernels of the package's own folder."""
        return sorted((self.kernels / "__pycache__").glob("*.nbc"))

    def add_toy(self) -> None:
        """Add a kernel that is quick to compile, and a part of another file that it inlines."""
        (self.kernels / "toy_part.py").write_text(PART)
        (self.kernels / "toy.py").write_text(TOY)

    def command(self, script: str, *arguments: str) -> list[str]:
        return [*(_NOBODY.split() if self.nobody else []), sys.executable, "-c", script, *arguments]

    def settings(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in _UNSET}
        return {**kept, "PYTHONPATH": str(self.home), **self.environment}

    def run(self, script: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            self.command(script, *arguments),
            env=self.settings(),
            cwd="/",
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        if check:
            assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        return done

    def toy(self, *values: float) -> dict[str, Any]:
        """Results of the toy kernel, and how often it was found compiled or not."""
        return json.loads(self.run(RUN_TOY, json.dumps(values or (1,))).stdout.splitlines()[-1])

    def make_read_only(self) -> None:
        for path in [self.home, *self.home.rglob("*")]:
            path.chmod(path.stat().st_mode & ~0o222)


def copy_package(home: Path) -> Copy:
    """Copy the sources, without anything compiled."""
    source = Path(next(iter(find_spec("sapwood").submodule_search_locations)))
    shutil.copytree(source, home / "sapwood", ignore=shutil.ignore_patterns("__pycache__"))
    for path in [home, *home.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    return Copy(home, {"HOME": str(home / "nowhere" / "at" / "all")})


def as_another_user(copy: Copy) -> Copy:
    """The same copy, read-only, run by a user who has no home; skips where that cannot be arranged."""
    if os.name != "posix":
        pytest.skip("needs permissions of files")
    copy.make_read_only()
    if os.getuid() != 0:
        return Copy(copy.home, {"HOME": "/nonexistent"})
    if shutil.which("setpriv") is None:
        pytest.skip("root may write everywhere, and there is no setpriv")
    return Copy(copy.home, {}, nobody=True)

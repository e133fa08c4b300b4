"""What all tests share: compiled kernels that are never older than their source."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest


def pytest_sessionstart(session: pytest.Session) -> None:
    """Forget compiled kernels that may be stale: Numba does not notice changes in functions inlined from elsewhere."""
    for package in find_spec("sapwood").submodule_search_locations:
        _drop_stale_kernels(Path(package) / "kernels")


def _drop_stale_kernels(kernels: Path) -> None:
    compiled = [path for pattern in ("*.nbi", "*.nbc") for path in (kernels / "__pycache__").glob(pattern)]
    written = [_modified(path) for path in kernels.glob("*.py")]
    if compiled and max(written) > min(map(_modified, compiled)):
        for path in compiled:
            path.unlink(missing_ok=True)


def _modified(path: Path) -> float:
    """Time of the last change; a file that another process has just removed counts as new."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return float("inf")

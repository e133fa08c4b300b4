"""Models are the same to the last bit on every processor.

Kernels are compiled for a processor, and NumPy and the system's mathematical library choose their functions by it. A
child process is told to work as an older processor does; its models must be those of this one.
"""

from __future__ import annotations

import ast
import json
import os
import platform
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sapwood

PROGRAM = Path(__file__).parent / "processor_fits.py"
SOURCES = Path(sapwood.__file__).parent
LIMIT = 600  # seconds for a child, which has to compile
FEW = ("tree, entropy, four classes", "AdaBoost, numbers", "Newton, logistic", "Newton, softmax", "Newton, gamma")

needs_x86 = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="only x86-64 has processors with and without fused products"
)


def _old_numpy() -> dict[str, str]:
    """NumPy without what it found beyond its least requirements."""
    found: Any = np.show_config(mode="dicts")
    return {"NPY_DISABLE_CPU_FEATURES": " ".join(found["SIMD Extensions"].get("found", []))}


OLD_SYSTEM = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX,-AVX2,-FMA,-FMA4,-AVX512F"}  # other systems do not read it
PROCESSORS: dict[str, dict[str, str]] = {
    "generic": {"NUMBA_CPU_NAME": "generic"},
    "x86-64-v3": {"NUMBA_CPU_NAME": "x86-64-v3"},
    "old libraries": _old_numpy() | OLD_SYSTEM,
}


def _fingerprints(settings: dict[str, str], *names: str) -> dict[str, str]:
    """Of fits in a process of their own."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *names],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


@cache
def _here() -> dict[str, str]:
    return _fingerprints({})


@needs_x86
@pytest.mark.timeout(LIMIT)
def test_models_of_an_old_processor(tmp_path: Path) -> None:
    oldest = PROCESSORS["generic"] | PROCESSORS["old libraries"] | {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert _fingerprints(oldest, *FEW) == _fingerprints({}, *FEW)


@needs_x86
@pytest.mark.slow
@pytest.mark.timeout(2 * LIMIT)
@pytest.mark.parametrize("processor", PROCESSORS)
def test_models_of_other_processors(processor: str, tmp_path: Path) -> None:
    there = _fingerprints(PROCESSORS[processor] | {"NUMBA_CACHE_DIR": str(tmp_path)})
    assert {name for name in there if there[name] != _here()[name]} == set()


# What computes or decides about models; explanations, pictures and exports only read them.
_FITTING = ("adaboost", "boosting", "codes", "forest", "growth", "kernels", "losses", "metrics", "shard")
_BY_PROCESSOR = frozenset(
    {"exp", "exp2", "expm1", "expit", "softmax", "log", "log2", "log10", "log1p", "logaddexp", "logit", "xlogy"}
    | {"power", "float_power", "pow", "cbrt", "hypot", "tanh", "lgamma", "gammaln", "digamma"}
    | {"dot", "matmul", "inner", "vdot", "einsum", "tensordot"}
)


def _uses(path: Path) -> set[str]:
    """Functions of NumPy, SciPy and the standard library whose last bits depend on the processor."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("np", "math"):
            found.add(node.attr)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("scipy", "math")):
            found.update(name.name for name in node.names)
    return found & _BY_PROCESSOR


def test_no_function_whose_last_bits_depend_on_the_processor_reaches_a_model() -> None:
    found = {
        f"{path.relative_to(SOURCES).as_posix()}: {name}"
        for package in _FITTING
        for path in sorted((SOURCES / package).rglob("*.py"))
        for name in _uses(path)
    }
    assert not found


def test_no_kernel_may_fuse_or_reorder() -> None:
    for path in sorted((SOURCES / "kernels").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "fastmath":
                assert ast.literal_eval(node.value) <= {"nnan", "nsz"}, path.name

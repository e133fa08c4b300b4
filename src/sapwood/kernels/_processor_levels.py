"""Levels of processors that wheels carry compiled kernels for, and those that this processor can run.

A level is a name of a processor that LLVM knows, and the features that it has. A wheel carries the kernels of all
levels of its platform, so that one file serves every processor.
"""

from __future__ import annotations

import os
from functools import cache

from llvmlite import binding
from numba.core.codegen import get_host_cpu_features

from sapwood.errors import ParameterError

VARIABLE = "SAPWOOD_CPU"
NATIVE = "native"

_V3 = ["avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sahf", "sse4.2", "xsave"]
_V4 = [*_V3, "avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"]

# The best first. "generic" is what every processor of the platform can run.
_FEATURES: dict[str, dict[str, list[str]]] = {
    "x86_64": {"x86-64-v4": _V4, "x86-64-v3": _V3, "generic": []},
    "aarch64": {"generic": []},
    "arm64": {"generic": []},
}


@cache
def levels() -> tuple[str, ...]:
    """The levels that this processor can run, the best first; none on other platforms."""
    host = get_host_cpu_features().split(",")  # without those that NUMBA_ENABLE_AVX=0 turns off
    known = _FEATURES.get(binding.get_process_triple().partition("-")[0], {})
    return tuple(name for name, features in known.items() if all(f"+{feature}" in host for feature in features))


def chosen_levels() -> tuple[str, ...]:
    """The levels whose compiled kernels may be used: all, or the one that SAPWOOD_CPU names; none for "native"."""
    chosen = os.environ.get(VARIABLE, "")
    if not chosen:
        return levels()
    if chosen == NATIVE:
        return ()
    if chosen not in levels():
        raise ParameterError(
            f"The environment variable {VARIABLE}={chosen!r} is not allowed: it must name a level that this processor "
            f"can run: {', '.join([*levels(), NATIVE])}. Unset it to use the best one."
        )
    return (chosen,)

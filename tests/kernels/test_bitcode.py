"""Kernels that only kernels call have no machine code, and are found on disk by whoever calls them."""

from __future__ import annotations

from pathlib import Path

from numba.core import types

from package_copy import copy_package
from sapwood.kernels._bitcode import BitcodeLibrary
from sapwood.kernels.draws import mix
from sapwood.kernels.newton import shrink

INNER = """
from sapwood.kernels._jit import inner_kernel, lean_kernel

@inner_kernel
def twice(x):
    return x + x

@lean_kernel
def one(x):
    return twice(x) + 1

@lean_kernel
def two(x):
    return twice(x) + 2
"""
RUN = """
import sys
from sapwood.kernels import inner
print(getattr(inner, sys.argv[1])(4), sum(inner.twice.stats.cache_hits.values()), len(inner.twice.overloads))
"""


def test_another_caller_in_another_process_finds_the_kernel_on_disk(tmp_path: Path) -> None:
    copy = copy_package(tmp_path / "site")
    (copy.kernels / "inner.py").write_text(INNER)
    assert copy.run(RUN, "one").stdout == "9 0 1\n"
    assert copy.run(RUN, "two").stdout == "10 1 1\n"
    assert copy.run(RUN, "two").stdout == "10 0 0\n"  # nor is it looked for once its callers are there


def test_only_kernels_that_python_enters_have_machine_code() -> None:
    assert shrink(3.0, 1.0) == 2.0
    (found,) = shrink.overloads.values()
    assert isinstance(found.library, BitcodeLibrary)
    assert not found.library.get_pointer_to_function(found.fndesc.llvm_func_name)
    kinds = types.uint64, types.int64
    mix.compile(kinds)
    entered = mix.overloads[kinds]
    assert entered.library.get_pointer_to_function(entered.fndesc.llvm_func_name)

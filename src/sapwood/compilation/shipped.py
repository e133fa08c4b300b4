"""`python -m sapwood.compilation.shipped FOLDER`: compile the kernels that a wheel carries.

    FOLDER/LEVEL/module.function.STAMP.KEY.nbc      for each level of `sapwood.kernels._processor_levels`

The kernels of a level are compiled by processes that are told to work as such a processor. Numba keeps two forms of a
kernel: machine code, and LLVM's code, from which it is copied into other kernels. The latter takes four fifths of the
space, so a wheel has it only of kernels that are called both from Python and by kernels. Those that only kernels call
are left out.
"""

from __future__ import annotations

import argparse
import ast
import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from llvmlite import binding

from sapwood.compilation.uses import uses
from sapwood.compilation.workers import share_out
from sapwood.errors import ParameterError
from sapwood.kernels import _cache
from sapwood.kernels._bitcode import BITCODE
from sapwood.kernels._cache import SUBFOLDER, Reduced, packed, unpacked
from sapwood.kernels._processor_levels import levels
from sapwood.threads import available_cores

KERNELS = Path(_cache.__file__).parent


def compile_level(level: str, names: list[str], folder: Path, n_jobs: int) -> None:
    """Compile what the named uses need for a level of processors, and put it into `folder / level`."""
    target = folder / level
    if target.exists():
        raise ParameterError(f"{target} exists already. Remove it, or name another folder.")
    start = time.perf_counter()

    def report(name: str, done: int, wanted: int) -> None:
        print(f"{level}: {done}/{wanted}, {time.perf_counter() - start:.0f} s: {name}", file=sys.stderr, flush=True)

    with TemporaryDirectory(dir=folder) as cache:
        os.environ |= {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": cache}
        share_out(names, n_jobs, report)
        write_shipped(Path(cache) / SUBFOLDER, target)


def write_shipped(cache: Path, target: Path) -> None:
    """Write what a wheel carries of the kernels in a folder to another one."""
    target.mkdir(parents=True)
    called = called_by_kernels(KERNELS)
    for path in sorted(cache.glob("*.nbc")):
        key, compiled = unpacked(path.read_bytes())
        if is_called_from_python(compiled):
            module, name = path.name.split(".")[:2]
            kept = compiled if (module, name) in called else as_machine_code(compiled)
            (target / path.name).write_bytes(packed(key, kept))


def called_by_kernels(folder: Path) -> set[tuple[str, str]]:
    """Module and name of all functions that the kernel files of a folder use, in whatever way."""
    found: set[tuple[str, str]] = set()
    for path in folder.glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        home = {
            alias.asname or alias.name: (str(node.module).rpartition(".")[2], alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        found |= {home.get(name, (path.stem, name)) for name in used}
    return found


def is_called_from_python(compiled: Reduced) -> bool:
    """Whether a kernel has a wrapper for calls from Python."""
    (_, kind, code), description, *_ = compiled
    if kind == BITCODE:
        return False
    _, bitcode = code
    return any(each.name == description.llvm_cpython_wrapper_name for each in binding.parse_bitcode(bitcode).functions)


def as_machine_code(compiled: Reduced) -> Reduced:
    """A kernel of which LLVM's code only declares the functions, so that it cannot be copied into others."""
    (name, kind, (machine_code, bitcode)), *others = compiled
    module = binding.parse_bitcode(bitcode)
    lines = [f'target datalayout = "{module.data_layout}"', f'target triple = "{module.triple}"']
    for function in module.functions:
        if not function.is_declaration:
            result, _, arguments = str(function.global_value_type).rpartition("(")
            lines.append(f'declare {result} @"{function.name}"({arguments}')
    declared = binding.parse_assembly("\n".join(lines)).as_bitcode()
    return ((name, kind, (machine_code, declared)), *others)


def main() -> None:
    """Compile for the levels that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where to put them")
    parser.add_argument("--levels", nargs="+", choices=levels(), default=levels(), help="default: all that run here")
    parser.add_argument("--uses", nargs="+", choices=uses(), metavar="USE", default=list(uses()), help="instead of all")
    parser.add_argument("--jobs", type=int, default=available_cores(), help="processes; default: one for each core")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for level in options.levels:
        compile_level(level, options.uses, options.folder, options.jobs)


if __name__ == "__main__":
    main()

"""Compiled kernels on disk, each in a file of its own that is named for everything it was made from.

    module.function.STAMP.KEY.nbc      STAMP  the sources, see `_source_stamp`
                                       KEY    types of the arguments, processor, compiler, Python, options

    content: a mark ─► a checksum of the rest ─► compressed: the key in full, the compiled kernel

A name never has two contents, so that processes may write at the same time, copies of the package may share a
folder, and there is no index to get out of step. A kernel is read from the first folder that has it, and written to the
first that can be written to: in an image whose kernels were compiled when it was built, all users read what root has
written.

    compiled/LEVEL (read only) ─► NUMBA_CACHE_DIR, if set ─► the package's own __pycache__ ─► the user's cache folder

The first of them comes with a wheel: kernels compiled for a level of processors (`_processor_levels`) that this one
belongs to. They have the name that a processor called like the level, without further features, would give them.

A file that cannot be read counts as absent and is replaced; where nothing can be written, kernels are compiled in
memory, and one warning says so. Compiled kernels are pickles: like Python's own compiled files they are trusted, and
the folders must be writable by nobody else.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import config, sigutils
from numba.core.caching import NullCache
from numba.core.codegen import CPUCodeLibrary
from numba.core.compiler import CompileResult
from numba.core.cpu import CPUContext
from numba.core.funcdesc import FunctionDescriptor
from numba.core.serialize import dumps
from numba.core.typing.templates import Signature

from sapwood.errors import KernelCacheWarning
from sapwood.kernels._bitcode import BITCODE, rebuilt
from sapwood.kernels._compiling import is_compiling
from sapwood.kernels._processor_levels import chosen_levels
from sapwood.kernels._source_stamp import source_stamp

PACKAGE_FOLDER = Path(__file__).parent / "__pycache__"
SHIPPED_FOLDER = Path(__file__).parent / "compiled"  # of a wheel
SUBFOLDER = "sapwood"  # of NUMBA_CACHE_DIR
_MARK = b"sapwood\3"
_OPTIONS = ("BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LLVM_REFPRUNE_PASS", "LOOP_VECTORIZE", "OPT", "SLP_VECTORIZE")
_VERSIONS = (numba.__version__, llvmlite.__version__, sys.implementation.cache_tag, getattr(sys, "abiflags", ""))

_FAST = 1  # compression takes 1 % of the time of compiling, and leaves a third

Processor = tuple[str, str, str]  # platform, name, features: what Numba compiles for
Reduced = tuple[Any, ...]  # what Numba keeps of a compiled kernel

_shipped_functions: set[str] = set()  # of kernels of a wheel that this process has loaded
_unwritable: set[Path] = set()
_warned = False


class KernelCache(NullCache):
    """The compiled forms of one kernel; Numba's dispatcher asks before it compiles and hands over what it compiled."""

    def __init__(self, function: Callable[..., object]) -> None:
        self._stamp = source_stamp(function.__module__)
        self._is_ours = function.__module__.startswith("sapwood.")  # kernels of tests have no sources to follow
        module = function.__module__.rpartition(".")[2]
        self._name = re.sub(r"[^\w.]", "", f"{module}.{function.__qualname__}")
        # A kernel may be made by a function, for each of several functions that it calls.
        called = [getattr(cell.cell_contents, "__name__", cell.cell_contents) for cell in function.__closure__ or ()]
        self._code = hashlib.sha256(function.__code__.co_code + repr(called).encode()).hexdigest()

    def load_overload(self, signature: Signature, target_context: CPUContext) -> CompileResult | None:
        """The kernel compiled for the types of a signature, or None."""
        if self._stamp is None:
            return None
        target_context.refresh()
        here = target_context.codegen().magic_tuple()
        for folder, processor in _places(here):
            key = self._key(signature, processor)
            found = _read(folder / self._file(key), key, target_context)
            if found is not None:
                return found
        return None

    def save_overload(self, signature: Signature, compiled: Any) -> None:
        """Keep what was compiled for the types of a signature."""
        if not self._is_ours:
            return
        if self._stamp is None:
            _warn("The source files of the kernels cannot be read")
        elif not compiled.library.has_dynamic_globals and _is_complete(compiled.library):
            key = self._key(signature, compiled.codegen.magic_tuple())
            # The annotated source is for a debugger, and takes long to write.
            folder = store(self._file(key), packed(key, compiled._replace(type_annotation="")._reduce()))
            if folder is None:
                _warn("No folder for compiled kernels can be written to: " + ", ".join(map(str, folders())))
            elif folder == PACKAGE_FOLDER:
                self._remove_stale()

    def _key(self, signature: Signature, processor: Processor) -> str:
        """Everything besides the sources that compiled code depends on."""
        options = [(name, str(getattr(config, name, None))) for name in _OPTIONS]
        types = sigutils.normalize_signature(signature)
        return repr((str(types), processor, _VERSIONS, options, self._code))

    def _file(self, key: str) -> str:
        return f"{self._name}.{self._stamp:.12}.{hashlib.sha256(key.encode()).hexdigest()[:24]}.nbc"

    def _remove_stale(self) -> None:
        """Remove this kernel from the package's folder where it was compiled from sources that no longer exist."""
        with suppress(OSError):
            for path in PACKAGE_FOLDER.glob(f"{self._name}.*"):
                if not path.name.startswith(f"{self._name}.{self._stamp:.12}."):
                    path.unlink(missing_ok=True)


def packed(key: str, compiled: Reduced) -> bytes:
    """The content of a file."""
    content = zlib.compress(dumps((key, compiled)), _FAST)
    return _head(content) + content


def unpacked(data: bytes) -> tuple[str, Reduced]:
    """The key and the compiled kernel in the content of a file."""
    content = data[len(_head(b"")) :]
    if data != _head(content) + content:
        raise ValueError("This is not a compiled kernel, or it is damaged.")
    key, compiled = pickle.loads(zlib.decompress(content))
    return key, compiled


def _head(content: bytes) -> bytes:
    """What comes before the content of a file."""
    return _MARK + hashlib.sha256(content).digest()


def _read(path: Path, key: str, target_context: CPUContext) -> CompileResult | None:
    """The compiled kernel in a file, or None if the file is absent, damaged, or has another key."""
    try:
        found, compiled = unpacked(path.read_bytes())
        if found != key:
            return None
        if path.parent.parent == SHIPPED_FOLDER:
            _define(compiled[1], target_context)
        if compiled[0][1] == BITCODE:
            return rebuilt(target_context, compiled)
        result: CompileResult = CompileResult._rebuild(target_context, *compiled)
    except Exception:  # any defect: the kernel is compiled again
        return None
    return result


def _define(description: FunctionDescriptor, target_context: CPUContext) -> None:
    """Tell Numba that the functions of a kernel have machine code: it would conclude so from LLVM's code."""
    names = {description.llvm_func_name, description.llvm_cpython_wrapper_name}
    target_context.codegen()._engine._defined_symbols |= names
    _shipped_functions.add(description.llvm_func_name)


def _is_complete(library: CPUCodeLibrary) -> bool:
    """Whether a process can load a kernel by itself: not if it calls a function that another file has the code of."""
    return not any(
        function.is_declaration and function.name in _shipped_functions for function in library._final_module.functions
    )


def _places(here: Processor) -> Iterator[tuple[Path, Processor]]:
    """Where a kernel may be, the first choice first, and what the kernels there were compiled for."""
    # Most kernels of a wheel cannot be copied into others: see `sapwood.compilation.shipped`.
    levels = chosen_levels()  # also where there is no wheel: a wrong name is an error everywhere
    if SHIPPED_FOLDER.is_dir() and not is_compiling():
        platform, name, _ = here
        if "NUMBA_CPU_NAME" in os.environ or "NUMBA_CPU_FEATURES" in os.environ:  # taken literally
            yield SHIPPED_FOLDER / name, here
        else:
            for level in levels:
                yield SHIPPED_FOLDER / level, (platform, level, "")
    for folder in folders():
        yield folder, here


def folders() -> Iterator[Path]:
    """Where kernels may be that were compiled here, the first choice first."""
    chosen = getattr(config, "CACHE_DIR", "")
    if chosen:
        yield Path(chosen) / SUBFOLDER
    yield PACKAGE_FOLDER
    user = _user_folder()
    if user.is_absolute():  # a user without a home directory has none
        yield user / "sapwood" / "kernels"


def store(name: str, data: bytes) -> Path | None:
    """Write a file to the first folder that accepts it, and return that folder."""
    return next((folder for folder in folders() if folder not in _unwritable and _write(folder / name, data)), None)


def is_stored(kernel: str) -> bool:
    """Whether a kernel, such as "grow.grow", is on disk as its sources are now, for any types and processor."""
    stamp = source_stamp(f"sapwood.kernels.{kernel.partition('.')[0]}")
    places = [*folders(), *(SHIPPED_FOLDER / level for level in chosen_levels() if SHIPPED_FOLDER.is_dir())]
    return stamp is not None and any(True for place in places for _ in place.glob(f"{kernel}.{stamp:.12}.*"))


def can_store() -> bool:
    """Whether a kernel that is compiled now could be kept."""
    name = f"{os.urandom(6).hex()}.tmp"
    folder = store(name, b"")
    if folder is not None:
        with suppress(OSError):
            (folder / name).unlink(missing_ok=True)
    return folder is not None


def _write(path: Path, data: bytes) -> bool:
    """Whether the file was written: a full disk or a read-only folder is not tried again in this process."""
    temporary = path.with_name(f"{path.name}.{os.urandom(6).hex()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(data)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError:
        _unwritable.add(path.parent)
        return False
    return True


def _user_folder() -> Path:
    """The user's folder for caches, by the customs of the system."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or "")
    if sys.platform == "darwin":
        return Path("~/Library/Caches").expanduser()
    chosen = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    with suppress(RuntimeError):  # a user unknown to the system
        return Path(chosen).expanduser()
    return Path()


def _warn(reason: str) -> None:
    """Say once in a process that the next one has to compile again."""
    global _warned  # noqa: PLW0603 - once in a process
    if not _warned:
        _warned = True
        warnings.warn(
            f"{reason}. Kernels are compiled in memory, and again in every process. Set NUMBA_CACHE_DIR to a folder "
            f"that can be written to, or run `sapwood warmup` once as a user who may write to {PACKAGE_FOLDER}.",
            KernelCacheWarning,
            stacklevel=2,
        )

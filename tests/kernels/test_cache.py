"""Compiled kernels are used again whenever they may be, and never when they must not; no folder is needed for it."""

from __future__ import annotations

import ast
import errno
import hashlib
import os
import pickle
import re
import resource
import subprocess
import tempfile
import warnings
import zlib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from package_copy import RUN_TOY, Copy, as_another_user, copy_package
from sapwood.errors import KernelCacheWarning
from sapwood.kernels import _cache, _source_stamp, elementary


@pytest.fixture
def copy() -> Iterator[Copy]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # unlike pytest's, other users may enter it
        copy = copy_package(Path(folder) / "site")
        copy.add_toy()
        yield copy


def test_a_second_process_finds_what_the_first_compiled(copy: Copy) -> None:
    assert copy.toy(1, 2.5) == {"results": [2, 3.5], "hits": 0, "misses": 2, "warnings": []}
    assert copy.toy(1, 2.5) == {"results": [2, 3.5], "hits": 2, "misses": 0, "warnings": []}


def test_a_change_in_an_inlined_part_of_another_file_is_noticed_and_replaces_the_old(copy: Copy) -> None:
    copy.toy()
    before = copy.stored
    part = copy.kernels / "toy_part.py"
    time = part.stat().st_mtime_ns
    part.write_text(part.read_text().replace("x + 1", "x + 70"))
    os.utime(part, ns=(time, time))  # the time of a file says nothing (its size tells Python to read it again)
    assert copy.toy() == {"results": [71], "hits": 0, "misses": 1, "warnings": []}
    assert len(copy.stored) == len(before) == 1
    assert copy.stored != before


def test_a_change_in_a_file_that_is_not_imported_matters_to_nobody(copy: Copy) -> None:
    copy.toy()
    with (copy.kernels / "grow.py").open("a") as file:
        file.write("\n# changed\n")
    assert copy.toy()["hits"] == 1


def test_equal_copies_share_a_folder(copy: Copy, tmp_path: Path) -> None:
    copy.environment["NUMBA_CACHE_DIR"] = str(tmp_path / "shared")
    other = copy_package(tmp_path / "other")
    other.add_toy()
    other.environment["NUMBA_CACHE_DIR"] = str(tmp_path / "shared")
    assert copy.toy()["misses"] == 1
    assert not copy.stored
    assert other.toy()["hits"] == 1


def test_options_of_the_compiler_are_told_apart(copy: Copy) -> None:
    copy.toy()
    copy.environment["NUMBA_BOUNDSCHECK"] = "1"
    assert copy.toy()["misses"] == 1
    assert len(copy.stored) == 2


def test_another_user_reads_what_root_compiled_into_an_image(copy: Copy) -> None:
    copy.toy()
    assert copy.stored[0].stat().st_mode & 0o044 == 0o044
    assert as_another_user(copy).toy() == {"results": [2], "hits": 1, "misses": 0, "warnings": []}


@pytest.mark.parametrize("chosen", [None, "read-only", "not there"])
def test_without_any_folder_kernels_are_compiled_in_memory_with_one_warning(copy: Copy, chosen: str | None) -> None:
    user = as_another_user(copy)
    if chosen is not None:
        user.environment["NUMBA_CACHE_DIR"] = str(copy.home) if chosen == "read-only" else "/not/there"
    found = user.toy(1, 2.5)
    assert found["results"] == [2, 3.5]
    assert found["misses"] == 2
    (warning,) = found["warnings"]
    assert warning.startswith("KernelCacheWarning")
    assert "NUMBA_CACHE_DIR" in warning
    assert "sapwood warmup" in warning


def test_a_folder_of_the_user_adds_to_a_read_only_package(copy: Copy) -> None:
    copy.toy(1)
    user = as_another_user(copy)
    mine = copy.home.parent / "mine"
    mine.mkdir()
    mine.chmod(0o777)
    user.environment["XDG_CACHE_HOME"] = str(mine)
    assert user.toy(1, 2.5) == {"results": [2, 3.5], "hits": 1, "misses": 1, "warnings": []}
    assert user.toy(1, 2.5) == {"results": [2, 3.5], "hits": 2, "misses": 0, "warnings": []}


def _garbage(_: bytes) -> bytes:
    return b"garbage"


def _cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def _flipped(data: bytes) -> bytes:
    return data[:-100] + bytes([data[-100] ^ 1]) + data[-99:]


def _something_else(data: bytes) -> bytes:
    content = zlib.compress(pickle.dumps("no kernel"))
    return data[:8] + hashlib.sha256(content).digest() + content


def _of_another_key(_: bytes) -> bytes:
    return _cache.packed("other types", ())


@pytest.mark.parametrize("damage", [_garbage, _cut, _flipped, _something_else, _of_another_key])
def test_a_damaged_file_is_replaced(copy: Copy, damage: object) -> None:
    copy.toy()
    (path,) = copy.stored
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    assert copy.toy() == {"results": [2], "hits": 0, "misses": 1, "warnings": []}
    assert copy.toy()["hits"] == 1


def test_a_full_disk_is_no_error(copy: Copy) -> None:
    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    command = copy.command(RUN_TOY, "[1, 2.5]")
    done = subprocess.run(
        command, env=copy.settings(), preexec_fn=full, capture_output=True, text=True, check=False, timeout=200
    )
    assert '"results": [2, 3.5]' in done.stdout, done.stderr
    assert done.stdout.count("KernelCacheWarning") == 1
    assert not list(copy.home.rglob("*.tmp"))
    assert not list(copy.home.rglob("*.nbc"))


def test_processes_may_write_at_once(copy: Copy) -> None:
    orders = ["[1, 2.5]", "[2.5, 1]", "[1, 2.5, true]", "[true, 1]"]
    at_once = [
        subprocess.Popen(copy.command(RUN_TOY, order), env=copy.settings(), stdout=subprocess.PIPE, text=True)
        for order in orders
    ]
    for process in at_once:
        output, _ = process.communicate(timeout=250)
        assert process.returncode == 0
        assert '"warnings": []' in output
    assert copy.toy(1, 2.5, True) == {"results": [2, 3.5, 2], "hits": 3, "misses": 0, "warnings": []}
    assert len(copy.stored) == 3
    assert not list(copy.home.rglob("*.tmp"))


def test_a_package_without_sources_compiles_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _source_stamp.source_stamp("sapwood.kernels.not_there") is None
    monkeypatch.setattr(_cache, "_warned", False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _cache.KernelCache(_unused).save_overload((), None)  # not one of the library: no word
    monkeypatch.setattr(_unused, "__module__", "sapwood.kernels.not_there")
    kernel = _cache.KernelCache(_unused)
    assert kernel.load_overload((), None) is None
    with pytest.warns(KernelCacheWarning, match="source files"):
        kernel.save_overload((), None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel.save_overload((), None)  # once in a process


def _unused() -> None:
    """A function of no kernel file."""


def test_a_full_folder_is_passed_over_for_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full, free = tmp_path / "full", tmp_path / "free"
    write = Path.write_bytes

    def write_unless_full(path: Path, data: bytes) -> int:
        if path.parent == full:
            write(path, data[:1])
            raise OSError(errno.ENOSPC, "full")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", write_unless_full)
    monkeypatch.setattr(_cache, "folders", lambda: iter([full, free]))
    monkeypatch.setattr(_cache, "_unwritable", set())
    assert _cache.store("kernel", b"code") == free
    assert list(full.iterdir()) == []
    assert (free / "kernel").read_bytes() == b"code"


def test_kernels_that_differ_by_the_function_they_call_are_told_apart() -> None:
    kernels = [kernel for name, kernel in vars(elementary).items() if name.startswith("write_")]
    assert len({kernel._cache._key((), ("", "", "")) for kernel in kernels}) == len(kernels) == 8


def test_every_import_of_a_kernel_file_is_followed() -> None:
    folder = Path(next(iter(find_spec("sapwood.kernels").submodule_search_locations)))
    for path in folder.glob("[!_]*.py"):
        found = set()
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            found.update(name for name in names if name.startswith("sapwood"))
        assert found == {f"sapwood.kernels.{name}" for name in _source_stamp._imports(path.stem)}


def test_what_calls_a_function_of_a_statistic_is_made_from_the_versions_of_all() -> None:
    folder = Path(next(iter(find_spec("sapwood.kernels").submodule_search_locations)))
    texts = {path.stem: path.read_text() for path in folder.glob("[!_]*.py")}
    functions = [name for text in texts.values() for name in re.findall(r"@per_statistic\ndef (\w+)", text)]
    versions = {name for name, text in texts.items() if re.search(r"^@\w+\.of\(", text, re.MULTILINE)}
    callers = {name for name, text in texts.items() if any(f"{function}(stat" in text for function in functions)}
    assert {"levels", "drawn", "search", "grow", "significance"} <= callers
    for name in callers:
        assert versions <= _source_stamp._sources(name)

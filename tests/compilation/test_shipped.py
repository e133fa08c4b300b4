"""Kernels that a wheel carries are used wherever the processor can run them, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from package_copy import Copy, as_another_user, copy_package
from sapwood.compilation.shipped import compile_level
from sapwood.errors import ParameterError
from sapwood.kernels._processor_levels import levels

pytestmark = pytest.mark.skipif(not levels(), reason="no level of this platform is known")

FOUND = {"results": [2, 3.5], "hits": 2, "misses": 0, "warnings": []}
COMPILED = {"results": [2, 3.5], "hits": 0, "misses": 2, "warnings": []}
CALLER = """
from sapwood.kernels._jit import inner_kernel, kernel
from sapwood.kernels.toy import toy

@inner_kernel
def twice(x):
    return toy(x) * 2

@kernel
def total(x):
    return toy(x) + twice(x)
"""
SHIP = """
import sys
from pathlib import Path
from sapwood.compilation.shipped import write_shipped
write_shipped(Path(sys.argv[1]), Path(sys.argv[2]))
"""
CALL = (
    "from sapwood.kernels.toy import toy; print(toy(1)); from sapwood.kernels.toy_caller import total; print(total(1))"
)


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    """A package that carries the toy kernel for the level that every processor can run."""
    tmp_path.chmod(0o755)
    copy = copy_package(tmp_path / "site")
    copy.add_toy()
    (copy.kernels / "toy_caller.py").write_text(CALLER)
    ship(copy, tmp_path / "cache", lambda: copy.toy(1, 2.5))
    return copy


def ship(copy: Copy, cache: Path, use: Callable[[], object]) -> None:
    copy.environment |= {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(cache)}
    use()
    for name in ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_CACHE_DIR"):
        del copy.environment[name]
    copy.run(SHIP, str(cache / "sapwood"), str(copy.kernels / "compiled" / "generic"))


def test_nothing_is_compiled(copy: Copy) -> None:
    assert copy.toy(1, 2.5) == FOUND
    assert not copy.stored


def test_other_types_are_compiled_for_this_processor(copy: Copy) -> None:
    assert copy.toy(1, True)["misses"] == 1
    assert copy.toy(1, True)["hits"] == 2


def test_a_read_only_installation_of_a_user_without_a_home(copy: Copy) -> None:
    assert as_another_user(copy).toy(1, 2.5) == FOUND


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"SAPWOOD_CPU": "generic"}, FOUND),
        ({"SAPWOOD_CPU": "native"}, COMPILED),
        ({"SAPWOOD_CPU": levels()[0] if len(levels()) > 1 else "native"}, COMPILED),  # a level that is not carried
        ({"NUMBA_CPU_NAME": "generic"}, FOUND),
        ({"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "+64bit"}, COMPILED),
        ({"NUMBA_OPT": "2"}, COMPILED),
    ],
)
def test_settings_are_followed(copy: Copy, settings: dict[str, str], expected: dict[str, object]) -> None:
    copy.environment |= settings
    assert copy.toy(1, 2.5) == expected


def test_an_unknown_level_is_an_error(copy: Copy) -> None:
    copy.environment["SAPWOOD_CPU"] = "i386"
    done = copy.run("from sapwood.kernels.toy import toy; toy(1)", check=False)
    assert "SAPWOOD_CPU='i386'" in done.stderr.splitlines()[-1]


def test_changed_sources_are_compiled(copy: Copy) -> None:
    part = copy.kernels / "toy_part.py"
    part.write_text(part.read_text().replace("x + 1", "x + 70"))
    assert copy.toy(1) == {"results": [71], "hits": 0, "misses": 1, "warnings": []}


def test_damaged_files_are_passed_over(copy: Copy) -> None:
    for path in (copy.kernels / "compiled" / "generic").iterdir():
        data = path.read_bytes()
        path.write_bytes(data[:-20] + bytes(20))
    assert copy.toy(1, 2.5) == COMPILED
    assert copy.toy(1, 2.5) == FOUND


def test_kernels_compiled_later_call_one_that_was_shipped(copy: Copy) -> None:
    assert copy.run(CALL).stdout.split() == ["2", "6"]
    assert copy.run(CALL).stdout.split() == ["2", "6"]
    assert copy.run(TOTAL).stdout.split() == ["6"]  # kept on disk, it needs no other file
    copy.environment["SAPWOOD_CPU"] = "native"
    assert copy.run(TOTAL).stdout.split() == ["6"]


def test_what_calls_machine_code_of_another_file_is_not_kept(copy: Copy, tmp_path: Path) -> None:
    (copy.kernels / "toy_caller.py").unlink()
    for path in (copy.kernels / "compiled" / "generic").iterdir():
        path.unlink()
    (copy.kernels / "compiled" / "generic").rmdir()
    ship(copy, tmp_path / "alone", lambda: copy.toy(1))  # nothing calls it, so LLVM's code is left out
    (copy.kernels / "toy_caller.py").write_text(CALLER)
    assert copy.run(CALL).stdout.split() == ["2", "6"]
    assert not copy.stored
    assert copy.run(TOTAL).stdout.split() == ["6"]
    assert copy.stored


TOTAL = "from sapwood.kernels.toy_caller import total; print(total(1))"
ADDRESS = """
from numba import int64
from sapwood.kernels.toy import toy
toy.compile((int64,))
found = toy.overloads[(int64,)]
print(found.library.get_pointer_to_function(found.fndesc.llvm_func_name) != 0, sum(toy.stats.cache_hits.values()))
"""


def test_the_address_of_a_kernel_is_known(copy: Copy) -> None:
    assert copy.run(ADDRESS).stdout.split() == ["True", "1"]


def test_kernels_that_only_kernels_call_are_left_out(copy: Copy, tmp_path: Path) -> None:
    for path in (copy.kernels / "compiled" / "generic").iterdir():
        path.unlink()
    (copy.kernels / "compiled" / "generic").rmdir()
    ship(copy, tmp_path / "all", lambda: copy.run("from sapwood.kernels.toy_caller import total; total(1)"))
    assert [path.name.split(".")[1] for path in sorted((tmp_path / "all" / "sapwood").iterdir())] == [
        "toy",
        "total",
        "twice",
    ]
    shipped = sorted((copy.kernels / "compiled" / "generic").iterdir())
    assert [path.name.split(".")[1] for path in shipped] == ["toy", "total"]
    assert sum(path.stat().st_size for path in shipped) < sum(
        path.stat().st_size for path in (tmp_path / "all" / "sapwood").iterdir()
    )
    assert copy.run(TOTAL).stdout.split() == ["6"]


def test_a_folder_is_never_filled_twice(tmp_path: Path) -> None:
    (tmp_path / "generic").mkdir()
    with pytest.raises(ParameterError, match="exists already"):
        compile_level("generic", [], tmp_path, 1)

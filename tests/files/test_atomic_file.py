"""Files are written whole or not at all, whatever fails on the way."""

from __future__ import annotations

import errno
import io
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sapwood as sw
from model_cases import fitted
from sapwood import atomic_file
from sapwood.atomic_file import complete_or_untouched, replace_file
from sapwood.errors import ModelFileError

OLD, NEW = b"old" * 50_000, b"new" * 70_000
FAULTS = [
    OSError(errno.ENOSPC, "No space left on device"),
    OSError(errno.EIO, "Input/output error"),
    KeyboardInterrupt(),
]


class Faults:
    """Every call that touches the disk counts; call number n fails."""

    def __init__(self, n: int, error: BaseException) -> None:
        self.n, self.error, self.calls = n, error, 0

    def __call__(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **named: Any) -> Any:
            self.calls += 1
            if self.calls == self.n:
                raise self.error
            return call(*arguments, **named)

        return counted

    @property
    def fired(self) -> bool:
        return self.calls >= self.n


class FaultyFile(io.FileIO):
    """A file without a buffer, whose writes and closing may fail."""

    faults: Faults

    def write(self, data: Any) -> int:
        return int(self.faults(super().write)(data))

    def close(self) -> None:
        if self.closed:
            return
        super().close()
        self.faults(lambda: None)()


@pytest.fixture
def break_after(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, BaseException], Faults]:
    """Let the n-th call fail: opening, writing, closing, fsync, copying of permissions, replacing."""

    def install(n: int, error: BaseException) -> Faults:
        faults = Faults(n, error)

        def open_file(path: Path, mode: str = "r") -> Any:
            file = faults(FaultyFile)(path, mode.replace("b", ""))
            file.faults = faults
            return file

        for name in ("open", "fsync", "replace", "close"):
            monkeypatch.setattr(atomic_file.os, name, faults(getattr(os, name)))
        monkeypatch.setattr(atomic_file.shutil, "copymode", faults(atomic_file.shutil.copymode))
        monkeypatch.setattr(Path, "open", open_file)
        return faults

    return install


@pytest.mark.parametrize("error", FAULTS, ids=repr)
@pytest.mark.parametrize("is_there", [True, False])
def test_a_fault_at_any_step_leaves_the_old_file_or_the_new_one(
    error: BaseException, is_there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, break_after: Any
) -> None:
    fired = 0
    for n in range(1, 100):
        folder = tmp_path / str(n)
        folder.mkdir()
        if is_there:
            (folder / "file").write_bytes(OLD)
        with monkeypatch.context():
            faults = break_after(n, error)
            told = _outcome(folder / "file", [NEW[:50_000], NEW[50_000:]])
            monkeypatch.undo()
        found = (folder / "file").read_bytes() if (folder / "file").exists() else None
        assert [path.name for path in folder.iterdir()] in (["file"], [] if not is_there else ["file"])
        assert found in (NEW, OLD if is_there else None)
        assert (
            found == NEW if told is None else (told is error and (found != NEW or isinstance(error, KeyboardInterrupt)))
        )
        if not faults.fired:
            break
        fired += 1
    assert fired >= 9 + is_there
    assert found == NEW


def _outcome(path: Path, parts: list[bytes]) -> BaseException | None:
    try:
        replace_file(path, parts)
    except (OSError, KeyboardInterrupt) as error:
        return error
    return None


def test_a_fault_of_the_caller_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(OLD)

    def parts() -> Any:
        yield b"new"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        replace_file(tmp_path / "file", parts())
    assert (tmp_path / "file").read_bytes() == OLD
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_fault_while_a_temporary_file_is_open_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(OLD)

    def fail() -> None:
        with complete_or_untouched(tmp_path / "file") as temporary:
            temporary.write_bytes(NEW)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert (tmp_path / "file").read_bytes() == OLD
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_disk_and_folder_are_asked_to_keep_the_file_before_and_after_it_is_renamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[Any] = []

    def fsync(descriptor: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        steps.append("folder" if is_folder else ("file", os.fstat(descriptor).st_size))

    rename = os.replace

    def replace(source: Any, target: Any) -> None:
        assert Path(source).parent == Path(target).parent
        steps.append("rename")
        rename(source, target)

    monkeypatch.setattr(atomic_file.os, "fsync", fsync)
    monkeypatch.setattr(atomic_file.os, "replace", replace)
    replace_file(tmp_path / "file", NEW)
    assert steps == [("file", len(NEW)), "rename", "folder"]


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_bytes(OLD)
    (tmp_path / "link").symlink_to(tmp_path / "there" / "file")
    (tmp_path / "loose").symlink_to(tmp_path / "there" / "later")
    replace_file(tmp_path / "link", NEW)
    replace_file(tmp_path / "loose", NEW)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "file").read_bytes() == NEW == (tmp_path / "there" / "later").read_bytes()
    assert len(list((tmp_path / "there").iterdir())) == 2


def test_a_link_to_itself_is_an_error_of_the_disk(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(ModelFileError, match="cannot be written"):
        sw.save(fitted("tree numbers"), tmp_path / "a")
    with pytest.raises(ModelFileError, match="cannot be read"):
        sw.load(tmp_path / "a")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755])
def test_a_file_that_is_replaced_keeps_its_permissions(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(OLD)
    path.chmod(mode)
    replace_file(path, NEW)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_bytes() == NEW


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").write_bytes(b"")
    replace_file(tmp_path / "new", NEW)
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(OLD)
    with pytest.raises(ModelFileError, match=r"cannot be written.*Nothing was changed"):
        sw.save(fitted("tree numbers"), tmp_path / "folder")
    assert [path.name for path in tmp_path.rglob("*")] == ["folder", "file"]


def test_a_device_is_written_as_it_is() -> None:
    replace_file("/dev/null", NEW)
    sw.save(fitted("tree numbers"), "/dev/null")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@pytest.mark.parametrize("name", ["x" * 255, "ä" * 127, "𝄞" * 63, "a." + "b" * 250, ".hidden", "..x", "a b\nc"])
def test_names_may_be_as_long_as_the_disk_allows(name: str, tmp_path: Path) -> None:
    replace_file(tmp_path / name, OLD)
    replace_file(tmp_path / name, NEW)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_bytes() == NEW


def test_a_folder_that_may_not_be_written_to_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # for root nothing is read-only
    with pytest.raises(ModelFileError, match=r"Permission denied. Nothing was changed"):
        sw.save(fitted("tree numbers"), tmp_path / "model")


def test_a_folder_that_cannot_be_fsynced_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = os.open

    def open_files_only(path: Any, flags: int) -> int:
        if Path(path).is_dir():
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, flags)

    monkeypatch.setattr(atomic_file.os, "open", open_files_only)
    replace_file(tmp_path / "file", NEW)
    assert (tmp_path / "file").read_bytes() == NEW


FULL_DISK = """
import resource, sys
import numpy as np, sapwood as sw
X = np.arange(4000.0).reshape(-1, 2)
model = sw.DecisionTreeRegressor().fit(X, np.sin(X[:, 0]))
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    sw.save(model, sys.argv[1])
except sw.SapwoodError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limits")
def test_a_disk_that_is_full_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(OLD)
    told = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(tmp_path / "model")], capture_output=True, text=True, check=True
    )
    assert "ModelFileError" in told.stdout
    assert "File too large" in told.stdout
    assert (tmp_path / "model").read_bytes() == OLD
    assert len(list(tmp_path.iterdir())) == 1


def kill(times: int) -> tuple[int, int, int, int, int]:
    """Kill processes that save: whole files of either kind, damaged ones, temporary ones, and others."""
    command = [sys.executable, str(Path(__file__).with_name("kills.py")), "--kills", str(times)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    print(told)
    first, second, damaged, left, others = map(int, re.findall(r"\d+", told)[1:])
    return first, second, damaged, left, others


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
def test_a_kill_while_saving_leaves_a_whole_file() -> None:
    first, second, damaged, _, others = kill(15)
    assert (first + second, damaged, others) == (15, 0, 0)


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
def test_500_kills_while_saving_leave_a_whole_file(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        first, second, damaged, left, others = kill(500)
    assert (first + second, damaged, others) == (500, 0, 0)
    assert min(first, second, left) > 20  # kills did meet files that were being written

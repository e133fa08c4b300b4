"""The thread team keeps order, passes errors on, never deadlocks, and survives fork."""

import gc
import math
import os
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pytest

from sapwood import threads
from sapwood.errors import ParameterError
from sapwood.threads import available_cores, blocks, resolve_jobs, run_all


def constant(value: int) -> Callable[[], int]:
    return lambda: value


def wait_then(delay: float, value: int) -> int:
    time.sleep(delay)
    return value


def fail_after(delay: float, message: str) -> None:
    time.sleep(delay)
    raise ValueError(message)


def run_script(script: str) -> str:
    """Run Python code in a process of its own, so that a hang or a crash there fails one test only."""
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def four_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "available_cores", lambda: 4)


class TestResolveJobs:
    @pytest.mark.usefixtures("four_cores")
    @pytest.mark.parametrize(
        ("n_jobs", "expected"),
        [(None, 1), (1, 1), (3, 3), (99, 99), (np.int64(2), 2), (-1, 4), (-2, 3), (-4, 1), (-5, 1), (-99, 1)],
    )
    def test_numbers(self, n_jobs: int | None, expected: int) -> None:
        assert resolve_jobs(n_jobs) == expected

    @pytest.mark.usefixtures("four_cores")
    @pytest.mark.parametrize("backend", ["loky", "threading"])
    @pytest.mark.parametrize(("configured", "expected"), [(3, 3), (-1, 4), (-2, 3), (1, 1)])
    def test_none_obeys_joblib(self, backend: str, configured: int, expected: int) -> None:
        with joblib.parallel_config(backend, n_jobs=configured):
            assert resolve_jobs(None) == expected
            assert resolve_jobs(2) == 2
        assert resolve_jobs(None) == 1

    def test_none_is_one_inside_a_joblib_worker(self) -> None:
        inside = joblib.Parallel(n_jobs=2, backend="threading")(joblib.delayed(resolve_jobs)(None) for _ in range(2))
        assert inside == [1, 1]

    @pytest.mark.parametrize("n_jobs", [0, 1.0, True, "2", math.nan])
    def test_refuses(self, n_jobs: object) -> None:
        with pytest.raises(ParameterError, match=r"n_jobs=.* is not allowed"):
            resolve_jobs(n_jobs)  # type: ignore[arg-type]

    def test_zero_is_answered_with_advice(self) -> None:
        with pytest.raises(ParameterError, match="Use n_jobs=1 for one thread or n_jobs=-1 for all cores"):
            resolve_jobs(0)


class TestCores:
    @pytest.fixture
    def mount(self, tmp_path: Path) -> Path:
        return tmp_path / "cgroup"

    def write(self, file: Path, text: str) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def quota(self, mount: Path, membership: str = "0::/\n") -> float:
        file = mount.parent / "membership"
        self.write(file, membership)
        return threads._quota(mount, file)

    def test_at_least_one_and_at_most_what_the_system_has(self) -> None:
        assert 1 <= available_cores() <= (os.cpu_count() or 1)

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("150000 100000\n", 1.5),
            ("max 100000\n", math.inf),
            ("200000\n", math.inf),
            ("nonsense here\n", math.inf),
            ("1 2 3\n", math.inf),
            ("100000 0\n", math.inf),
            ("", math.inf),
        ],
    )
    def test_version_2(self, mount: Path, text: str, expected: float) -> None:
        self.write(mount / "cpu.max", text)
        assert self.quota(mount) == expected

    @pytest.mark.parametrize(
        ("quota", "period", "expected"), [("400000", "100000", 4), ("-1", "100000", math.inf), ("5", "0", math.inf)]
    )
    def test_version_1(self, mount: Path, quota: str, period: str, expected: float) -> None:
        self.write(mount / "cpu/cpu.cfs_quota_us", quota + "\n")
        self.write(mount / "cpu/cpu.cfs_period_us", period + "\n")
        assert self.quota(mount, "4:cpu,cpuacct:/\n") == expected

    def test_the_smallest_quota_on_the_way_to_the_group_counts(self, mount: Path) -> None:
        self.write(mount / "cpu.max", "max 100000")
        self.write(mount / "slice/cpu.max", "200000 100000")
        self.write(mount / "slice/service/cpu.max", "300000 100000")
        self.write(mount / "other/cpu.max", "100000 100000")
        assert self.quota(mount, "0::/slice/service\n") == 2

    def test_version_1_groups(self, mount: Path) -> None:
        self.write(mount / "cpu/job/cpu.cfs_quota_us", "50000")
        self.write(mount / "cpu/job/cpu.cfs_period_us", "100000")
        assert self.quota(mount, "3:memory:/job\n4:cpuacct,cpu:/job\n0::/\n") == 0.5
        assert self.quota(mount, "3:cpuset:/job\n") == math.inf

    @pytest.mark.parametrize("membership", ["", "garbage\n", "0::/../../elsewhere\n", "0::\n"])
    def test_odd_membership_means_no_limit(self, mount: Path, membership: str) -> None:
        assert self.quota(mount, membership) == math.inf

    def test_missing_and_undecodable_files_mean_no_limit(self, mount: Path) -> None:
        mount.mkdir()
        (mount / "cpu.max").write_bytes(b"\xff\xfe")
        assert threads._quota(mount, mount / "missing") == math.inf

    @pytest.mark.parametrize(
        ("affinity", "quota", "expected"), [(8, 1.5, 2), (8, 0.1, 1), (2, math.inf, 2), (3, 64, 3)]
    )
    def test_both_limits_count(
        self, monkeypatch: pytest.MonkeyPatch, affinity: int, quota: float, expected: int
    ) -> None:
        monkeypatch.setattr(threads, "_affinity", lambda: affinity)
        monkeypatch.setattr(threads, "_quota", lambda *_: quota)
        threads._recent_quota.cache_clear()
        assert available_cores() == expected

    @pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system has no affinity")
    def test_affinity_is_obeyed(self) -> None:
        setting = "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})"
        assert run_script(f"import os, sapwood.threads as t; {setting}; print(t.available_cores())") == "1"


def test_blocks_cover_all_rows_in_order() -> None:
    assert blocks(10, 4) == [(0, 4), (4, 8), (8, 10)]
    assert (blocks(8, 4), blocks(3, 4), blocks(0, 4)) == ([(0, 4), (4, 8)], [(0, 3)], [])


class TestRunAll:
    @pytest.mark.parametrize("n_jobs", [1, 2, 3, 8, 1000])
    @pytest.mark.parametrize("n_tasks", [0, 1, 2, 7, 100])
    def test_results_are_in_the_order_of_the_tasks(self, n_jobs: int, n_tasks: int) -> None:
        assert run_all([constant(index) for index in range(n_tasks)], n_jobs) == list(range(n_tasks))

    def test_the_order_does_not_depend_on_who_is_first(self) -> None:
        late = [partial(wait_then, 0.002 * (10 - index), index) for index in range(10)]
        assert run_all(late, 4) == list(range(10))

    @pytest.mark.parametrize(("n_jobs", "n_tasks"), [(1, 3), (4, 1)])
    def test_without_need_for_help_everything_runs_inline(self, n_jobs: int, n_tasks: int) -> None:
        assert set(run_all([threading.get_ident] * n_tasks, n_jobs)) == {threading.get_ident()}

    def test_tasks_run_at_the_same_time(self) -> None:
        meeting = threading.Barrier(3)
        assert sorted(run_all([lambda: meeting.wait(timeout=30)] * 3, 3)) == [0, 1, 2]

    def test_no_more_threads_than_asked_for(self) -> None:
        run_all([constant(0)] * 8, 8)
        identify = [lambda: (time.sleep(0.001), threading.get_ident())[1]] * 50
        assert len(set(run_all(identify, 3))) <= 3

    def test_the_team_persists(self) -> None:
        run_all([constant(0)] * 4, 4)
        before = threads._team._size
        for _ in range(50):
            run_all([constant(0)] * 4, 4)
        assert threads._team._size == before

    def test_a_system_without_more_threads_is_no_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(_: threading.Thread) -> None:
            raise RuntimeError("can't start new thread")

        monkeypatch.setattr(threads, "_team", threads._Team())
        monkeypatch.setattr(threading.Thread, "start", refuse)
        assert run_all([constant(index) for index in range(5)], 4) == list(range(5))

    def test_nothing_is_kept_alive(self) -> None:
        class Result:
            pass

        results = run_all([Result] * 8, 3)
        watched = [weakref.ref(result) for result in results]
        del results
        gc.collect()
        assert [reference() for reference in watched] == [None] * 8


class TestErrors:
    @pytest.mark.parametrize("n_jobs", [1, 2, 5])
    def test_the_first_error_in_task_order_is_raised(self, n_jobs: int) -> None:
        tasks = [partial(fail_after, delay, f"task {index}") for index, delay in enumerate([0.01, 0, 0])]
        for _ in range(10):
            with pytest.raises(ValueError, match="task 0"):
                run_all([lambda: None, *tasks], n_jobs)

    def test_running_tasks_end_before_the_error_is_raised(self) -> None:
        ended = []

        def slow() -> None:
            time.sleep(0.2)
            ended.append(True)

        with pytest.raises(ValueError, match="early"):
            run_all([slow, partial(fail_after, 0.05, "early")], 2)
        assert ended == [True]

    def test_no_task_starts_after_an_error(self) -> None:
        started = []

        def count() -> None:
            started.append(True)
            time.sleep(0.001)

        with pytest.raises(ValueError, match="stop"):
            run_all([partial(fail_after, 0, "stop"), *[count] * 1000], 2)
        assert len(started) < 1000

    def test_the_team_works_on_after_an_error(self) -> None:
        for _ in range(20):
            with pytest.raises(SystemExit):
                run_all([sys.exit] * 4, 4)
        meeting = threading.Barrier(4)
        run_all([lambda: meeting.wait(timeout=30)] * 4, 4)

    @pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
    def test_an_interrupt_leaves_the_caller_at_once(self) -> None:
        script = """
            import os, signal, threading, time
            from sapwood.threads import run_all

            signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore it

            def interrupt():
                time.sleep(0.3)
                os.kill(os.getpid(), signal.SIGINT)

            def long():
                time.sleep(20)

            for tasks in ([long] * 2, [lambda: None, long, lambda: time.sleep(0.1)]):
                threading.Thread(target=interrupt).start()
                start = time.monotonic()
                try:
                    run_all(tasks, 2)
                except KeyboardInterrupt:
                    assert time.monotonic() - start < 5
                    print("interrupted")
            assert run_all([lambda: 1] * 3, 2) == [1, 1, 1]
        """
        assert run_script(script).split() == ["interrupted"] * 2


class TestManyCallers:
    def test_a_task_may_run_tasks(self) -> None:
        def nested(depth: int) -> int:
            return 1 if depth == 0 else sum(run_all([lambda: nested(depth - 1)] * 3, 3))

        assert nested(5) == 3**5

    def test_eight_threads_at_once(self) -> None:
        failures: list[list[int]] = []

        def call_often(caller: int) -> None:
            for call in range(300):
                expected = [caller * 1000 + call + index for index in range(6)]
                if (results := run_all([constant(value) for value in expected], 3)) != expected:
                    failures.append(results)

        callers = [threading.Thread(target=call_often, args=(caller,)) for caller in range(8)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join(timeout=120)
        assert not any(caller.is_alive() for caller in callers)
        assert failures == []

    def test_busy_helpers_hold_nobody_up(self) -> None:
        release = threading.Event()
        busy = threading.Thread(target=lambda: run_all([lambda: release.wait(60)] * 4, 4))
        busy.start()
        try:
            assert run_all([constant(index) for index in range(4)], 2) == [0, 1, 2, 3]
        finally:
            release.set()
            busy.join(timeout=60)


class TestProcess:
    def test_idle_threads_do_not_keep_the_process_alive(self) -> None:
        assert run_script("from sapwood.threads import run_all; print(run_all([lambda: 1] * 4, 4))") == "[1, 1, 1, 1]"

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
    @pytest.mark.parametrize("n_users", [0, 3])
    def test_the_team_is_remade_after_fork_whoever_uses_it_meanwhile(self, n_users: int) -> None:
        script = f"""
            import os, signal, threading, warnings
            from sapwood.threads import run_all

            def keep_busy():
                while not stop.is_set():
                    run_all([lambda: 1] * 4, 4)

            def use_in_child():
                signal.alarm(20)
                meeting = threading.Barrier(3)
                run_all([lambda: meeting.wait(timeout=10)] * 3, 3)
                os._exit(0)

            warnings.simplefilter("ignore", DeprecationWarning)
            run_all([lambda: 1] * 4, 4)
            stop = threading.Event()
            users = [threading.Thread(target=keep_busy) for _ in range({n_users})]
            for user in users:
                user.start()
            statuses = set()
            for _ in range(20):
                child = os.fork() or use_in_child()
                statuses.add(os.waitpid(child, 0)[1])
            stop.set()
            print(statuses, run_all([lambda: 1] * 4, 4))
        """
        assert run_script(script) == "{0} [1, 1, 1, 1]"

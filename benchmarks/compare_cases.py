"""What `compare.py` measures at two commits: fits of Sapwood from the other benchmarks, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from boosters.base import Settings, first_rows
from data import Split

FEW_ROWS, MANY_ROWS = 1_000, 70_000  # boosting uses other kernels for many rows


@dataclass(frozen=True)
class Job:
    """A fit, and its data."""

    split: Split
    fit: Callable[[Any, Any], Any]

    def warm_up(self) -> None:
        """Enter all the kernels of the fit with as few rows as that needs."""
        n_rows = MANY_ROWS if len(self.split.y) > MANY_ROWS else FEW_ROWS
        self.fit(*first_rows(self.split.X, self.split.y, n_rows))

    def run(self) -> Any:
        """The fitted model."""
        return self.fit(self.split.X, self.split.y)


Cases = Iterator[tuple[str, Callable[[], Job | None]]]


def names(kind: str) -> list[str]:
    """All cases of a kind."""
    return [name for name, _ in KINDS[kind]()]


def load(name: str) -> Job | None:
    """A case with its data; None where SAPWOOD_DATA is needed and not set."""
    return dict(KINDS[name.split(maxsplit=1)[0]]())[name]()


def _trees() -> Cases:
    from bench_tree import BINS, CASES, DEPTHS, SW, TASKS, _load, make_model

    def make(case: str, task: Any, **parameters: Any) -> Job | None:
        split = _load(case, task, quick=False)
        return split and Job(split, lambda X, y: make_model(SW, task, random_state=0, **parameters).fit(X, y))

    for case, task, depth, bins in product(CASES[:3], TASKS, DEPTHS, BINS):
        name = f"tree {case} {task} {f'depth-{depth}' if depth else 'full'} {bins or 'exact'}"
        yield name, lambda case=case, task=task, d=depth, b=bins: make(case, task, max_depth=d, max_bins=b)


def _forests() -> Cases:
    from bench_forest import CASES, sapwood_maker

    def make(case: Any) -> Job | None:
        split = case.data()
        return split and Job(split, lambda X, y: sapwood_maker(case)().fit(X, y))

    for name, case in CASES.items():
        yield f"forest {name}", lambda case=case: make(case)


def _boosters() -> Cases:
    from bench_boosting import BOOSTERS, CASES, THREADS, load_split

    def make(case: Any) -> Job | None:
        split = load_split(case, 1.0)
        if split is None:
            return None
        settings = Settings(case.rounds, len(set(split.y.tolist())), case.leaves, THREADS)
        return Job(split, lambda X, y: BOOSTERS["sapwood"]().fit(X, y, settings))

    for name, case in CASES.items():
        yield f"boosting {name}", lambda case=case: make(case)


KINDS: dict[str, Callable[[], Cases]] = {"tree": _trees, "forest": _forests, "boosting": _boosters}

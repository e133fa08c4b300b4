"""Reads files that were tampered with, one after the other, and notes what should not have happened; see `fuzz.py`."""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import signal
import sys
import tracemalloc
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from file_cases import contents, packed, same
from mutations import Content, mutated
from saved_models import NAMES, saved_model

import sapwood as sw
from sapwood.errors import ModelFileError, SapwoodError

LONGEST = 20  # seconds for a file
MOST_MEMORY = 2 << 30  # of address space, beyond what is taken at the beginning
ALLOWED = 64, 4 << 20  # bytes that loading may take: so many for each of the file, and so many in any case
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
FORBIDDEN = ("import", "exec", "compile", "os.", "subprocess.", "socket.", "pickle.", "shutil.", "ctypes.dlopen")


class Watch:
    """What happens while a file is read that must not: code that is imported or run, files that are written."""

    def __init__(self) -> None:
        self.active, self.seen = False, Counter[str]()
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: Any) -> None:
        if self.active and (event.startswith(FORBIDDEN) or (event == "open" and _writes(arguments))):
            self.seen[event] += 1


def _writes(arguments: Any) -> bool:
    _, mode, flags = arguments
    return any(letter in str(mode or "") for letter in "wax+") or bool((flags or 0) & WRITES)


def seeds(folder: Path) -> list[Content]:
    """Small models of every kind with every option."""
    found = []
    for name in NAMES:
        sw.save(saved_model(name)[0], folder / "seed")
        content = Content(*contents(folder / "seed"))
        content.document["fitted"].update({key: 0 for key in content.document["fitted"] if key == "_seed"})
        found.append(content)  # the same in every run: some models drew a seed of their own
    return found


def rows_for(schema: Any) -> Any:
    """A few rows that fit the columns of a model, as far as it tells."""
    random = np.random.default_rng(0)
    cells = random.normal(size=(4, schema.n_features))
    cells[1, :: max(1, schema.n_features // 3)] = np.nan
    if schema.is_plain and not schema.named:
        return cells
    columns = [_column(column, cells[:, j]) for j, column in enumerate(schema.columns)]
    table = pd.DataFrame(dict(enumerate(columns)))
    table.columns = pd.Index(schema.names, dtype=object)
    return table


def _column(column: Any, cells: Any) -> Any:
    if column.kind == "category":
        return pd.Series(
            [column.levels[i % len(column.levels)] if column.levels else None for i in range(4)], dtype=object
        )
    made = {"date": pd.Timestamp("2020-05-01"), "duration": pd.Timedelta("3D"), "boolean": True}
    return pd.Series([made[column.kind]] * 4) if column.kind in made else pd.Series(cells)


def use(model: Any, folder: Path) -> None:
    """Ask a model all that it may be asked; errors of the library are answers, too."""
    X = rows_for(model.schema_)
    for name in ("predict", "predict_proba", "decision_function", "apply", "predict_quantiles", "predict_interval"):
        if hasattr(model, name):
            with _answers():
                getattr(model, name)(X)
    with _answers():
        model.predict_one(X[:1])
    with _answers():
        sw.save(model, folder / "again")
        sw.load(folder / "again")


def use_predictor(predictor: Any, model: Any) -> str:
    """Ask a Model; how its answers differ from those of the estimator, if that was loaded, too."""
    X = rows_for(predictor.schema)
    for name, rows in (("predict", X), ("predict_proba", X), ("predict_one", X[:1]), ("predict_proba_one", X[:1])):
        if "proba" not in name or predictor.is_classifier:
            told = _answer(getattr(predictor, name), rows)
            if model is not None and not same(told, _answer(getattr(model, name), rows)):
                return f"{name} of load_model differs from that of load"
    return ""


def _answer(ask: Callable[[Any], Any], rows: Any) -> Any:
    try:
        return ask(rows)
    except SapwoodError as error:
        return f"{type(error).__name__}: {error}"


@contextmanager
def _answers() -> Iterator[None]:
    with suppress(SapwoodError):
        yield


class Reading:
    """Reads one file after the other, and notes what should not have happened."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.path = folder, folder / "file"
        self.counts, self.findings = Counter[str](), []
        self.most_bytes, self.most_ratio = 0, 0.0
        self.watch = Watch()

    def read(self, number: int, data: bytes) -> None:
        """Load a file, and use the model that comes out of it."""
        self.path.write_bytes(data)
        signal.setitimer(signal.ITIMER_REAL, LONGEST)
        faulthandler.dump_traceback_later(3 * LONGEST, exit=True)
        try:
            model = self._load(sw.load, len(data), number)
            self.counts["accepted" if model is not None else "refused"] += 1
            if model is not None:
                use(model, self.folder)
            self._predict(self._load(sw.load_model, len(data), number), model, number)
        except BaseException as error:  # whatever it is, it is a finding
            if isinstance(error, KeyboardInterrupt):
                raise
            self._note(number, f"{type(error).__name__}: {error}")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            faulthandler.cancel_dump_traceback_later()

    def _predict(self, predictor: Any, model: Any, number: int) -> None:
        """What `load` takes, `load_model` takes, too, which does not ask for parameters that training alone needs."""
        if predictor is None and model is not None:
            self._note(number, "load takes the file, but load_model refuses it")
        if predictor is not None:
            self.counts["predictors"] += model is None
            differs = use_predictor(predictor, model)
            if differs:
                self._note(number, differs)

    def _load(self, load: Callable[..., Any], size: int, number: int) -> Any:
        tracemalloc.start()
        self.watch.active = True
        try:
            return load(self.path, mmap=bool(number % 2))
        except ModelFileError:
            return None
        finally:
            self.watch.active = False
            self._measure(tracemalloc.get_traced_memory()[1], size, number)
            tracemalloc.stop()
            if self.watch.seen:
                self._note(number, f"loading did {dict(self.watch.seen)}")
                self.watch.seen.clear()

    def _measure(self, taken: int, size: int, number: int) -> None:
        self.most_bytes = max(self.most_bytes, taken)
        self.most_ratio = max(self.most_ratio, taken / max(size, 1 << 12))
        if taken > ALLOWED[0] * size + ALLOWED[1]:
            self._note(number, f"loading {size} bytes took {taken}")

    def _note(self, number: int, what: str) -> None:
        self.findings.append([number, what[:300]])
        self.counts["findings"] += 1


def _too_late(*_: Any) -> None:
    raise TimeoutError(f"more than {LONGEST} seconds")


def work(seed: int, first: int, last: int, report: Path) -> None:
    """Read files first … last - 1; the report tells after each how far this is."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    folder = report.parent
    contents_of_seeds = seeds(folder)
    reading = Reading(folder)
    signal.signal(signal.SIGALRM, _too_late)
    warm_up(contents_of_seeds, reading)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MOST_MEMORY, resource.RLIM_INFINITY))
    for number in range(first, last):
        data = mutated(contents_of_seeds, np.random.default_rng([seed, number]))
        (folder / "at").write_text(str(number))
        reading.read(number, data)
        if number % 500 == 499 or number == last - 1:
            _write(report, number + 1, reading)


def warm_up(contents_of_seeds: list[Content], reading: Reading) -> None:
    """All that is imported and compiled for good files is there before any other is read."""
    for content in contents_of_seeds:
        for form in ("binary", "json"):
            reading.path.write_bytes(packed(content.metadata, content.document, content.arrays, form))
            model = sw.load(reading.path)
            use(model, reading.folder)
            use_predictor(sw.load_model(reading.path), model)
    repr(sw.DecisionTreeClassifier())  # errors show values
    reading.path.write_bytes(b"nothing")
    with _answers():
        sw.load(reading.path)


def _write(report: Path, done: int, reading: Reading) -> None:
    told = {"done": done, "counts": reading.counts, "findings": reading.findings}
    told |= {"bytes": reading.most_bytes, "ratio": reading.most_ratio}
    report.write_text(json.dumps(told))


if __name__ == "__main__":
    work(*map(int, sys.argv[1:4]), Path(sys.argv[4]))

"""One fit of one library on one set, timed and scored."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from accuracy.libraries import Job, Library
from accuracy.results import Record
from accuracy.rows import Rows
from accuracy.score import predict, score
from accuracy.warm_up import Kind, kind_of, similar_rows

MAX_ERROR = 300  # characters


@dataclass
class Trials:
    """Fits of one library, with as many threads each; remembers for which kinds of rows the library was warmed up."""

    library: Library
    threads: int
    kinds: set[Kind] = field(default_factory=set)

    def run(self, rows: Rows, seed: int) -> Record:
        """What came of it: losses and seconds, or the error."""
        facts = {
            "task": rows.task,
            "rows": len(rows.y),
            "test_rows": len(rows.y_test),
            "columns": rows.X.shape[1],
            "classes": rows.n_classes,
            "threads": self.threads,
        }
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return {**facts, **self._measure_compiled(rows, seed)}
        except Exception as error:  # a library that fails is recorded, not hidden
            return {**facts, "error": f"{type(error).__name__}: {error}"[:MAX_ERROR]}

    def _measure_compiled(self, rows: Rows, seed: int) -> Record:
        """What is measured once everything is compiled: after a small fit, and again if that was not enough."""
        kind = kind_of(rows)
        if self.library.compiles and kind not in self.kinds:
            self._measure(similar_rows(rows), seed)
            self.kinds.add(kind)
        with _compilations() as found:
            record = self._measure(rows, seed)
        return self._measure(rows, seed) if found else record

    def _measure(self, rows: Rows, seed: int) -> Record:
        pair = self.library.form(rows.X, rows.X_test)
        job = Job(pair.train, rows.y, rows.n_classes, seed, self.threads)
        start, used = time.perf_counter(), time.process_time()
        model = self.library.fit(job)
        fitted, used = time.perf_counter(), time.process_time() - used
        predicted = predict(model, pair.test, rows.n_classes)
        done = time.perf_counter()
        seconds = {"fit_seconds": round(fitted - start, 4), "predict_seconds": round(done - fitted, 4)}
        seconds["processor_seconds"] = round(used, 4)  # of the fit, on all threads
        return {**score(rows.y_test, predicted, rows.n_classes), **seconds}


@contextmanager
def _compilations() -> Iterator[list[Any]]:
    """A list that grows whenever Numba compiles."""
    from numba.core import event

    with event.install_recorder("numba:compile") as recorder:
        yield recorder.buffer

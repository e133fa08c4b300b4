"""A predictor that takes part in a case of `bench_predict.py`."""

from __future__ import annotations

import time
import warnings
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from measure import Seconds, all_turns, median, take_turns
from numpy.typing import NDArray
from predict_cases import Models
from predictors import PREDICTORS, Predictor, Task
from sklearn.metrics import roc_auc_score

WARM_UP_ROWS, PROBE_ROWS, PROBE_TURNS = 1_000, 10_000, 3
PAUSE = 0.01  # seconds; threads of OpenMP keep a core busy for a while after their work
NEAR = 4.0  # times the fastest
REASON_LENGTH = 110


@dataclass
class Entrant:
    """Predicts the same rows again and again; keeps the first answer, and every time it took."""

    predictor: Predictor
    X: Any
    ready: float  # seconds for converting or compiling
    said: NDArray[Any] | None = None
    times: list[Seconds] = field(default_factory=list)

    def predict(self) -> None:
        self.predictor.predict(self.X)

    def check(self) -> None:
        """The first run over all rows: its answer is judged, its time counts only if it is the only one."""
        self.said = as_shares(self.predictor.predict(self.X), len(self.X), self.predictor.task.n_classes)

    @property
    def seconds(self) -> float:
        return median(self.times).wall

    @property
    def least(self) -> float:
        return min(time.wall for time in self.times)

    def quality(self, y: NDArray[Any]) -> float:
        """Area under the curve; the mean over classes, each against all others, if there are more than two."""
        assert self.said is not None
        if self.predictor.task.n_classes == 2:
            return float(roc_auc_score(y, self.said))
        return float(np.mean([roc_auc_score(y == place, self.said[:, place]) for place in np.unique(y)]))


def as_shares(said: Any, n_rows: int, n_classes: int) -> NDArray[Any]:
    """Probabilities in one form, whatever a library's is: of the second class of two, or of every class."""
    shares = np.asarray(said)
    if len(shares) != n_rows:
        raise ValueError(f"answered {shares.shape} for {n_rows} rows")
    shares = shares.reshape(n_rows, -1)
    if shares.shape[1] not in ({1, 2} if n_classes == 2 else {n_classes}) or not np.isfinite(shares).all():
        raise ValueError(f"answered {shares.shape} for {n_rows} rows of {n_classes} classes, or not with numbers")
    return shares[:, -1] if n_classes == 2 else shares


def enter(names: Sequence[str], models: Models, task: Task) -> dict[str, Entrant]:
    """Predictors that are ready and warm.

    Whoever cannot do that is left out with a note: one library must not end the run of the others.
    """
    entrants = {}
    for name in names:
        found = list(_candidates(PREDICTORS[name], models, task))
        if found:
            entrants[name] = found[0] if len(found) == 1 else _fastest(found)
    return entrants


def race(entrants: dict[str, Entrant], repeats: int, limit: float, always: Container[str]) -> None:
    """All predict in turns; one whose first run takes longer than `limit` seconds is not asked again.

    Asked again anyway: those whose time others are compared with, and those near the fastest, on a slow machine.
    """
    for name in list(entrants):
        try:
            first = all_turns({name: entrants[name].check}, 1, PAUSE)[name]
        except Exception as error:
            note(entrants.pop(name).predictor.label, error)
        else:
            entrants[name].times = first
    longest = max(limit, NEAR * min((entrant.times[0].wall for entrant in entrants.values()), default=limit))
    again = {name: each for name, each in entrants.items() if name in always or each.times[0].wall <= longest}
    times = all_turns({name: entrant.predict for name, entrant in again.items()}, repeats, PAUSE)
    for name, entrant in again.items():
        entrant.times = times[name]


def note(label: str, error: Exception) -> None:
    """One line for whoever is left out."""
    words = " ".join(f"{type(error).__name__}: {error}".split())
    print(f"{label}: left out, {words[:REASON_LENGTH]}{'…' if len(words) > REASON_LENGTH else ''}", flush=True)


def _candidates(kind: type[Predictor], models: Models, task: Task) -> Iterator[Entrant]:
    """A predictor with the models it can take."""
    for source in kind.forest_sources if task.is_forest else kind.sources:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = models.of(source)
                start = time.perf_counter()
                predictor = kind(source, model, task)
                ready = time.perf_counter() - start
                entrant = Entrant(predictor, predictor.prepare(models.split.X_test), ready)
                predictor.predict(entrant.X[:WARM_UP_ROWS])
        except Exception as error:
            note(kind.name if len(kind.sources) <= 1 else f"{kind.name} (from {source})", error)
        else:
            yield entrant
            if not kind.tries_all:
                return


def _fastest(found: list[Entrant]) -> Entrant:
    """The one with the model that suits it best."""
    n_rows = 1 if found[0].predictor.task.is_single else PROBE_ROWS
    runs = {str(place): _probe(entrant, n_rows) for place, entrant in enumerate(found)}
    seconds = take_turns(runs, PROBE_TURNS)
    return found[min(range(len(found)), key=lambda place: seconds[str(place)].wall)]


def _probe(entrant: Entrant, n_rows: int) -> Any:
    X = entrant.X[:n_rows]
    return lambda: entrant.predictor.predict(X)

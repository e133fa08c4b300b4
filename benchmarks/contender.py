"""A library that takes part in a case."""

from __future__ import annotations

import pickle
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from boosters import Booster, Settings, first_rows
from data import Split
from measure import HERE, Seconds, _run, take_turns
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

WARM_UP_ROWS, WARM_UP_ROUNDS = 70_000, 5
PROBE_ROUNDS, PROBE_TURNS = 10, 3
MEMORY_ROUNDS = 20  # later rounds use the memory of earlier ones again


class Quality(NamedTuple):
    """On the test rows: area under the curve, or accuracy if there are more classes than two; and the log loss."""

    hits: float
    loss: float


@dataclass
class Contender:
    """Fits one library's model again and again; keeps the first model, as all are alike, and every time it took."""

    booster: Booster
    split: Split
    settings: Settings
    model: Any = None
    times: list[Seconds] = field(default_factory=list)

    def fit(self) -> None:
        model = self.booster.fit(self.split.X, self.split.y, self.settings)
        self.model = model if self.model is None else self.model

    def warm_up(self) -> None:
        """A small fit loads what is loaded, or compiled, once. It decides between the booster's variants, too."""
        few = replace(self.settings, rounds=WARM_UP_ROUNDS)
        self.booster.fit(*first_rows(self.split.X, self.split.y, WARM_UP_ROWS), few)
        if len(self.booster.variants) > 1:
            self.booster = self._fastest_variant()

    @property
    def seconds(self) -> Seconds:
        return Seconds(*map(statistics.median, zip(*self.times, strict=True)))

    @property
    def least(self) -> float:
        """The shortest time on the wall: when others use the machine, it is the least disturbed."""
        return min(time.wall for time in self.times)

    def quality(self) -> Quality:
        y, shares = self.split.y_test, self.booster.predict(self.model, self.split.X_test)
        if self.settings.is_binary:
            return Quality(float(roc_auc_score(y, shares)), float(log_loss(y, shares)))
        loss = log_loss(y, shares, labels=np.arange(self.settings.n_classes))
        return Quality(float(accuracy_score(y, np.argmax(shares, axis=1))), float(loss))

    def peak(self) -> float:
        """Memory that a fit needs at its peak beyond what was there before, in MB, in a process of its own."""
        few = replace(self.settings, rounds=min(self.settings.rounds, MEMORY_ROUNDS))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "task.pickle"
            with path.open("wb") as file:
                pickle.dump((self.booster, few, self.split.X, self.split.y), file)
            return float(_run(str(HERE / "boosting_memory.py"), str(path)))

    def _fastest_variant(self) -> Booster:
        few = replace(self.settings, rounds=PROBE_ROUNDS)
        variants = [type(self.booster)(variant) for variant in self.booster.variants]
        runs = {booster.label: lambda booster=booster: self._probe(booster, few) for booster in variants}
        seconds = take_turns(runs, PROBE_TURNS)
        return min(variants, key=lambda booster: seconds[booster.label].wall)

    def _probe(self, booster: Booster, settings: Settings) -> None:
        booster.fit(self.split.X, self.split.y, settings)


def enter(boosters: Mapping[str, Booster], split: Split, settings: Settings) -> dict[str, Contender]:
    """Contenders that are warmed up, each with the data in the form it likes best.

    Whoever cannot do that is left out with a note: one library must not end an hour's run of the others.
    """
    contenders = {}
    for key, booster in boosters.items():
        X, X_test = booster.prepare(split.X), booster.prepare(split.X_test)
        contender = Contender(booster, replace(split, X=X, X_test=X_test), settings)
        try:
            contender.warm_up()
        except Exception as error:
            print(f"\n{booster.name}: left out, {error!r}", flush=True)
        else:
            contenders[key] = contender
    return contenders


def race(contenders: Sequence[Contender], repeats: int, limit: float) -> None:
    """All fit in turns; one whose first fit takes longer than `limit` seconds is not asked again."""
    for _ in range(repeats):
        again = [contender for contender in contenders if not contender.times or contender.times[0].wall <= limit]
        seconds = take_turns({str(place): contender.fit for place, contender in enumerate(again)}, 1)
        for contender, time in zip(again, seconds.values(), strict=True):
            contender.times.append(time)

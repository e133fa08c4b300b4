"""Checkpoints: a training that was killed resumes where it was, and its model is the same, bit for bit.

A checkpoint is a model file with an extension, which holds digests of the training data, whether training has ended,
and scores of the training rows where they are not those of the model (`boosting/target_statistics.py`). So it can be
loaded and used like any other model, even while training continues.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.boosting.training import TIME_LIMIT
from sapwood.errors import CheckpointWarning, InputError, ModelFileError, ParameterError, ParameterTypeError, warn_user
from sapwood.files.checks import floats
from sapwood.files.content import read_content
from sapwood.interrupts import INTERRUPTED
from sapwood.parameters import Interval, Nothing, check_parameters
from sapwood.table.digest import BEGINNING

EXTENSION = "checkpoint"
SCORES = f"extensions.{EXTENSION}.scores"
UNFINISHED = (INTERRUPTED, TIME_LIMIT)  # how reasons begin after which training is not over
AFRESH = "remove the file to start over"
# On the trees; these may change on the way
WITHOUT_EFFECT = ("n_jobs", "verbose", "callbacks", "max_seconds", "max_memory", "scratch", "drift_warning")


@dataclass(frozen=True)
class Checkpoint:
    """Where a training writes down how far it is, and how often.

    Args:
        path: the file. If it is there already, training resumes from it.
        rounds: write after so many rounds of boosting, learners, or trees of a forest; None for no such rule.
        minutes: write when so many minutes have passed since the last time; None for no such rule.

    The file is written when either rule applies, and at the end.
    """

    path: str | os.PathLike[str]
    rounds: int | None = 50
    minutes: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.path, (str, os.PathLike)):
            raise ParameterTypeError(
                f"checkpoint={self.path!r} is not allowed: it must be a path, a Checkpoint with a path, or None."
            )
        rules = {
            "rounds": (Interval(int, low=1), Nothing()),
            "minutes": (Interval(float, low=0, closed="neither"), Nothing()),
        }
        check_parameters("Checkpoint", rules, {"rounds": self.rounds, "minutes": self.minutes})


class Checkpoints:
    """The checkpoints of one training: what was found, when to write again."""

    def __init__(self, setting: Checkpoint, model: Any, data: Mapping[str, str]) -> None:
        self._path, self._setting, self._data = Path(setting.path), setting, dict(data)
        self.found: Any = None
        self.is_finished = False
        self._scores: Array | None = None
        if self._path.exists():
            self._read(model)
        elif not os.access(self._path.parent, os.W_OK):
            raise ModelFileError(
                f"checkpoint={str(self._path)!r} cannot be written: {str(self._path.parent)!r} is not a folder that "
                "you may write to. Give another path."
            )
        self._written, self._time, self._has_warned = 0, time.monotonic(), False

    @classmethod
    def of(cls, checkpoint: Any, model: Any, data: Callable[[], Mapping[str, str]]) -> Self:
        """From what the user gave."""
        return cls(checkpoint if isinstance(checkpoint, Checkpoint) else Checkpoint(checkpoint), model, data())

    def _read(self, model: Any) -> None:
        """Read the file, which must be of a training of this model on these data."""
        from sapwood.estimators.model_file import parameter_texts, rebuild  # which knows all estimators

        _, document, arrays = read_content(self._path, mmap=False)
        self.found = rebuild(document, arrays)
        note = document["extensions"].get(EXTENSION)
        if not isinstance(note, dict) or not isinstance(note.get("data"), dict):
            raise ModelFileError(
                f"checkpoint={str(self._path)!r} is a model, but not a checkpoint of a training, and is not "
                "overwritten. Give another path."
            )
        self.is_finished = note.get("finished") is True
        self._scores = arrays.get(SCORES)
        if type(self.found) is not type(model):
            raise ParameterError(
                f"checkpoint={str(self._path)!r} is of a {type(self.found).__name__}, but this is a "
                f"{type(model).__name__}. Give another path, or {AFRESH}."
            )
        before, now = parameter_texts(self.found), parameter_texts(model)
        for name, text in now.items():
            if name not in WITHOUT_EFFECT and before.get(name) != text:
                raise ParameterError(
                    f"checkpoint={str(self._path)!r} was made with {name}={getattr(self.found, name)!r}, but now it is "
                    f"{name}={getattr(model, name)!r}. Use the same parameters, or {AFRESH}."
                )
        if "X" in note["data"] and not str(note["data"]["X"]).startswith(BEGINNING):
            raise InputError(
                f"checkpoint={str(self._path)!r} is of an earlier version of Sapwood, which noted in another way what "
                f"the data were, and whose last digits may differ. Resume with that version, or {AFRESH}."
            )
        for name in {**note["data"], **self._data}:
            if note["data"].get(name) != self._data.get(name):
                raise InputError(
                    f"checkpoint={str(self._path)!r} was made with another {name}. Pass the same data, or {AFRESH}."
                )

    def after(self, n_done: int, so_far: Callable[[], Any], scores: Floats | None = None) -> None:
        """Write the model so far, if it is time to; scores if the model does not tell those of the training rows."""
        rounds, minutes = self._setting.rounds, self._setting.minutes
        enough = rounds is not None and n_done - self._written >= rounds
        late = minutes is not None and time.monotonic() - self._time >= 60 * minutes
        if enough or late:
            self._write(so_far(), False, scores)
            self._written, self._time = n_done, time.monotonic()

    def finish(self, model: Any, scores: Floats | None = None) -> None:
        """Write the model at the end; the same call resumes a training that a signal or the time limit ended."""
        self._write(model, not model.stopped_reason_.startswith(UNFINISHED), scores)

    def scores_of_rows(self) -> Floats:
        """Scores (n_scores, rows) of the training rows that were found."""
        floats(2, finite=True)(self._scores, SCORES)
        assert self._scores is not None
        return np.array(self._scores)

    def begin(self, n_done: int) -> None:
        """Count from so many rounds on."""
        self._written = n_done

    def _write(self, model: Any, finished: bool, scores: Floats | None) -> None:
        """Write a checkpoint. A disk that refuses costs the checkpoint, not the training: it warns, once."""
        from sapwood.estimators.model_file import write_model

        note = {"data": self._data, "finished": finished}
        try:
            write_model(self._path, model, {EXTENSION: note}, None, {} if scores is None else {SCORES: scores})
        except ModelFileError as error:
            cause = error.__cause__
            if not isinstance(cause, OSError):
                raise
            if not self._has_warned:
                warn_user(
                    f"checkpoint={str(self._path)!r} cannot be written: {cause.strerror or cause}. Training continues "
                    "without it and tries again at the next one; make room, or save the model when it is trained.",
                    CheckpointWarning,
                )
            self._has_warned = True


def take_over(model: Any, found: Any) -> None:
    """Be the model that was found finished, with one's own parameters."""
    own = model.get_params(deep=False)
    model.__dict__ = {name: value for name, value in vars(found).items() if name not in own} | own

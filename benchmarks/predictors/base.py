"""What all predictors are told, and what each of them must answer."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
from boosters import BOOSTERS
from numpy.typing import NDArray

_STREAMS = (1, 2)  # output and errors


@dataclass(frozen=True)
class Task:
    """Which models these are and how they are asked."""

    n_classes: int
    n_columns: int
    threads: int
    is_forest: bool
    has_categories: bool
    is_single: bool  # one row at a time
    folder: Path  # for compiled code


class Call(NamedTuple):
    """A way to ask for one row: the row in the form that is wanted, and the call that is timed."""

    label: str
    form: Callable[[NDArray[np.float32]], Any]  # of a matrix of one row
    ask: Callable[[Any], Any]
    gives_label: bool = False  # instead of probabilities, of which the last is the second class
    bar: float | None = None  # microseconds


class Predictor:
    """One way to get probabilities out of a model.

    `sources` are the libraries whose models it takes, its own or those it converts. A model is converted, or compiled,
    when the predictor is made; that is not part of the times.
    """

    name: ClassVar[str]
    package: ClassVar[str]  # what it is installed as
    sources: ClassVar[tuple[str, ...]]
    forest_sources: ClassVar[tuple[str, ...]] = ()
    call: ClassVar[str] = "predict_proba(X[:1])"  # what `predict` does, for people
    is_compiled: ClassVar[bool] = False  # code for this one model
    tries_all: ClassVar[bool] = True  # sources, to keep the fastest; or only up to the first that works

    def __init__(self, source: str, model: Any, task: Task) -> None:
        self.source, self.task = source, task
        self.model = self.convert(model)

    @property
    def label(self) -> str:
        return f"{self.name} (from {self.source})" if len(self.sources) > 1 else self.name

    @property
    def version(self) -> str:
        return version(self.package)

    def convert(self, model: Any) -> Any:
        """The model as this predictor wants it."""
        return model

    def prepare(self, X: Any) -> Any:
        """The same rows in the form it likes best; not timed, to its advantage."""
        return as_matrix(X)

    def predict(self, X: Any) -> Any:
        """Probabilities as the library gives them."""
        raise NotImplementedError

    def calls(self) -> Sequence[Call]:
        """Ways to ask for one row."""
        return [Call(self.call, as_is, self.predict)]


class OwnPredictor(Predictor):
    """A library that predicts with its own models."""

    def prepare(self, X: Any) -> Any:
        """Frames stay frames."""
        return X if self.task.is_forest else BOOSTERS[self.source]().prepare(X)


class EstimatorPredictor(OwnPredictor):
    """A library that is called like scikit-learn."""

    def predict(self, X: Any) -> Any:
        return self.model.predict_proba(X)

    def calls(self) -> Sequence[Call]:
        return [
            Call(self.call, as_is, self.model.predict_proba),
            Call("predict(X[:1])", as_is, self.model.predict, gives_label=True),
        ]


@contextmanager
def silence() -> Iterator[None]:
    """Nothing is printed, not even by libraries in C."""
    kept = [os.dup(stream) for stream in _STREAMS]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in _STREAMS:
        os.dup2(nowhere, stream)
    try:
        yield
    finally:
        for stream, copy in zip(_STREAMS, kept, strict=True):
            os.dup2(copy, stream)
            os.close(copy)
        os.close(nowhere)


def as_is(row: NDArray[np.float32]) -> NDArray[np.float32]:
    return row


def as_matrix(X: Any) -> NDArray[np.float32]:
    """Categories as the numbers of their levels, like XGBoost and LightGBM number them."""
    if not isinstance(X, pd.DataFrame):
        return X
    codes = {name: X[name].cat.codes.astype(np.float32).replace(-1, np.nan) for name in X.select_dtypes("category")}
    return np.ascontiguousarray(X.assign(**codes).to_numpy(np.float32))

"""What all libraries of boosted trees are told, and what each of them must answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

DEPTH = 6
RATE = 0.1
BINS = 255
MIN_HESSIAN = 1e-3  # as good as no limit; and no library shrinks its leaves (lambda is 0)


@dataclass(frozen=True)
class Settings:
    """Equal work for all: no sampling, no early stopping, no evaluation; `leaves` of None means full to DEPTH.

    `min_rows` reaches the libraries that limit the rows of a leaf. XGBoost and those that follow it have no such limit,
    so that any other value than 1 lets them grow more leaves than the others.
    """

    rounds: int
    n_classes: int
    leaves: int | None = None
    threads: int = 2
    min_rows: int = 1

    @property
    def is_binary(self) -> bool:
        return self.n_classes == 2


def first_rows(X: Any, y: NDArray, n_rows: int) -> tuple[Any, NDArray]:
    """The first rows of an array or a frame, and one of every class, as libraries refuse numbers of absent classes."""
    rows = np.union1d(np.arange(min(n_rows, len(y))), np.unique(y, return_index=True)[1])
    return (X.iloc[rows] if hasattr(X, "iloc") else X[rows]), y[rows]


class Booster:
    """One library in one manner of working.

    Libraries are imported where they are used: a missing one must not keep the others from running, and a process that
    measures memory should load no more than one.
    """

    name: ClassVar[str]
    module: ClassVar[str]
    variants: ClassVar[tuple[Mapping[str, Any], ...]] = ({},)  # names of further parameters; the fastest set is kept

    def __init__(self, variant: Mapping[str, Any] | None = None) -> None:
        self.variant = self.variants[0] if variant is None else variant

    @property
    def label(self) -> str:
        return " ".join([self.name, *(f"({name})" for name in self.variant)])

    @property
    def version(self) -> str:
        return str(import_module(self.module).__version__)

    def why_absent(self) -> str | None:
        """The reason why it cannot take part, if there is one."""
        try:
            import_module(self.module)
        except ImportError as error:
            return str(error)
        return None

    def prepare(self, X: Any) -> Any:
        """The same values in the form the library likes best; not timed, to its advantage."""
        return X

    def fit(self, X: Any, y: NDArray, settings: Settings) -> Any:
        """A fitted model; making the library's own kind of data set is part of it."""
        raise NotImplementedError

    def predict(self, model: Any, X: Any) -> NDArray:
        """Probabilities: of the second class if there are two, of every class otherwise."""
        raise NotImplementedError

    def count_leaves(self, model: Any) -> float:
        """Mean number of leaves of a tree, which tells whether libraries did comparable work."""
        raise NotImplementedError


class EstimatorBooster(Booster):
    """A library that is called like scikit-learn."""

    def predict(self, model: Any, X: Any) -> NDArray:
        shares = model.predict_proba(X)
        return shares[:, 1] if shares.shape[1] == 2 else shares

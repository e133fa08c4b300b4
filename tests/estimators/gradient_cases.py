"""Data on which gradient boosting can be compared: few distinct values in a column, so that every value has a bin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Data:
    """Rows with targets of all kinds."""

    X: NDArray[np.float64]
    number: NDArray[np.float64]
    two: NDArray[np.int64]
    three: NDArray[np.int64]
    weight: NDArray[np.float64]

    def target(self, loss: str, n_classes: int = 2) -> NDArray[Any]:
        """A target that the loss admits."""
        if loss in ("log_loss", "exponential"):
            return self.two if n_classes == 2 else self.three
        return np.exp(self.number / 8) if loss in ("poisson", "gamma", "tweedie") else self.number


def make_data(n: int = 501, n_values: int = 12, seed: int = 0) -> Data:
    """Targets depend on the columns; weights are such that no sums of them are equal."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, n_values, size=(n, 5)).astype(np.float64)
    number = 2 * X[:, 0] + 4 * np.sin(X[:, 1]) + X[:, 2] * X[:, 3] / 5 + rng.normal(size=n)
    noisy = number + 3 * rng.normal(size=n)
    two = (noisy > np.median(number)).astype(np.int64)
    three = np.digitize(noisy, np.quantile(number, [0.3, 0.6])).astype(np.int64)
    return Data(X, number, two, three, 0.5 + rng.random(n))

"""What a prediction is worth on the test rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import r2_score

LEAST_SHARE = 1e-15  # probabilities are clipped there


def predict(model: Any, X: Any, n_classes: int) -> NDArray:
    """Probabilities of all classes, or numbers."""
    found = model.predict_proba(X) if n_classes else model.predict(X)
    return np.asarray(found, dtype=np.float64)


def score(y: NDArray, predicted: NDArray, n_classes: int) -> dict[str, float]:
    """The loss (log loss, or root mean squared error) and other measures."""
    if not n_classes:
        loss = float(np.sqrt(np.mean((y - predicted.ravel()) ** 2)))
        return {"loss": loss, "r2": float(r2_score(y, predicted.ravel()))}
    if predicted.shape != (len(y), n_classes):
        raise ValueError(f"probabilities of shape {predicted.shape} instead of {(len(y), n_classes)}")
    shares = predicted / predicted.sum(axis=1, keepdims=True)
    rows = np.arange(len(y))
    loss = -np.log(np.clip(shares[rows, y], LEAST_SHARE, 1 - LEAST_SHARE))
    truth = np.zeros_like(shares)
    truth[rows, y] = 1.0
    return {
        "loss": float(loss.mean()),
        "accuracy": float(np.mean(shares.argmax(axis=1) == y)),
        "brier": float(np.mean(np.sum((shares - truth) ** 2, axis=1)) / (2.0 if n_classes == 2 else 1.0)),
    }

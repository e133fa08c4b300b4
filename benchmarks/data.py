"""Seeded data for the benchmarks."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Task = Literal["classes", "numbers"]
TASKS: tuple[Task, ...] = ("classes", "numbers")
DATA_FOLDER = "SAPWOOD_DATA"

_N_DERIVED = 7
_LOGIT_SCALE = 1.87  # gives the label a Bayes AUC of about .85


@dataclass(frozen=True)
class Split:
    """Rows to train on and rows to judge by."""

    X: NDArray[np.float32]
    y: NDArray
    X_test: NDArray[np.float32]
    y_test: NDArray


def higgs_like(n_rows: int, n_features: int = 28, seed: int = 0) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Correlated measurements, seven nonlinear functions of them, and a score made of interactions.

    The mixing of the columns is the same for every seed, so that training and test rows come from one distribution.
    """
    n_measured = n_features - _N_DERIVED
    mixing = np.random.default_rng(28).normal(size=(n_measured, n_measured)) / np.sqrt(n_measured)
    rng = np.random.default_rng(seed)
    measured = rng.normal(size=(n_rows, n_measured)) @ (0.6 * mixing + np.eye(n_measured))
    measured[:, ::3] = np.exp(0.5 * measured[:, ::3])  # momenta are positive and skewed
    derived = _derived(measured)
    X = np.hstack([measured, derived]).astype(np.float32)
    return X, _score(measured, derived)


def make_split(n_rows: int, n_features: int, task: Task, n_test: int = 50_000) -> Split:
    """Training and test rows of `higgs_like`: a label, or the score with noise."""
    X, score = higgs_like(n_rows + n_test, n_features)
    y = draw_target(score, task)
    return Split(X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:])


def draw_target(score: NDArray[np.float64], task: Task) -> NDArray:
    """A label of probability sigmoid(score), or the score plus noise of the same spread."""
    rng = np.random.default_rng(1)
    if task == "numbers":
        return score + rng.normal(scale=0.5 * score.std(), size=len(score))
    return (rng.random(len(score)) < 1 / (1 + np.exp(-score))).astype(np.int64)


def covertype_split(task: Task) -> Split | None:
    """Forest cover from the folder that SAPWOOD_DATA names, a fifth for testing; None without it.

    For regression the elevation (the first column) is predicted from the others.
    """
    folder = os.environ.get(DATA_FOLDER)
    if not folder:
        return None
    target = _manifest_target(Path(folder), "covertype")
    frame = pd.read_parquet(Path(folder) / "covertype.parquet")
    if task == "numbers":
        target = frame.columns[0]
    y = frame.pop(target).to_numpy()
    X = np.ascontiguousarray(frame.to_numpy(dtype=np.float32))
    order = np.random.default_rng(0).permutation(len(y))
    test, train = np.split(order, [len(y) // 5])
    return Split(X[train], _as_target(y[train], task), X[test], _as_target(y[test], task))


def _derived(measured: NDArray[np.float64]) -> NDArray[np.float64]:
    """Masses and angles: roots of quadratic forms of neighbouring measurements."""
    n_measured = measured.shape[1]
    columns = []
    for k in range(_N_DERIVED):
        a, b, c, d = (measured[:, (3 * k + shift) % n_measured] for shift in (0, 1, 2, 4))
        columns.append(np.sqrt(np.abs(a * b) + c * c + 0.5 * np.abs(d)))
    return np.column_stack(columns)


def _score(measured: NDArray[np.float64], derived: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log-odds: products, thresholds and bumps of two or three columns each."""
    m, d = measured.T, derived.T
    score = (
        1.2 * m[1] * m[4]
        + 1.5 * np.where(d[0] > 1.3, d[1], -d[2])
        - 1.8 * np.exp(-((d[3] - 1.2) ** 2) / 0.1)
        + np.sin(2 * m[2]) * m[5]
        + 0.8 * np.where(m[7] > 0, m[8], -m[10 % len(m)])
        - 0.7 * d[4] * (m[1] > 0)
        + 0.4 * np.log(m[0]) * d[5]
    )
    return _LOGIT_SCALE * (score - np.median(score)) / score.std()


def _manifest_target(folder: Path, name: str) -> str:
    entries = json.loads((folder / "manifest.json").read_text())
    return str(entries[name]["target"])


def _as_target(y: NDArray, task: Task) -> NDArray:
    return y.astype(np.float64) if task == "numbers" else y

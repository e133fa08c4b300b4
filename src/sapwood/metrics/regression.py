"""Losses of rows whose target is a number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sapwood.elementary import log, log1p, log_gamma, sum_of_rows
from sapwood.elementary import power as raised
from sapwood.errors import InputError
from sapwood.metrics.metric import Floats, Target

_LEAST = 1e-16  # means of counts and amounts are above 0, and only rounding makes 0 of them
_FAR = 1e9  # from here on, the root of 1 + x² is x
_LEAST_LOG1P = -1.0 + 1e-6  # predictions below have no log1p; they may occur in early rounds


def squares(y: Target, predicted: Floats) -> Floats:
    """(y - ŷ)²."""
    return np.asarray(np.square(y - predicted))


def distances(y: Target, predicted: Floats) -> Floats:
    """|y - ŷ|."""
    return np.asarray(np.abs(y - predicted))


def shares(y: Target, predicted: Floats) -> Floats:
    """|y - ŷ| / |y|, with the smallest step from 1 in place of y = 0, as scikit-learn does."""
    return np.asarray(np.abs(y - predicted) / np.maximum(np.abs(y), np.finfo(np.float64).eps))


def squared_log_differences(y: Target, predicted: Floats) -> Floats:
    """(log(1 + y) - log(1 + ŷ))²."""
    _refuse(y, y <= -1, "rmsle", "numbers above -1")
    return np.asarray(np.square(log1p(y) - log1p(np.maximum(predicted, _LEAST_LOG1P))))


def pseudo_huber(y: Target, predicted: Floats, slope: float = 1.0) -> Floats:
    """δ² (√(1 + ((y - ŷ)/δ)²) - 1) with the slope δ."""
    size = np.abs(y - predicted) / slope
    root = np.where(size > _FAR, size, np.sqrt(1.0 + np.square(np.minimum(size, _FAR))))
    return np.asarray(slope * slope * (root - 1.0))


def pinball(y: Target, predicted: Floats, quantiles: tuple[float, ...] = (0.5,)) -> Floats:
    """The mean over the quantiles q of q r for r = y - ŷ >= 0 and (q - 1) r below."""
    rows = np.atleast_2d(predicted)
    if len(rows) != len(quantiles):
        raise InputError(
            f"The metric 'quantile' has {len(quantiles)} quantiles, but the model makes {len(rows)} predictions for "
            "each row. Name those of the model, for example 'quantile@0.1,0.5,0.9'."
        )
    residual, q = y - rows, np.array(quantiles)[:, None]
    losses = np.maximum(q * residual, (q - 1.0) * residual)
    return np.asarray(sum_of_rows(losses) / len(losses))


def poisson_likelihood(y: Target, predicted: Floats) -> Floats:
    """Negative log-likelihood: ŷ - y log ŷ + log y!."""
    _refuse(y, y < 0, "poisson-nloglik", "numbers of at least 0")
    expected = np.maximum(predicted, _LEAST)
    return np.asarray(expected - y * log(expected) + log_gamma(y + 1.0))


def gamma_likelihood(y: Target, predicted: Floats) -> Floats:
    """Negative log-likelihood for a dispersion of 1: y / ŷ + log ŷ."""
    _refuse(y, y < 0, "gamma-nloglik", "numbers of at least 0")
    expected = np.maximum(predicted, _LEAST)
    return np.asarray(y / expected + log(expected))


def gamma_deviance(y: Target, predicted: Floats) -> Floats:
    """2 (y / ŷ - 1 - log(y / ŷ))."""
    _refuse(y, y < 0, "gamma-deviance", "numbers of at least 0")
    ratio = np.maximum(y, _LEAST) / np.maximum(predicted, _LEAST)
    return np.asarray(2.0 * (ratio - 1.0 - log(ratio)))


def tweedie_likelihood(y: Target, predicted: Floats, power: float = 1.5) -> Floats:
    """Negative log-likelihood up to a constant: ŷ^(2-p) / (2-p) - y ŷ^(1-p) / (1-p)."""
    _refuse(y, y < 0, "tweedie-nloglik", "numbers of at least 0")
    expected = np.maximum(predicted, _LEAST)
    return np.asarray(raised(expected, 2.0 - power) / (2.0 - power) - y * raised(expected, 1.0 - power) / (1.0 - power))


def _refuse(y: Target, bad: NDArray[np.bool_], metric: str, domain: str) -> None:
    """Name the first target that the metric has no number for."""
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"y holds {y[row].item()} in row {row}, but the metric {metric!r} needs {domain}. Use 'rmse' or 'mae'."
        )

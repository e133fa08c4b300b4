"""Derivatives made of the exponential, next to NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from sapwood.kernels.exponential import add_exponential, class_derivatives, logistic_derivatives
from sapwood.losses import Logistic, Multinomial


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logistic_derivatives(dtype: type) -> None:
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 2, 1003).astype(np.float64), 5 * rng.normal(size=1003)
    gradient, hessian = np.empty(1003, dtype), np.empty(1003, dtype)
    logistic_derivatives(y, score, 1e-16, gradient, hessian)
    p = 1 / (1 + np.exp(-score))
    np.testing.assert_allclose(gradient, p - y, rtol=1e-6 if dtype is np.float32 else 1e-12, atol=1e-15)
    np.testing.assert_allclose(hessian, p * (1 - p), rtol=1e-6 if dtype is np.float32 else 1e-11, atol=1e-15)


def test_shares_of_classes() -> None:
    rng = np.random.default_rng(0)
    score, y = 4 * rng.normal(size=(5, 301)), rng.integers(0, 5, 301).astype(np.float64)
    most, total, gradient = score.max(axis=0), np.zeros(301), np.empty((5, 301))
    for k in range(5):
        add_exponential(score[k], most, gradient[k], total)
    np.testing.assert_allclose(gradient, np.exp(score - most), rtol=2e-15)
    np.testing.assert_allclose(total, np.exp(score - most).sum(axis=0), rtol=1e-14)
    shares, hessian = gradient / total, np.empty((5, 301))
    for k in range(5):
        class_derivatives(y, float(k), total, 1e-16, gradient[k], hessian[k])
    np.testing.assert_allclose(gradient, shares - (y == np.arange(5)[:, None]), atol=1e-15)
    np.testing.assert_allclose(hessian, np.maximum(shares * (1 - shares), 1e-16), rtol=1e-12)


@pytest.mark.parametrize("loss", [Logistic(), Multinomial(3)])
def test_derivatives_do_not_depend_on_the_block(loss: Logistic | Multinomial) -> None:
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 2, 999).astype(np.float64), 30 * rng.normal(size=(loss.n_scores, 999))
    whole = np.empty((2, *score.shape))
    loss.derivatives(y, score, *whole)
    pieces = np.empty_like(whole)
    for of in (slice(0, 1), slice(1, 8), slice(8, 500), slice(500, 999)):
        loss.derivatives(y[of], score[:, of], pieces[0][:, of], pieces[1][:, of])
    np.testing.assert_array_equal(pieces, whole)

"""Exponentials that stay finite."""

from __future__ import annotations

import numpy as np

from sapwood.elementary import exp
from sapwood.losses.loss import Floats

# Gains hold squares of sums of derivatives: e^300 squared, times the weights of any number of rows, is still finite.
MOST = 300.0
_MOST_RESPONSE = 709.0  # just below the logarithm of the largest float64


def bounded_exp(x: Floats) -> Floats:
    """The exponential, constant above e^300."""
    return exp(np.minimum(x, MOST))


def exp_response(score: Floats) -> Floats:
    """The inverse of the log link, as large as a float64 can be."""
    return exp(np.minimum(score, _MOST_RESPONSE))

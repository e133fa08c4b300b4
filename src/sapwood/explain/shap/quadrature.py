"""Gauss's rule between 0 and 1, and coefficients of the edges of a tree at its points (see `kernels/shapley.py`)."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.kernels.shapley import COEFFICIENTS


class Rule(NamedTuple):
    """Points between 0 and 1, and their weights."""

    points: Floats
    weights: Floats


@lru_cache(maxsize=64)
def gauss_rule(degree: int) -> Rule:
    """The rule that integrates polynomials up to a degree exactly, with as few points as that takes."""
    points, weights = np.polynomial.legendre.leggauss(max(degree, 0) // 2 + 1)
    return Rule((points + 1.0) / 2.0, weights / 2.0)


def edge_coefficients(nodes: Array, points: Floats) -> Floats:
    """`COEFFICIENTS` of the edge to each node at each point, (nodes, points, 5)."""
    share, before = nodes["share"][:, None], nodes["share_before"][:, None]
    met, met_before = _factor(share, points), _factor(before, points)
    effect_before = (1.0 - before) / met_before
    out = np.empty((len(nodes), len(points), len(COEFFICIENTS)))
    out[..., 0] = met / met_before
    out[..., 1] = (1.0 - points) * share / met_before
    out[..., 2] = nodes["ratio"][:, None]
    out[..., 3] = (1.0 - share) / met - effect_before
    out[..., 4] = deficit(points) - effect_before
    return out


def line_coefficients(share: Floats, points: Floats) -> Floats:
    """Of lines on columns with these shares: t / f and z / f² at each point, (lines, points, 2)."""
    factor = _factor(share[:, None], points)
    return np.stack([points / factor, share[:, None] / factor**2], axis=2)


def surplus(nodes: Array, points: Floats) -> Floats:
    """(o - z) / f of the edge to each node at each point, for rows that meet the conditions: o is 1."""
    share = nodes["share"][:, None]
    return np.asarray((1.0 - share) / _factor(share, points))


def deficit(points: Floats) -> Floats:
    """(o - z) / f at each point for rows that do not meet the conditions: o is 0, so the share cancels out."""
    return -1.0 / (1.0 - points)


def _factor(share: Floats, points: Floats) -> Floats:
    """The factor f of a feature whose conditions are met."""
    return (1.0 - points) * share + points

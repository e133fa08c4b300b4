"""How well the documents of queries are ordered: NDCG and mean average precision.

Documents of equal prediction are in the order of the rows. A query without relevant documents counts as 1, as in
XGBoost. The weight of a query is the mean weight of its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapwood.elementary import exp2, log2
from sapwood.errors import InputError
from sapwood.kernels.ranking import rank_rows
from sapwood.metrics.metric import Floats, Groups, MeanPart, MetricFunction, Target, mean, single

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class MeanOfQueries(MetricFunction):
    """The weighted mean of a quality of each query."""

    name: str
    quality: Callable[[Target, Floats, Rows], Floats]

    def part(self, y: Target, prediction: Floats, weight: Floats | None, groups: Groups | None) -> MeanPart:
        """Sums of the qualities and weights of the part's queries."""
        start = _starts(self.name, y, groups)
        quality = self.quality(y, single(self.name, prediction), start)
        sizes = np.diff(start)
        return MeanPart.of(quality, None if weight is None else np.add.reduceat(weight, start[:-1]) / sizes)

    def merged(self, parts: Sequence[MeanPart]) -> float:
        """The mean over the queries of all parts."""
        return mean(parts)


def ndcg(y: Target, prediction: Floats, start: Rows, k: int | None = None) -> Floats:
    """DCG / DCG of the best order of each query, where DCG = Σ (2^y - 1) / log2(1 + position) up to k."""
    place = _places(start)
    discount = 1.0 / log2(place + 2.0) * _within(place, k)
    gain: Floats = exp2(y) - 1.0
    reached, best = (
        np.add.reduceat(gain[_ranked(values, start)] * discount, start[:-1]) for values in (prediction, gain)
    )
    return _quality(reached, best)


def average_precision(y: Target, prediction: Floats, start: Rows, k: int | None = None) -> Floats:
    """Σ precision(position) of the relevant documents of each query / their number, both up to k.

    A document is relevant if y > 0, and precision(position) is the share of relevant documents down to it.
    """
    place = _places(start)
    relevant = (y > 0)[_ranked(prediction, start)].astype(np.float64)
    seen = np.cumsum(relevant)
    so_far = seen - np.repeat(np.concatenate(([0.0], seen))[start[:-1]], np.diff(start))
    reached = np.add.reduceat(so_far / (place + 1.0) * relevant * _within(place, k), start[:-1])
    best = np.add.reduceat(relevant, start[:-1])
    return _quality(reached, best if k is None else np.minimum(best, k))


def _starts(name: str, y: Target, groups: Groups | None) -> Rows:
    """Where each group begins, and the end; without groups all rows are one query."""
    sizes = np.array([len(y)]) if groups is None else np.asarray(groups)
    if sizes.sum() != len(y) or (sizes < 1).any():
        raise InputError(
            f"The metric {name!r} needs groups of at least 1 row that add up to {len(y)} rows, but they add up to "
            f"{sizes.sum()}. Pass the number of rows of each query, in the order of the rows."
        )
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


def _places(start: Rows) -> Rows:
    """Position of each row in its group, from 0."""
    return np.asarray(np.arange(start[-1]) - np.repeat(start[:-1], np.diff(start)))


def _within(place: Rows, k: int | None) -> Floats:
    """1 for the first k positions, 0 for the others."""
    return np.ones(len(place)) if k is None else (place < k).astype(np.float64)


def _ranked(values: Floats, start: Rows) -> Rows:
    order, spare = np.empty((2, len(values)), dtype=np.int64)
    rank_rows(np.ascontiguousarray(values, dtype=np.float64), start, order, spare)
    return order


def _quality(reached: Floats, best: Floats) -> Floats:
    return np.divide(reached, best, out=np.ones_like(reached), where=best > 0)

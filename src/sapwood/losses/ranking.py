"""LambdaMART: documents of a query are put into the order of their relevance."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array
from sapwood.elementary import exp2, log2
from sapwood.errors import InputError, ParameterError
from sapwood.kernels.ranking import rank_pairs, rank_rows
from sapwood.losses.loss import LEAST_HESSIAN, Floats, Loss, Target
from sapwood.parameters import Interval, Nothing, Rule, check_parameters
from sapwood.row_parts.rows import RowParts

_RULES: dict[str, tuple[Rule, ...]] = {"k": (Interval(int, low=1), Nothing(remedy="Use k=None for all documents."))}
_MOST_GRADE = 31


class LambdaRank(Loss):
    """Pairs of documents i, j of a query with y_i > y_j cost |ΔNDCG_ij| log(1 + e^(F_j - F_i)).

    ΔNDCG is what swapping the two in the order of the scores would change of NDCG = DCG / DCG of the best order,
    DCG = Σ (2^y - 1) / log2(1 + position), over the first k positions if k is given.
    Documents of equal score are in the order of the rows. With ρ = 1 / (1 + e^(F_i - F_j)),

        g_i = -Σ_j |ΔNDCG_ij| ρ,    g_j = Σ_i |ΔNDCG_ij| ρ,    h_i, h_j = Σ |ΔNDCG_ij| ρ (1 - ρ).

    The loss of a pair counts as that of its more relevant document.
    """

    name: ClassVar[str] = "lambdarank"
    metric: str = "ndcg"
    whole: bool = True
    _domain = f"grades of relevance from 0 to {_MOST_GRADE}"
    _remedy = "Use a few grades, such as 0, 1, 2, 3, 4: gains are 2^grade - 1."

    def __init__(self, group_sizes: Sequence[int] | Array, k: int | None = None) -> None:
        check_parameters("the loss 'lambdarank'", _RULES, {"k": k})
        self.group_sizes = _checked_sizes(group_sizes)
        self.k = k
        longest = int(self.group_sizes.max())
        self._depth = longest if k is None else min(int(k), longest)
        self._discount = 1.0 / log2(np.arange(longest) + 2.0)
        self._discount[self._depth :] = 0.0
        self._group_start = np.concatenate(([0], np.cumsum(self.group_sizes)))
        self._n_rows = int(self._group_start[-1])
        self._place = np.arange(self._n_rows) - np.repeat(self._group_start[:-1], self.group_sizes)  # in the group

    def options(self) -> dict[str, object]:
        """Positions that count; queries belong to the rows of a training, not to the model."""
        return {"group_sizes": [1], "k": self.k}

    def admits(self, y: Target) -> NDArray[np.bool_]:
        """Accept grades of which 2^y is of moderate size."""
        legal: Array = (y >= 0) & (y <= _MOST_GRADE)
        return legal

    def check_target(self, y: Target, owner: str = "y") -> None:
        """Raise `InputError` if the groups are not those of y, and for the first illegal grade."""
        if len(y) != self._n_rows:
            raise InputError(
                f"The sizes of the groups add up to {self._n_rows}, but {owner} has {len(y)} rows. "
                "Pass the number of rows of each query, in the order of the rows."
            )
        super().check_target(y, owner)

    def start(self, rows: RowParts) -> Floats:  # noqa: ARG002 - a constant does not change the order
        """Zero."""
        return np.zeros(1)

    def derivatives(self, y: Target, score: Floats, gradient: Floats, hessian: Floats) -> None:
        """Sums over the pairs; OUT gradient, hessian."""
        gradient.fill(0.0)
        hessian.fill(0.0)
        rank_pairs(*self._ranked(y, score), gradient[0], hessian[0], None)
        np.maximum(hessian, LEAST_HESSIAN, out=hessian)

    def losses(self, y: Target, score: Floats) -> Floats:
        """Σ_j |ΔNDCG_ij| log(1 + e^(F_j - F_i)) over the less relevant documents j of the group."""
        loss = np.zeros(len(y))
        rank_pairs(*self._ranked(y, score), None, None, loss)
        return loss

    def of_rows(self, first: int, last: int) -> LambdaRank:
        """The same for some queries, of which no other has a row between these."""
        if first == 0 and last == self._n_rows:
            return self
        starts, found = self._group_start, copy(self)
        begin, end = np.searchsorted(starts, (first, last))
        found.group_sizes, found._group_start = self.group_sizes[begin:end], starts[begin : end + 1] - first
        found._place, found._n_rows = self._place[first:last], last - first
        return found

    def _ranked(self, y: Target, score: Floats) -> tuple[object, ...]:
        """The groups as kernels take them."""
        gain = exp2(y) - 1.0
        points = np.ascontiguousarray(score[0])
        return self._order(points), self._group_start, gain, points, self._discount, self._depth, self._norm(gain)

    def _order(self, values: Floats) -> NDArray[np.int64]:
        """Rows by group, and within it from high to low; ties in the order of rows."""
        order, spare = np.empty((2, len(values)), dtype=np.int64)
        rank_rows(values, self._group_start, order, spare)
        return order

    def _norm(self, gain: Floats) -> Floats:
        """1 / DCG of the best order of each group; 0 for a group without relevant documents."""
        best = np.add.reduceat(gain[self._order(gain)] * self._discount[self._place], self._group_start[:-1])
        return np.divide(1.0, best, out=np.zeros_like(best), where=best > 0)


def _checked_sizes(group_sizes: Sequence[int] | Array) -> NDArray[np.int64]:
    sizes = np.asarray(group_sizes)
    if sizes.ndim != 1 or not len(sizes) or sizes.dtype.kind not in "iu":
        raise ParameterError(
            f"group_sizes of the loss 'lambdarank' has shape {sizes.shape} and dtype {sizes.dtype}: it must be a list "
            "of integers. Pass the number of rows of each query, in the order of the rows."
        )
    if (sizes < 1).any():
        at = int(np.argmax(sizes < 1))
        raise ParameterError(
            f"group_sizes[{at}]={sizes[at]} is not allowed for the loss 'lambdarank': a group has at least 1 row. "
            "Leave out empty groups."
        )
    return sizes.astype(np.int64)

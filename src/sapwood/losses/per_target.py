"""Several targets: one loss for each, of its own score. The rows of y have a number for each target.

The targets may have very different scales. Leaf values do not mind, since each follows from the derivatives of its own
target. Where targets are compared, each is measured by its own training rows at their best constant score: its loss by
the mean loss, its gradients by their root mean square, and its hessians by their mean. For the squared error these are
half the variance, the standard deviation, and 1. A constant target, which has nothing to learn, counts for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array
from sapwood.errors import ParameterError
from sapwood.losses.loss import Floats, Loss, Target
from sapwood.row_parts.rows import RowPart, RowParts, targets_of

CONSTANT = 1e-12  # a target whose values differ by no more than this share of their size


class PerTarget(Loss):
    """L is the mean over the targets of L_k(y_k, F_k) / c_k, where c_k is the mean loss of the best constant.

    Derivatives are those of L_k, so that each target is learned as it would be alone.
    """

    name: ClassVar[str] = "per_target"

    def __init__(self, losses: Sequence[Loss], targets: Sequence[str]) -> None:
        if not losses or len(losses) != len(targets):
            raise ParameterError(f"There are {len(losses)} losses for {len(targets)} targets. Pass one loss for each.")
        first = losses[0]
        self.losses_of = tuple(losses)
        self.targets = tuple(targets)
        self.n_scores = len(self.losses_of)
        self.robust, self.step_factor = first.robust, first.step_factor
        self._factors = np.ones(self.n_scores)

    @classmethod
    def of(cls, loss: Loss, targets: Sequence[str], rows: RowParts) -> Self:
        """The same loss for each target, measured by the training rows, whose y is (rows, targets)."""
        if loss.n_scores > 1:
            raise ParameterError(
                f"The loss {loss.name!r} has {loss.n_scores} scores, but y has {len(targets)} targets, and each may "
                "have one score only. Use one quantile, or fit one model for each target."
            )
        found = cls([loss] * len(targets), targets)
        found._measure(rows)
        return found

    def _measure(self, rows: RowParts) -> None:
        """Set the factors by which targets are compared; those of constant targets are 0."""
        factors = np.zeros((3, self.n_scores))  # of losses, gradients and hessians
        for k, loss in enumerate(self.losses_of):
            own = rows.of_target(k)
            (least,), (most,) = own.extremes(targets_of)
            if most - least > CONSTANT * max(abs(least), abs(most)):
                factors[:, k] = 1.0 / _sizes(loss, own)
        factors[0] *= self.n_scores / max(1, int(np.count_nonzero(factors[0])))  # a mean of those that can be learned
        self._factors, self.scales = factors[0], factors[1:]

    @property
    def factors(self) -> Floats:
        """1 / c_k, or 0 for a constant target; their sum is that of as many targets as can be learned."""
        return self._factors

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.each!r}, targets={list(self.targets)!r})"

    @property
    def each(self) -> Loss:
        """The loss that all targets have."""
        return self.losses_of[0]

    @property
    def above_zero(self) -> bool:  # type: ignore[override]
        """Whether responses are above 0."""
        return self.each.above_zero

    @property
    def constant_hessian(self) -> bool:  # type: ignore[override]
        """Whether h is 1 for every row."""
        return self.each.constant_hessian

    def options(self) -> dict[str, object]:
        """The losses, and the names of the targets."""
        return {"losses": list(self.losses_of), "targets": list(self.targets)}

    def admits(self, y: Target) -> NDArray[np.bool_]:
        """Return for each target of each row whether it is in the domain, (rows, targets)."""
        pairs = zip(self.losses_of, columns_of(y), strict=True)
        return np.stack([loss.admits(own) for loss, own in pairs], axis=1)

    def check_domain(self, y: Target, owner: str = "y") -> None:
        """Raise `InputError` that names the first target, and its row, outside of the domain."""
        for loss, name, own in zip(self.losses_of, self.targets, columns_of(y), strict=True):
            loss.check_domain(own, f"target {name!r} of {owner}")

    def check_target(self, y: Target, owner: str = "y") -> None:
        """Raise `InputError` for the first target that cannot be learned."""
        for loss, name, own in zip(self.losses_of, self.targets, columns_of(y), strict=True):
            loss.check_target(own, f"target {name!r} of {owner}")

    def start(self, rows: RowParts) -> Floats:
        """The best constant of each target."""
        return np.concatenate([loss.start(rows.of_target(k)) for k, loss in enumerate(self.losses_of)])

    def derivatives(self, y: Target, score: Floats, gradient: Floats, hessian: Floats) -> None:
        """Those of each target's own loss; OUT gradient, hessian."""
        for k, (loss, own) in enumerate(zip(self.losses_of, columns_of(y), strict=True)):
            of = slice(k, k + 1)
            loss.derivatives(own, score[of], gradient[of], hessian[of])

    def losses(self, y: Target, score: Floats) -> Floats:
        """The mean of L_k / c_k."""
        total = np.zeros(score.shape[1])
        for k, (loss, own) in enumerate(zip(self.losses_of, columns_of(y), strict=True)):
            total += self._factors[k] * loss.losses(own, score[k : k + 1])
        return np.asarray(total / self.n_scores)

    def response(self, score: Floats) -> Floats:
        """What each score means."""
        return np.concatenate([loss.response(score[k : k + 1]) for k, loss in enumerate(self.losses_of)])

    def link(self, response: Floats) -> Floats:
        """Scores of given responses."""
        return np.concatenate([loss.link(response[k : k + 1]) for k, loss in enumerate(self.losses_of)])

    def leaf_steps(self, rows: RowParts, k: int = 0) -> Floats:
        """The steps of target k."""
        return self.losses_of[k].leaf_steps(rows.of_target(k))

    def begin_round(self, rows: RowParts) -> Loss:
        """Each target's loss in the round that begins."""
        begun = tuple(loss.begin_round(rows.of_target(k)) for k, loss in enumerate(self.losses_of))
        if all(new is old for new, old in zip(begun, self.losses_of, strict=True)):
            return self
        following = copy(self)
        following.losses_of = begun
        return following


def _sizes(loss: Loss, rows: RowParts) -> Floats:
    """Mean loss, root mean square of the gradients, and mean hessian, at the best constant."""
    rows = rows.changed(partial(scored, loss.start(rows)))
    begun = loss.begin_round(rows)
    square, hessian = (rows.mean(partial(derivatives_of, begun, place)) for place in (0, 1))
    return np.array([rows.mean(partial(losses_of_rows, begun)), np.sqrt(square), hessian])


def scored(constants: Floats, part: RowPart) -> RowPart:
    """The rows of a part with constants for their scores."""
    return replace(part, score=np.repeat(constants[:, None], len(part.y), axis=1))


def losses_of_rows(loss: Loss, part: RowPart) -> Floats:
    """The losses of a part's rows."""
    return loss.losses(part.y, part.score)


def derivatives_of(loss: Loss, place: int, part: RowPart) -> Floats:
    """Squared gradients (place 0) or hessians (1) of a part's rows, of losses of one score."""
    gradient, hessian = np.empty_like(part.score), np.empty_like(part.score)
    loss.derivatives(part.y, part.score, gradient, hessian)
    return np.asarray(np.square(gradient[0]) if place == 0 else hessian[0])


def columns_of(y: Target) -> list[Array]:
    """The targets one by one, each in memory of its own, so that sums are those of a target alone."""
    return [np.ascontiguousarray(y[:, k]) for k in range(y.shape[1])]

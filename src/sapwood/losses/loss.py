"""What a loss is: domain, starting point, derivatives, link, and steps of leaves.

Boosting adds trees to *scores* F, `n_scores` of them for each row. A loss L(y, F) gives the starting
scores, the derivatives of each row, and the meaning of a score (`response`, the inverse of the link).

    row      y               score, gradient g = dL/dF, hessian h = d²L/dF²
    shape    (n,)            (n_scores, n): any block of rows, unless `whole`

Of several targets, y is (n, targets), and there is a score for each (`per_target.py`).

What depends on all rows - starting scores, the steps of leaves - is found by questions to rows in parts, which may be
elsewhere (`row_parts/rows.py`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array
from sapwood.errors import InputError
from sapwood.row_parts.rows import RowParts

Floats = NDArray[np.float64]
Target = Array  # numbers, or codes of classes 0 … K-1, as float64 or int64

LEAST_SHARE = float(np.finfo(np.float64).eps)  # of a class: the distance of its probability from 0 where it has a score
LEAST_HESSIAN = 1e-16  # leaves divide by sums of h, which must not vanish


class Loss(ABC):
    """A loss of one row, L(y, F), and all that boosting needs of it; weights of rows are left to the engine."""

    name: ClassVar[str]
    metric: str = "loss"
    """The metric that is usually reported for models with this loss, by its name in `metrics`."""
    constant_hessian: ClassVar[bool] = False
    """h is 1 for every row."""
    robust: bool = False
    """Leaves are set by `leaf_steps` instead of Newton's -G / (H + lambda)."""
    whole: bool = False
    """Rows depend on each other: `derivatives` and `losses` need all of them at once."""

    bounded: ClassVar[bool] = False
    """Derivatives are at most 1 in size, for any target: float32 holds those of many rows well enough."""

    n_scores: int = 1
    """Scores of a row: classes, quantiles or targets."""
    targets: tuple[str, ...] = ()
    """Names of the targets, if there are several; each has a score."""
    scales: Floats | None = None
    """Factors (2, n_scores) of gradients and hessians where those of several scores are compared; None: all 1."""
    sums_to_zero: ClassVar[bool] = False
    """The gradients of the scores of a row add up to 0."""
    above_zero: ClassVar[bool] = False
    """Responses are above 0: the link is a logarithm."""
    step_factor: float = 1.0
    """Newton's steps are multiplied by this."""
    _domain: str = "finite numbers"
    _remedy: str = "Remove such rows or clip them."

    def __repr__(self) -> str:
        options = (f"{name}={value!r}" for name, value in vars(self).items() if not name.startswith("_"))
        return f"{type(self).__name__}({', '.join(options)})"

    @property
    def factors(self) -> Floats:
        """What the loss of each score is multiplied by; they differ if these are targets of their own."""
        return np.ones(self.n_scores)

    def options(self) -> dict[str, object]:
        """Arguments of the class that make a loss like this one."""
        return {}

    def admits(self, y: Target) -> NDArray[np.bool_]:
        """Return for each target whether it is in the loss's domain."""
        return np.isfinite(y)

    def check_target(self, y: Target, owner: str = "y") -> None:
        """Raise `InputError` for the first target that cannot be learned."""
        self.check_domain(y, owner)

    def check_domain(self, y: Target, owner: str = "y") -> None:
        """Raise `InputError` that names the first target outside of the domain."""
        bad = ~self.admits(y)
        if bad.any():
            row = int(np.argmax(bad))
            raise InputError(
                f"{owner} holds {y[row].item()} in row {row}, but the loss {self.name!r} needs {self._domain}. "
                f"{self._remedy}"
            )

    @abstractmethod
    def start(self, rows: RowParts) -> Floats:
        """F_0, the constant scores (n_scores,) of least weighted loss; the rows have targets only."""

    @abstractmethod
    def derivatives(self, y: Target, score: Floats, gradient: Floats, hessian: Floats) -> None:
        """First and second derivatives of each row's loss; OUT gradient, hessian."""

    @abstractmethod
    def losses(self, y: Target, score: Floats) -> Floats:
        """L(y, F) of each row, (n,)."""

    def response(self, score: Floats) -> Floats:
        """What the scores mean on the scale of the target: the inverse link, (n_scores, n) to (n_scores, n)."""
        return score

    def link(self, response: Floats) -> Floats:
        """Scores of given responses, (n_scores, n) to (n_scores, n); always finite."""
        return response

    def leaf_steps(self, rows: RowParts, k: int = 0) -> Floats:
        """The step that minimises Σ w L(y, F_k + step) over the rows of each group, a leaf; 0 without rows."""
        raise NotImplementedError(f"leaves of the loss {self.name!r} are set by Newton's step")

    def begin_round(self, rows: RowParts) -> Loss:  # noqa: ARG002 - a hook
        """The loss to use in the round that begins with the scores of these rows."""
        return self

    def of_rows(self, first: int, last: int) -> Loss:  # noqa: ARG002 - a hook
        """The loss of the rows first…last-1 alone; it differs if the loss knows which rows belong together."""
        return self

"""User-defined losses, given by their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from sapwood.errors import ParameterError
from sapwood.losses.loss import Floats, Loss, Target
from sapwood.parameters import CallableRule, Flag, Interval, Rule, check_parameters
from sapwood.row_parts.rows import RowParts
from sapwood.signature import n_needed, positional_arguments

_RULES: dict[str, tuple[Rule, ...]] = {
    "function": (CallableRule(),),
    "n_scores": (Interval(int, low=1),),
    "rowwise": (Flag(),),
}


class CustomLoss(Loss):
    """A function `objective(y_true, y_score) -> (gradient, hessian)`.

    y_score and both results have shape (n,), or (n, n_scores) if there are several scores. Scores start at 0 and are
    predicted as they are. The function gets all rows at once, so it may compare them with each other. One that does
    not, whose results for a row follow from that row alone, may say so with `rowwise=True`: it is then called for one
    block of rows after the other, by several threads at a time.
    """

    name: ClassVar[str] = "custom"

    def __init__(self, function: Callable[[Target, Floats], object], n_scores: int = 1, rowwise: bool = False) -> None:
        check_parameters("CustomLoss", _RULES, {"function": function, "n_scores": n_scores, "rowwise": rowwise})
        self.function = function
        self.n_scores = int(n_scores)
        self.whole = not rowwise
        self._refuse_more_arguments()

    def options(self) -> dict[str, object]:
        """The function, how many scores it takes, and whether it takes blocks of rows."""
        by_rows: dict[str, object] = {} if self.whole else {"rowwise": True}
        return {"function": self.function, "n_scores": self.n_scores} | by_rows

    def _refuse_more_arguments(self) -> None:
        arguments = positional_arguments(self.function)
        if arguments is not None and n_needed(arguments) > 2:
            names = ", ".join(argument.name for argument in arguments)
            raise ParameterError(
                f"{self._label} takes ({names}), but it is given (y_true, y_score). The derivatives it returns are "
                "multiplied by the weights of the rows, so write it without them."
            )

    @property
    def _label(self) -> str:
        return f"The objective {getattr(self.function, '__name__', type(self.function).__name__)!r}"

    def start(self, rows: RowParts) -> Floats:  # noqa: ARG002 - only derivatives are known
        """Zeros."""
        return np.zeros(self.n_scores)

    def derivatives(self, y: Target, score: Floats, gradient: Floats, hessian: Floats) -> None:
        """What the function returns, checked; OUT gradient, hessian."""
        shape = (score.shape[1],) if self.n_scores == 1 else score.shape[::-1]
        truth = y.view()
        truth.flags.writeable = False  # a function that changes y would spoil all later rounds
        answer = self.function(truth, score.T.reshape(shape).copy())
        for out, values, what in zip((gradient, hessian), self._pair(answer), ("gradient", "hessian"), strict=True):
            out[...] = self._checked(values, shape, what).reshape(score.shape[::-1]).T

    def losses(self, y: Target, score: Floats) -> Floats:  # noqa: ARG002 - only derivatives are known
        """Not known: the function gives derivatives only."""
        raise ParameterError(
            f"{self._label} gives derivatives, not the loss itself, so the metric 'loss' cannot be computed. "
            "Pass an eval_metric."
        )

    def _pair(self, answer: object) -> tuple[object, object]:
        if isinstance(answer, (tuple, list)) and len(answer) == 2:
            return answer[0], answer[1]
        size = f" of length {len(answer)}" if hasattr(answer, "__len__") else ""
        raise ParameterError(
            f"{self._label} returned {type(answer).__name__}{size}: it must return two arrays. "
            "End it with: return gradient, hessian"
        )

    def _checked(self, values: object, shape: tuple[int, ...], what: str) -> Floats:
        array = np.asarray(values)
        if array.dtype.kind not in "biuf":
            raise ParameterError(
                f"{self._label} returned a {what} of dtype {array.dtype}: it must hold numbers. Convert it to float64."
            )
        if array.shape != shape:
            raise ParameterError(
                f"{self._label} returned a {what} of shape {array.shape}: it must be {shape}, that of y_score. "
                "Return one number for each score of each row."
            )
        bad = ~np.isfinite(array)
        if bad.any():
            at = tuple(map(int, np.argwhere(bad)[0]))
            raise ParameterError(
                f"{self._label} returned {array[at]} as the {what} of row {at[0]}: it must be finite. "
                "Look for overflows, logarithms of 0 and divisions by 0."
            )
        if what == "hessian" and (array < 0).any():
            at = tuple(map(int, np.argwhere(array < 0)[0]))
            raise ParameterError(
                f"{self._label} returned {array[at]} as the hessian of row {at[0]}: it must not be negative, or steps "
                "lead uphill. Return np.maximum(hessian, 0), or another upper bound of the curvature."
            )
        return array.astype(np.float64)

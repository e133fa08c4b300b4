"""What linear leaves do not go together with."""

from __future__ import annotations

from types import SimpleNamespace

from sapwood.errors import ParameterError
from sapwood.losses.loss import Loss


def check_linear(p: SimpleNamespace, loss: Loss, validates: bool) -> None:
    """Refuse parameters, of which none is "auto", that linear leaves cannot keep; `validates` if rounds are."""
    wrong = ""
    if loss.robust or loss.whole:
        wrong = f"the loss {loss.name!r}, whose leaves are no regressions on the derivatives of their rows"
    elif p.monotone_constraints is not None:
        wrong = "monotone_constraints, which slopes do not keep"
    elif p.max_delta_step > 0.0:
        wrong = f"max_delta_step={p.max_delta_step}, which limits leaves of one value"
    elif p.multi_strategy == "multi_output_tree" and loss.n_scores > 1:
        wrong = "multi_strategy='multi_output_tree', whose leaves have a value for each score"
    if wrong:
        raise ParameterError(
            f"linear_tree={p.linear_tree!r} cannot be used with {wrong}. Use linear_tree=False, or leave that out."
        )
    if p.linear_tree == "validate" and not validates:
        raise ParameterError(
            "linear_tree='validate' compares both kinds of leaves on rows that validate the number of rounds, but here "
            "nothing is validated. Use linear_tree=True or False, or let rounds be validated: n_estimators='auto' with "
            "200 to 200 000 rows, or cv=4, in fit() without eval_set, early_stopping_rounds, callbacks and the like."
        )

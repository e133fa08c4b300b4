"""A fit with allowed parameters succeeds, or leaves the estimator exactly as it was."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from sapwood.parameters import check_parameters

_ABSENT: Any = object()


def all_or_nothing(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Fit a shallow copy, and take over its attributes once nothing can fail any more.

    Whatever ends a fit early (an error, Ctrl-C, a callback, a full disk), and whoever predicts while it runs, the
    estimator is the one it was before. Fits replace fitted objects and do not change them, warm starts included.
    """

    @wraps(fit)
    def fit_or_stay(self: Any, *given: Any, **options: Any) -> Any:
        before = dict(self.__dict__)
        draft = object.__new__(type(self))
        draft.__dict__.update(before)
        check_parameters(type(self).__name__, self.rules, self.get_params(deep=False))
        fit(draft, *given, **options)
        draft.model_  # noqa: B018 - made here, so that prediction changes no attribute
        for name, value in list(self.__dict__.items()):  # what a callback has set on the estimator, and the fit has not
            old = before.get(name, _ABSENT)
            if value is not old and draft.__dict__.get(name, _ABSENT) is old:
                draft.__dict__[name] = value
        self.__dict__ = draft.__dict__
        return self

    return fit_or_stay

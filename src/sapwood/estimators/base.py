"""What all estimators share: checked parameters, refused unknown names, guarded unfitted use, fits that fail whole."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator

from sapwood.errors import AbsentNameError, NotFittedError, ParameterTypeError
from sapwood.estimators.fitted_facts import facts_html
from sapwood.keywords import answering_method, takes_any
from sapwood.parameters import Rule, check_names, check_parameters
from sapwood.peer_names import ATTRIBUTES

ANSWERING = (
    *("fit", "predict", "predict_proba", "predict_log_proba", "decision_function", "apply", "score"),
    *("staged_predict", "staged_predict_proba", "staged_decision_function", "predict_quantiles", "predict_interval"),
)
"""Methods whose unknown keywords are answered."""


_ABSENT: Any = object()
Attributes = Mapping[str, Any]


class RuledEstimator(BaseEstimator):
    """A scikit-learn estimator whose parameters have rules."""

    rules: ClassVar[Mapping[str, tuple[Rule, ...]]] = {}
    without_effect: ClassVar[Mapping[str, tuple[Rule, ...]]] = {}
    """Parameters of other packages that are taken, checked, and dropped: values that change nothing here."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Every `fit` succeeds or leaves the estimator as it was.

        Methods answer keywords that they do not have.
        """
        if cls.__module__.startswith("sapwood."):
            cls.__dataclass_fields__ = {}  # its own: without `declared`, it would stand for all it inherits in the MRO
        if "fit" in vars(cls):
            cls.fit = _on_a_copy(cls.fit)
        for name in ANSWERING:
            method = vars(cls).get(name)
            if inspect.isfunction(method) and not takes_any(method):
                setattr(cls, name, answering_method(method))
        super().__init_subclass__(**options)

    def __new__(cls, *unnamed: Any, **parameters: Any) -> Self:
        """Refuse unknown parameters with the nearest known name, which `__init__` could not."""
        known = cls._get_param_names()
        check_names(cls.__name__, cls._with_effect(parameters), known)
        if unnamed and len(unnamed) > _n_positions(cls):
            raise ParameterTypeError(
                f"{cls.__name__} takes its parameters by name, but got {unnamed[-1]!r} by position. Use names, for "
                f"example {cls.__name__}({known[0]}=…). Its parameters are {', '.join(known)}."
            )
        return super().__new__(cls)  # type: ignore[no-any-return]

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name; unknown ones are refused with the nearest known name."""
        owner = type(self).__name__
        parameters = self._with_effect(parameters)
        check_names(owner, [name.partition("__")[0] for name in parameters], self._get_param_names())
        for name in parameters:
            outer, nested, inner = name.partition("__")
            if nested and not hasattr(parameters.get(outer, getattr(self, outer)), "set_params"):
                raise ParameterTypeError(
                    f"{owner} has no parameter {name!r}: its {outer} has no parameters of its own, such as {inner!r}. "
                    f"Set {outer} itself."
                )
        return super().set_params(**parameters)  # type: ignore[no-any-return]

    @property
    def _repr_html_(self) -> Callable[[], str]:
        """Scikit-learn's box, and what was fitted below it; not there if scikit-learn is set to show text."""
        box = super()._repr_html_
        return lambda: f"{box()}{facts_html(self)}"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """The same for notebooks, which ask for all forms at once."""
        forms: dict[str, str] = super()._repr_mimebundle_(**options)
        return forms | {"text/html": forms["text/html"] + facts_html(self)} if "text/html" in forms else forms

    @classmethod
    def _with_effect(cls, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """All but those that are taken for the sake of other packages; values that mean something else are refused."""
        dropped = {n: v for n, v in parameters.items() if n in cls.without_effect and n not in cls._get_param_names()}
        check_parameters(cls.__name__, cls.without_effect, dropped)
        return {name: value for name, value in parameters.items() if name not in dropped}

    def __dir__(self) -> list[str]:
        """Names that there are; those of other packages are only answered."""
        own = type(self)
        return [n for n in super().__dir__() if not isinstance(inspect.getattr_static(own, n, None), _AbsentName)]

    def _check_parameters(self) -> None:
        check_parameters(type(self).__name__, self.rules, self.get_params(deep=False))

    def _check_fitted(self) -> None:
        if not hasattr(self, "schema_"):
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before "
                "using this estimator."
            )


class _AbsentName:
    """A name of other packages' models: whoever asks for it is told what to write, and `hasattr` says no.

    (A `__getattr__` of the class would say the same, and make every attribute of every model slower.)
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type) -> Any:
        raise AbsentNameError(f"{owner.__name__!r} object has no attribute {self._name!r}. {ATTRIBUTES[self._name]}")


for _name in ATTRIBUTES:
    setattr(RuledEstimator, _name, _AbsentName(_name))


def _on_a_copy(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Fit a shallow copy, and take over its attributes once nothing can fail any more.

    Whatever ends a fit early (an error, Ctrl-C, a callback, a full disk), and whoever predicts while it runs, the
    estimator is the one it was before. Fits replace fitted objects and do not change them, warm starts included.
    """

    @wraps(fit)
    def fit_or_stay(self: Any, *given: Any, **options: Any) -> Any:
        before = dict(self.__dict__)
        draft = object.__new__(type(self))
        draft.__dict__.update(before)
        fit(draft, *given, **options)
        self.__dict__ = draft.__dict__ | _set_meanwhile(before, self.__dict__, draft.__dict__)
        return self

    return fit_or_stay


def _set_meanwhile(before: Attributes, now: Attributes, fitted: Attributes) -> dict[str, Any]:
    """What a callback has set on the estimator during a fit that has not set it itself."""
    old = {name: before.get(name, _ABSENT) for name in now}
    return {n: value for n, value in now.items() if value is not old[n] and fitted.get(n, _ABSENT) is old[n]}


def _n_positions(cls: type[RuledEstimator]) -> int:
    """How many parameters may be given without a name."""
    kinds = [parameter.kind for parameter in inspect.signature(cls.__init__).parameters.values()]
    return kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD) - 1  # self

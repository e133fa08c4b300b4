"""Unknown keywords raise an error that names the alternative, in place of Python's TypeError."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from types import SimpleNamespace
from typing import Any, ParamSpec, TypeVar, get_args, get_type_hints

from sapwood.errors import ParameterTypeError
from sapwood.parameters import check_names
from sapwood.peer_names import counterpart

P = ParamSpec("P")
R = TypeVar("R")


def answering(function: Callable[P, R]) -> Callable[P, R]:
    """A decorator of public functions."""
    known = keywords_of(function)

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if kwargs:
            check_names(f"{function.__name__}()", kwargs, known)
        return function(*args, **kwargs)

    return call


def answering_method(method: Callable[..., R]) -> Callable[..., R]:
    """The same of methods of estimators, whose constructors may have what the method lacks."""
    known = keywords_of(method)

    @wraps(method)
    def call(self: object, *args: object, **kwargs: object) -> R:
        if len(args) == 1 and not kwargs:  # the usual call, which must cost a single row next to nothing
            return method(self, args[0])
        for name in kwargs:
            if name not in known:
                _refuse(self, method.__name__, name, kwargs, known)
        return method(self, *args, **kwargs)

    return call


def keywords_of(function: Callable[..., object]) -> list[str]:
    """Names that may be given by keyword, `self` aside."""
    parameters = inspect.signature(function).parameters.values()
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    names = [p.name for p in parameters if p.kind in kinds and p.name != "self"]
    return [*names, *_unpacked_keywords(function)]


def takes_any(function: Callable[..., object]) -> bool:
    """Whether the function takes keywords of every name."""
    return _rest_of_keywords(function) is not None and not _unpacked_keywords(function)


def _rest_of_keywords(function: Callable[..., object]) -> inspect.Parameter | None:
    """The parameter that collects keywords, such as `**options`."""
    parameters = inspect.signature(function).parameters.values()
    return next((p for p in parameters if p.kind is p.VAR_KEYWORD), None)


def _unpacked_keywords(function: Callable[..., object]) -> list[str]:
    """Names that a function takes by `**options: Unpack[T]`, where T is a TypedDict."""
    rest = _rest_of_keywords(function)
    if rest is None or "Unpack" not in str(rest.annotation):
        return []
    # This annotation alone: names of others may be there for type checkers only
    own = SimpleNamespace(__annotations__={rest.name: rest.annotation})
    hint = get_type_hints(own, inspect.unwrap(function).__globals__)[rest.name]
    return list(get_args(hint)[0].__annotations__)


def _refuse(estimator: Any, method: str, name: str, given: Mapping[str, object], known: Sequence[str]) -> None:
    """Raise the error of a keyword that a method lacks; its constructor may have it, maybe by another name."""
    owner, parameters = type(estimator).__name__, estimator._get_param_names()
    call = f"{owner}.{method}()"
    own = name if name in parameters else counterpart(name, parameters)
    if counterpart(name, known) is None and own is not None:
        value = repr(given[name])
        value = value if len(value) <= 30 else "…"
        raise ParameterTypeError(
            f"{call} has no parameter {name!r}: it belongs to the constructor. Write {owner}({own}={value}), or "
            f"set_params({own}={value}) before."
        )
    check_names(call, [name], known)

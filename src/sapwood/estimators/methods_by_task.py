"""Methods that only classifiers, or only regressors, have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags

from sapwood.keywords import answering_method

Method = TypeVar("Method", bound=Callable[..., Any])


class _OnlyFor:
    """A method of a shared class that other tasks do not have: neither on their classes nor on their instances."""

    def __init__(self, method: Callable[..., Any], mixin: type, predicts: str) -> None:
        self.__name__ = method.__name__
        self.__doc__ = f"Only estimators that predict {predicts} have this method."
        self._method, self._mixin, self._predicts = answering_method(method), mixin, predicts

    def __get__(self, instance: object, owner: type) -> Any:
        if not issubclass(owner, self._mixin):
            raise AttributeError(f"{owner.__name__} has no {self.__name__}: it does not predict {self._predicts}.")
        return self._method if instance is None else self._method.__get__(instance)


def of_classifiers(method: Method) -> Method:
    """A method that only classifiers have."""
    return _OnlyFor(method, ClassifierMixin, "classes")  # type: ignore[return-value]


def of_regressors(method: Method) -> Method:
    """A method that only regressors have."""
    return _OnlyFor(method, RegressorMixin, "numbers")  # type: ignore[return-value]


def multi_label_tags(estimator: ClassifierMixin) -> Tags:
    """The `__sklearn_tags__` of classifiers that take several outputs."""
    tags = ClassifierMixin.__sklearn_tags__(estimator)
    tags.classifier_tags.multi_label = True
    return tags

"""Every error the library raises on purpose.

    SapwoodError
    ├── ParameterError      (ValueError)       a parameter has an illegal value
    ├── ParameterTypeError  (TypeError)        … or is of the wrong type, or does not exist
    ├── InputError          (ValueError)       X, y or sample_weight cannot be used
    │   └── SchemaError     (ValueError)       new rows do not match the columns of the training table
    ├── InputTypeError      (TypeError)        X, y or sample_weight is not a table or array
    ├── AbsentNameError     (AttributeError)   a name of another package; the message names the equivalent
    ├── NotFittedError      (ValueError, AttributeError, and scikit-learn's)  fit has not been called
    ├── DataFileError       (ValueError)       a data file cannot be read or written
    ├── ModelFileError      (ValueError)       a model file is damaged, foreign, or too new
    ├── MissingExtraError   (ImportError)      an optional dependency is not installed
    └── InternalError       (RuntimeError)     a bug in the library: please report it

    SapwoodWarning          (UserWarning)
    ├── CheckpointWarning                      a checkpoint could not be written; training continued
    ├── DataDriftWarning                       rows to predict are not like the training data
    ├── TextColumnWarning                      text looks like numbers or dates, or has very many classes
    ├── MetricDirectionWarning                 a function decides about early stopping; its direction is unknown
    ├── NoSplitWarning                         min_child_weight kept every tree from splitting
    ├── InitWarning                            an init predicts what the loss does not allow
    ├── IdentifierWarning                      a category column has a different level in nearly every row
    └── KernelCacheWarning                     compiled kernels cannot be kept for the next process

Each message names the argument, shows the value, says what is allowed and what to do.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

__all__ = [
    "AbsentNameError",
    "CheckpointWarning",
    "DataDriftWarning",
    "DataFileError",
    "IdentifierWarning",
    "InitWarning",
    "InputError",
    "InputTypeError",
    "InternalError",
    "KernelCacheWarning",
    "MetricDirectionWarning",
    "MissingExtraError",
    "ModelFileError",
    "NoSplitWarning",
    "NotFittedError",
    "ParameterError",
    "ParameterTypeError",
    "SapwoodError",
    "SapwoodWarning",
    "SchemaError",
    "TextColumnWarning",
]


class SapwoodError(Exception):
    """Base of all errors raised on purpose by this library."""


class ParameterError(SapwoodError, ValueError):
    """A parameter has an illegal value."""


class ParameterTypeError(SapwoodError, TypeError):
    """A parameter is of the wrong type, or does not exist."""


class InputError(SapwoodError, ValueError):
    """X, y or sample_weight cannot be used."""


class InputTypeError(SapwoodError, TypeError):
    """X, y or sample_weight is not a table or array."""


class SchemaError(InputError):
    """New rows do not match the columns of the training table."""


class AbsentNameError(SapwoodError, AttributeError):
    """An attribute that other packages have, and this one has under another name."""


class DataFileError(SapwoodError, ValueError):
    """A data file cannot be read or written."""


class ModelFileError(SapwoodError, ValueError):
    """A model file is damaged, foreign, or newer than this library."""


class MissingExtraError(SapwoodError, ImportError):
    """An optional dependency is not installed."""


class InternalError(SapwoodError, RuntimeError):
    """A bug in the library: an invariant that user input cannot break was broken."""


class SapwoodWarning(UserWarning):
    """Base of all warnings given by this library."""


class CheckpointWarning(SapwoodWarning):
    """A checkpoint could not be written; training continued without it."""


class KernelCacheWarning(SapwoodWarning):
    """Compiled kernels cannot be kept, so that every process compiles them again."""


class TextColumnWarning(SapwoodWarning):
    """Text that looks like numbers or dates is treated as categories or classes, or a text target has very many."""


class MetricDirectionWarning(SapwoodWarning):
    """A function decides about early stopping, and its direction is unknown."""


class NoSplitWarning(SapwoodWarning):
    """No tree of a boosted model has a split, because min_child_weight allows none."""


class InitWarning(SapwoodWarning):
    """An estimator to start from predicts numbers that the loss does not allow."""


class DataDriftWarning(SapwoodWarning):
    """Rows to predict are not like the training data; `summary` describes how, without the remedy."""

    def __init__(self, message: str, summary: str = "") -> None:
        super().__init__(message)
        self.summary = summary or message


class IdentifierWarning(SapwoodWarning):
    """A category column has a different level in nearly every row, as an identifier has."""


if TYPE_CHECKING:

    class NotFittedError(SapwoodError, ValueError, AttributeError):
        """The estimator was used before fit was called."""


def __getattr__(name: str) -> Any:
    """NotFittedError is created on first access: it extends scikit-learn's, which takes long to import."""
    if name != "NotFittedError":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sklearn.exceptions import NotFittedError as Theirs

    text = {"__doc__": "The estimator was used before fit was called.", "__module__": __name__}
    return globals().setdefault(name, type(name, (SapwoodError, Theirs), text))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


_BETWEEN = ("sapwood", "contextlib", "functools", "sklearn", "joblib")


@contextmanager
def naming(argument: str) -> Iterator[None]:
    """Errors that are raised inside begin with the argument they are about."""
    try:
        yield
    except SapwoodError as error:
        raise type(error)(f"{argument}: {error}") from error


def warn_user(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn, and point at the user's line: the first one outside of this library and of what calls it for the user."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _BETWEEN:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)

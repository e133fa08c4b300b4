"""Every error the library raises on purpose.

    SapwoodError
    ├── ParameterError      (ValueError)       a parameter has a value it may not have
    ├── ParameterTypeError  (TypeError)        … or is of the wrong type, or does not exist
    ├── InputError          (ValueError)       X, y or sample_weight cannot be used
    │   └── SchemaError     (ValueError)       new rows do not fit the columns of the training table
    ├── InputTypeError      (TypeError)        X, y or sample_weight is not a table or array at all
    ├── NotFittedError      (ValueError, AttributeError, and scikit-learn's)  fit has not been called
    ├── DataFileError       (ValueError)       a data file cannot be read or written
    ├── ModelFileError      (ValueError)       a model file is damaged, foreign, or too new
    ├── MissingExtraError   (ImportError)      an optional dependency is not installed
    └── InternalError       (RuntimeError)     a bug in the library: please report it

and every warning:

    SapwoodWarning          (UserWarning)
    └── IdentifierWarning                      a category column has a different level in nearly every row

Each message names the argument, shows the value, says what is allowed and what to do.
"""

import sys
import warnings

from sklearn.exceptions import NotFittedError as _SklearnNotFittedError

__all__ = [
    "DataFileError",
    "IdentifierWarning",
    "InputError",
    "InputTypeError",
    "InternalError",
    "MissingExtraError",
    "ModelFileError",
    "NotFittedError",
    "ParameterError",
    "ParameterTypeError",
    "SapwoodError",
    "SapwoodWarning",
    "SchemaError",
]


class SapwoodError(Exception):
    """Base of all errors raised on purpose by this library."""


class ParameterError(SapwoodError, ValueError):
    """A parameter has a value it may not have."""


class ParameterTypeError(SapwoodError, TypeError):
    """A parameter is of the wrong type, or no such parameter exists."""


class InputError(SapwoodError, ValueError):
    """X, y or sample_weight cannot be used."""


class InputTypeError(SapwoodError, TypeError):
    """X, y or sample_weight is not a table or array at all."""


class SchemaError(InputError):
    """New rows do not fit the columns of the training table."""


class NotFittedError(SapwoodError, _SklearnNotFittedError):
    """The estimator was used before fit was called."""


class DataFileError(SapwoodError, ValueError):
    """A data file cannot be read or written."""


class ModelFileError(SapwoodError, ValueError):
    """A model file is damaged, foreign, or newer than this library."""


class MissingExtraError(SapwoodError, ImportError):
    """An optional dependency is not installed."""


class InternalError(SapwoodError, RuntimeError):
    """A bug in the library: an invariant that user input cannot break was broken."""


class SapwoodWarning(UserWarning):
    """Base of the warnings of this library."""


class IdentifierWarning(SapwoodWarning):
    """A category column has a different level in nearly every row, as an identifier has."""


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, and point at the line outside of this library from which it was called."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "sapwood":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)

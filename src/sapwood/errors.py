"""Every error the library raises on purpose.

    SapwoodError
    ├── ParameterError      (ValueError)       a parameter has a value it may not have
    ├── ParameterTypeError  (TypeError)        … or is of the wrong type, or does not exist
    ├── InputError          (ValueError)       X, y or sample_weight cannot be used
    │   └── SchemaError     (ValueError)       new rows do not fit the columns of the training table
    ├── InputTypeError      (TypeError)        X, y or sample_weight is not a table or array at all
    ├── AbsentNameError     (AttributeError)   a name of another package, for which there is another way here
    ├── NotFittedError      (ValueError, AttributeError, and scikit-learn's)  fit has not been called
    ├── DataFileError       (ValueError)       a data file cannot be read or written
    ├── ModelFileError      (ValueError)       a model file is damaged, foreign, or too new
    ├── MissingExtraError   (ImportError)      an optional dependency is not installed
    └── InternalError       (RuntimeError)     a bug in the library: please report it

    SapwoodWarning          (UserWarning)
    ├── MetricDirectionWarning                 nobody said whether more of a metric is better
    ├── NoSplitWarning                         min_child_weight kept every tree from splitting
    └── InitWarning                            an init predicts what the loss does not allow

Each message names the argument, shows the value, says what is allowed and what to do.
"""

from sklearn.exceptions import NotFittedError as _SklearnNotFittedError

__all__ = [
    "AbsentNameError",
    "DataFileError",
    "InitWarning",
    "InputError",
    "InputTypeError",
    "InternalError",
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


class AbsentNameError(SapwoodError, AttributeError):
    """An attribute that other packages have, and this one has under another name."""


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
    """Base of all warnings given by this library."""


class MetricDirectionWarning(SapwoodWarning):
    """A function decides about early stopping, and nobody said whether more of it is better."""


class NoSplitWarning(SapwoodWarning):
    """No tree of a boosted model has a split, because min_child_weight allows none."""


class InitWarning(SapwoodWarning):
    """An estimator to start from predicts numbers that the loss does not allow."""

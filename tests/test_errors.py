"""The error hierarchy is the one its docstring draws."""

import inspect
import pickle
import re

import pytest
from sklearn.exceptions import NotFittedError as SklearnNotFittedError

from sapwood import errors

EXPECTED = {
    "ParameterError": (ValueError,),
    "ParameterTypeError": (TypeError,),
    "InputError": (ValueError,),
    "SchemaError": (errors.InputError, ValueError),
    "InputTypeError": (TypeError,),
    "NotFittedError": (SklearnNotFittedError, ValueError, AttributeError),
    "DataFileError": (ValueError,),
    "ModelFileError": (ValueError,),
    "MissingExtraError": (ImportError,),
    "InternalError": (RuntimeError,),
}
WARNINGS = {"KernelCacheWarning"}


def drawn_names() -> set[str]:
    return set(re.findall(r"[├└]── (\w+)", errors.__doc__ or ""))


def defined_names() -> set[str]:
    members = inspect.getmembers(errors, inspect.isclass)
    own = {name for name, error in members if error.__module__ == errors.__name__ and not issubclass(error, Warning)}
    return own - {"SapwoodError"}


def test_the_drawing_shows_every_error() -> None:
    assert drawn_names() == defined_names() == set(EXPECTED)


def test_every_error_is_public() -> None:
    assert set(errors.__all__) == set(EXPECTED) | {"SapwoodError"} | WARNINGS


def test_every_warning_is_named_in_the_docstring() -> None:
    members = inspect.getmembers(errors, inspect.isclass)
    assert {name for name, warning in members if issubclass(warning, Warning)} == WARNINGS
    assert all(name in (errors.__doc__ or "") for name in WARNINGS)


@pytest.mark.parametrize(("name", "bases"), EXPECTED.items())
def test_each_error_is_also_what_a_user_would_expect(name: str, bases: tuple[type[Exception], ...]) -> None:
    error = getattr(errors, name)
    assert issubclass(error, errors.SapwoodError)
    assert all(issubclass(error, base) for base in bases)


@pytest.mark.parametrize("name", EXPECTED)
def test_each_error_has_a_docstring_and_survives_pickling(name: str) -> None:
    error = getattr(errors, name)
    assert error.__doc__
    copy = pickle.loads(pickle.dumps(error("one sentence")))
    assert (type(copy), str(copy)) == (error, "one sentence")


def test_a_value_error_is_no_type_error() -> None:
    assert not issubclass(errors.ParameterError, TypeError)
    assert not issubclass(errors.ParameterTypeError, ValueError)

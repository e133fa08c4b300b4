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
WARNINGS = {
    name
    for name, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, Warning) and kind is not errors.SapwoodWarning
}


def drawn_names() -> set[str]:
    return set(re.findall(r"[├└]── (\w+)", errors.__doc__ or ""))


def defined_names() -> set[str]:
    members = inspect.getmembers(errors, inspect.isclass)
    return {name for name, error in members if error.__module__ == errors.__name__} - {"SapwoodError", "SapwoodWarning"}


def test_the_drawing_shows_every_error() -> None:
    assert drawn_names() == defined_names() == set(EXPECTED) | WARNINGS


def test_every_error_is_public() -> None:
    public = {name for name in errors.__all__ if inspect.isclass(getattr(errors, name))}
    assert public == set(EXPECTED) | WARNINGS | {"SapwoodError", "SapwoodWarning"}


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


@pytest.mark.parametrize("name", sorted(WARNINGS))
def test_each_warning_can_be_silenced_alone_and_with_all_others(name: str) -> None:
    warning = getattr(errors, name)
    assert warning.__doc__
    assert issubclass(warning, errors.SapwoodWarning)
    assert issubclass(warning, UserWarning)

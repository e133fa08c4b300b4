"""The model that a caller passes: a fitted estimator, or a file."""

from __future__ import annotations

from pathlib import Path

from sklearn.exceptions import NotFittedError as SklearnNotFittedError
from sklearn.utils.validation import check_is_fitted

from sapwood.errors import InputTypeError, ModelFileError, NotFittedError


def check_fitted(model: object) -> None:
    """Refuse an estimator of another library that is not fitted."""
    try:
        check_is_fitted(model)
    except SklearnNotFittedError as error:
        raise NotFittedError(f"This {type(model).__name__} is not fitted yet. Fit it before you import it.") from error


def read_bytes(source: object, function: str, alternative: str) -> bytes:
    """The bytes of a file, given as such or by its path."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    if not isinstance(source, (str, Path)):
        raise InputTypeError(
            f"{function} got a {type(source).__name__}. Pass {alternative}, a path to a model file, or its bytes."
        )
    try:
        return Path(source).read_bytes()
    except (OSError, ValueError) as error:
        raise ModelFileError(f"The model file {str(source)[:200]!r} cannot be read: {error}.") from error

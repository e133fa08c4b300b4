"""Containers of other libraries as numpy arrays; errors name the argument."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from sapwood.arrays import Array
from sapwood.errors import InputTypeError


def read_array(values: Any, name: str, dtype: DTypeLike | None = None) -> Array:
    """The array of a container; lists that are not arrays keep numpy's ValueError and TypeError."""
    try:
        return np.asarray(values, dtype=dtype)
    except (MemoryError, TypeError, ValueError):
        raise
    except Exception as error:  # a container may raise anything
        raise InputTypeError(
            f"{name} is a {type(values).__name__}, which fails when its cells are read ({type(error).__name__}: "
            f"{error}). Pass a data frame or an array."
        ) from error

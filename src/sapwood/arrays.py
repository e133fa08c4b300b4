"""Names for types of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


def plain(value: Any) -> Any:
    """A number or label of Python in place of NumPy's."""
    return value.item() if isinstance(value, np.generic) else value

"""Dates and durations as seconds in float64; not-a-time becomes NaN."""

from __future__ import annotations

import numpy as np

from sapwood.arrays import Array
from sapwood.table.column import Column

_PER_SECOND = {"ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15, "as": 10**18}


def is_time(values: Array) -> bool:
    """Whether the array holds datetime64 or timedelta64."""
    return values.dtype.kind in "mM"


def time_column(values: Array) -> Column:
    """Seconds since 1970-01-01, or seconds of duration."""
    return Column("date" if values.dtype.kind == "M" else "duration", to_seconds(values))


def to_seconds(values: Array) -> Array:
    """Whole seconds and remainder are converted apart, so the result does not depend on the unit of storage."""
    unit = np.datetime_data(values.dtype)[0]
    missing = np.isnat(values)
    per_second = _PER_SECOND.get(unit)
    if per_second is None:
        seconds = values.astype(f"{values.dtype.kind}8[s]").astype(np.int64).astype(np.float64)
    else:
        ticks = values.astype(f"{values.dtype.kind}8[{unit}]").astype(np.int64)
        whole, rest = np.divmod(ticks, per_second)
        seconds = whole + rest / per_second
    seconds[missing] = np.nan
    return seconds

"""A dictionary as one row gives the cells that a data frame of this row gives."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sapwood.errors import SapwoodError
from sapwood.table.one_row import as_one_row, one_row_source
from sapwood.table.table import Table

ROWS = pd.DataFrame(
    {
        "number": [1.5, 2.0, np.nan, 4.0],
        "whole": [1, 2, 3, 4],
        "text": ["red", "green", "red", None],
        "level": pd.Categorical([1, 2, 3, 1]),
        "flag": [True, False, True, True],
        "date": pd.date_range("2020-01-01", periods=4),
        "span": pd.to_timedelta([1, 2, 3, 4], "h"),
    }
)
SCHEMA = Table.from_any(ROWS).schema
VALUES = [
    *(3, 2.5, 2**53 + 1, 2**70, np.int8(3), np.float32(1.1), np.uint64(2**64 - 1), Decimal("1.5"), 1j, np.inf),
    *("red", "violet", "", "3", b"red", np.str_("green"), None, np.nan, pd.NA, pd.NaT, True, np.bool_(False)),
    *(dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 3, 4, 5, 6), dt.datetime(2020, 1, 2, tzinfo=dt.UTC)),
    *(np.datetime64("2020-01-02"), np.datetime64("2020-01-02T03:04:05.123456789"), np.datetime64("NaT")),
    *(pd.Timestamp("2020-01-02", tz="Europe/Berlin"), dt.timedelta(hours=5), np.timedelta64(3, "ns"), dt.time(1, 2)),
    *([1], (1, 2), {"a": 1}, np.array([1.0]), object()),
]


def cells(table: Any, unseen: Any) -> str:
    try:
        return repr(SCHEMA.match(table, unseen=unseen).block(0, 1)[0].tolist())
    except SapwoodError as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("unseen", ["missing", "error"])
@pytest.mark.parametrize("name", list(ROWS))
def test_every_value_becomes_the_cell_that_a_frame_has(name: str, unseen: str) -> None:
    for value in VALUES:
        row = {**{column: ROWS[column].iloc[0] for column in ROWS}, name: value}
        ours, theirs = one_row_source(row, SCHEMA), as_one_row(row, SCHEMA)[0]
        assert isinstance(theirs, pd.DataFrame)
        assert cells(ours, unseen) == cells(theirs, unseen), repr(value)


def test_an_absent_key_is_named() -> None:
    with pytest.raises(SapwoodError, match="has no value for"):
        one_row_source({"number": 1.0}, SCHEMA)

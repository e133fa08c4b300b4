"""Rows taken from a table look as if the others had never existed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapwood.errors import InputError
from sapwood.table import UNSEEN, Table

FRAME = pd.DataFrame(
    {
        "n": [1.0, np.nan, 3.0, -4.0, 9.0],
        "b": [True, False, True, True, False],
        "c": ["x", "y", None, "z", "y"],
        "t": pd.to_datetime(["2020-01-01", None, "2021-01-01", "1999-01-01", "2030-01-01"]),
    }
)


@given(st.lists(st.integers(0, 4), min_size=1))
def test_take_equals_reading_the_rows_alone(rows):
    part = FRAME.iloc[rows]
    taken, alone = Table.from_any(FRAME).take(np.array(rows)), Table.from_any(part)
    assert taken.schema == alone.schema
    for j in range(4):
        np.testing.assert_array_equal(taken.values(j), alone.values(j))


def test_matrix_and_mask():
    X = np.array([[1.0, np.nan], [2, 3], [5, 4]], dtype=np.float32)
    mask = np.array([False, True, True])
    taken = Table.from_any(X).take(mask)
    np.testing.assert_array_equal(taken.block(0, 2), X[mask])
    assert taken.dtype == np.float32
    assert taken.schema == Table.from_any(X[mask]).schema
    assert taken.n_rows == 2
    assert taken.n_features == 2


def test_unseen_levels_stay_unseen():
    schema = Table.from_any(FRAME).schema
    taken = schema.match(FRAME.assign(c=["?", "y", None, "z", "x"])).take([0, 3])
    assert taken.schema.columns[2].levels == ("z",)
    assert taken.values(2).tolist() == [UNSEEN, 0]


@pytest.mark.parametrize("rows", [[], np.zeros(5, bool), np.ones(4, bool)])
def test_impossible_rows(rows):
    with pytest.raises(InputError):
        Table.from_any(FRAME).take(rows)

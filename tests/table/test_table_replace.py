import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sapwood.table import Table

NUMBERS = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, np.nan], [0.0, 0.0, 8.0]])


@pytest.mark.parametrize("absent", ["zero", "missing"])
@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.csc_matrix, np.float32, pd.DataFrame])
@pytest.mark.parametrize("places", [[0], [1], [2], [0, 2], [2, 1, 0]])
def test_some_columns_are_replaced_and_the_others_stay(absent, make, places):
    table = Table.from_any(make(NUMBERS), sparse_absent=absent)
    before = table.block(0, 3).copy()
    new = {j: np.array([0.0, np.nan, 7.1 + j]) for j in places}
    expected = before.astype(np.float64)
    for j, values in new.items():
        expected[:, j] = values
    np.testing.assert_array_equal(table.replace(new).block(0, 3), expected)
    np.testing.assert_array_equal(table.block(0, 3), before)


def test_categories_are_replaced_by_codes():
    table = Table.from_any(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}))
    changed = table.replace({1: np.array([1, -1], dtype=np.int32)})
    np.testing.assert_array_equal(changed.block(0, 2), [[1.0, 1.0], [2.0, np.nan]])
    assert changed.schema is table.schema


def test_nothing_replaced():
    for make in (np.array, sparse.csr_array, pd.DataFrame):
        table = Table.from_any(make(NUMBERS))
        np.testing.assert_array_equal(table.replace({}).block(0, 3), table.block(0, 3))

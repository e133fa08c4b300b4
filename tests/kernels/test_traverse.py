"""Descent in compiled batches against the specification: one row, one node at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from descent_cases import Rows, rows_for, slow_leaves, trees
from sapwood.kernels.traverse import BATCH, STEPS
from sapwood.predictor import Predictor
from strategies import examples


@examples
@given(st.data(), st.booleans(), st.booleans())
def test_every_row_reaches_the_leaf_of_the_specification(data: Any, categories: bool, stop_at_unseen: bool) -> None:
    tree = data.draw(trees(categories))
    X = data.draw(rows_for(tree))
    leaves = Predictor(tree).leaves(Rows(X), stop_at_unseen=stop_at_unseen)
    assert leaves.dtype == np.int32
    assert leaves.tolist() == slow_leaves(tree, X, stop_at_unseen)


@examples
@given(st.data(), st.booleans(), st.integers(1, 3 * int(BATCH)))
def test_a_leaf_does_not_depend_on_the_rows_around(data: Any, categories: bool, n_rows: int) -> None:
    tree = data.draw(trees(categories))
    assume(tree.node_count > 1)
    few = data.draw(rows_for(tree))
    picks = np.arange(n_rows) * 7 % len(few)
    predictor = Predictor(tree)
    assert (predictor.leaves(Rows(few[picks])) == predictor.leaves(Rows(few))[picks]).all()


@examples
@given(st.data(), st.booleans())
def test_float32_cells_reach_the_same_leaves_as_float64(data: Any, categories: bool) -> None:
    tree = data.draw(trees(categories))
    X = data.draw(rows_for(tree))
    with np.errstate(over="ignore", under="ignore"):
        X = X.astype(np.float32)
    predictor = Predictor(tree)
    assert (predictor.leaves(Rows(X)) == predictor.leaves(Rows(X.astype(np.float64)))).all()


@pytest.mark.parametrize(("real", "size"), [(np.float32, 16), (np.float64, 24)])
def test_steps_stay_small(real: type, size: int) -> None:
    assert STEPS[np.dtype(real)].itemsize == size

"""Laws of prediction, for every kind of model: a row gets the same bits in any company and in any container."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from law_cases import examples, outputs, recounted
from model_cases import KINDS, fitted, frame
from sapwood.predictor import Predictor

pytestmark = [
    pytest.mark.timeout(1200),  # the first example of a kind waits for the compiler
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # conversions between the frame libraries
]

CORNERS = [-np.inf, -1.7e308, -1e-310, -0.0, 0.0, 5e-324, 1e-300, 18.5, 50.0, 1.7e308, np.inf, np.nan]
CONTAINERS = {
    "pandas": lambda rows: rows,
    "polars": pl.from_pandas,
    "pyarrow": lambda rows: pa.Table.from_pandas(rows, preserve_index=False),
    "objects": lambda rows: rows.astype(object).to_numpy(),
    "lists": lambda rows: rows.astype(object).to_numpy().tolist(),
    "other order": lambda rows: rows[rows.columns[::-1]],
}


@st.composite
def strange_rows(draw: st.DrawFn) -> pd.DataFrame:
    """Rows like those of training, with numbers at the ends of the line, holes and levels nobody has seen."""
    n = draw(st.sampled_from([1, 2, 63, 65, 130]))
    rows = frame(n, draw(st.integers(0, 1000)))
    ages = st.lists(st.sampled_from(CORNERS), min_size=n, max_size=n)
    if draw(st.booleans()):
        rows["age"] = np.array(draw(ages))
        rows["income"] = np.array(draw(ages))
    if draw(st.booleans()):
        colours = st.sampled_from(["red", "green", "blue", "mauve", "", None])
        rows["colour"] = pd.Series(draw(st.lists(colours, min_size=n, max_size=n)), dtype=object)
    return rows


def assert_same(first: list[np.ndarray], second: list[np.ndarray]) -> None:
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.filterwarnings("ignore::sapwood.errors.DataDriftWarning")
@pytest.mark.parametrize("kind", KINDS)
@examples
@given(strange_rows(), st.sampled_from(sorted(CONTAINERS)), st.sampled_from([1, 2, 5]), st.integers(1, 70))
def test_neither_batch_nor_container_nor_threads_matter(
    kind: str, rows: pd.DataFrame, container: str, n_jobs: int, size: int
) -> None:
    model = fitted(kind)
    alone = outputs(model, rows)
    held = CONTAINERS[container](rows)
    before, model.n_jobs = model.n_jobs, n_jobs
    try:
        assert_same(outputs(model, held), alone)
        assert_same(outputs(model, rows.iloc[:size]), [said[:size] for said in alone])
    finally:
        model.n_jobs = before
    last = rows.iloc[-1].to_dict()
    np.testing.assert_array_equal(model.predict_one(last), alone[0][-1])


@pytest.mark.parametrize("kind", KINDS)
@examples
@given(data=st.data())
def test_training_rows_reach_the_leaves_they_trained(kind: str, data: st.DataObject) -> None:
    """A node's training rows are as many as prediction finds there, in every tree and for every bag."""
    model, rows = fitted(kind), frame()
    t = data.draw(st.integers(0, len(model.model_.trees) - 1))
    tree = model.model_.trees.term(t).tree
    bags = getattr(model, "estimators_samples_", None)
    used = np.arange(len(rows)) if bags is None else np.unique(bags[t])
    leaves = Predictor(tree).leaves(model.model_.match(rows.iloc[used]))
    np.testing.assert_array_equal(recounted(tree, leaves), tree.n_node_samples)

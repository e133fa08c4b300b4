"""Predictions of a source are those of its rows in memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from source_cases import Chunks, cut

import sapwood as sw
from sapwood.errors import DataFileError, InputError, InputTypeError, SchemaError


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(300, 3)), columns=list("abc"))
    frame["d"] = pd.Series(random.choice(["x", "y", "z"], 300), dtype=object)
    return frame


@pytest.fixture(scope="module")
def target(frame):
    return np.where(frame["a"] + (frame["d"] == "x") > 0.5, "hot", "cold")


@pytest.mark.parametrize("make", [lambda: sw.DecisionTreeClassifier(max_depth=4), lambda: sw.RandomForestClassifier(5)])
def test_every_source_is_predicted_as_its_rows_are(frame, target, make, tmp_path):
    model = make().fit(frame, target)
    path = tmp_path / "new.parquet"
    frame.assign(unused=1).iloc[:, ::-1].to_parquet(path)
    for X in (path, str(tmp_path / "*.parquet"), [path], pl.scan_parquet(path), cut(frame, [7, 250]), [frame]):
        np.testing.assert_array_equal(model.predict(X), model.predict(frame))
        np.testing.assert_array_equal(model.predict_proba(X), model.predict_proba(frame))
    np.testing.assert_array_equal(model.model_.predict(path), model.predict(frame))


def test_numbers_and_boosting(frame, tmp_path):
    model = sw.NewtonBoostingRegressor(n_estimators=3).fit(frame, frame["a"])
    chunks = cut(frame, [1, 2, 200])
    np.testing.assert_array_equal(model.predict(chunks), model.predict(frame))
    np.testing.assert_array_equal(model.predict(chunks, output_margin=True), model.predict(frame, output_margin=True))
    arrays = Chunks(frame[["a", "b"]].to_numpy(), frame[["a", "b"]].to_numpy())
    tree = sw.DecisionTreeRegressor(max_depth=3).fit(frame[["a", "b"]].to_numpy(), frame["a"])
    assert tree.predict(arrays).tolist() == tree.predict(frame[["a", "b"]].to_numpy()).tolist() * 2


def test_sources_that_cannot_be_predicted(frame, target, tmp_path):
    model = sw.DecisionTreeClassifier(max_depth=2).fit(frame, target)
    frame.drop(columns="b").to_parquet(tmp_path / "x.parquet")
    with pytest.raises(SchemaError, match=r"lacks 1 of the 4 columns.*'b'"):
        model.predict(tmp_path / "x.parquet")
    with pytest.raises(DataFileError, match="There is no file"):
        model.predict("none.parquet")
    with pytest.raises(InputError, match="has no rows"):
        model.predict(Chunks())
    with pytest.raises(InputTypeError, match="only once"):
        model.predict(iter([frame]))
    with pytest.raises(InputTypeError, match="Batch 0 is a int"):
        model.predict(range(3))

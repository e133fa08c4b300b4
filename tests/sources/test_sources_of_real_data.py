"""Real files, batch by batch, against the same files in memory. SAPWOOD_DATA names a folder with them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from source_cases import assert_as_in_memory, assert_same_statistics, cut

from sapwood.codes.binned import bin_table, find_bins
from sapwood.data_warnings import quiet
from sapwood.sources import source
from sapwood.sources.encode import encode
from sapwood.sources.open import open_source
from sapwood.sources.survey import survey
from sapwood.table.statistics import with_statistics
from sapwood.table.table import Table

FOLDER = os.environ.get("SAPWOOD_DATA")
pytestmark = pytest.mark.skipif(not FOLDER, reason="the environment variable SAPWOOD_DATA names no folder of data sets")
NAMES = ["adult", "hflights", "telco_churn", "freMTPL2freq", "compas", "skin", "sms_spam", "titanic", "arrhythmia"]


@pytest.mark.parametrize("name", os.environ.get("SAPWOOD_SETS", ",".join(NAMES)).split(","))
@quiet()
def test_a_file_is_coded_as_in_memory(name, tmp_path, monkeypatch):
    path = Path(str(FOLDER)) / f"{name}.parquet"
    monkeypatch.setattr(source, "BATCH", 7001)
    whole = pq.read_table(path)
    table = Table.from_any(whole)
    found = survey(open_source(path))
    assert_as_in_memory(found, table)
    file = encode(found, tmp_path / "x.codes", block_rows=10_000, max_bins=63)
    coded = bin_table(table, find_bins(table, 63))
    for block in file:
        np.testing.assert_array_equal(block.table.columns, coded.columns[:, block.start :][:, : block.n_rows])
        np.testing.assert_array_equal(block.table.levels, coded.levels[:, block.start :][:, : block.n_rows])
    if table.n_rows <= 200_000 or name == "hflights":  # of more rows, many of which are equal, others are taken
        assert_same_statistics(file.schema, with_statistics(table))
    frame = whole.to_pandas()
    ends = np.random.default_rng(0).integers(0, len(frame), 5).tolist()
    assert_as_in_memory(survey(open_source(cut(frame, ends))), Table.from_any(frame))

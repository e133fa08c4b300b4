"""Code files hold the codes that the whole table in memory gets, whatever the batches and blocks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from source_cases import OTHERS, assert_same_bins, assert_same_statistics, cut, messy_frame

from sapwood.codes import binned
from sapwood.codes.binned import BinnedTable, bin_table, find_bins
from sapwood.codes.code_file import CodeBlock, CodeFile
from sapwood.errors import DataFileError, ParameterError
from sapwood.sources import encode as encode_module
from sapwood.sources.encode import bytes_needed, encode, read_tables
from sapwood.sources.open import open_source
from sapwood.sources.rows import Roles
from sapwood.sources.survey import survey
from sapwood.table.digest import digest_table
from sapwood.table.queries import read_queries
from sapwood.table.statistics import with_statistics
from sapwood.table.table import Table

pytestmark = pytest.mark.filterwarnings("ignore::sapwood.errors.IdentifierWarning")


def decoded(block: CodeBlock) -> np.ndarray:
    """Codes by column, from those by row."""
    bundles, found = block.table.bundles, []
    for j in range(block.table.n_features):
        codes = block.table.rows[:, bundles.bundle_of[j]]
        found.append(codes if bundles.meaning_of[j] < 0 else bundles.meanings[bundles.meaning_of[j]][codes])
    return np.array(found)


def assert_same_table(found: BinnedTable, expected: BinnedTable) -> None:
    for name in ("columns", "rows", "levels"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    for name in ("sizes", "bundle_of", "meaning_of", "meanings"):
        np.testing.assert_array_equal(getattr(found.bundles, name), getattr(expected.bundles, name))


def assert_codes(file: CodeFile, table: Table, max_bins: int = 255) -> None:
    """All blocks hold the codes of the whole table."""
    whole = bin_table(table, find_bins(table, max_bins))
    assert file.schema == table.schema
    assert_same_bins(file.bins, whole.bins)
    assert_same_table(file.table(), whole)
    assert file.starts()[-1] == file.n_rows == table.n_rows
    for block in file:
        rows = slice(block.start, block.start + block.n_rows)
        np.testing.assert_array_equal(block.table.columns, whole.columns[:, rows])
        np.testing.assert_array_equal(block.table.levels, whole.levels[:, rows])
        np.testing.assert_array_equal(decoded(block), block.table.columns)
        assert block.table.rows.ctypes.data % 64 == 0


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_batches_and_blocks_give_the_codes_of_the_whole(tmp_path_factory, data):
    n = data.draw(st.integers(1, 300))
    frame = messy_frame(n, data.draw(st.integers(0, 99)))
    frame.loc[0, "weight"] = 1
    ends = data.draw(st.lists(st.integers(0, n), max_size=5))
    block_rows, max_bins = data.draw(st.sampled_from([1, 7, 100_000])), data.draw(st.sampled_from([4, 255]))
    roles = Roles(target="kind", weight="weight", query="query", drop=("price",))
    found = survey(open_source(cut(frame, ends)), roles)
    path = tmp_path_factory.mktemp("codes") / "x.codes"
    file = encode(found, path, block_rows=block_rows, max_bins=max_bins, notes={"a": 1})
    used = np.flatnonzero(frame["weight"])
    table = Table.from_any(frame.drop(columns=OTHERS)).take(used)
    assert_codes(file, table, max_bins)
    assert_same_statistics(file.schema, with_statistics(table))
    classes, codes = np.unique(frame["kind"][used].to_numpy().astype(object), return_inverse=True)
    assert file.contents.classes.tolist() == classes.tolist()
    assert file.contents.counts.tolist() == np.bincount(codes).tolist()
    assert file.others("y").tolist() == codes.tolist()
    assert file.others("weight").tolist() == frame["weight"][used].tolist()
    queries = np.unique(frame["query"][used], return_counts=True)[1]
    assert read_queries(None, file.others("query"), len(used)).tolist() == queries.tolist()
    assert file.contents.digests == {**found.digests, "table": digest_table(table)}
    assert (file.contents.notes, file.contents.n_given, file.block_rows) == ({"a": 1}, n, min(block_rows, len(used)))
    assert file.contents.roles == {"target": "kind", "weight": "weight", "query": "query"}
    file.verify()


@pytest.mark.parametrize("rows_per_value", [1, 40, 5000])
def test_statistics_are_those_of_the_table_where_rows_are_equal(tmp_path, rows_per_value):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"a": random.normal(size=9000), "b": random.choice(["x", "y"], 9000), "c": np.nan})
    frame.loc[4321, "c"] = 7.0  # the sample has hardly a value of it
    frame = frame.iloc[np.arange(9000) // rows_per_value]
    file = encode(survey(open_source(cut(frame, [2000, 2001]))), tmp_path / "x.codes")
    assert_same_statistics(file.schema, with_statistics(Table.from_any(frame)))


def test_statistics_of_more_equal_rows_than_the_sample_has(tmp_path, monkeypatch):
    monkeypatch.setattr(binned, "SAMPLE", 6000)
    frame = pd.DataFrame({"a": np.repeat([1.0, 2.0, 3.0, np.nan], 3000), "b": ["x", "y"] * 6000})
    column, text = encode(survey(open_source(cut(frame, [50]))), tmp_path / "x.codes").schema.columns
    assert column.statistics.n_missing == 3000
    assert text.statistics.counts.tolist() == [6000, 6000]
    assert column.statistics.quantiles.tolist() == [1, 1, 1, 1, 1, 2, 3, 3, 3, 3, 3]


def test_flags_share_bytes_and_numbers_are_kept(tmp_path):
    random = np.random.default_rng(0)
    which = random.integers(0, 30, 9000)
    frame = pd.DataFrame({f"flag{k}": (which == k).astype(np.float32) for k in range(30)})
    frame["y"] = random.normal(size=9000)
    file = encode(survey(open_source(cut(frame, [100])), Roles(target="y")), tmp_path / "x.codes", block_rows=5000)
    assert file.block(0).table.is_bundled
    assert_codes(file, Table.from_any(frame.drop(columns="y")))
    np.testing.assert_array_equal(file.others("y"), frame["y"])
    assert file.contents.classes is None


def test_a_level_that_only_the_last_block_has(tmp_path):
    frame = pd.DataFrame({"x": ["b"] * 99 + ["a"], "y": range(100)})
    file = encode(survey(open_source(cut(frame, [50]))), tmp_path / "x.codes", block_rows=30)
    assert_codes(file, Table.from_any(frame))


@pytest.mark.parametrize(
    "labels",
    [
        [3, 1],
        ["b", "a"],
        [True, False],
        np.array(["2024-01-02", "2024-01-01"], dtype="M8[s]"),
        [2**40, -1],
    ],
)
def test_classes_of_every_type_come_back(tmp_path, labels):
    frame = pd.DataFrame({"x": range(10), "y": pd.Series(list(labels) * 5)})
    found = survey(open_source(cut(frame, [3])), Roles(target="y"), task="classes")
    file = encode(found, tmp_path / "x.codes")
    assert file.contents.classes.dtype == found.target.classes.dtype
    np.testing.assert_array_equal(file.contents.classes, found.target.classes)
    np.testing.assert_array_equal(file.others("y"), [1, 0] * 5)


def test_changes_of_a_block_stay_in_memory(tmp_path):
    frame = messy_frame(500)
    path = tmp_path / "x.codes"
    file = encode(survey(open_source([frame])), path, block_rows=200)
    before, block = path.read_bytes(), file.block(1)
    own = block.table.columns.copy()
    block.table.columns[:] = 7
    block.release()
    np.testing.assert_array_equal(block.table.columns, own)
    file.read_ahead(2)
    file.read_ahead(3)  # there is none
    assert path.read_bytes() == before


def test_new_rows_are_matched_batch_by_batch():
    frame = messy_frame(300)
    found = survey(open_source([frame.iloc[:200]]), Roles(target="price", drop=("kind", "weight", "query")))
    parts = list(read_tables(open_source(cut(frame, [250])), found.roles, found.schema))
    assert [table.n_rows for _, table in parts] == [250, 50]
    assert np.concatenate([part.y for part, _ in parts]).tolist() == frame["price"].tolist()


class Changing:
    """A source whose rows change after two readings, the second of which is the first pass."""

    def __init__(self, *frames: pd.DataFrame) -> None:
        self.frames, self.times = frames, 0

    def __iter__(self):
        self.times += 1
        yield self.frames[int(self.times > 3)]  # opened, counted, surveyed


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [("number", 0.125, "X differs"), ("text", "new", "not those of the first pass"), ("price", 9.0, "y differs")],
)
def test_other_rows_in_the_second_pass_are_refused_and_nothing_is_left(tmp_path, column, value, said):
    frame = messy_frame(50)
    other = frame.copy()
    other.loc[40, column] = value
    roles = Roles(target="price", drop=("kind", "weight", "query"))
    found = survey(open_source(Changing(frame, other)), roles)
    with pytest.raises(DataFileError, match=said):
        encode(found, tmp_path / "x.codes", block_rows=10)
    assert list(tmp_path.iterdir()) == []
    fewer = survey(open_source(Changing(frame, frame.iloc[:49])), roles)
    with pytest.raises(DataFileError, match="49 rows, but 50 before"):
        encode(fewer, tmp_path / "x.codes")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    found = survey(open_source([messy_frame(500)]))
    path = tmp_path / "x.codes"
    path.write_text("old")
    monkeypatch.setattr(encode_module.shutil, "disk_usage", lambda _: type("Free", (), {"free": 1000}))
    with pytest.raises(DataFileError, match=r"needs .* GB, but 1e-06 GB are free"):
        encode(found, path)
    monkeypatch.undo()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sapwood.codes.code_file.CodeFileWriter.finish", full)
    with pytest.raises(DataFileError, match="cannot be written: No space left on device"):
        encode(found, path, block_rows=100)
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["x.codes"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_the_space_that_is_asked_for_is_that_of_the_file(tmp_path):
    found = survey(open_source([messy_frame(5000)]), Roles(target="price", weight="weight"))
    size = encode(found, tmp_path / "x.codes").n_bytes
    assert 0.95 * size < bytes_needed(found) + 100_000 < size + 200_000


def test_parameters_that_a_code_file_cannot_have(tmp_path):
    found = survey(open_source([messy_frame(10)]))
    with pytest.raises(ParameterError, match="max_bins=256"):
        encode(found, tmp_path / "x.codes", max_bins=256)
    with pytest.raises(ParameterError, match="block_rows=0"):
        encode(found, tmp_path / "x.codes", block_rows=0)
    with pytest.raises(DataFileError, match="no folder"):
        encode(found, tmp_path / "none" / "x.codes")


def test_queries_of_which_a_batch_has_no_rows_to_use(tmp_path):
    frame = messy_frame(60)
    frame["query"], frame["weight"] = frame.index // 10, (frame.index // 10 != 2) * 1.0  # the third batch weighs zero
    found = survey(
        open_source(cut(frame, [20, 30])), Roles(target="price", weight="weight", query="query", drop=("kind",))
    )
    file = encode(found, tmp_path / "x.codes")
    assert np.unique(file.others("query"), return_counts=True)[1].tolist() == [10] * 5


def test_progress_is_shown(tmp_path, capsys):
    source = open_source(cut(messy_frame(100), range(10, 100, 10)))
    encode(survey(source, verbose=1), tmp_path / "x.codes", verbose=1)
    assert capsys.readouterr().err.count("100/100") == 2

"""Every kind of source gives the same rows; what is none is refused, and files that are damaged or change, too."""

from __future__ import annotations

import gzip
import os
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as pa_feather
import pyarrow.parquet as pq
import pytest
from source_cases import Chunks, assert_as_in_memory, cut

from sapwood.errors import DataFileError, InputError, InputTypeError, MissingExtraError
from sapwood.sources import csv_file, source
from sapwood.sources.csv_format import CsvFormat
from sapwood.sources.encode import encode
from sapwood.sources.open import is_source, open_source
from sapwood.sources.read_ahead import read_ahead
from sapwood.sources.rows import Roles
from sapwood.sources.survey import survey
from sapwood.table.table import Table

ROLES = Roles(target="y")


@pytest.fixture
def frame():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": random.normal(size=500), "b": random.integers(0, 9, 500), "y": random.integers(0, 2, 500)}
    )
    frame["c"] = pd.Series(random.choice(["u", "v", None], 500), dtype=object)
    frame.loc[::5, "a"] = None
    return frame


@pytest.fixture
def folder(frame, tmp_path, monkeypatch):
    """Three Parquet files of some row groups each, read in small batches."""
    monkeypatch.setattr(source, "BATCH", 64)
    for k, (start, stop) in enumerate([(0, 200), (200, 201), (201, 500)]):
        frame.iloc[start:stop].to_parquet(tmp_path / f"part-{k}.parquet", row_group_size=100)
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "notes.md").touch()
    return tmp_path


def digests(X: object) -> dict[str, str]:
    return dict(survey(open_source(X), ROLES).digests)


def test_all_sources_of_the_same_rows_are_equal(frame, folder, tmp_path):
    whole = pa.Table.from_pandas(frame)
    paths = sorted(folder.glob("*.parquet"))
    found = survey(open_source(folder), ROLES)
    assert_as_in_memory(found, Table.from_any(frame.drop(columns="y")))
    expected = dict(found.digests)
    pa_feather.write_feather(whole, tmp_path / "x.feather", chunksize=90)
    with pa.OSFile(str(tmp_path / "x.arrows"), "wb") as file, pa.ipc.new_stream(file, whole.schema) as stream:
        stream.write_table(whole, 70)
    frame.to_csv(tmp_path / "x.csv", index=False)
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress((tmp_path / "x.csv").read_bytes()))
    files = [tmp_path / name for name in ("x.feather", "x.arrows", "x.csv", "x.csv.gz")]
    lazy = pl.scan_parquet(paths)
    for X in [str(folder / "*.parquet"), list(map(str, paths)), lazy, cut(frame, [3, 77]), *files]:
        assert digests(X) == expected
    assert digests(paths[::-1]) != expected


def test_relations_need_an_order(frame):
    duckdb = pytest.importorskip("duckdb")
    rows = frame.assign(row=range(500))
    with duckdb.connect() as connection:
        connection.register("t", rows)
        roles = Roles(target="y", drop=("row",))
        expected = dict(survey(open_source(cut(frame, [])), ROLES).digests)
        for relation in (connection.table("t").order("row"), connection.sql("select * from t order by row")):
            assert survey(open_source(relation), roles).digests == expected
        for relation in (connection.table("t"), connection.sql("select * from (select * from t order by row)")):
            with pytest.raises(InputError, match=r"without an order.*relation\.order"):
                open_source(relation)


def test_batches_know_where_they_are(folder):
    batches = list(open_source(folder).batches(["b"]))
    assert [batch.first for batch in batches] == np.cumsum([0, *(batch.n_rows for batch in batches)])[:-1].tolist()
    names = [Path(batch.name).name for batch in batches]
    assert [batch.first_in_file for batch in batches if batch.name.endswith("2.parquet")][:2] == [0, 64]
    assert names == sorted(names)
    assert batches[0].frame.column_names == ["b"]
    assert batches[-1].share == 1.0
    assert batches[4].place(3) == f"in row 3 of {batches[4].name!r}"


def test_a_missing_target_is_named_with_file_and_row(folder, frame):
    late = frame.iloc[201:].astype({"y": "Int64"})
    late.iloc[257, 2] = None
    late.to_parquet(folder / "part-2.parquet", row_group_size=10)
    with pytest.raises(InputError, match=r"target 'y' is missing in row 257 of '.*part-2.parquet'"):
        survey(open_source(folder), ROLES)


def test_csv_files_have_the_types_of_one_file(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_file, "_SMALL_BLOCK", 64)
    texts = ["a,b,c\n" + "1,1,\n" * 20, "a,b,c\n" + "2,0,\n" * 20 + "2.5,true,x\n"]
    for k, text in enumerate(texts):
        (tmp_path / f"{k}.csv").write_text(text)
    (tmp_path / "all").mkdir()
    whole = tmp_path / "all" / "x.csv"
    whole.write_text(texts[0] + texts[1][6:])
    source = open_source([tmp_path / "0.csv", tmp_path / "1.csv"])
    assert source.n_rows == 41
    one = pa.concat_tables([batch.frame for batch in open_source(whole).batches()])
    assert pa.concat_tables([batch.frame for batch in source.batches()]).equals(one)
    assert [str(kind) for kind in one.schema.types] == ["double", "bool", "string"]


def test_a_csv_file_that_is_damaged_is_named(tmp_path):
    (tmp_path / "0.csv").write_text("a,y\n1,2\n")
    (tmp_path / "1.csv").write_text("a,y\n1,2\n3,4,5\n")
    with pytest.raises(DataFileError, match=r"1.csv' cannot be read: .*Expected 2 columns, got 3"):
        survey(open_source(tmp_path), ROLES)


def test_format_of_csv_files(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("größe;y\n1,5;1\n2,5;0\n".encode("cp1252"))
    with pytest.raises(DataFileError, match=r"CsvFormat\(encoding=…\)"):
        survey(open_source(path), ROLES)
    found = survey(open_source(path, CsvFormat(encoding="cp1252")), ROLES)
    assert (found.schema.names, found.schema.columns[0].high) == (("größe",), 2.5)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: f.drop(columns="b"), r"part-1.parquet' has other columns than 'part-0.parquet': it lacks \['b'\]"),
        (lambda f: f.assign(z=1), r"it also has \['z'\]"),
        (lambda f: f.assign(a="text"), "Column 'a' holds text in '.*part-1.parquet', but numbers in '.*part-0"),
        (lambda f: f.assign(y=None), "'y' is missing in row 0 of '.*part-1.parquet'"),
        (lambda f: f.assign(y=np.inf), "'y' is inf in row 0 of '.*part-1.parquet'"),
    ],
)
def test_files_that_differ(folder, frame, change, said):
    change(frame.iloc[:3]).to_parquet(folder / "part-1.parquet")
    with pytest.raises((DataFileError, InputError), match=said):
        survey(open_source(folder), ROLES)


def test_truncated_files(folder, tmp_path):
    path = folder / "part-2.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DataFileError, match=r"part-2.parquet' cannot be read"):
        open_source(folder)
    arrow = tmp_path / "x.arrow"
    arrow.write_bytes(b"ARROW1 and nothing else")
    with pytest.raises(DataFileError, match="cannot be read"):
        open_source(arrow)


@pytest.mark.parametrize("how", ["touched", "removed", "other"])
def test_files_that_change_between_the_passes(folder, tmp_path_factory, how):
    found, out = survey(open_source(folder), ROLES), tmp_path_factory.mktemp("out")
    path = folder / "part-1.parquet"
    if how == "touched":
        os.utime(path, ns=(0, 0))
    elif how == "removed":
        path.unlink()
    else:
        path.write_bytes((folder / "part-0.parquet").read_bytes())
    said = "was removed" if how == "removed" else "was changed"
    with pytest.raises(DataFileError, match=f"part-1.parquet' {said} while it was in use"):
        encode(found, out / "x.codes")
    assert list(out.iterdir()) == []
    assert threading.active_count() < 10


def test_what_is_no_source(tmp_path, frame):
    with pytest.raises(InputTypeError, match="can be read only once"):
        open_source(iter([frame]))
    with pytest.raises(InputTypeError, match=r"numpy|ndarray.*is no source"):
        open_source(np.zeros((3, 2)))
    (tmp_path / "x.docx").touch()
    with pytest.raises(DataFileError, match=r"unknown extension '.docx'"):
        open_source(tmp_path / "x.docx")
    with pytest.raises(DataFileError, match="a folder without Parquet, CSV or Arrow files"):
        open_source(tmp_path)
    with pytest.raises(DataFileError, match="No file matches"):
        open_source(str(tmp_path / "*.csv"))
    with pytest.raises(DataFileError, match=r"Did you mean 'x.docx'"):
        open_source(tmp_path / "x.docz")
    with pytest.raises(InputTypeError, match="cannot be read batch by batch"):
        open_source(pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=2))
    for name in ("a.csv", "b.parquet"):
        frame.to_csv(tmp_path / name) if name.endswith("csv") else frame.to_parquet(tmp_path / name)
    with pytest.raises(DataFileError, match=r"files of several kinds: .csv, .parquet"):
        open_source(tmp_path)


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "x.feather"])
def test_files_without_rows(tmp_path, frame, name):
    path = tmp_path / name
    none = pa.Table.from_pandas(frame.iloc[:0], preserve_index=False)
    if name == "x.csv":
        frame.iloc[:0].to_csv(path, index=False)
    else:
        pq.write_table(none, path) if name == "x.parquet" else pa_feather.write_feather(none, path)
    with pytest.raises(InputError, match="has no rows"):
        survey(open_source(path), ROLES)
    with pytest.raises(InputError, match="has no rows"):
        open_source(Chunks(frame.iloc[:0]))


def test_files_need_pyarrow(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match="pip install pyarrow"):
        open_source(folder)


def test_which_objects_are_sources(frame):
    sources = [
        "x.csv",
        Path("x"),
        ["a.csv", Path("b.csv")],
        pl.LazyFrame(),
        [frame, frame],
        [(frame, [1])],
        Chunks(frame),
    ]
    tables = [frame, frame.to_numpy(), [[1, 2]], [], pa.Table.from_pandas(frame), {"a": [1]}, [1, 2], None, 5]
    assert all(map(is_source, sources))
    assert not any(map(is_source, tables))


def test_reading_ahead_keeps_order_raises_errors_and_ends():
    assert list(read_ahead(range(50))) == list(range(50))

    def failing():
        yield 1
        raise ValueError("here")

    items = read_ahead(failing())
    assert next(items) == 1
    with pytest.raises(ValueError, match="here"):
        next(items)
    before = threading.active_count()
    endless = read_ahead(iter(int, 1))
    next(endless)
    endless.close()
    assert threading.active_count() == before


def test_a_file_that_is_damaged_in_the_middle_is_named(tmp_path, frame):
    path = tmp_path / "x.parquet"
    pd.concat([frame] * 20).to_parquet(path, row_group_size=1000, index=False)
    damaged = bytearray(path.read_bytes())
    middle = len(damaged) // 2
    damaged[middle : middle + 2000] = bytes(2000)
    path.write_bytes(damaged)
    with pytest.raises(DataFileError, match=r"x.parquet' cannot be read"):
        survey(open_source(path), ROLES)

"""Code files that are damaged, of another kind, or changed while they are in use."""

from __future__ import annotations

import os

import numpy as np
import pytest

from sapwood.codes import code_file, code_file_contents
from sapwood.codes.binned import bin_table, find_bins
from sapwood.codes.code_file import CodeFile, writing_codes
from sapwood.codes.code_file_contents import Contents
from sapwood.errors import DataFileError, InputError
from sapwood.table.statistics import with_statistics
from sapwood.table.table import Table


@pytest.fixture
def written(tmp_path):
    """A file of two blocks."""
    X = np.random.default_rng(0).normal(size=(300, 3))
    X[::7, 1] = np.nan
    X[5, 2] = np.inf
    table = Table.from_any(X)
    bins = find_bins(table, 16)
    whole = bin_table(table, bins)
    path = tmp_path / "x.codes"
    with writing_codes(path) as writer:
        writer.add(whole.part(0, 200), {"y": np.arange(200.0), "weight": None})
        writer.add(whole.part(200, 300), {"y": np.arange(200.0, 300.0), "weight": None})
        writer.finish(Contents(with_statistics(table), bins, 16, 300, {"X": "0"}, {"target": "y"}))
    return path


def test_what_is_written_is_read(written):
    file = CodeFile.open(written)
    assert (file.n_rows, file.n_blocks, file.block_rows, file.starts()) == (300, 2, 200, [0, 200, 300])
    np.testing.assert_array_equal(file.others("y"), np.arange(300.0))
    assert file.others("weight") is None
    assert file.schema.has_statistics
    assert [block.start for block in file] == [0, 200]
    assert file.n_bytes == written.stat().st_size


@pytest.mark.parametrize("kept", [0, 5, 50, 5000, -1])
def test_a_truncated_file_is_refused(written, kept):
    written.write_bytes(written.read_bytes()[:kept])
    with pytest.raises(DataFileError, match=r"damaged|not a code file"):
        CodeFile.open(written)


def test_every_changed_byte_of_the_contents_is_noticed(written):
    whole = written.read_bytes()
    contents = len(whole) - 32 - int.from_bytes(whole[-24:-16], "little")
    for at in range(contents, len(whole), 97):
        written.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        if not len(whole) - 12 <= at < len(whole) - 8:  # four bytes of padding
            with pytest.raises(DataFileError, match="damaged"):
                CodeFile.open(written)


def test_a_changed_block_is_found_by_verify(written):
    whole = bytearray(written.read_bytes())
    CodeFile.open(written).verify()
    whole[4096 + 100] ^= 1
    written.write_bytes(whole)
    with pytest.raises(DataFileError, match="block 0 has another checksum"):
        CodeFile.open(written).verify()


def test_a_file_that_changes_while_it_is_in_use(written):
    file = CodeFile.open(written)
    os.utime(written, ns=(0, 0))
    with pytest.raises(DataFileError, match="changed while it was in use"):
        file.block(0)
    written.unlink()
    with pytest.raises(DataFileError, match="No such file"):
        file.block(0)


def test_other_files_and_versions(written, tmp_path, monkeypatch):
    other = tmp_path / "other.codes"
    other.write_text("no codes at all" * 10)
    with pytest.raises(DataFileError, match="is not a code file"):
        CodeFile.open(other)
    with pytest.raises(DataFileError, match="No such file"):
        CodeFile.open(tmp_path / "none.codes")
    monkeypatch.setattr(code_file_contents, "VERSION", 2)
    with pytest.raises(DataFileError, match="version 1 of its format"):
        CodeFile.open(written)


def test_blocks_that_do_not_fit_are_refused(written, monkeypatch):
    place = code_file._place

    def longer(found):
        return place(found)._replace(n_rows=10**6)

    monkeypatch.setattr(code_file, "_place", longer)
    with pytest.raises(DataFileError, match="blocks do not fit"):
        CodeFile.open(written)


def test_classes_that_cannot_be_written(tmp_path):
    table = Table.from_any(np.zeros((3, 1)))
    labels = np.array([(1, 2), "x"], dtype=object)
    bins = find_bins(table, 4)

    def write() -> None:
        with writing_codes(tmp_path / "x.codes") as writer:
            writer.add(bin_table(table, bins), {})
            writer.finish(Contents(table.schema, bins, 4, 3, {}, {}, labels))

    with pytest.raises(InputError, match="classes are objects"):
        write()
    assert list(tmp_path.iterdir()) == []

"""Predictions of large files: some rows at a time, with the types and the results of the whole file."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from outcomes import error_line
from tables import read_table, write_table

import sapwood as sw
from sapwood.cli.data_file import open_data
from sapwood.cli.model_file import read_model
from sapwood.sources import csv_file
from sapwood.sources.files import with_durations


def long_lines(n: int) -> str:
    """Types that show themselves late: a is a decimal, b text, c empty, d a time stamp, e a number after all."""
    lines = ["a,b,c,d,e,f,clock"]
    for k in range(n):
        late = k > 0.8 * n
        when = "2024-01-05 12:30:00" if late else f"2024-01-{1 + k % 28:02d}"
        c = str(k) if late else ""
        lines.append(f"{k % 50}{'.5' if late else ''},{'x' if late else k % 7},{c},{when},{k % 2},true,12:3{k % 10}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(csv_file, "_SMALL_BLOCK", 4096)


def test_batches_have_the_types_and_values_of_the_whole(tmp_path, small_blocks):
    path = tmp_path / "late.csv"
    path.write_text(long_lines(3000))
    whole = with_durations(pa_csv.read_csv(path))
    file = open_data(path)
    batches = list(file.batches())
    assert len(batches) > 10
    assert batches[-1].share == 1.0
    shares = [batch.share for batch in batches]
    assert shares == sorted(shares)
    joined = pa.concat_tables(batch.frame for batch in batches)
    assert joined.schema.types == file.read().schema.types == whole.schema.types
    assert joined.equals(file.read().cast(joined.schema))
    some = pa.concat_tables(batch.frame for batch in file.batches(["e", "b"]))
    assert some.column_names == ["b", "e"]
    assert some["b"].equals(joined["b"])


@pytest.fixture
def model(run, tmp_path):
    path = tmp_path / "train.csv"
    lines = long_lines(400).splitlines()
    path.write_text("\n".join([lines[0] + ",y", *(f"{line},{'uv'[k % 50 > 20]}" for k, line in enumerate(lines[1:]))]))
    out = tmp_path / "m.sapwood"
    result = run("train", path, "--target", "y", "--model", "boosting", "--set", "n_estimators=5", "--out", out)
    assert result.exit_code == 0, result.output
    return out


@pytest.mark.filterwarnings("ignore::sapwood.errors.DataDriftWarning")  # of the model in the test
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".csv.gz"])
def test_predictions_are_those_of_the_whole_to_the_byte(run, model, tmp_path, small_blocks, monkeypatch, suffix):
    plain = tmp_path / "new.csv"
    plain.write_text(long_lines(3000))
    whole = read_table(plain, text=["b"])
    path = tmp_path / f"new{suffix}"
    if suffix == ".parquet":
        monkeypatch.setattr("sapwood.sources.source.BATCH", 500)
        pq.write_table(whole, path)
        whole = pq.read_table(path)  # it knows no seconds, but milliseconds
    elif suffix == ".csv.gz":
        import gzip

        path.write_bytes(gzip.compress(plain.read_bytes()))
    outs = [tmp_path / name for name in ("out.csv", "out.parquet", "expected.csv")]
    for out in outs[:2]:
        result = run("predict", "--model", model, "--input", path, "--out", out, "--keep", "a,d")
        assert result.exit_code == 0, result.output
        assert "Predictions of 3000 rows" in result.output
    estimator = read_model(model).estimator
    shares = estimator.predict_proba(whole)
    columns = {"a": whole["a"], "d": whole["d"], "prediction": pa.array(estimator.predict(whole))}
    expected = pa.table(columns | {f"probability_{c}": shares[:, k] for k, c in enumerate(estimator.classes_)})
    write_table(outs[2], expected)
    assert outs[0].read_bytes() == outs[2].read_bytes()
    assert pq.read_table(outs[1]).cast(expected.schema).equals(expected)


def test_an_error_in_the_middle_leaves_the_old_output(run, model, tmp_path, small_blocks):
    new, out = tmp_path / "new.csv", tmp_path / "folder" / "out.csv"
    out.parent.mkdir()
    out.write_text("old")
    new.write_text(long_lines(2000) + "1,2\n")
    assert "Expected 7 columns" in error_line(run("predict", "--model", model, "--input", new, "--out", out))
    new.write_bytes(long_lines(2000).encode() + "1,ä,1,2024-01-01,1,true,12:30\n".encode("latin-1"))
    assert "--encoding" in error_line(run("predict", "--model", model, "--input", new, "--out", out))
    new.write_text(long_lines(0))
    assert "no rows" in error_line(run("predict", "--model", model, "--input", new, "--out", out))
    assert out.read_text() == "old"
    assert list(out.parent.iterdir()) == [out]


def test_pipes_and_folders(model, tmp_path, run):
    plain, folder, out = tmp_path / "new.csv", tmp_path / "parts", tmp_path / "out.csv"
    plain.write_text(long_lines(100))
    assert run("predict", "--model", model, "--input", plain, "--out", out).exit_code == 0
    program = [sys.executable, "-c", "from sapwood.cli.main import main; main()"]
    command = [*program, "predict", "--model", str(model), "--input", "-", "--out", "-"]
    done = subprocess.run(command, input=plain.read_bytes(), capture_output=True, check=True)
    assert done.stdout == out.read_bytes()
    assert b"Predictions of 100 rows" in done.stderr
    folder.mkdir()
    assert "without Parquet, CSV or Arrow files" in error_line(
        run("predict", "--model", model, "--input", folder, "--out", out)
    )
    whole = read_table(plain, text=["b"])
    pq.write_table(whole.slice(0, 40), folder / "a.parquet")
    pq.write_table(whole.slice(40), folder / "b.parquet")
    before = out.read_bytes()
    assert run("predict", "--model", model, "--input", folder, "--out", out).exit_code == 0
    assert out.read_bytes() == before
    assert read_table(folder).cast(whole.schema).equals(whole)
    pq.write_table(whole.drop_columns("a"), folder / "c.parquet")
    assert "other columns" in error_line(run("predict", "--model", model, "--input", folder, "--out", out))


PEAK = """
import resource, sys
from typer.testing import CliRunner
from sapwood.cli.app import app
done = CliRunner().invoke(app, ["predict", "--model", sys.argv[1], "--input", sys.argv[2], "--out", sys.argv[3]])
assert done.exit_code == 0, done.output
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_memory_does_not_grow_with_the_file(tmp_path):
    random = np.random.default_rng(0)
    rows = pa.table({f"x{j}": random.normal(size=20_000) for j in range(5)})
    model = sw.DecisionTreeRegressor(max_depth=3).fit(rows, random.normal(size=20_000))
    sw.save(model, tmp_path / "m.sapwood")
    write_table(tmp_path / "part.csv", rows)
    header, _, part = (tmp_path / "part.csv").read_bytes().partition(b"\n")
    peaks = []
    for times in (12, 120):  # 24 and 240 MB
        path = tmp_path / "new.csv"
        with path.open("wb") as file:
            file.write(header + b"\n")
            file.writelines([part] * times)
        arguments = [str(tmp_path / "m.sapwood"), str(path), str(tmp_path / "out.csv")]
        done = subprocess.run([sys.executable, "-c", PEAK, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        peaks.append(int(done.stdout) / 1024)
    assert peaks[1] - peaks[0] < 300  # MB; all at once it would be several times the file

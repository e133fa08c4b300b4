import os
import subprocess
import sys

import pytest

from sapwood.cli import main as entry
from sapwood.cli.model_kinds import parse_settings
from sapwood.errors import MissingExtraError, ParameterError


def one_red_line(result) -> str:
    assert result.exit_code == 1, result.output
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("Error: ")
    assert "Traceback" not in result.output
    return result.stderr


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", "", "is empty"),
        ("blank.csv", "\n \n", "is empty"),
        ("header.csv", "a,y\n", "has a header but no rows"),
        ("ragged.csv", "a,y\n1,2\n1,2,3\n", "Expected 2 columns, got 3"),
        ("one.csv", "a,y\n1,2\n", "only one usable row"),
        ("constant.csv", "a,y\n1,2\n2,2\n", "has the value 2 in every row"),
        ("alone.csv", "y\n1\n2\n", "No column of"),
        ("nothing.csv", "a,y\n1,\n2,\n", "is missing in every row"),
        ("when.csv", "a,y\n1,2020-01-01\n2,2020-01-02\n", "neither numbers nor classes"),
        ("data.xlsx", "PK", "unknown extension '.xlsx'"),
        ("data.parquet", "not parquet", "cannot be read"),
        ("data", "a,y\n", "the unknown extension ''"),
    ],
)
def test_files_that_cannot_be_used(run, tmp_path, name, content, message):
    file = tmp_path / name
    file.write_text(content)
    assert message in one_red_line(run("train", file, "--target", "y"))


def test_files_in_another_encoding(run, tmp_path):
    file = tmp_path / "data.csv"
    file.write_bytes("a,y\nä,1\nö,2\n".encode("latin-1"))
    assert "not UTF-8" in one_red_line(run("train", file, "--target", "y"))
    file.write_bytes("ä,y\na,1\no,2\n".encode("latin-1"))
    assert "not UTF-8" in one_red_line(run("train", file, "--target", "y"))


def test_no_such_file_names_the_nearest(run, houses):
    message = one_red_line(run("train", houses.with_name("house.csv"), "--target", "y"))
    assert "There is no file" in message
    assert "Did you mean 'houses.csv'?" in message
    empty = houses.with_name("empty")
    empty.mkdir()
    assert "is a folder without" in one_red_line(run("train", empty, "--target", "y"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target", "prize"], "Did you mean 'price'?"),
        (["--target", "price", "--drop", "idd"], "Did you mean 'id'?"),
        (["--target", "price", "--weight", "ww"], "Did you mean 'w'?"),
        (["--target", "price", "--category", "room"], "Did you mean 'rooms'?"),
        (["--target", "price", "--drop", "price"], "also given to"),
        (["--target", "price", "--category", "id", "--drop", "id"], "Give it to one of them"),
        (["--target", "price", "--set", "max_dept=3"], "Did you mean 'max_depth'?"),
        (["--target", "price", "--set", "max_depth=-3"], "max_depth=-3 is not allowed"),
        (["--target", "price", "--set", "max_depth"], "not of the form NAME=VALUE"),
        (["--target", "price", "--set", "=3"], "not of the form NAME=VALUE"),
        (["--target", "price", "--set", "max_depth=3", "--set", "max_depth=4"], "twice"),
        (["--target", "price", "--model", "treee"], "Did you mean 'tree'?"),
        (["--target", "price", "--test-size", "1.5"], "--test-size 1.5"),
        (["--target", "price", "--delimiter", ";;"], "use one character"),
        (["--target", "price", "--picture", "tree.docx"], "unknown extension '.docx'"),
        (["--target", "price", "--task", "classification"], "Unknown label type"),
        (["--target", "price", "--category", "id", "--set", "categorical_features=[0]"], "set the same parameter"),
    ],
)
def test_options_that_cannot_be_used(run, houses, arguments, message):
    assert message in one_red_line(run("train", houses, *arguments))


def test_text_is_neither_target_of_regression_nor_weight(run, flowers):
    assert "needs numbers" in one_red_line(run("train", flowers, "--target", "kind", "--task", "regression"))
    assert "Weights must be numbers" in one_red_line(run("train", flowers, "--target", "kind", "--weight", "colour"))
    assert "contains NaN" in one_red_line(run("train", flowers, "--target", "kind", "--weight", "größe"))


def test_settings_are_literals_or_text():
    texts = [
        "a=1",
        "b = 2.5",
        "c=None",
        "d=true",
        "e=False",
        "f=gini",
        "g=[1, 2]",
        "h={'x': 1}",
        "i=a=b",
        "j='1'",
        "k=1if",
    ]
    assert parse_settings(texts) == {
        "a": 1,
        "b": 2.5,
        "c": None,
        "d": True,
        "e": False,
        "f": "gini",
        "g": [1, 2],
        "h": {"x": 1},
        "i": "a=b",
        "j": "1",
        "k": "1if",
    }
    with pytest.raises(ParameterError, match="not of the form NAME=VALUE"):
        parse_settings(["a="])


@pytest.mark.parametrize("place", ["before", "after", "environment"])
def test_tracebacks_on_demand(run, monkeypatch, place):
    arguments = ["train", "nowhere.csv", "--target", "y"]
    if place == "environment":
        monkeypatch.setenv("SAPWOOD_TRACEBACK", "1")
    else:
        arguments.insert(0 if place == "before" else len(arguments), "--traceback")
    result = run(*arguments)
    assert result.exit_code == 1
    assert "Traceback" in result.stderr
    assert "DataFileError" in result.stderr


@pytest.mark.parametrize("arguments", [["fly"], ["train"], ["train", "x.csv", "--target", "y", "--seed", "x"]])
def test_bad_usage(run, arguments):
    assert run(*arguments).exit_code == 2


@pytest.mark.parametrize("package", ["typer", "rich", "pyarrow"])
def test_a_missing_extra_is_named(package):
    error = ModuleNotFoundError(f"No module named {package!r}", name=package)
    assert str(entry.missing_extra(error)).endswith("pip install 'sapwood[cli]'")
    assert isinstance(entry.missing_extra(error), MissingExtraError)
    assert entry.missing_extra(ModuleNotFoundError(name="other")).name == "other"


def test_exit_codes_of_the_program(tmp_path):
    data = tmp_path / "data.csv"
    data.write_text("x,y\n1,2\n")
    no_arrow = "import sys; sys.modules['pyarrow'] = None; from sapwood.cli.main import main; main()"
    blocked = "import sys; sys.modules['typer'] = None; from sapwood.cli.main import main; main()"
    program = "from sapwood.cli.main import main; main()"
    cases = [
        (program, ["--version"], 0, "sapwood 0."),
        (program, ["train", str(tmp_path / "no.csv"), "--target", "y"], 1, "Error: There is no file"),
        (program, ["train"], 2, "Missing argument"),
        (no_arrow, ["train", str(data), "--target", "y"], 1, "needs pyarrow, which is not installed"),
        (blocked, ["--help"], 1, "pip install 'sapwood[cli]'"),
        (blocked, ["--version"], 0, "sapwood 0."),
    ]
    for code, arguments, status, words in cases:
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "COLUMNS": "200"},
        )
        assert (done.returncode, words in done.stdout + done.stderr) == (status, True), done
        assert "Traceback" not in done.stderr

"""Files as people have them: numbers and dates as text, other encodings, no header, repeated names."""

import datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from outcomes import cell, error_line
from tables import read_table

import sapwood as sw
from sapwood.cli.dataset import read_dataset
from sapwood.cli.model_file import read_model
from sapwood.cli.options import FileFormat, TrainingOptions


def day(k: int) -> datetime.date:
    return datetime.date(2023, 1, 1) + datetime.timedelta(days=k)


@pytest.fixture
def messy(tmp_path):
    """Every second column is a number or date in disguise."""
    lines = ["id,code,income,share,start,end,country,price"]
    for k in range(200):
        price = 1000 * (k % 17) + 10 * (k % 5)
        lines.append(
            f'c{k:04d},0{k % 3}7,"{price + 0.5:,.2f}",{k % 9}.5%,{day(k):%d.%m.%Y},{day(k):%d/%m/%Y},US,"${price:,}"'
        )
    path = tmp_path / "messy.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_numbers_and_dates_in_disguise_are_read_and_said(run, messy, tmp_path):
    out = tmp_path / "m.sapwood"
    result = run("train", messy, "--target", "price", "--drop", "id", "--out", out)
    assert result.exit_code == 0, result.output
    assert "Task: regression" in result.output
    for words in (
        "'price' was read as numbers: '$10,000' is 10000.",
        "'income' was read as numbers: '10,000.50' is 10000.5.",
        "'share' was read as numbers: '0.5%' is 0.5.",
        "'start' was read as dates: '01.01.2023' is 2023-01-01.",
        "'end' was read as dates: '01/01/2023' is 2023-01-01.",
    ):
        assert words in result.output
    assert cell(result.output, "R²", 2) > 0.99
    kinds = {column.name: column.kind for column in sw.load(out).schema_.columns}
    assert kinds["income"] == kinds["share"] == "number"
    assert kinds["start"] == kinds["end"] == "date"
    assert kinds["code"] == "number"  # read by pyarrow, as ever


def test_how_columns_were_read_is_said(run, messy):
    result = run("train", messy, "--target", "price", "--category", "code")
    (line,) = [line for line in result.output.splitlines() if line.startswith("7 columns: ")]
    assert line == (
        "7 columns: 2 numbers (income, share), 3 categories (id, code, country), 2 dates (start, end); "
        "constant: country; nearly unique: id (leave out with --drop id)."
    )
    lines = ["y,flag,n,when", *(f"{k % 2},{'true' if k % 3 else 'false'},{k},12:30" for k in range(30))]
    messy.write_text("\n".join(lines))
    result = run("train", messy, "--target", "y")
    assert "3 columns: 1 number (n), 1 boolean (flag), 1 duration (when); constant: when." in result.output


def test_many_columns_are_said_in_one_line(run, tmp_path):
    path = tmp_path / "wide.csv"
    names = [f"n{k}" for k in range(40)]
    path.write_text("\n".join([",".join([*names, "y"]), *(",".join([str(i)] * 40 + ["ab"[i % 2]]) for i in range(30))]))
    assert "40 columns: 40 numbers (n0, n1, n2, n3, n4 and 35 more)." in run("train", path, "--target", "y").output


def test_the_model_steers_how_new_files_are_read(run, messy, tmp_path):
    model, out = tmp_path / "m.sapwood", tmp_path / "out.csv"
    assert (
        run("train", messy, "--target", "price", "--drop", "id,code", "--test-size", 0, "--out", model).exit_code == 0
    )
    new = tmp_path / "new.csv"
    # of these values alone, none would be read as in training: the order of day and month is open
    new.write_text(
        'income,share,start,end,country\n"2,000.50",3%,2023-02-01,01/02/2023,US\n500,3%,01.02.2023,01/02/2023,US\n'
    )
    result = run("predict", "--model", model, "--input", new, "--out", out)
    assert result.exit_code == 0, result.output
    when = datetime.datetime(2023, 2, 1)
    rows = {
        "income": [2000.5, 500.0],
        "share": [3.0, 3.0],
        "start": [when] * 2,
        "end": [when] * 2,
        "country": ["US"] * 2,
    }
    assert read_table(out)["prediction"].to_pylist() == sw.load(model).predict(pa.table(rows)).tolist()
    new.write_text("income,share,start,end,country\nmuch,3%,01.02.2023,01/02/2023,US\n")
    message = error_line(run("predict", "--model", model, "--input", new, "--out", out))
    assert "Column 'income'" in message
    assert "'much', which is not a number" in message
    result = run("evaluate", "--model", model, "--data", messy, "--target", "price")
    assert cell(result.output, "R²") == 1.0
    result = run("evaluate", "--train", messy, "--test", messy, "--target", "price", "--drop", "id")
    assert cell(result.output, "R²") == 1.0


def test_a_decimal_comma_of_training_holds_for_new_files(run, tmp_path):
    train, new, model, out = (tmp_path / name for name in ("t.csv", "n.csv", "m.json", "o.csv"))
    train.write_text("x,y\n" + "".join(f'"{k}.234,5",{int(k > 4)}\n' for k in range(1, 9)) * 5)
    assert run("train", train, "--target", "y", "--out", model).exit_code == 0
    assert read_model(model).readings["x"].form == ","
    new.write_text("x\n2.234\n8.234\n")  # thousands, as in training
    assert run("predict", "--model", model, "--input", new, "--out", out, "--no-proba").exit_code == 0
    assert read_table(out)["prediction"].to_pylist() == [0, 1]


def test_a_model_from_python_reads_text_too(run, tmp_path):
    X = pa.table({"price": [1000.0 * k for k in range(40)], "when": [day(k) for k in range(40)]})
    sw.save(sw.DecisionTreeRegressor().fit(X, np.arange(40.0)), tmp_path / "m.sapwood")
    new, out = tmp_path / "new.csv", tmp_path / "out.csv"
    arguments = ["predict", "--model", tmp_path / "m.sapwood", "--input", new, "--out", out]
    new.write_text('price,when\n"$7,000",14.01.2023\n"$9,000",08.01.2023\n')
    assert run(*arguments).exit_code == 0
    assert len(read_table(out)) == 2
    new.write_text('price,when\n"$7,000",03/01/2023\n')
    assert "--day-first or --month-first" in error_line(run(*arguments))
    assert run(*arguments, "--day-first").exit_code == 0
    new.write_text("price,when\ncheap,2023-01-05\n")
    assert "expected numbers as in training" in error_line(run(*arguments))


def test_an_open_order_stays_text_until_it_is_told(run, tmp_path):
    path = tmp_path / "open.csv"
    path.write_text("when,y\n" + "".join(f"0{1 + k % 9}/0{1 + k % 7}/2024,{k % 2}\n" for k in range(60)))
    result = run("train", path, "--target", "y")
    assert "'when' stays text" in result.output
    assert "Use --day-first or --month-first" in result.output
    assert "1 category (when)" in result.output
    month, date = (
        read_dataset(path, TrainingOptions(target="y", file_format=FileFormat(day_first=first))).X["when"]
        for first in (False, True)
    )
    assert month[1].as_py() == datetime.datetime(2024, 2, 2)
    assert date[7].as_py() == datetime.datetime(2024, 1, 8)


def test_codes_and_declared_categories_stay_text(tmp_path):
    columns = {"zip": ["01234", "12345"] * 5, "n": ["1", "2"] * 5, "y": [0, 1] * 5}
    declared = pa.array(["$1,000", "$2,000"] * 5).dictionary_encode()
    pq.write_table(pa.table(columns).append_column("price", declared), tmp_path / "d.parquet")
    dataset = read_dataset(tmp_path / "d.parquet", TrainingOptions(target="y"))
    assert dataset.string_columns == ["zip", "n", "price"]
    assert not dataset.readings
    assert not dataset.notes


def test_a_text_target_of_very_many_values_is_asked_about(run, tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("x,y\n" + "".join(f"{k},name{k % 150}\n" for k in range(300)))
    message = error_line(run("train", path, "--target", "y"))
    assert "150 different values, such as 'name0'" in message
    assert "--task classification" in message
    assert run("train", path, "--target", "y", "--task", "classification", "--no-show-tree").exit_code == 0


def test_a_target_of_dates_is_refused_like_one_in_iso_form(run, messy):
    message = error_line(run("train", messy, "--target", "start"))
    assert "neither numbers nor classes" in message


def test_a_target_in_disguise_can_be_classes_if_asked(run, messy):
    result = run("train", messy, "--target", "price", "--task", "classification", "--drop", "id", "--no-show-tree")
    assert result.exit_code == 0, result.output
    assert "'price' was read" not in result.output
    assert "accuracy" in result.output


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
def test_encodings(run, tmp_path, encoding):
    path, model, out = tmp_path / "a.csv", tmp_path / "m.sapwood", tmp_path / "o.csv"
    path.write_bytes(("größe,y\n" + "ä,ja\nö,nein\n" * 20).encode(encoding))
    given = ["--encoding", encoding] if encoding == "cp1252" else []
    if given:
        assert "--encoding cp1252" in error_line(run("train", path, "--target", "y"))
    assert run("train", path, "--target", "y", "--out", model, *given).exit_code == 0
    assert run("predict", "--model", model, "--input", path, "--out", out, *given, "--keep", "größe").exit_code == 0
    assert read_table(out)["größe"].to_pylist()[:2] == ["ä", "ö"]
    assert read_table(out)["prediction"].to_pylist()[:2] == ["ja", "nein"]
    assert "is not known" in error_line(run("train", path, "--target", "y", "--encoding", "klingon"))


def test_a_file_without_header(run, tmp_path):
    path, model, out = tmp_path / "a.csv", tmp_path / "m.sapwood", tmp_path / "o.csv"
    path.write_text("".join(f"{k},{k % 2 + 0.5},7.25,{'ab'[k % 2]}\n" for k in range(30)))
    assert "use --no-header" in error_line(run("train", path, "--target", "kind"))
    path.write_text("".join(f"0,{k % 2},0,{'ab'[k % 2]}\n" for k in range(30)))
    message = error_line(run("train", path, "--target", "kind"))
    assert "The first line" in message
    assert "Use --no-header" in message
    result = run("train", path, "--target", "column4", "--no-header", "--out", model)
    assert result.exit_code == 0, result.output
    assert "Rows: 22 to train on, 8 to test on. Columns: 3." in result.output
    assert run("predict", "--model", model, "--input", path, "--no-header", "--out", out).exit_code == 0
    assert read_table(out).num_rows == 30


def test_repeated_names_get_a_number(run, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("\ntenure, tenure ,tenure.2,tenure,y\n" + "".join(f"{k},x{k},0,{-k},{k % 2}\n" for k in range(30)))
    assert read_table(path).column_names == ["tenure", "tenure.3", "tenure.2", "tenure.4", "y"]
    assert read_table(path).slice(0, 1).to_pylist() == [
        {"tenure": 0, "tenure.3": "x0", "tenure.2": 0, "tenure.4": 0, "y": 0}
    ]
    result = run("train", path, "--target", "y", "--drop", "tenure.3,tenure.4")
    assert result.exit_code == 0, result.output
    assert "more than one column 'tenure'; the others are renamed to 'tenure.3', 'tenure.4'." in result.output
    assert "Columns: 2." in result.output


def test_a_name_with_a_comma_is_a_name(run, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('"a,b",a,b,y\n' + "".join(f"{k},1,2,{k % 2}\n" for k in range(30)))
    assert "Columns: 2." in run("train", path, "--target", "y", "--drop", "a,b").output
    assert "Columns: 1." in run("train", path, "--target", "y", "--drop", "a", "--drop", "a,b").output
    assert "'c' is not a column" in error_line(run("train", path, "--target", "y", "--drop", "a,c"))


def test_one_of_a_thing_is_said_in_the_singular(run, tmp_path, houses):
    model, out = tmp_path / "m.sapwood", tmp_path / "o.csv"
    arguments = ["train", houses, "--target", "price", "--model", "forest", "--set", "n_estimators=1"]
    result = run(*arguments, "--set", "oob_score=False", "--set", "max_leaf_nodes=2", "--out", model)
    assert result.exit_code == 0, result.output
    assert ", 1 tree, 2 leaves" in result.output
    assert ", 1 tree, 2 leaves" in run("inspect", model).output
    one = tmp_path / "one.csv"
    one.write_text("".join(houses.read_text().splitlines(keepends=True)[:2]))
    assert "Predictions of 1 row:" in run("predict", "--model", model, "--input", one, "--out", out).output


@pytest.mark.parametrize("model", ["forest", "bagging", "extra-trees", "adaboost", "boosting"])
def test_all_models_show_the_same_bar_with_few_digits(run, houses, model):
    result = run("train", houses, "--target", "price", "--model", model, "--set", "n_estimators=30")
    assert result.exit_code == 0, result.output
    assert "training ━" in result.stderr
    assert "30/30" in result.stderr
    if model in ("forest", "bagging"):
        (shown,) = [float(word) for word in result.stderr.split("oob rmse ")[1].split()[:1]]
        estimate = float(result.output.split("out-of-bag error ")[1].split(",")[0])
        assert shown == pytest.approx(estimate**0.5, rel=1e-3)


@pytest.mark.parametrize(("model", "said"), [("boosting", "round 20"), ("forest", "20 trees")])
def test_going_on_after_a_kill_is_said(run, houses, tmp_path, model, said, monkeypatch):
    from sapwood.estimators import checkpoint

    way = tmp_path / "way.sapwood"
    arguments = [
        "train",
        houses,
        "--target",
        "price",
        "--model",
        model,
        "--set",
        "n_estimators=40",
        "--set",
        "n_jobs=1",
    ]
    arguments += ["--checkpoint", way, "--checkpoint-every", 20]
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint.Checkpoints, "finish", lambda *_: None)
        assert run(*arguments).exit_code == 0
    result = run(*arguments)
    assert f"resuming after {said};" in result.output
    assert "nothing is left to train" in run(*arguments).output


@pytest.mark.parametrize("found", [[], {"x": 1}, {"x": ["number", "!"]}, {"x": ["colour", "dmy"]}, {"x": ["date"]}])
def test_readings_in_a_model_file_are_not_trusted(run, saved, flowers, tmp_path, found):
    from sapwood.estimators.model_file import write_model

    write_model(tmp_path / "bad.sapwood", sw.load(saved), {"readings": found})
    arguments = ["predict", "--model", tmp_path / "bad.sapwood", "--input", flowers, "--out", tmp_path / "o.csv"]
    assert "its readings are not understood" in error_line(run(*arguments))


def test_a_few_odd_values_among_numbers_are_named(run, tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("x,code,y\n" + "".join(f"{'unknown' if k == 2501 else k},a{k},{k % 2}\n" for k in range(3000)))
    result = run("train", path, "--target", "y")
    assert "'x' stays text: 'unknown' is not a number, but most values are. Leave such cells empty." in result.output
    assert "'code' stays" not in result.output

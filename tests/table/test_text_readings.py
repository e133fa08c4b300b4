"""Text that is numbers or dates: recognised when all values agree, converted by `parse_text`, warned of by fit."""

import datetime
import os
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sapwood
from sapwood.errors import InputError, InputTypeError, ParameterError, TextColumnWarning
from sapwood.table.reading import Reading, recognise

DAY = datetime.datetime


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["$215,000", "$1,000.50", "$7"], [215000, 1000.5, 7]),
        (["23,235.60", "5"], [23235.6, 5]),
        (["23.235,60", "1,5"], [23235.6, 1.5]),
        (["12.3%", "5 %"], [12.3, 5]),
        (["1 234,5 €", "10 €"], [1234.5, 10]),
        (["1\u202f234,5", "2"], [1234.5, 2]),
        (["(1,234)", "5"], [-1234, 5]),
        (["-$5.00", "$-3", "+4", "\u22122"], [-5, -3, 4, -2]),
        (["1'234.50", "3"], [1234.5, 3]),
        (["12,34,567"], [1234567]),
        (["1.234.567"], [1234567]),
        (["0,123", "1,234"], [0.123, 1.234]),
        (["USD 5,000", "7"], [5000, 7]),
        (["215.000 €"], [215000]),
        (["$3.459"], [3.459]),
        (["1,234"], [1234]),
        (["1.5", "2"], [1.5, 2]),
    ],
)
def test_numbers(texts, values):
    reading = recognise(texts).reading()
    assert reading is not None
    assert reading.kind == "number"
    assert [reading.value(text) for text in texts] == values


@given(
    st.lists(st.integers(-(10**14), 10**14), min_size=1, max_size=30),
    st.sampled_from([(",", "."), (".", ","), (" ", ","), ("'", "."), ("\u202f", ",")]),
    st.sampled_from(["{}", "{} €", "${}", "{}%"]),
)
def test_numbers_come_back_whatever_the_marks(cents, marks, frame):
    group, decimal = marks
    plain = [f"{cent / 100:,.2f}" for cent in cents]
    texts = [frame.format(text.translate({44: group, 46: decimal})) for text in plain]
    reading = recognise(texts).reading()
    assert reading is not None
    assert [reading.value(text) for text in texts] == [float(text.replace(",", "")) for text in plain]


@given(st.lists(st.dates(datetime.date(1000, 1, 1)), min_size=1, max_size=30), st.sampled_from(["dmy", "mdy", "ymd"]))
def test_dates_come_back_whatever_the_order(days, order):
    form = {"dmy": "{0.day:02}/{0.month:02}/{0.year}", "mdy": "{0.month}/{0.day}/{0.year}", "ymd": "{}"}[order]
    texts = [form.format(day) for day in days]
    recognition = recognise(texts)
    assert recognition.is_open == (order != "ymd" and all(day.day <= 12 for day in days))
    reading = recognition.reading(day_first=order == "dmy")
    assert reading == Reading("date", order)
    assert [reading.value(text).date() for text in texts] == days


@pytest.mark.parametrize(
    ("texts", "first"),
    [
        (["17.05.2024", "01.02.2023"], DAY(2024, 5, 17)),
        (["01.02.2023"], DAY(2023, 2, 1)),
        (["28/07/2023", "01/02/2023"], DAY(2023, 7, 28)),
        (["07/28/2023 02:30 PM"], DAY(2023, 7, 28, 14, 30)),
        (["2024-05-17", "2024-05-18T12:30:00Z"], DAY(2024, 5, 17)),
        (["2013-01-01T10:00:00.25+02:00"], DAY(2013, 1, 1, 8, 0, 0, 250000)),
        (["17 May 2024", "1 January 2020"], DAY(2024, 5, 17)),
        (["May 17, 2024"], DAY(2024, 5, 17)),
        (["28.07.69", "01.02.68"], DAY(1969, 7, 28)),
    ],
)
def test_dates(texts, first):
    reading = recognise(texts).reading()
    assert reading is not None
    assert reading.kind == "date"
    assert reading.value(texts[0]) == first
    assert all(reading.value(text) is not None for text in texts)


@pytest.mark.parametrize(
    "texts",
    [
        ["1", "2", "30"],
        ["00123", "1,234"],
        ["007", "008"],
        ["123 456 789", "987 654 321"],
        ["$5", "€5"],
        ["12%", "0.5"],
        ["1,234", "5,678", "x"],
        ["1,234", "1.234"],
        ["1,2,3"],
        ["28/07/2023", "01/28/2023"],
        ["29/02/2023"],
        ["192.168.1.1", "10.0.0.1"],
        ["1.10.12", "1.2.3"],
        ["555-1234"],
        ["10-20", "20-30"],
        ["$", "%", "()", "."],
        ["5 $ 3"],
        ["$5 €"],
        [""],
    ],
)
def test_codes_and_what_does_not_agree_stay_text(texts):
    recognition = recognise(texts)
    assert recognition.reading() is None
    assert not recognition.is_open


def test_an_open_order_of_day_and_month_is_decided_by_the_caller_only():
    recognition = recognise(["03/04/2024", "05-06-2024"])
    assert recognition.is_open
    assert recognition.reading() is None
    assert recognition.reading(day_first=True) == Reading("date", "dmy")
    assert recognition.reading(day_first=False) == Reading("date", "mdy")


def test_values_shown_in_parts_are_recognised_like_all_at_once():
    parts = [["01/02/2023"] * 3, ["28/07/2023"]]
    recognition = recognise(parts[0])
    recognition.look(parts[1])
    assert recognition.reading() == recognise([*parts[0], *parts[1]]).reading() == Reading("date", "dmy")


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "price": ["$1,200.50", None, "$7"],
            "when": ["28/07/2023", "01/02/2023", None],
            "code": ["001", "002", "003"],
            "n": [1, 2, 3],
        },
        index=[7, 3, 5],
    )


@pytest.mark.parametrize("kind", [lambda d: d, pl.from_pandas, lambda d: pa.Table.from_pandas(d, preserve_index=False)])
def test_frames_of_every_kind_are_converted_and_not_changed(kind):
    X = kind(frame())
    parsed = sapwood.parse_text(X)
    assert type(parsed) is type(X)
    back = parsed if isinstance(parsed, pd.DataFrame) else parsed.to_pandas()
    assert list(back.columns) == ["price", "when", "code", "n"]
    assert back["price"].tolist()[::2] == [1200.5, 7]
    assert np.isnan(back["price"].iloc[1])
    assert back["when"].iloc[1] == pd.Timestamp(2023, 2, 1)
    assert back["when"].isna().tolist() == [False, False, True]
    assert back["code"].tolist() == ["001", "002", "003"]
    before = X if isinstance(X, pd.DataFrame) else X.to_pandas()
    assert before["price"].tolist()[0] == "$1,200.50"
    if isinstance(parsed, pd.DataFrame):
        assert parsed.index.tolist() == [7, 3, 5]
        assert parsed["when"].dtype.kind == "M"


def test_series_and_arrays():
    assert sapwood.parse_text(frame()["price"]).tolist()[0] == 1200.5
    assert sapwood.parse_text(pl.Series("p", ["1,000.5"])).to_list() == [1000.5]
    assert sapwood.parse_text(np.array(["12.5%", "3%"])).tolist() == [12.5, 3]
    assert sapwood.parse_text(["a", "b"]).tolist() == ["a", "b"]
    with pytest.raises(InputTypeError, match="2 dimensions"):
        sapwood.parse_text(np.array([["1,000"]]))
    with pytest.raises(InputTypeError, match="data frames"):
        sapwood.parse_text(5)
    with pytest.raises(ParameterError, match="decimal='x'"):
        sapwood.parse_text(frame(), decimal="x")


def test_new_rows_are_converted_like_those_of_training():
    X, y = sapwood.parse_text(frame()), [0.0, 1.0, 2.0]
    model = sapwood.DecisionTreeRegressor().fit(X, y)
    new = pd.DataFrame({"price": ["7", "9"], "when": ["03/04/2024"] * 2, "code": ["1,000", "2"], "n": [1, 2]})
    with pytest.raises(InputError, match="day_first=True"):
        sapwood.parse_text(new, like=model)
    parsed = sapwood.parse_text(new, like=model, day_first=True)
    assert parsed["price"].tolist() == [7, 9]
    assert parsed["code"].tolist() == ["1,000", "2"]
    assert parsed["when"].iloc[0] == pd.Timestamp(2024, 4, 3)
    model.predict(parsed)
    with pytest.raises(InputError, match="'cheap' is no number"):
        sapwood.parse_text(new.assign(price="cheap"), like=model, day_first=True)


MODELS = [
    sapwood.DecisionTreeClassifier(),
    sapwood.RandomForestClassifier(n_estimators=3),
    sapwood.BaggingClassifier(sapwood.NewtonBoostingClassifier(n_estimators=2), n_estimators=3, random_state=0),
    sapwood.AdaBoostClassifier(sapwood.NewtonBoostingClassifier(n_estimators=2), n_estimators=3, random_state=0),
    sapwood.NewtonBoostingClassifier(n_estimators=2),
    sapwood.GradientBoostingClassifier(n_estimators=2),
]


def telling() -> tuple[pd.DataFrame, np.ndarray]:
    n = np.arange(60)
    X = pd.DataFrame({"price": [f"${1000 + k:,}" for k in n], "when": [f"{1 + k % 28:02d}.03.2024" for k in n], "n": n})
    return X, (n % 7 > 3).astype(int)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_fit_warns_once_of_all_such_columns_with_the_remedy(model):
    X, y = telling()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    (warning,) = [each for each in caught if issubclass(each.category, TextColumnWarning)]
    text = str(warning.message)
    assert "'price' ('$1,000' is 1000), 'when' ('01.03.2024' is 2024-03-01)" in text
    assert "parse_text(X)" in text
    assert warning.filename == __file__
    model.fit(sapwood.parse_text(X), y)  # warnings are errors here


@pytest.mark.filterwarnings("ignore::sapwood.errors.IdentifierWarning")
def test_what_is_called_a_category_is_one():
    X, y = telling()
    tree = sapwood.DecisionTreeClassifier(categorical_features=["price", "when"]).fit(X, y)
    assert tree.schema_.columns[0].kind == "category"
    sapwood.DecisionTreeClassifier().fit(X.astype({"price": "category", "when": "category"}), y)


@pytest.mark.filterwarnings("ignore::sapwood.errors.NoSplitWarning")
@pytest.mark.parametrize("model", MODELS[:2] + MODELS[4:5], ids=lambda model: type(model).__name__)
def test_a_text_target_that_looks_like_numbers_or_has_very_many_classes(model):
    X = telling()[0][["n"]]
    with pytest.warns(TextColumnWarning, match=r"y holds text that looks like numbers \('\$1,000' is 1000\)"):
        model.fit(X, [f"${1000 + k % 5:,}" for k in range(60)])
    X = pd.DataFrame({"n": range(300)})
    with pytest.warns(TextColumnWarning, match="150 different values in 300 rows"):
        model.fit(X, [f"name {k % 150}" for k in range(300)])
    model.fit(X, [f"name {k % 15}" for k in range(300)])


def test_a_regressor_names_the_remedy():
    with pytest.raises(InputError, match=r"parse_text\(y\)"):
        sapwood.DecisionTreeRegressor().fit([[1], [2]], ["$1,000", "$2,000"])


@pytest.mark.skipif("SAPWOOD_DATA" not in os.environ, reason="needs the real data sets")
def test_no_false_alarm_in_the_real_data_sets():
    found = set()
    for path in sorted(Path(os.environ["SAPWOOD_DATA"]).glob("*.parquet")):
        file = pq.ParquetFile(path)
        for field in file.schema_arrow:
            if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
                levels = file.read([field.name]).column(0).unique().drop_null().to_pylist()
                if levels and recognise(levels).reading() is not None:
                    found.add(path.stem)
    assert found <= {"bike_hour", "compas", "nycflights13", "cylinder_bands"}  # ISO dates, and decimals from 0.2 to 0.5


@pytest.mark.parametrize(
    "call",
    [
        lambda X, y: sapwood.cross_validate_boosting(sapwood.NewtonBoostingClassifier(n_estimators=2), X, y),
        lambda X, y: sapwood.prune_by_cv(sapwood.DecisionTreeClassifier(), X, y),
        lambda X, y: sapwood.tune_by_oob(sapwood.RandomForestClassifier(30, random_state=0), X, y),
    ],
    ids=["cross_validate_boosting", "prune_by_cv", "tune_by_oob"],
)
def test_many_fits_in_one_call_warn_once(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*telling())
    assert len([each for each in caught if issubclass(each.category, TextColumnWarning)]) == 1

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapwood.show.number import number_text, plain_number, short_number, threshold_decimals
from sapwood.show.value import date_text, duration_text, level_text, levels_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12.5, "12.50"),
        (0.0, "0.00"),
        (-0.0, "0.00"),
        (1e-7, "1e-07"),
        (0.0033, "0.0033"),
        (1e20, "1e+20"),
        (1234567.891, "1234567.89"),
        (-0.004, "-0.004"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
    ],
)
def test_a_number_keeps_what_matters(value, text):
    assert number_text(value, 2) == text


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 6))
def test_a_printed_number_is_close_to_the_number(value, decimals):
    assert float(number_text(value, decimals)) == pytest.approx(value, rel=0.051, abs=0)


@given(st.floats(-1e12, 1e12), st.floats(-1e12, 1e12), st.integers(0, 4))
def test_numbers_at_a_distance_stay_in_order_in_print(a, b, decimals):
    low, high = sorted((a, b))
    gap = high - low or math.inf
    texts = number_text(low, decimals, gap), number_text(high, decimals, gap)
    assert (float(texts[0]) < float(texts[1])) == (low < high)


def test_zeros_at_the_end_are_removed_on_request():
    assert (short_number(0.8, 3), short_number(2.0, 3), plain_number(2.0, 3)) == ("0.8", "2.0", "2")
    assert plain_number(1000.0, 0) == "1000"


@given(st.integers(-10_000, 10_000), st.integers(1, 100))
def test_a_threshold_never_contradicts_data_of_that_many_decimals(left, step):
    low, high = left / 100, (left + step) / 100
    threshold = (low + high) / 2
    printed = float(number_text(threshold, threshold_decimals(threshold, 2)))
    assert low <= printed < high


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "1970-01-01"),
        (-86400, "1969-12-31"),
        (1.6e9, "2020-09-13 12:26:40"),
        (43200, "1970-01-01 12:00"),
        (0.25, "1970-01-01 00:00:00.25"),
        (1e300, "1e+300 s after 1970"),
        (math.inf, "inf s after 1970"),
    ],
)
def test_dates(seconds, text):
    assert date_text(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (12600, "3.5 h"),
        (90, "1.5 min"),
        (0, "0 s"),
        (2 * 86400, "2 d"),
        (-7200, "-2 h"),
        (0.004, "4 ms"),
        (1e-9, "0.001 µs"),
    ],
)
def test_durations(seconds, text):
    assert duration_text(seconds) == text


def test_levels_are_quoted_only_where_unclear():
    assert [level_text(level) for level in ("red", 3, "", " x", "a, b", "a\nb")] == [
        "red",
        "3",
        '""',
        '" x"',
        '"a, b"',
        "a\\nb",
    ]


def test_many_levels_are_shortened():
    assert levels_text("abcdefg") == "{a, b, c, d, e, f, g}"
    assert levels_text("abcdefghijklmnopqr") == "{a, b, c, d, e, f, … +12 more}"

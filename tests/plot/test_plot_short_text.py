import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapwood.plot.short_text import distinct, shortened, wrapped


@pytest.mark.parametrize(
    ("line", "pieces"),
    [
        ("age <= 3.5", ["age ≤ 3.5"]),
        ("day <= 2020-01-01 12:00", ["day", "≤ 2020-01-01 12:00"]),
        ("mean concave points <= 0.05", ["mean concave points", "≤ 0.05"]),
        ("value = [100, 200, 300]", ["value =", "[100, 200, 300]"]),
        ("a_very_long_name_of_a_feature <= 1", ["a_very_long_name_of_", "a_feature ≤ 1"]),
        ("city in {New York, Los Angeles}", ["city in {New York,", "Los Angeles}"]),
        ("x" * 45, ["x" * 20, "x" * 20, "x" * 5]),
        ("", [""]),
    ],
)
def test_lines_are_broken_at_sensible_places(line, pieces):
    assert wrapped(line, 20) == pieces


@given(st.text(alphabet="ab_ -/{},=<[]\u00a01", max_size=60), st.integers(4, 30))
def test_no_piece_is_much_too_long_and_nothing_is_lost(line, width):
    pieces = wrapped(line, width)
    assert all(len(piece) <= width + 4 for piece in pieces)
    keep = str.maketrans("", "", " \u00a0≤<=")
    assert "".join(pieces).translate(keep) == line.translate(keep)


LONG = [
    f"a rather long column name, {what} per hour (measured)" for what in ("litres of water", "litres of waste", "gas")
]


def test_names_that_differ_in_their_middle_show_it():
    labels = distinct([*LONG, "short"], 36)
    assert labels == [
        "a rather …f water per h…r (measured)",
        "a rather …f waste per h…r (measured)",
        "a rather …me, gas per h…r (measured)",
        "short",
    ]
    assert max(map(len, labels)) <= 36


def test_names_whose_ends_tell_them_apart_are_shortened_as_ever():
    names = [f"{'x' * 50} {k}" for k in range(3)]
    assert distinct(names, 20) == [shortened(name, 20) for name in names]


def test_equal_names_stay_equal():
    assert distinct([LONG[0]] * 2, 20) == [shortened(LONG[0], 20)] * 2


@given(st.lists(st.text(alphabet="ab", max_size=60), max_size=30), st.integers(16, 36))
def test_different_names_have_different_labels_that_fit(names, longest):
    labels = distinct(names, longest)
    assert len(set(labels)) == len(set(names))
    assert all(len(label) <= longest for label in labels)

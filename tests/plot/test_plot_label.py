import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapwood.plot.label import wrapped


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

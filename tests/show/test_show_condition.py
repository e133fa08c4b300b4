import numpy as np
import pandas as pd
import pytest

import sapwood
from sapwood.show import condition
from sapwood.show.condition import missing_goes, missing_suffixes
from show.stand_in_tree import grow, number_columns, stand_in_column

LEVELS = tuple("abcdefghijkl")
A, B = ([3, 1],), ([1, 3],)


def words(model, node=0, **options):
    return condition(model.tree_, model.schema_, node, **options)


def one_split(column, split):
    return grow((0, split, A, B), [column], ["no", "yes"])


@pytest.mark.parametrize(
    ("column", "split", "left", "right"),
    [
        (stand_in_column("age"), 12.5, "age <= 12.50", "age > 12.50"),
        (stand_in_column("age"), 1e-7, "age <= 1e-07", "age > 1e-07"),
        (stand_in_column("smoker", "boolean"), 0.5, "smoker is false", "smoker is true"),
        (stand_in_column("day", "date"), 86400.0, "day <= 1970-01-02", "day > 1970-01-02"),
        (stand_in_column("took", "duration"), 12600.0, "took <= 3.5 h", "took > 3.5 h"),
        (stand_in_column("c", "category", LEVELS), {"b", "a"}, "c in {a, b}", "c not in {a, b}"),
        (stand_in_column("c", "category", LEVELS), set(LEVELS[:-1]), "c not in {l}", "c in {l}"),
        (stand_in_column("two\nlines"), 1.0, "two\\nlines <= 1.00", "two\\nlines > 1.00"),
    ],
)
def test_a_split_in_words(column, split, left, right):
    assert words(one_split(column, split)) == (left, right)


def test_levels_beyond_the_32nd_are_named():
    column = stand_in_column("c", "category", tuple(f"l{i}" for i in range(70)))
    assert words(one_split(column, {"l0", "l33", "l69"})) == ("c in {l0, l33, l69}", "c not in {l0, l33, l69}")


def test_names_given_take_the_place_of_those_remembered():
    assert words(one_split(stand_in_column("age"), 1.0), feature_names=["years"])[0] == "years <= 1.00"


def test_only_levels_that_arrive_are_named():
    column = stand_in_column("c", "category", LEVELS)
    model = grow((0, {"a", "b", "c"}, (0, {"a", "b"}, A, B), (0, set(LEVELS) - {"l"}, A, B)), [column], ["no", "yes"])
    assert words(model, 1) == ("c not in {c}", "c in {c}")
    assert words(model, 4) == ("c not in {l}", "c in {l}")


def test_near_thresholds_of_one_path_do_not_look_alike():
    model = grow((0, 0.1234, (0, 0.1231, A, B), B), number_columns("x"), ["no", "yes"])
    assert (words(model, 0)[0], words(model, 1)[0]) == ("x <= 0.1234", "x <= 0.123")


def test_thresholds_of_other_paths_need_no_digits():
    model = grow((1, 5.0, (0, 0.1234, A, B), (0, 0.1231, A, B)), number_columns("xy"), ["no", "yes"])
    assert (words(model, 1)[0], words(model, 4)[0]) == ("x <= 0.12", "x <= 0.12")


@pytest.mark.parametrize("left", [True, False])
def test_missing_values_are_mentioned_if_there_were_any(left):
    columns = [stand_in_column("x", has_missing=True), stand_in_column("z")]
    model = grow((0, 1.0, (1, 1.0, A, B), B), columns, ["no", "yes"], missing_left=left)
    assert missing_goes(model.tree_, 0) == f"missing goes {'left' if left else 'right'}"
    assert missing_suffixes(model.tree_, model.schema_, 0)[not left] == " or missing"
    assert missing_suffixes(model.tree_, model.schema_, 1) == ("", "")


def test_a_split_of_missing_values_alone_says_so() -> None:
    X = pd.DataFrame({"a": [np.nan, np.nan, 1.0, 2.0, np.nan, 5.0]})
    model = sapwood.DecisionTreeRegressor().fit(X, [3.0, 3.0, 0.0, 0.0, 3.0, 0.0])
    assert condition(model.tree_, model.schema_, 0) == ("a is not missing", "a is missing")
    assert "|--- a is not missing\n" in sapwood.export_text(model)
    assert "|--- a is missing\n" in sapwood.export_text(model)
    assert "1. a = 2 is not missing" in model.explain_row([2.0])

import math
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

import sapwood
from sapwood.errors import InputError, InputTypeError, NotFittedError
from sapwood.show import decision_steps, explain_row
from sapwood.table import Table
from show.stand_in_tree import from_sklearn, grow, number_columns, stand_in_column

COLOURS = ("blue", "green", "red")
COLUMNS = [
    stand_in_column("age"),
    stand_in_column("colour", "category", COLOURS, has_missing=True),
    stand_in_column("income"),
]


def small(missing_left=True):
    node = (0, 40.5, (1, {"blue", "red"}, ([30, 2],), (2, 1000.0, ([1, 4],), ([0, 3],))), ([2, 8],))
    model = grow(node, COLUMNS, ["no", "yes"], missing_left)
    model.schema_ = Table.from_any(
        pd.DataFrame({"age": [1.0, 2.0], "colour": ["blue", None], "income": [5.0, 6.0]})
    ).schema
    levels = (*model.schema_.columns[1].levels, "green", "red")
    columns = [*model.schema_.columns]
    columns[1] = type(columns[1])("colour", "category", levels, has_missing=True)
    model.schema_ = type(model.schema_)(tuple(columns), named=True)
    return model


def test_a_worked_example():
    assert explain_row(small(), [34, "green", 1500.0]) == (
        "Start: 50 rows, predicts no (66 %)\n"
        "1. age = 34 <= 40.5 → 40 rows, predicts no (77.5 %)\n"
        "2. colour = green is in {green} → 8 rows, predicts yes (87.5 %)\n"
        "3. income = 1500 > 1000.0 → 3 rows, predicts yes (100 %)\n"
        "Prediction: yes\n"
        "Probabilities: yes 100 %, no 0 %"
    )


@pytest.mark.parametrize(
    "row",
    [
        [34, "green", None],
        (34.0, "green", math.nan),
        np.array([34, "green", None], dtype=object),
        np.array([[34, "green", None]], dtype=object),
        [[34, "green", None]],
        {"income": None, "colour": "green", "age": 34},
        pd.DataFrame({"income": [math.nan], "age": [34], "colour": ["green"]}),
        pl.DataFrame({"income": [None], "age": [34], "colour": ["green"]}),
        pd.DataFrame({"age": [34], "colour": ["green"], "income": [math.nan]}).iloc[0],
    ],
)
def test_a_row_may_come_in_any_form(row):
    steps = decision_steps(small(), row)
    assert [step.node for step in steps] == [0, 1, 3, 4]
    assert [step.went_left for step in steps] == [True, False, True, None]
    assert steps[0].feature == "age"
    assert steps[0].value == 34
    assert steps[2].value is None
    assert steps[-1].prediction == "yes"
    assert steps[-1].shares == ((0.2, 0.8),)
    assert (steps[-1].n_rows, steps[-1].weight) == (5, 5.0)


def test_missing_and_unseen_values_are_explained():
    row = {"age": None, "colour": None, "income": 1}
    words = [step.description for step in decision_steps(small(), row)]
    assert words[0] == "age is missing, goes left by default because no training row missed it"
    assert words[1] == "colour is missing, goes left because rows that miss it went left in training"
    words = [step.description for step in decision_steps(small(), [1, "purple", 1])]
    assert words[1] == "colour = purple was not seen in training, goes left as missing values do"


def test_truth_dates_and_durations_in_words():
    columns = [stand_in_column("flag", "boolean"), stand_in_column("day", "date"), stand_in_column("took", "duration")]
    node = (0, 0.5, (1.0,), (1, 86400.0 * 365, (2, 9000.0, (2.0,), (3.5,)), (4.0,)))
    row = [True, np.datetime64("1970-02-01"), np.timedelta64(3, "h")]
    assert explain_row(grow(node, columns), row).splitlines()[1:] == [
        "1. flag is true → 30 rows, predicts 3.167",
        "2. day = 1970-02-01 <= 1971-01-01 → 20 rows, predicts 2.75",
        "3. took = 3 h > 2.5 h → 10 rows, predicts 3.5",
        "Prediction: 3.5",
    ]


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_what_is_said_of_a_number_is_true(value, threshold):
    model = grow((0, threshold, ([1, 0],), ([0, 1],)), number_columns("x"), ["no", "yes"])
    words = decision_steps(model, [value])[0].description
    left, operator, right = re.fullmatch(r"x = (\S+) (<=|>) (\S+)", words).groups()
    assert operator == ("<=" if value <= threshold else ">")
    assert (float(left) <= float(right)) == (operator == "<=")


def test_the_path_ends_where_the_model_ends():
    data = load_iris()
    model = DecisionTreeClassifier(random_state=0).fit(data.data, data.target)
    ours = from_sklearn(model, data.feature_names)
    ends = [decision_steps(ours, row)[-1].node for row in data.data.astype(np.float32)]
    assert ends == model.apply(data.data).tolist()


def test_weights_are_mentioned_where_they_differ_from_rows():
    data = load_iris()
    model = DecisionTreeClassifier(max_depth=1, random_state=0).fit(data.data, data.target, np.full(150, 0.25))
    assert "Start: 150 rows of weight 37.5, predicts" in explain_row(
        from_sklearn(model, data.feature_names), data.data[0]
    )


def test_nearly_certain_is_not_certain():
    model = grow(([99_999, 1],), number_columns("x"), ["no", "yes"])
    assert explain_row(model, [1.0]).endswith("Probabilities: no > 99.9 %, yes < 0.1 %")


@pytest.mark.parametrize(
    ("row", "error", "words"),
    [
        ([[1, "red", 2], [1, "red", 2]], InputError, "row has 2 rows"),
        (np.zeros((3, 3)), InputError, "row has 3 rows"),
        (pd.DataFrame({"age": [1, 2], "colour": "red", "income": 1}), InputError, "row has 2 rows"),
        ([1, "red"], InputError, "row has 2 values, .* 3 features"),
        ({"age": 1, "colour": "red"}, InputError, r"no value for \['income'\]"),
        ("red", InputTypeError, "'red' is not a row"),
        (3, InputTypeError, "3 is not a row"),
    ],
)
def test_bad_rows_are_refused(row, error, words):
    with pytest.raises(error, match=words):
        explain_row(small(), row)


def test_a_model_is_explained_as_its_estimator():
    data = load_iris()
    tree = sapwood.DecisionTreeClassifier(max_depth=2).fit(data.data, data.target)
    assert explain_row(tree.model_, data.data[0]) == explain_row(tree, data.data[0]) == tree.explain_row(data.data[0])
    assert decision_steps(tree.model_, data.data[99]) == decision_steps(tree, data.data[99])
    forest = sapwood.RandomForestClassifier(1, bootstrap=False, max_features=None, max_depth=2, random_state=0)
    assert explain_row(forest.fit(data.data, data.target), data.data[0]).splitlines()[-2] == "Prediction: 0"


@pytest.mark.parametrize(
    "model",
    [
        sapwood.RandomForestRegressor(2, random_state=0),
        sapwood.NewtonBoostingRegressor(n_estimators=1),
        sapwood.AdaBoostClassifier(n_estimators=1),
    ],
)
def test_a_tree_that_is_not_the_whole_model_is_not_its_explanation(model):
    data = load_iris()
    with pytest.raises(InputTypeError, match=r"one is wanted\. Use sapwood\.explain\.decision_path"):
        explain_row(model.fit(data.data, data.target), data.data[0])


def test_an_estimator_must_be_fitted():
    with pytest.raises(NotFittedError):
        explain_row(sapwood.DecisionTreeClassifier(), [1])

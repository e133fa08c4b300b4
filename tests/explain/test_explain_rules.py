import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sapwood as sw
from model_cases import KINDS, fitted, foreign, frame, signal
from sapwood.errors import InputTypeError, NotFittedError, ParameterError
from sapwood.explain import trees_as_rules
from strategies import cases, examples


def holds(condition: str, row: pd.Series) -> bool:
    """Whether a condition in words is true of a row; columns are x0, x1, …."""
    if condition.endswith(" or missing)"):
        inner = condition[1:].removesuffix(" or missing)")
        return holds(inner, row) or pd.isna(row[re.search(r"x\d", inner)[0]])
    name = re.search(r"x\d", condition)[0]
    value, said = row[name], condition.replace(name, "value", 1)
    if said in ("value is missing", "value is not missing"):
        return pd.isna(value) == (said == "value is missing")
    if pd.isna(value):
        return False
    if "{" in said:
        levels = re.search(r"\{(.*)\}", said)[1].split(", ")
        return (value in levels) == (" not in " not in said)
    return eval(said, {"value": value, "inf": np.inf})


@examples
@given(st.data())
def test_exactly_one_rule_holds_for_every_row_and_it_is_the_one_of_its_leaf(data):
    case = data.draw(cases("gini", plain_numbers=True, single_output=True, weighting="none"))
    X = case.frame()
    model = sw.DecisionTreeClassifier().fit(X, case.y)
    rules = trees_as_rules(model, decimals=4)
    for (_, row), leaf in zip(X.iterrows(), model.apply(X), strict=True):
        assert [rule.leaf for rule in rules if all(holds(c, row) for c in rule.conditions)] == [leaf]


def test_a_worked_example():
    X = pd.DataFrame({"a": [1, 2, 3, 4, 5, 6, 7, 8], "b": list("xyzyzyzx")})
    y = ["no", "no", "yes", "yes", "yes", "yes", "yes", "no"]
    rules = trees_as_rules(sw.DecisionTreeClassifier(max_depth=3).fit(X, y))
    assert str(rules).splitlines() == [
        "IF a <= 2.5 THEN no (100 %)  [2 rows, 25 %]",
        "IF 2.5 < a <= 7.5 THEN yes (100 %)  [5 rows, 62.5 %]",
        "IF a > 7.5 THEN no (100 %)  [1 row, 12.5 %]",
    ]
    assert rules[1].prediction == "yes"
    assert rules[1].shares == ((0.0, 1.0),)
    assert rules.to_markdown().splitlines()[2] == "| 0 | a <= 2.5 | no (100 %) | 2 | 25 % |"
    table = rules.to_frame()
    assert table["share of yes"].tolist() == [0.0, 1.0, 0.0]
    assert table["if"][2] == "a > 7.5"


def test_levels_in_words():
    X = pd.DataFrame({"b": list("xyzwxyzw"), "c": [0, 0, 0, 0, 1, 1, 1, 1]})
    y = [1.0, 1.0, 1.0, 5.0, 2.0, 2.0, 2.0, 2.0]
    model = sw.DecisionTreeRegressor().fit(X, y)
    assert {rule.condition for rule in trees_as_rules(model)} == {
        "b not in {w} AND c <= 0.5",
        "b not in {w} AND c > 0.5",
        "b in {w} AND c <= 0.5",
        "b in {w} AND c > 0.5",
    }


def test_dates_truth_and_missing_values_in_words():
    X = frame(200)
    early = pd.DataFrame({"since": X["since"], "member": X["member"]})
    y = (X["since"] > pd.Timestamp("2021-01-01")) * 2.0 + X["member"]
    words = str(trees_as_rules(sw.DecisionTreeRegressor().fit(early, y)))
    assert re.search(r"IF since <= 2021-01-01 12:00 AND member is false THEN 0 ", words)
    gap = sw.DecisionTreeRegressor().fit([[1.0], [2.0], [np.nan]], [0.0, 0.0, 1.0])
    assert str(trees_as_rules(gap)).splitlines() == [
        "IF x0 is not missing THEN 0  [2 rows, 66.7 %]",
        "IF x0 is missing THEN 1  [1 row, 33.3 %]",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_rules_of_every_model(kind):
    model = fitted(kind)
    rules = trees_as_rules(model)
    assert len(rules) == sum(member.tree.n_leaves for member in model.model_.trees)
    shares = pd.Series([rule.share for rule in rules]).groupby([rule.tree for rule in rules]).sum()
    np.testing.assert_allclose(shares, 1.0)
    assert len(rules.to_frame()) == len(rules) == len(str(rules).splitlines())
    few = trees_as_rules(model, most=3)
    assert [rule.share for rule in few] == sorted((rule.share for rule in rules), reverse=True)[:3]


def test_one_tree_of_many():
    model = fitted("newton three")
    rules = trees_as_rules(model, tree=(2, 1))
    assert {rule.tree for rule in rules} == {7}
    assert all(" to the score of mid" in rule.prediction_text for rule in rules)
    assert trees_as_rules(model, tree=-5).rules == rules.rules
    assert trees_as_rules(model, tree=(2, "mid")).rules == rules.rules
    assert {rule.tree for rule in trees_as_rules(fitted("newton two"), tree=(3, "yes"))} == {3}
    assert trees_as_rules(fitted("newton numbers"), tree=0)[0].prediction_text.endswith(" to the score")


def test_own_names_and_decimals():
    X = frame()
    model = sw.DecisionTreeRegressor(max_depth=1).fit(X[["age"]], signal(X))
    assert trees_as_rules(model, feature_names=["years"])[0].condition.startswith("years <= ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"tree": 12}, "tree=12 is not allowed: the model has 12 trees"),
        ({"tree": (1, 3)}, "a pair of a round (0 to 3) and a score (0 to 2, or of ['low', 'mid', 'top'])"),
        ({"tree": (1, "mdi")}, "tree=(1, 'mdi') is not allowed"),
        ({"tree": ("mid", 1)}, "tree=('mid', 1) is not allowed"),
        ({"tree": (4, "mid")}, "a round (0 to 3)"),
        ({"tree": "first"}, "tree='first'"),
        ({"tree": True}, "tree=True"),
        ({"decimals": -1}, "decimals=-1"),
        ({"most": 0}, "most=0"),
        ({"feature_names": ["a"]}, "feature_names has 1 names"),
    ],
)
def test_bad_arguments_are_refused(arguments, words):
    with pytest.raises(ParameterError, match=re.escape(words)):
        trees_as_rules(fitted("newton three"), **arguments)


def test_bad_models_are_refused():
    with pytest.raises(NotFittedError):
        trees_as_rules(sw.DecisionTreeClassifier())
    with pytest.raises(InputTypeError, match="model is the class DecisionTreeClassifier"):
        trees_as_rules(sw.DecisionTreeClassifier)
    with pytest.raises(InputTypeError, match="model is a dict"):
        trees_as_rules({})
    with pytest.raises(InputTypeError, match="there are no trees"):
        trees_as_rules(foreign("bagging")[0])

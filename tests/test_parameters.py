"""Rules accept what they describe, and refusals say what to do."""

import math
import re
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from sapwood.errors import ParameterError, ParameterTypeError
from sapwood.parameters import (
    ArrayLike,
    CallableRule,
    Flag,
    Interval,
    MappingLike,
    Nothing,
    OneOf,
    RandomState,
    Rule,
    check_names,
    check_parameters,
)

COUNT = Interval(int, low=1)
SHARE = Interval(float, 0, 1, closed="right")
FRACTION = Interval(float, 0, 1, closed="right", integers=False)
RATE = Interval(float, low=0, closed="neither")

RULES: Mapping[str, tuple[Rule, ...]] = {
    "criterion": (OneOf("gini", "entropy", "log_loss"),),
    "max_depth": (COUNT, Nothing(remedy="Use max_depth=None for no limit.")),
    "max_features": (COUNT, FRACTION, OneOf("sqrt", "log2"), Nothing()),
    "learning_rate": (RATE,),
    "validation": (Interval(float, 0, 1, closed="left"),),
    "ccp_alpha": (Interval(float, 0, 1),),
    "shuffle": (Flag(),),
    "random_state": (RandomState(),),
    "class_weight": (MappingLike(), ArrayLike(), CallableRule()),
}


def refusal(name: str, value: object) -> str:
    with pytest.raises(ParameterError) as caught:
        check_parameters("Tree", RULES, {name: value})
    return str(caught.value)


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        (COUNT, 1),
        (COUNT, np.int8(1)),
        (COUNT, np.uint64(2**63)),
        (COUNT, 10**400),
        (SHARE, 1),
        (SHARE, 1.0),
        (SHARE, np.float16(0.5)),
        (FRACTION, 1.0),
        (RATE, 5e-324),
        (Interval(float, 0, math.inf), math.inf),
        (OneOf("gini"), "gini"),
        (OneOf("gini"), np.str_("gini")),
        (Flag(), True),
        (Flag(), np.False_),
        (Nothing(), None),
        (RandomState(), None),
        (RandomState(), 0),
        (RandomState(), np.int64(2**32 - 1)),
        (RandomState(), np.random.RandomState(0)),
        (RandomState(), np.random.default_rng(0)),
        (ArrayLike(), []),
        (ArrayLike(), (1, 2)),
        (ArrayLike(), np.zeros(3)),
        (ArrayLike(), pd.Series([1])),
        (ArrayLike(), scipy.sparse.csr_array((2, 2))),
        (MappingLike(), {}),
        (CallableRule(), len),
    ],
)
def test_accepts(rule: Rule, value: object) -> None:
    assert rule.accepts(value)


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        (COUNT, 0),
        (COUNT, 1.0),
        (COUNT, True),
        (COUNT, np.True_),
        (COUNT, "1"),
        (COUNT, np.array(1)),
        (COUNT, np.array([1, 2])),
        (COUNT, None),
        (SHARE, 0),
        (SHARE, math.nan),
        (SHARE, np.float32("nan")),
        (SHARE, pd.NA),
        (SHARE, 1 + 0j),
        (FRACTION, 1),
        (RATE, 0.0),
        (RATE, math.inf),
        (Interval(float, high=0), -math.inf),
        (OneOf("gini"), "Gini"),
        (OneOf("gini"), ["gini"]),
        (OneOf("gini"), np.array(["gini"])),
        (Flag(), 1),
        (Flag(), "true"),
        (Nothing(), False),
        (Nothing(), math.nan),
        (RandomState(), -1),
        (RandomState(), 2**32),
        (RandomState(), 1.0),
        (RandomState(), True),
        (RandomState(), np.random),
        (ArrayLike(), "text"),
        (ArrayLike(), {}),
        (ArrayLike(), {1}),
        (ArrayLike(), np.array(1)),
        (ArrayLike(), np.float64(1)),
        (ArrayLike(), np.ndarray),
        (MappingLike(), []),
        (CallableRule(), "len"),
    ],
)
def test_refuses(rule: Rule, value: object) -> None:
    assert not rule.accepts(value)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (Interval(int), "an integer"),
        (COUNT, "an integer of at least 1"),
        (Interval(int, high=-1), "an integer of at most -1"),
        (Interval(int, high=0, closed="neither"), "an integer below 0"),
        (Interval(int, 2, 255), "an integer from 2 to 255"),
        (SHARE, "a number above 0 and at most 1"),
        (FRACTION, "a float above 0 and at most 1"),
        (RATE, "a finite number above 0"),
        (Interval(float, 0, math.inf), "a number of at least 0"),
        (Interval(float, 0, 1, closed="left"), "a number of at least 0 and below 1"),
        (OneOf("best"), "'best'"),
        (OneOf("a", "b", "c"), "'a', 'b' or 'c'"),
        (Flag(), "True or False"),
        (Nothing(), "None"),
        (RandomState(), "an integer from 0 to 4294967295, a numpy RandomState or Generator, or None"),
        (ArrayLike(), "an array or a list"),
        (MappingLike(), "a dictionary"),
        (CallableRule(), "a function"),
    ],
)
def test_describes(rule: Rule, words: str) -> None:
    assert rule.describe() == words


def test_the_sentence_names_argument_value_allowed_and_remedy() -> None:
    assert refusal("max_depth", -3) == (
        "max_depth=-3 is not allowed for Tree: it must be an integer of at least 1, or None. "
        "Use max_depth=None for no limit."
    )
    assert refusal("max_features", 0) == (
        "max_features=0 is not allowed for Tree: it must be an integer of at least 1, a float above 0 and at most 1, "
        "'sqrt' or 'log2', or None. Use max_features=1."
    )


@pytest.mark.parametrize(
    ("name", "value", "remedy"),
    [
        ("criterion", "ginni", "Did you mean criterion='gini'?"),
        ("criterion", "Entropy", "Did you mean criterion='entropy'?"),
        ("criterion", 3, "Leave out criterion to use its default."),
        ("max_depth", "3", "Did you mean max_depth=3?"),
        ("max_depth", 3.0, "Did you mean max_depth=3?"),
        ("max_depth", "deep", "Use max_depth=None for no limit."),
        ("max_features", "sqr", "Did you mean max_features='sqrt'?"),
        ("max_features", 1.5, "Use max_features=1.0."),
        ("max_features", -0.1, "Use max_features=0.1."),
        ("max_features", True, "Leave out max_features to use its default."),
        ("learning_rate", 0, "Use learning_rate=0.1."),
        ("learning_rate", math.inf, "Leave out learning_rate to use its default."),
        ("validation", 1.0, "Use validation=0.9."),
        ("ccp_alpha", np.float32(3), "Use ccp_alpha=1.0."),
        ("ccp_alpha", -(10**400), "Leave out ccp_alpha to use its default."),
        ("ccp_alpha", "nan", "Leave out ccp_alpha to use its default."),
        ("shuffle", 1, "Did you mean shuffle=True?"),
        ("shuffle", "false", "Did you mean shuffle=False?"),
        ("random_state", -1, "Use random_state=0."),
        ("random_state", 2**40, "Use random_state=4294967295."),
        ("class_weight", 3, "Leave out class_weight to use its default."),
    ],
)
def test_remedy(name: str, value: object, remedy: str) -> None:
    assert refusal(name, value).endswith(f". {remedy}")


@pytest.mark.parametrize("value", ["x" * 9999, np.arange(10**5), pd.DataFrame({"a": range(99)}), list(range(10**5))])
def test_a_long_value_is_shown_short_and_on_one_line(value: object) -> None:
    message = refusal("ccp_alpha", value)
    assert "\n" not in message
    assert len(message) < 250


@pytest.mark.parametrize("name", RULES)
def test_a_value_whose_repr_fails_can_still_be_refused(name: str) -> None:
    class Silent:
        def __repr__(self) -> str:
            raise RuntimeError

    assert "Silent instance" in refusal(name, Silent())


def test_a_numpy_scalar_is_shown_plainly() -> None:
    assert refusal("ccp_alpha", np.float64(2.5)).startswith("ccp_alpha=2.5 is")


def test_legal_values_and_parameters_without_a_rule_pass() -> None:
    check_parameters("Tree", RULES, {"max_depth": None, "criterion": "gini", "own": object()})


def test_the_error_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="max_depth=0 is not allowed"):
        check_parameters("Tree", RULES, {"criterion": "gini", "max_depth": 0})


def test_rules_are_values() -> None:
    assert Interval(int, 1) == COUNT
    assert OneOf("a", "b") == OneOf("a", "b") != OneOf("b", "a")
    assert len({Nothing(), Nothing(), Flag()}) == 2
    with pytest.raises(AttributeError):
        COUNT.low = 2  # type: ignore[misc]


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    message = "Tree has no parameter 'max_dept'. Did you mean 'max_depth'? Its parameters are criterion, max_depth."
    with pytest.raises(ParameterTypeError, match=re.escape(message)):
        check_names("Tree", ["criterion", "max_dept"], ["criterion", "max_depth"])


def test_a_name_like_no_other_is_answered_with_the_list() -> None:
    message = "Tree has no parameter 'zzz'. Its parameters are criterion, max_depth."
    with pytest.raises(ParameterTypeError, match=re.escape(message)):
        check_names("Tree", ["zzz"], ["criterion", "max_depth"])


def test_known_names_pass() -> None:
    check_names("Tree", iter(["criterion"]), ["criterion", "max_depth"])


ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers()), st.complex_numbers()
)


@given(name=st.sampled_from(sorted(RULES)), value=ANYTHING)
def test_every_value_is_accepted_or_refused_in_one_sentence_form(name: str, value: object) -> None:
    if not any(rule.accepts(value) for rule in RULES[name]):
        assert refusal(name, value).startswith(f"{name}=")


@given(name=st.sampled_from(sorted(RULES)), value=ANYTHING)
def test_what_is_suggested_is_legal(name: str, value: object) -> None:
    for rule in RULES[name]:
        nearest = rule.nearest(value)
        assert nearest is None or rule.accepts(nearest)

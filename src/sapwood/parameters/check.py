"""Which values a parameter may take, as data, and the one wording of every parameter error.

A parameter's rule is a tuple of alternatives; a value is legal if any of them accepts it:

    RULES = {
        "criterion": (OneOf("gini", "entropy"),),
        "max_depth": (Interval(int, low=1), Nothing(remedy="Use max_depth=None for no limit.")),
    }
    check_parameters("DecisionTreeClassifier", RULES, {"criterion": "gini", "max_depth": -3})

    ParameterError: max_depth=-3 is not allowed for DecisionTreeClassifier: it must be an integer of at least 1,
    or None. Use max_depth=None for no limit.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping, Sequence

from sapwood.arrays import plain
from sapwood.errors import ParameterError, ParameterTypeError
from sapwood.parameters.interval import as_number, is_number
from sapwood.parameters.rule import Rule
from sapwood.parameters.text import closest, listed
from sapwood.peer_names import advice, is_foreign


def check_parameters(owner: str, rules: Mapping[str, tuple[Rule, ...]], values: Mapping[str, object]) -> None:
    """Raise `ParameterError` for the first value that no alternative of its rule accepts.

    A parameter without a rule passes, so that a subclass may add its own.
    """
    for name, value in values.items():
        alternatives = rules.get(name)
        if alternatives is not None and not any(rule.accepts(value) for rule in alternatives):
            raise ParameterError(_refusal(owner, name, value, alternatives))


def check_names(owner: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Raise `ParameterTypeError` for the first name that is not a parameter of the owner."""
    for name in given:
        if name not in known:
            raise ParameterTypeError(_unknown(owner, name, known))


def _unknown(owner: str, name: str, known: Sequence[str]) -> str:
    known_advice = advice(name, known)
    if known_advice is not None:
        return f"{owner} has no parameter {name!r}. {known_advice}"
    meant = None if is_foreign(name) else closest(name, known)
    question = f" Did you mean {meant!r}?" if meant is not None else ""
    parameters = f"Its parameters are {', '.join(known)}."
    return f"{owner} has no parameter {name!r}.{question} {parameters}"


def allowed_values(alternatives: Sequence[Rule]) -> str:
    """Name the legal values in words that follow "it must be"."""
    return listed([rule.describe() for rule in alternatives], last=", or ")


def _refusal(owner: str, name: str, value: object, alternatives: Sequence[Rule]) -> str:
    allowed = allowed_values(alternatives)
    remedy = _remedy(name, value, alternatives)
    return f"{name}={_show(value)} is not allowed for {owner}: it must be {allowed}. {remedy}"


def _remedy(name: str, value: object, alternatives: Sequence[Rule]) -> str:
    """Prefer what was plainly meant, then the rule's own advice, then the nearest legal value."""
    nearest = [near for rule in alternatives if (near := rule.nearest(value)) is not None]
    nearest.sort(key=lambda near: _distance(near, value))
    if nearest and _distance(nearest[0], value) == _SAME:
        return f"Did you mean {name}={nearest[0]!r}?"
    advice = [rule.remedy for rule in alternatives if rule.remedy is not None]
    if advice:
        return advice[0]
    return f"Use {name}={nearest[0]!r}." if nearest else f"Leave out {name} to use its default."


_SAME = (False, 0.0)


def _distance(near: object, value: object) -> tuple[bool, float]:
    """Order suggestions: names and equal numbers first, then numbers of the value's own kind, then by distance."""
    number = as_number(value)
    if number is None or near == number or not is_number(near):
        return _SAME
    return isinstance(near, int) != isinstance(number, int), abs(near - number)


def _show(value: object) -> str:
    return " ".join(_SHORT.repr(plain(value)).split())


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60

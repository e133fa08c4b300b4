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

import difflib
import math
import numbers
import reprlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeGuard

import numpy as np

from sapwood.errors import ParameterError, ParameterTypeError
from sapwood.peer_names import advice, is_foreign


@dataclass(frozen=True)
class Rule:
    """One alternative of what a parameter may be."""

    words: ClassVar[str] = ""
    remedy: str | None = field(default=None, kw_only=True)
    """A sentence that tells the user what to do; without it one is made from the value."""

    def accepts(self, value: object) -> bool:
        """Say whether the value is legal; never raises."""
        raise NotImplementedError

    def describe(self) -> str:
        """Name the legal values in words that follow "it must be"."""
        return self.words

    def nearest(self, value: object) -> object | None:  # noqa: ARG002 - most rules have no nearest value
        """Return the legal value that was probably meant, or None."""
        return None


@dataclass(frozen=True)
class Interval(Rule):
    """A number between two bounds; a bound of None is none, and only a bound of infinity lets infinity in.

    With `kind=float` an integer is a number too, unless `integers=False`: then 1 and 1.0 can mean different things.
    """

    kind: type[int] | type[float]
    low: float | None = None
    high: float | None = None
    closed: Literal["both", "left", "right", "neither"] = "both"
    integers: bool = True

    def accepts(self, value: object) -> bool:
        """Accept a number of the right kind within the bounds; NaN and booleans are never numbers."""
        return self._is_of_kind(value) and self._above_low(value) and self._below_high(value)

    def describe(self) -> str:
        """Say for example "an integer of at least 1" or "a number above 0 and at most 1"."""
        return " ".join(part for part in (self._noun(), self._bounds()) if part)

    def nearest(self, value: object) -> object | None:
        """Return the bound the value overshot, or the value itself with its type put right."""
        number = _as_number(value)
        if number is None:
            return None
        if self.kind is int:
            number = round(number)
        elif not self.integers:
            number = float(number)
        return number if self.accepts(number) else self._edge(number)

    def _is_of_kind(self, value: object) -> TypeGuard[float]:
        if not _is_number(value):
            return False
        whole = isinstance(value, numbers.Integral)
        return whole if self.kind is int else self.integers or not whole

    def _above_low(self, value: float) -> bool:
        if self.low is None:
            return value > -math.inf
        return value >= self.low if self.closed in ("both", "left") else value > self.low

    def _below_high(self, value: float) -> bool:
        if self.high is None:
            return value < math.inf
        return value <= self.high if self.closed in ("both", "right") else value < self.high

    def _noun(self) -> str:
        if self.kind is int:
            return "an integer"
        if not self.integers:
            return "a float"
        return "a finite number" if self.low is None or self.high is None else "a number"

    def _bounds(self) -> str:
        low, high = self._low_words(), self._high_words()
        if low and high:
            return f"from {self.low} to {self.high}" if self.closed == "both" else f"{low} and {high}"
        return low or high.replace("at most", "of at most")

    def _low_words(self) -> str:
        if self.low is None or self.low == -math.inf:
            return ""
        return f"{'of at least' if self.closed in ('both', 'left') else 'above'} {self.low}"

    def _high_words(self) -> str:
        if self.high is None or self.high == math.inf:
            return ""
        return f"{'at most' if self.closed in ('both', 'right') else 'below'} {self.high}"

    def _edge(self, number: float) -> object | None:
        """Return the legal number next to the bound on the wrong side of which the number lies."""
        low, high = self._innermost()
        candidate = low if low is not None and number <= low else high
        return self.kind(candidate) if candidate is not None and self.accepts(self.kind(candidate)) else None

    def _innermost(self) -> tuple[float | None, float | None]:
        step = self._step()
        low = self.low if self.low is None or self.closed in ("both", "left") else self.low + step
        high = self.high if self.high is None or self.closed in ("both", "right") else self.high - step
        return low, high

    def _step(self) -> float:
        if self.kind is int:
            return 1
        return 0.1 if self.low is None or self.high is None else min(1.0, self.high - self.low) / 10


@dataclass(frozen=True, init=False)
class OneOf(Rule):
    """One of a few strings."""

    choices: tuple[str, ...]

    def __init__(self, *choices: str, remedy: str | None = None) -> None:
        object.__setattr__(self, "choices", choices)
        object.__setattr__(self, "remedy", remedy)

    def accepts(self, value: object) -> bool:
        """Accept exactly the listed strings."""
        return isinstance(value, str) and value in self.choices

    def describe(self) -> str:
        """List the strings."""
        return _enumerate([repr(choice) for choice in self.choices], last=" or ")

    def nearest(self, value: object) -> object | None:
        """Return the string that was probably mistyped."""
        return _closest(value, self.choices) if isinstance(value, str) else None


@dataclass(frozen=True)
class Flag(Rule):
    """True or False."""

    words: ClassVar[str] = "True or False"

    def accepts(self, value: object) -> bool:
        """Accept Python's and NumPy's booleans."""
        return isinstance(value, (bool, np.bool_))

    def nearest(self, value: object) -> object | None:
        """Read 0, 1 and the words as booleans."""
        word = str(value).lower() if isinstance(value, (str, int)) else ""
        return {"0": False, "1": True, "false": False, "true": True}.get(word)


@dataclass(frozen=True)
class Nothing(Rule):
    """None."""

    words: ClassVar[str] = "None"

    def accepts(self, value: object) -> bool:
        """Accept None only."""
        return value is None


@dataclass(frozen=True)
class RandomState(Rule):
    """A seed, a source of random numbers, or None for a fresh seed."""

    def accepts(self, value: object) -> bool:
        """Accept None, an integer of 32 bits, and NumPy's old and new generators."""
        return value is None or _SEED.accepts(value) or isinstance(value, (np.random.RandomState, np.random.Generator))

    def describe(self) -> str:
        """Name the accepted sources."""
        return f"{_SEED.describe()}, a numpy RandomState or Generator, or None"

    def nearest(self, value: object) -> object | None:
        """Return the nearest seed."""
        return _SEED.nearest(value)


_SEED = Interval(int, 0, 2**32 - 1)


@dataclass(frozen=True)
class ArrayLike(Rule):
    """A list, array, series, table or anything else with a length and an order."""

    words: ClassVar[str] = "an array or a list"

    def accepts(self, value: object) -> bool:
        """Accept what has a length or a shape, but no text, mapping, set, scalar or class."""
        if isinstance(value, (str, bytes, Mapping, AbstractSet, type, np.generic)):
            return False
        shape = getattr(value, "shape", None)
        return shape != () if isinstance(shape, tuple) else hasattr(value, "__len__") or hasattr(value, "__array__")


@dataclass(frozen=True)
class MappingLike(Rule):
    """A dictionary."""

    words: ClassVar[str] = "a dictionary"

    def accepts(self, value: object) -> bool:
        """Accept every mapping."""
        return isinstance(value, Mapping)


@dataclass(frozen=True)
class CallableRule(Rule):
    """A function."""

    words: ClassVar[str] = "a function"

    def accepts(self, value: object) -> bool:
        """Accept every callable."""
        return callable(value)


@dataclass(frozen=True)
class EstimatorRule(Rule):
    """An object with scikit-learn's methods."""

    words: ClassVar[str] = "an estimator with fit and predict"

    def accepts(self, value: object) -> bool:
        """Accept instances, not classes."""
        return hasattr(value, "fit") and hasattr(value, "predict") and not isinstance(value, type)


@dataclass(frozen=True)
class Text(Rule):
    """A name, whose meaning is checked where it is used."""

    words: ClassVar[str] = "a name"

    def accepts(self, value: object) -> bool:
        """Accept every string."""
        return isinstance(value, str)


def check_parameters(owner: str, rules: Mapping[str, tuple[Rule, ...]], values: Mapping[str, object]) -> None:
    """Raise `ParameterError` for the first value that no alternative of its rule accepts.

    A parameter without a rule passes, so that a subclass may add its own.
    """
    for name, value in values.items():
        alternatives = rules.get(name)
        if alternatives is not None and not any(rule.accepts(value) for rule in alternatives):
            raise ParameterError(_refusal(owner, name, value, alternatives))


def check_names(owner: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Raise `ParameterTypeError` for the first name that is no parameter of the owner."""
    for name in given:
        if name not in known:
            raise ParameterTypeError(_unknown(owner, name, known))


def _unknown(owner: str, name: str, known: Sequence[str]) -> str:
    words = advice(name, known)
    if words is not None:
        return f"{owner} has no parameter {name!r}. {words}"
    closest = None if is_foreign(name) else _closest(name, known)
    question = f" Did you mean {closest!r}?" if closest is not None else ""
    parameters = f"Its parameters are {', '.join(known)}."
    return f"{owner} has no parameter {name!r}.{question} {parameters}"


def allowed_values(alternatives: Sequence[Rule]) -> str:
    """Name the legal values in words that follow "it must be"."""
    return _enumerate([rule.describe() for rule in alternatives], last=", or ")


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
    """Order suggestions: words and equal numbers first, then numbers of the value's own kind, then by distance."""
    number = _as_number(value)
    if number is None or near == number or not _is_number(near):
        return _SAME
    return isinstance(near, int) != isinstance(number, int), abs(near - number)


def _is_number(value: object) -> TypeGuard[float]:
    return not isinstance(value, bool) and isinstance(value, numbers.Real) and bool(value == value)  # noqa: PLR0124 - NaN


def _as_number(value: object) -> float | None:
    number: object = _parse(value) if isinstance(value, str) else _plain(value)
    return number if _is_number(number) and abs(number) <= sys.float_info.max else None


def _parse(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return math.nan
    return int(number) if number.is_integer() else number


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value


def _closest(word: str, choices: Iterable[str]) -> str | None:
    by_lower_case = {choice.lower(): choice for choice in choices}
    matches = difflib.get_close_matches(word.lower(), by_lower_case, n=1)
    return by_lower_case[matches[0]] if matches else None


def _enumerate(parts: Sequence[str], last: str) -> str:
    return last.join(part for part in (", ".join(parts[:-1]), parts[-1]) if part)


def _show(value: object) -> str:
    return " ".join(_SHORT.repr(_plain(value)).split())


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60

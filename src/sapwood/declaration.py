"""Parameters and fitted attributes of an estimator, each declared once.

    @declared
    class RandomForestClassifier(Forest):
        n_estimators: int = parameter(Interval(int, low=1), default=100, doc="Number of trees.", kw_only=False)
        oob_score_: float = fitted("Out-of-bag accuracy, if oob_score is set.")

`declared` makes a dataclass of the class. IDEs, type checkers and scikit-learn read its constructor; `rules`, which
every `fit` checks, and the sections "Parameters" and "Attributes" of its docstring follow from the declarations. A
class that only changes the default of an inherited parameter writes `max_bins: int | None = None`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Container, Iterable
from dataclasses import Field, dataclass, field, fields
from functools import wraps
from typing import Any, Literal, TypeVar, dataclass_transform

from sapwood.keywords import keywords_of
from sapwood.parameters import OneOf, Rule, allowed_values

Class = TypeVar("Class", bound=type)
WIDTH = 120  # of a line of documentation


@dataclass(frozen=True)
class Meaning:
    """What parameters of several estimators have in common: the values they may take, and what they do."""

    rules: tuple[Rule, ...]
    doc: str


def parameter(*given: Rule | Meaning, default: Any, doc: str = "", kw_only: bool = True) -> Any:
    """Declare a parameter by alternative rules and a text, or by a `Meaning` that other estimators share.

    A default of "auto" is always allowed.
    """
    rules = tuple(rule for rule in given if isinstance(rule, Rule))
    for shared in given:
        if isinstance(shared, Meaning):
            rules, doc = (*rules, *shared.rules), doc or shared.doc
    if default == "auto" and not any(rule.accepts(default) for rule in rules):
        rules = (*rules, OneOf(default))
    return field(default=default, kw_only=kw_only, metadata={"rules": rules, "doc": doc})


def fitted(doc: str, *, init: Literal[False] = False) -> Any:
    """Declare an attribute that `fit` sets."""
    return field(init=init, repr=False, compare=False, metadata={"doc": doc})


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(parameter, fitted))
def declared(cls: Class) -> Class:
    """Make constructor, rules and documentation of a class from what it declares and inherits."""
    text = cls.__doc__  # None under python -OO
    made: Any = dataclass(kw_only=True, eq=False, repr=False)(cls)
    for one in fields(made):
        if not one.metadata:
            one.metadata = _inherited(made, one.name)
    parameters = [one for one in fields(made) if one.init]
    made.rules = {one.name: one.metadata["rules"] for one in parameters}
    if getattr(made, "without_effect", None):
        made.__init__ = _dropping(made.__init__, made.without_effect)
    if text is not None:
        text = text.rstrip() + _section("Parameters", map(_parameter_entry, parameters))
        text += _section("Attributes", [_entry(one) for one in fields(made) if not one.init]) + "\n    "
    made.__doc__ = text
    return cls


def _inherited(cls: type, name: str) -> Any:
    """What a parameter whose default alone is new means in the classes above."""
    for base in cls.__mro__[1:]:
        found = getattr(base, "__dataclass_fields__", {}).get(name)
        if found is not None and found.metadata:
            return found.metadata
    raise TypeError(f"{cls.__name__}.{name} is not declared by parameter(…), nor in any class above.")


def _section(title: str, entries: Iterable[str]) -> str:
    """A section of a docstring in numpydoc's form."""
    text = "\n".join([title, "-" * len(title), *entries])
    return "\n\n" + textwrap.indent(text, "    ")


def _parameter_entry(one: Field[Any]) -> str:
    return _entry(one, f" : {allowed_values(one.metadata['rules'])}, default={one.default!r}")


def _entry(one: Field[Any], kind: str = "") -> str:
    lines = textwrap.wrap(" ".join(one.metadata["doc"].split()), WIDTH - 8, break_on_hyphens=False)
    return "\n".join([f"{one.name}{kind}", *(f"    {line}" for line in lines)])


def _dropping(init: Callable[..., None], names: Container[str]) -> Callable[..., None]:
    """A constructor that drops parameters without effect, unless it declares one of that name."""
    known = keywords_of(init)

    @wraps(init)
    def call(self: Any, *unnamed: Any, **parameters: Any) -> None:
        init(self, *unnamed, **{n: value for n, value in parameters.items() if n in known or n not in names})

    return call

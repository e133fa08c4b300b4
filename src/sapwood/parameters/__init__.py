"""Rules of parameters, and the check of values by them."""

from sapwood.parameters.check import allowed_values, check_names, check_parameters
from sapwood.parameters.containers import ArrayLike, Each, MappingLike, Written
from sapwood.parameters.interval import Interval, RandomState
from sapwood.parameters.rule import Rule
from sapwood.parameters.single import (
    Beginner,
    CallableRule,
    EstimatorRule,
    Flag,
    Folds,
    NotANumber,
    Nothing,
    OneOf,
    PathRule,
    Text,
    objective_rule,
)

__all__ = [
    "ArrayLike",
    "Beginner",
    "CallableRule",
    "Each",
    "EstimatorRule",
    "Flag",
    "Folds",
    "Interval",
    "MappingLike",
    "NotANumber",
    "Nothing",
    "OneOf",
    "PathRule",
    "RandomState",
    "Rule",
    "Text",
    "Written",
    "allowed_values",
    "check_names",
    "check_parameters",
    "objective_rule",
]

"""Recipes: the numbers that "auto" stands for, chosen by counts of the training data alone.

A recipe never looks at values, the clock or the number of threads, so the same data give the same model everywhere. A
released recipe is never changed: a better one gets a new name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

RoundsBy = Literal["validated", "stopped", "fixed"]
"""How the number of rounds is found if it is "auto": by validation, by the user's early stopping, or not at all."""
AUTO = "auto"
FEW_ROWS = 200  # fewer are too few to validate on
LEAST_TO_COMPARE = 1_000  # fewer hardly tell which trees are better, and should take little time
SOME_ROWS = 5_000  # fewer are learned from with more randomness
MANY_ROWS = 50_000  # from here on, one part of the rows is enough to validate on
MOST_ROWS = 200_000  # from here on, the best number of rounds is beyond what most want to wait for
N_FOLDS = 4
HELD_OUT = 5  # one row of so many validates, if there are no folds
MOST_ROUNDS = 2000
FIXED_ROUNDS = 300
MOST_BINS = 256  # of a histogram; XGBoost's 256 counts as 255
USUAL_ROUNDS = 400  # that the learning rates below are for
LINEAR_LEAVES = 31  # of a tree, at most, below LINEAR_ROWS: slopes do the work of smaller leaves
LINEAR_ROWS = 10_000
MOST_CELLS = 20_000_000  # that linear leaves keep as numbers, 160 MB
SQUARED = (None, "squared_error", "reg:squarederror")  # objectives


XGBOOST: dict[str, Any] = {
    **{"n_estimators": 100, "learning_rate": 0.3, "max_depth": 6, "max_leaves": 0, "grow_policy": "depthwise"},
    **{"min_child_weight": 1.0, "subsample": 1.0, "leaf_rows": "drawn", "colsample_bytree": 1.0, "reg_lambda": 1.0},
    **{"max_cat_to_onehot": 4, "cat_smooth": 0.0, "cat_l2": 0.0, "min_data_per_group": 0},
    **{"random_strength": 0.0, "extra_trees": False, "multi_strategy": "one_output_per_tree", "linear_tree": False},
    "target_statistics": False,
}
"""XGBoost's defaults, and the behaviour of XGBoost for parameters that it does not have."""

SYMMETRIC: dict[str, Any] = {
    **{"grow_policy": "symmetric", "max_depth": 6, "max_leaves": 0, "random_strength": 1.0, "extra_trees": False},
    **{"subsample": 0.8, "colsample_bytree": 0.8},
}
"""Symmetric trees that validation compares with others."""
SYMMETRIC_STEPS = 2.0  # how much longer their steps are: such trees gain less


@dataclass(frozen=True)
class Counts:
    """What a recipe knows of the training data. Numbers and rankings have no classes."""

    rows: int
    columns: int
    classes: int = 0
    targets: int = 1


class Choice(NamedTuple):
    """A value, and a phrase that says why."""

    value: Any
    reason: str


Choices = dict[str, Choice]


@dataclass(frozen=True)
class Recipe:
    """Values for all parameters that are "auto", and how rounds are validated if their number is one of them."""

    choices: Choices = field(default_factory=dict)
    n_folds: int = 0  # 0: no validation, 1: one part of the rows, more: folds whose models are averaged
    alternative: dict[str, Any] = field(default_factory=dict)  # values of other trees, if validation is to choose
    linear: dict[str, Any] = field(default_factory=dict)  # values with linear leaves, if validation is to choose

    @property
    def values(self) -> dict[str, Any]:
        """The values by the names of their parameters."""
        return {name: choice.value for name, choice in self.choices.items()}

    @property
    def sentences(self) -> list[str]:
        """One for each choice."""
        return [f"{name}={choice.value}: {choice.reason}." for name, choice in self.choices.items()]

    def replaced(self, chosen: Mapping[str, Any]) -> Recipe:
        """The recipe with values that validation chose instead."""
        new = {name: value for name, value in chosen.items() if name in self.choices and self.values[name] != value}
        return replace(self, choices=self.choices | {n: Choice(v, "chosen by validation") for n, v in new.items()})

    def patience(self, rate: float) -> int:
        """Rounds without improvement that end the validation: more if steps are small."""
        return max(20, math.ceil(2.5 / rate))


def resolve(counts: Counts, given: Mapping[str, Any], validates: bool) -> Recipe:
    """The recipe that was given, for data of these counts; what else was given by the user is taken as it is."""
    name, stops = given["recipe"], given["early_stopping_rounds"] is not None
    rounds: RoundsBy = "stopped" if stops else "validated" if validates else "fixed"
    recipe = RECIPES[name](counts, given, rounds)
    choices = {n: choice for n, choice in recipe.choices.items() if is_auto(given.get(n))}
    others = ({n: value for n, value in own.items() if n in choices} for own in (recipe.alternative, recipe.linear))
    return Recipe(choices, recipe.n_folds, *others)


def is_auto(value: Any) -> bool:
    """Whether a parameter is left to the recipe."""
    return isinstance(value, str) and value == AUTO


def _xgboost(counts: Counts, given: Mapping[str, Any], rounds: RoundsBy) -> Recipe:  # noqa: ARG001
    choices = {name: Choice(value, "XGBoost's default") for name, value in XGBOOST.items()}
    return Recipe(choices, N_FOLDS if given.get("cv") is not None else 0)


def _recipe_2026_1(counts: Counts, given: Mapping[str, Any], rounds: RoundsBy) -> Recipe:
    n, policy = counts.rows, given.get("grow_policy")
    by_level = policy in ("depthwise", "symmetric")
    rate, leaves, ridge = _size_of_steps(counts)
    size, n_folds = f"{n} rows", 0
    if given.get("cv") is not None:
        n_folds = N_FOLDS  # or as many as the user's
    elif rounds == "validated" and FEW_ROWS <= n < MOST_ROWS and is_auto(given.get("n_estimators")):
        n_folds = N_FOLDS if n < MANY_ROWS else 1
    choices = {
        "n_estimators": Choice(MOST_ROUNDS, "at most; those that do not help are not used"),
        "learning_rate": Choice(rate, f"small steps for {size}"),
        "max_leaves": _leaves(counts, leaves, given, by_level),
        "max_depth": Choice(6 if by_level else 10, "limits branches that follow single rows"),
        "grow_policy": Choice("lossguide", "the leaf of largest gain is split first"),
        "reg_lambda": Choice(ridge, "keeps leaves of few rows small"),
        "min_child_weight": Choice(1e-3, "rows predicted with certainty may have a leaf of their own"),
        "subsample": _share_of_rows(counts),
        "leaf_rows": Choice("all", "draws decide about splits only"),
        "colsample_bytree": Choice(_share_of_columns(counts), f"{counts.columns} columns"),
        "max_cat_to_onehot": Choice(16, "few levels are split one by one"),
        "cat_smooth": Choice(10.0, "levels of few rows are near the mean"),
        "cat_l2": Choice(0.0, "leaves of subsets of levels are as safe as others"),
        "min_data_per_group": Choice(10, "levels of fewer rows are one group"),
        "target_statistics": Choice(False, "splits by subsets of levels were as good"),
        "random_strength": _noise(policy),
        "extra_trees": _drawn_thresholds(counts, policy),
        "multi_strategy": _trees_of_round(counts, given.get("linear_tree")),
        "linear_tree": _linear_leaves(counts, given, n_folds),
    }
    if rounds != "stopped" and (n_folds == 0 or not is_auto(given["n_estimators"])):
        choices["n_estimators"] = Choice(100 if n < FEW_ROWS else FIXED_ROUNDS, "nothing is validated")
        wanted = given["n_estimators"]
        wanted = choices["n_estimators"].value if is_auto(wanted) else wanted
        longer = min(0.3, rate * (USUAL_ROUNDS / wanted) ** 0.85)
        choices["learning_rate"] = Choice(_rounded(longer), f"suits {wanted} rounds of {size}")
    linear = {} if by_level else {"max_leaves": _leaves_with_lines(counts, leaves)}
    return Recipe(choices, n_folds, _alternative(counts, given, n_folds), linear)


def _alternative(counts: Counts, given: Mapping[str, Any], n_folds: int) -> dict[str, Any]:
    """Symmetric trees where few rows have two classes; they need histograms, limits and columns of their own."""
    fits = given.get("tree_method") != "exact" and given.get("max_bin", 0) <= MOST_BINS
    fits = fits and given.get("colsample_bynode", 1.0) >= 1.0
    are_open = all(is_auto(given.get(name)) for name in ("grow_policy", "max_depth", "max_leaves"))
    is_needed = counts.classes == 2 and LEAST_TO_COMPARE <= counts.rows < SOME_ROWS and n_folds > 1
    if not (fits and is_needed and are_open):
        return {}
    return SYMMETRIC | {"learning_rate": _rounded(SYMMETRIC_STEPS * _size_of_steps(counts)[0])}


def _leaves(counts: Counts, leaves: int, given: Mapping[str, Any], by_level: bool) -> Choice:
    if by_level:
        return Choice(0, "levels are complete")
    if given.get("linear_tree") is True:
        return Choice(_leaves_with_lines(counts, leaves), f"suits {counts.rows} rows and linear leaves")
    return Choice(leaves, f"suits {counts.rows} rows")


def _leaves_with_lines(counts: Counts, leaves: int) -> int:
    return min(leaves, LINEAR_LEAVES) if counts.rows < LINEAR_ROWS else leaves


def _linear_leaves(counts: Counts, given: Mapping[str, Any], n_folds: int) -> Choice:
    """Validation chooses where linear leaves suit; they were measured for the squared error of one target."""
    limits = given.get("monotone_constraints") is not None or given.get("max_delta_step", 0.0) > 0.0
    obstacles = {
        "leaves of one value suit classes": counts.classes > 0,
        "nothing is validated that would tell if linear leaves help": n_folds == 0,
        f"leaves of one value take less time, and {counts.rows} rows hardly tell": counts.rows < LEAST_TO_COMPARE,
        "linear leaves are for the squared error": given.get("objective") not in SQUARED,
        "linear leaves are for one target": counts.targets > 1,
        "monotone_constraints and max_delta_step limit leaves of one value": limits,
        f"lines need a copy of {counts.rows} x {counts.columns} numbers": counts.rows * counts.columns > MOST_CELLS,
    }
    found = next((reason for reason, is_met in obstacles.items() if is_met), None)
    return Choice("validate", "kept if they predict better") if found is None else Choice(False, found)


def _trees_of_round(counts: Counts, linear: Any) -> Choice:
    if counts.classes > 2 and linear in (True, "validate"):
        return Choice("one_output_per_tree", "linear leaves need a tree for each class")
    if counts.classes > 2:
        return Choice("multi_output_tree", f"one tree of all {counts.classes} classes learns more from the same rows")
    if counts.targets > 1:
        return Choice("one_output_per_tree", f"trees of each of the {counts.targets} targets fit it best")
    return Choice("one_output_per_tree", "there is one score, or each has its own trees")


def _share_of_rows(counts: Counts) -> Choice:
    if counts.rows < FEW_ROWS:
        return Choice(1.0, "few rows")
    return Choice(0.6 if counts.rows < SOME_ROWS else 0.8, f"trees differ more; suits {counts.rows} rows")


def _noise(policy: Any) -> Choice:
    if policy == "symmetric":
        return Choice(1.0, "symmetric trees differ more")
    return Choice(0.0, "noise of scores did not pay")


def _drawn_thresholds(counts: Counts, policy: Any) -> Choice:
    if policy == "symmetric":
        return Choice(False, "noise of scores does as well for symmetric trees")
    if counts.classes == 2 and counts.rows >= SOME_ROWS:
        return Choice(False, f"{counts.rows} rows tell good thresholds of two classes")
    return Choice("alternate", "models of every other fold differ more")


def _size_of_steps(counts: Counts) -> tuple[float, int, float]:
    """Learning rate, leaves of a tree, and penalty of leaf values; for few rows, the same whatever their number."""
    n = max(counts.rows, FEW_ROWS)
    if counts.classes == 2:
        return _rounded(_clip(0.05 * (n / 1e4) ** 0.25, 0.02, 0.1)), 31 if n >= 2000 else 15, 2.0
    if counts.classes:
        return 0.08, 31 if n >= 2000 else 15, 1.0
    return _rounded(_clip(0.045 * (n / 1e4) ** 0.16, 0.02, 0.1)), 63 if n >= 5000 else 31 if n >= 1000 else 15, 1.0


def _share_of_columns(counts: Counts) -> float:
    """At least 4 columns; most of them for numbers, where a few columns often decide together."""
    wanted = 1.0 if counts.columns < 6 else 0.8 if not counts.classes or counts.columns < 12 else 0.6
    return _rounded(max(wanted, min(1.0, 4 / counts.columns)))


def _clip(number: float, low: float, high: float) -> float:
    return min(max(number, low), high)


def _rounded(number: float) -> float:
    """To three significant digits, which are easier to read and to repeat."""
    return float(f"{number:.3g}")


RECIPES: dict[str, Callable[[Counts, Mapping[str, Any], RoundsBy], Recipe]] = {
    "2026.1": _recipe_2026_1,
    "xgboost": _xgboost,
}

"""What "auto" stands for: a pure function of counts, and of what the user gave."""

from __future__ import annotations

from typing import Any

import pytest

from sapwood import NewtonBoostingClassifier
from sapwood.boosting.recipe import AUTO, RECIPES, SYMMETRIC, XGBOOST, Counts, Recipe, resolve

GIVEN = dict.fromkeys(XGBOOST, AUTO) | {"recipe": "2026.1", "early_stopping_rounds": None}


def recipe_of(counts: Counts, validates: bool = True, **given: Any) -> Recipe:
    return resolve(counts, GIVEN | given, validates)


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_names_parameters_of_the_estimator_and_all_of_the_same(name: str) -> None:
    found = recipe_of(Counts(1000, 10, 2), recipe=name).values
    assert set(found) == set(XGBOOST)
    assert NewtonBoostingClassifier(**found).get_params().items() >= found.items()


# By hand: 0.05 (n / 10^4)^(1/4) for two classes, 0.045 (n / 10^4)^0.16 for numbers, within their limits.
@pytest.mark.parametrize(
    ("counts", "rate", "leaves", "n_folds"),
    [
        (Counts(300, 10, 2), 0.0208, 15, 4),
        (Counts(10_000, 20, 2), 0.05, 31, 4),
        (Counts(50_000, 20, 2), 0.0748, 31, 1),
        (Counts(1000, 20, 3), 0.08, 15, 4),
        (Counts(500, 5), 0.0279, 15, 4),
        (Counts(10_000, 5), 0.045, 63, 4),
        (Counts(20_000, 5), 0.0503, 63, 4),
    ],
)
def test_numbers_by_hand(counts: Counts, rate: float, leaves: int, n_folds: int) -> None:
    found = recipe_of(counts)
    assert (found.values["learning_rate"], found.values["max_leaves"], found.n_folds) == (rate, leaves, n_folds)


@pytest.mark.parametrize(("n_rows", "n_rounds"), [(150, 100), (200_000, 300), (1_000_000, 300)])
def test_rounds_are_fixed_for_few_and_for_many_rows(n_rows: int, n_rounds: int) -> None:
    found = recipe_of(Counts(n_rows, 10, 2))
    assert (found.values["n_estimators"], found.n_folds) == (n_rounds, 0)


def test_what_was_given_is_not_chosen() -> None:
    found = recipe_of(Counts(1000, 10, 2), n_estimators=50, max_leaves=7)
    assert "n_estimators" not in found.values
    assert "max_leaves" not in found.values
    assert found.n_folds == 0
    assert found.values["learning_rate"] > recipe_of(Counts(1000, 10, 2)).values["learning_rate"]


def test_folds_of_the_user_validate_whatever_the_number_of_rows_and_rounds() -> None:
    assert recipe_of(Counts(50, 10, 2), cv=3).n_folds > 1
    assert recipe_of(Counts(10**6, 10, 2), cv=3).n_folds > 1
    assert recipe_of(Counts(1000, 10, 2), cv=3, recipe="xgboost").n_folds > 1
    few, usual = recipe_of(Counts(1000, 10, 2), cv=3, n_estimators=50), recipe_of(Counts(1000, 10, 2), cv=3)
    assert few.n_folds == usual.n_folds > 1
    assert few.values["learning_rate"] > usual.values["learning_rate"]


def test_draws_differ_by_rows_and_task() -> None:
    drawn = [recipe_of(Counts(*counts)).values for counts in ((4999, 9, 2), (5000, 9, 2), (5000, 9, 3), (5000, 9, 0))]
    assert [own["extra_trees"] for own in drawn] == ["alternate", False, "alternate", "alternate"]
    assert [own["subsample"] for own in drawn] == [0.6, 0.8, 0.8, 0.8]


def test_levels_are_complete_if_trees_grow_by_level() -> None:
    found = recipe_of(Counts(1000, 10, 2), grow_policy="depthwise").values
    assert (found["max_depth"], found["max_leaves"]) == (6, 0)


def test_symmetric_trees_are_compared_for_few_rows_of_two_classes() -> None:
    few = Counts(1000, 10, 2)
    steps = {"learning_rate": pytest.approx(2.0 * recipe_of(few).values["learning_rate"], rel=0.01)}
    assert recipe_of(few).alternative == SYMMETRIC | steps
    assert set(recipe_of(few, subsample=0.5).alternative) == {"learning_rate", *SYMMETRIC} - {"subsample"}
    for counts in (Counts(5000, 10, 2), Counts(999, 10, 2), Counts(1000, 10, 3), Counts(1000, 10)):
        assert recipe_of(counts).alternative == {}
    for given in (
        {"grow_policy": "depthwise"},
        {"max_leaves": 8},
        {"max_depth": None},
        {"tree_method": "exact"},
        {"max_bin": 300},
    ):
        assert recipe_of(few, **given).alternative == {}
    assert recipe_of(few, colsample_bynode=0.5).alternative == recipe_of(few, n_estimators=50).alternative == {}


def test_linear_leaves_are_compared_for_squared_errors_that_are_validated() -> None:
    found = recipe_of(Counts(9_999, 20))
    assert found.values["linear_tree"] == "validate"
    assert (found.values["max_leaves"], found.linear) == (63, {"max_leaves": 31})
    assert recipe_of(Counts(10_000, 20)).linear == {"max_leaves": 63}
    assert recipe_of(Counts(10_000, 20), objective="squared_error").values["linear_tree"] == "validate"
    assert recipe_of(Counts(10_000, 20), max_leaves=40).linear == {}
    assert recipe_of(Counts(9_999, 20), linear_tree=True).values["max_leaves"] == 31


@pytest.mark.parametrize(
    ("counts", "given", "reason"),
    [
        (Counts(10_000, 20, 2), {}, "suit classes"),
        (Counts(10_000, 20), {"n_estimators": 100}, "nothing is validated"),
        (Counts(200_000, 20), {}, "nothing is validated"),
        (Counts(999, 20), {}, "999 rows hardly tell"),
        (Counts(10_000, 20), {"objective": "poisson"}, "squared error"),
        (Counts(10_000, 20, targets=2), {}, "one target"),
        (Counts(10_000, 20), {"monotone_constraints": [1] * 20}, "monotone_constraints"),
        (Counts(10_000, 20), {"max_delta_step": 1.0}, "max_delta_step"),
        (Counts(10_000, 2_001), {}, "10000 x 2001 numbers"),
    ],
)
def test_leaves_have_one_value_where_linear_ones_do_not_suit(counts: Counts, given: Any, reason: str) -> None:
    found = recipe_of(counts, **given).choices["linear_tree"]
    assert found.value is False
    assert reason in found.reason


def test_early_stopping_of_the_user_takes_small_steps_and_no_folds() -> None:
    found = recipe_of(Counts(1000, 10, 2), early_stopping_rounds=10)
    assert (found.values["n_estimators"], found.n_folds) == (2000, 0)
    assert found.values["learning_rate"] == recipe_of(Counts(1000, 10, 2)).values["learning_rate"]


def test_each_choice_has_a_sentence() -> None:
    found = recipe_of(Counts(1000, 10, 3))
    assert len(found.sentences) == len(found.choices)
    assert "multi_strategy=multi_output_tree: one tree of all 3 classes" in "\n".join(found.sentences)


def test_xgboosts_recipe_does_not_depend_on_the_data() -> None:
    one, other = (recipe_of(Counts(*counts), recipe="xgboost") for counts in ((10, 1, 0), (10**6, 100, 7)))
    assert one.values == other.values == XGBOOST
    assert one.n_folds == other.n_folds == 0

"""What users hold in their hands: shapes, names, text, shap's own explanations; and the worked example."""

from __future__ import annotations

import sys
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import sapwood
from sapwood import DecisionTreeClassifier, DecisionTreeRegressor, GradientBoostingClassifier
from sapwood.errors import InternalError, MissingExtraError, ParameterError
from sapwood.explain import ShapValues, shap_interaction_values, shap_values

X = pd.DataFrame(
    {
        "size": [1.0, 2.0, 3.0, 4.0, np.nan, 2.5],
        "colour": ["red", "blue", "red", None, "blue", "red"],
        "day": pd.to_datetime(
            ["2024-01-01", "2024-01-02", "2024-02-01", "2024-03-01 12:30", None, "2024-01-05"], format="ISO8601"
        ),
    }
)
Y = np.array([0, 1, 2, 0, 1, 2])


def worked_example() -> Any:
    """x0 parts two rows of 0 from two others, which x1 parts into 4 and 8."""
    A = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
    return DecisionTreeRegressor().fit(A, [0.0, 0.0, 4.0, 8.0])


def test_a_tree_worked_by_hand() -> None:
    """Of the row (1, 1): nothing known 3; x0 known 6; x1 known (0 + 8) / 2 = 4; both 8.
    So x0 gets ((6 - 3) + (8 - 4)) / 2 = 3.5 and x1 ((4 - 3) + (8 - 6)) / 2 = 1.5; together they gain 8 - 6 - 4 + 3 = 1.
    """
    model = worked_example()
    found = shap_values(model, [[1.0, 1.0]])
    assert found.base_values.tolist() == [3.0]
    assert_allclose(found.values, [[3.5, 1.5]], rtol=1e-14)
    pairs = shap_interaction_values(model, [[1.0, 1.0]])
    assert_allclose(pairs.values, [[[3.0, 0.5], [0.5, 1.0]]], rtol=1e-14)


def test_the_same_against_a_background_of_one_row() -> None:
    """Against (0, 0): nothing of the row 0; x0 4; x1 0; both 8."""
    found = shap_values(worked_example(), [[1.0, 1.0]], background=[[0.0, 0.0]])
    assert found.base_values.tolist() == [0.0]
    assert_allclose(found.values, [[6.0, 2.0]], rtol=1e-14)


def fitted() -> ShapValues:
    return shap_values(DecisionTreeClassifier().fit(X, Y), X)


def test_data_is_shown_as_people_read_it() -> None:
    data = fitted().data
    assert data[0].tolist() == [1.0, "red", datetime(2024, 1, 1)]
    assert data[3, 2] == datetime(2024, 3, 1, 12, 30)
    assert all(isinstance(cell, float) and np.isnan(cell) for cell in (data[3, 1], data[4, 0], data[4, 2]))
    unheard = shap_values(DecisionTreeClassifier().fit(X, Y), X.assign(colour="green"))
    assert unheard.data[0, 1] == "(unseen)"
    numbers = shap_values(worked_example(), np.float32([[1, 0.1]]))
    assert numbers.data.dtype == np.float64


def test_times_and_truth_values_are_objects_of_python() -> None:
    table = pd.DataFrame(
        {
            "stay": np.array([5400, 90_000, "NaT", 2**62], dtype="m8[s]"),
            "day": np.array(["2024-01-01", "1969-12-31T12:00", "NaT", "+20000-01-01"], dtype="M8[s]"),
            "flag": pd.array([True, False, None, True], dtype="boolean"),
        }
    )
    data = shap_values(DecisionTreeRegressor().fit(table, np.arange(4.0)), table).data
    assert data[:2].tolist() == [
        [timedelta(hours=1.5), datetime(2024, 1, 1), True],
        [timedelta(hours=25), datetime(1969, 12, 31, 12), False],
    ]
    assert [type(cell) for cell in data[0]] == [timedelta, datetime, bool]
    assert all(isinstance(cell, float) and np.isnan(cell) for cell in data[2])
    assert data[3, 1] == "20000-01-01"
    assert data[3, 0].endswith(" d")


def test_one_output_by_name_or_position() -> None:
    model = DecisionTreeClassifier().fit(X, np.array(["a", "b", "c"])[Y])
    found = shap_values(model, X)
    assert found.output_names == ("a", "b", "c")
    for output in ("c", 2, -1):
        part = found.for_output(output)
        assert part.values.tobytes() == np.ascontiguousarray(found.values[..., 2]).tobytes()
        assert (part.base_values == found.base_values[:, 2]).all()
        assert part.output_names == ("c",)
        assert part.for_output(0).values is part.values
    assert found.mean_abs().shape == (3, 3)
    assert part.mean_abs().shape == (3,)
    pairs = shap_interaction_values(model, X)
    assert pairs.for_output(1).values.shape == (6, 3, 3)
    assert pairs.for_output(1).summed().values.shape == (6, 3)
    with pytest.raises(ParameterError, match=r"it must be one of 'a', 'b', 'c', or a number from 0 to 2\.$"):
        found.for_output(7)


@pytest.mark.parametrize("kind", [int, float])
def test_numbers_are_names_where_names_are_numbers(kind: type) -> None:
    found = shap_values(DecisionTreeClassifier().fit(X, (Y + 1).astype(kind)), X)
    assert found.for_output(1).output_names == (1,)
    assert (found.for_output(3).values == found.values[..., 2]).all()
    for output in (0, -1, 7, "red"):
        with pytest.raises(ParameterError, match=r"is not allowed: it must be one of 1\S*, 2\S*, 3(\.0)?\.$"):
            found.for_output(output)


@pytest.mark.parametrize("labels", [("bad", "ok"), (0, 1), (False, True)])
def test_one_score_tells_both_of_two_classes(labels: tuple[Any, Any]) -> None:
    model = GradientBoostingClassifier(n_estimators=2).fit(X, np.array(labels)[[0, 1, 1, 0, 1, 0]])
    pairs = shap_interaction_values(model, X)
    for found in (shap_values(model, X), pairs, pairs.summed()):
        assert found.for_output(labels[1]) is found
        with pytest.raises(
            ParameterError, match=rf"the score of {labels[1]!r}, and those of {labels[0]!r} are their n"
        ):
            found.for_output(labels[0])
    three = shap_values(DecisionTreeClassifier().fit(X, np.array(["a", "b", "c"])[Y]), X).for_output("b")
    with pytest.raises(ParameterError, match="it must be one of 'b'"):
        three.for_output("a")


def test_text_is_short() -> None:
    text = str(fitted())
    assert text.startswith("Shapley values: 6 rows, 3 features, output 0, 1, 2 (probability)\n")
    assert "colour" in text
    wide = np.random.default_rng(0).normal(size=(30, 40))
    model = DecisionTreeRegressor().fit(wide, wide[:, 0])
    assert str(shap_values(model, wide)).endswith("… 30 more")
    assert "x0 × x1" in str(shap_interaction_values(worked_example(), [[0.0, 1.0]]))
    assert str(shap_interaction_values(DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0]), [[0.0]]))


def test_explain_is_a_part_of_the_package() -> None:
    assert sapwood.explain.shap_values is shap_values


def test_without_shap_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(MissingExtraError, match="pip install shap"):
        fitted().to_shap()


def test_values_that_do_not_add_up_are_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sapwood.explain.shap.tree_paths.TreePaths.expectation", lambda self: np.array([2.9]))
    with pytest.raises(InternalError, match=r"row 0 miss its score by 0\.1\. Please report this"):
        shap_values(worked_example(), [[1.0, 1.0]])
    assert shap_values(worked_example(), [[1.0, 1.0]], check_additivity=False).base_values.tolist() == [2.9]

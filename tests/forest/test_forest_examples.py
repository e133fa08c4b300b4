"""Examples 8 and 9 of the specification: resampling by weight; a forest with given bootstraps and columns."""

from __future__ import annotations

import numpy as np
import pytest

from sapwood import DecisionTreeClassifier, RandomForestClassifier
from sapwood.adaboost.step import resampled

TABLE = np.array(
    [
        [4.3, 4.9, 4.1, 4.7, 5.5],
        [3.9, 6.1, 5.9, 5.5, 5.9],
        [2.7, 4.8, 4.1, 5.0, 5.6],
        [6.6, 4.4, 4.5, 3.9, 5.9],
        [6.5, 2.9, 4.7, 4.6, 6.1],
        [2.7, 6.7, 4.2, 5.3, 4.8],
    ]
)
LABELS = np.array([0, 0, 0, 1, 1, 1])
ROWS = [[2, 0, 2, 4, 5, 5], [2, 1, 3, 1, 4, 4], [4, 1, 3, 0, 0, 2], [3, 3, 2, 5, 1, 2]]
COLUMNS = [[0, 1], [2, 3], [2, 4], [1, 3]]
NEW = np.array([[5.3, 4.2, 4.7, 5.1, 5.4]])


def test_example_8_draws_by_weight() -> None:
    weight = np.array([0.07, 0.07, 0.07, 0.58, 0.07, 0.07, 0.07])
    assert resampled(weight, np.array([0.03, 0.18])).tolist() == [0, 2]
    assert resampled(weight, np.array([0.0, 0.2099, 0.2101, 0.79, 0.9999])).tolist() == [0, 2, 3, 4, 6]


def forest(**parameters: object) -> RandomForestClassifier:
    model = RandomForestClassifier(max_features=None, random_state=0, **parameters)
    return model.fit(TABLE, LABELS, rows=ROWS, features=COLUMNS)


def test_example_9_rows_and_columns_are_those_given() -> None:
    model = forest()
    assert [sorted(rows) for rows in ROWS] == [rows.tolist() for rows in model.estimators_samples_]
    assert [features.tolist() for features in model.estimators_features_] == COLUMNS


def test_example_9_votes_by_hand() -> None:
    """The new row is (5.3, 4.2, 4.7, 5.1, 5.4).

    1. rows 0 2 2 | 4 5 5: x1 <= 5.8 leaves 0 2 2 4 (5 5 are class 1), then x0 <= 5.4 leaves 0 2 2: class 0
    2. rows 1 1 2 | 3 4 4: x3 <= 4.8 holds 3 4 4, above are 1 1 2: class 0
    3. rows 0 0 1 2 | 3 4: x2 <= 4.3 holds 0 0 2, above x2 <= 5.3 holds 3 4: class 1
    4. rows 1 2 2 | 3 3 5: x1 <= 4.6 holds 3 3: class 1

    (The source counts three votes for class 1, but whatever equal splits are chosen, trees 1 and 2 say class 0.)
    """
    model = forest(voting="hard")
    assert [int(tree.predict(NEW)[0]) for tree in model.estimators_] == [0, 0, 1, 1]
    np.testing.assert_allclose(model.predict_proba(NEW), [[0.5, 0.5]])
    assert model.predict(NEW).tolist() == [0]  # the first of equals
    for tree, rows in zip(model.estimators_, ROWS, strict=True):
        assert tree.predict(TABLE[rows]).tolist() == LABELS[rows].tolist()


def test_example_9_trees_are_those_of_their_rows_and_columns() -> None:
    for tree, rows, columns in zip(forest().estimators_, ROWS, COLUMNS, strict=True):
        alone = DecisionTreeClassifier().fit(TABLE[rows][:, columns], LABELS[rows])
        assert tree.predict(NEW).tolist() == alone.predict(NEW[:, columns]).tolist()
        np.testing.assert_array_equal(tree.tree_.threshold, alone.tree_.threshold)


def test_example_9_rows_out_of_bag() -> None:
    with pytest.warns(UserWarning, match="1 row was in the bag of every tree"):  # row 2
        model = forest(oob_score=True, prior_weight=0.0)
    outside = [sorted(set(range(6)) - set(rows)) for rows in ROWS]
    assert outside == [[1, 3], [0, 5], [5], [0, 4]]
    expected = np.zeros((6, 2))
    counts = np.zeros(6)
    for tree, rows in zip(model.estimators_, outside, strict=True):
        expected[rows] += tree.predict_proba(TABLE[rows])
        counts[rows] += 1
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(model.oob_decision_function_, expected / counts[:, None])

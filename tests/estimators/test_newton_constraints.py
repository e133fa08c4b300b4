"""Constraints hold for every prediction and every path, whatever the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from newton_cases import METHODS
from numpy.typing import NDArray

from sapwood import NewtonBoostingClassifier, NewtonBoostingRanker, NewtonBoostingRegressor

SIGNS = [1, -1, 0]


def table(seed: int, n_rows: int = 150, missing: float = 0.0) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n_rows, 3))
    y = x[:, 0] - x[:, 1] + np.sin(4 * x[:, 0]) + np.cos(3 * x[:, 1]) * x[:, 2] + rng.normal(size=n_rows)
    x[rng.random(x.shape) < missing] = np.nan
    return x, y


def steps(model: Any, column: int, method: str, seed: int, missing: float) -> NDArray[Any]:
    """Changes of predictions along a grid of one column, the others fixed at random values or missing."""
    rng = np.random.default_rng(seed + 1)
    grid = np.sort(np.r_[-np.inf, rng.normal(size=60) * 2, np.inf])
    others = rng.normal(size=(25, 3))
    others[rng.random(others.shape) < missing] = np.nan
    rows = np.repeat(others, len(grid), axis=0)
    rows[:, column] = np.tile(grid, len(others))
    said = getattr(model, method)(rows)
    said = said[:, 1] if method == "predict_proba" else said
    return np.diff(said.reshape(len(others), len(grid)), axis=1)


class TestMonotone:
    @settings(max_examples=20, deadline=None)
    @given(
        st.integers(0, 2**16),
        st.sampled_from([0.0, 0.3]),
        st.sampled_from(["depthwise", "lossguide"]),
        st.sampled_from(METHODS),
    )
    def test_of_numbers(self, seed, missing, policy, method):
        x, y = table(seed, missing=missing)
        model = NewtonBoostingRegressor(
            n_estimators=15, monotone_constraints=SIGNS, grow_policy=policy, max_leaves=20, tree_method=method, n_jobs=1
        ).fit(x, y)
        assert (steps(model, 0, "predict", seed, missing) >= 0).all()
        assert (steps(model, 1, "predict", seed, missing) <= 0).all()

    @settings(max_examples=8, deadline=None)
    @given(st.integers(0, 2**16), st.sampled_from([0.0, 0.3]))
    def test_of_two_classes(self, seed, missing):
        x, y = table(seed, missing=missing)
        model = NewtonBoostingClassifier(n_estimators=15, monotone_constraints=SIGNS, reg_alpha=0.1, n_jobs=1)
        model.fit(x, y > 0)
        assert (steps(model, 0, "predict_proba", seed, missing) >= 0).all()
        assert (steps(model, 1, "predict_proba", seed, missing) <= 0).all()

    @pytest.mark.parametrize("objective", ["absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"])
    def test_of_all_losses(self, objective):
        x, y = table(5, missing=0.1)
        model = NewtonBoostingRegressor(
            n_estimators=15, objective=objective, monotone_constraints=SIGNS, subsample=0.8, random_state=0, n_jobs=1
        ).fit(x, np.exp(y / 3))
        assert (steps(model, 0, "predict", 5, 0.1) >= 0).all()
        assert (steps(model, 1, "predict", 5, 0.1) <= 0).all()
        assert (steps(model, 0, "predict", 5, 0.1) > 0).any()

    def test_of_rankings(self):
        x, y = table(6)
        model = NewtonBoostingRanker(n_estimators=15, monotone_constraints={0: 1}, n_jobs=1)
        model.fit(x, np.digitize(y, [-1, 1]), group=[15] * 10)
        assert (steps(model, 0, "predict", 6, 0.0) >= 0).all()

    def test_without_constraints_it_would_not_hold(self):
        x, y = table(7)
        model = NewtonBoostingRegressor(n_estimators=15, n_jobs=1).fit(x, y)
        assert (steps(model, 0, "predict", 7, 0.0) < 0).any()

    def test_by_name_by_number_and_in_order(self):
        x, y = table(8)
        frame = pd.DataFrame(x, columns=["a", "b", "c"])
        said = [
            NewtonBoostingRegressor(n_estimators=5, monotone_constraints=given, n_jobs=1).fit(frame, y).predict(frame)
            for given in ({"a": 1, "b": -1}, {0: 1, 1: -1}, [1, -1, 0], (1, -1, 0), np.array(SIGNS), {-3: 1, "b": -1.0})
        ]
        for other in said[1:]:
            np.testing.assert_array_equal(said[0], other)

    def test_a_table_of_one_column_is_certified(self):
        x = np.arange(60.0)
        model = NewtonBoostingRegressor(n_estimators=3, monotone_constraints=[1], n_jobs=1).fit(x[:, None], x)
        assert model.certify()
        assert not model.certify(monotone_constraints=[-1])

    def test_zeros_are_no_constraint(self):
        x, y = table(9)
        plain = NewtonBoostingRegressor(n_estimators=5, n_jobs=1).fit(x, y)
        zeros = NewtonBoostingRegressor(n_estimators=5, monotone_constraints=[0, 0, 0], n_jobs=1).fit(x, y)
        np.testing.assert_array_equal(plain.predict(x), zeros.predict(x))
        three = np.digitize(y, [-1, 1])
        NewtonBoostingClassifier(n_estimators=2, monotone_constraints=[0, 0, 0], n_jobs=1).fit(x, three)


def paths(model: Any) -> set[frozenset[int]]:
    """Columns of every path from a root to a leaf."""
    found = set()
    for own in model.ensemble_.rounds:
        for tree in own:
            waiting = [(0, frozenset[int]())]
            while waiting:
                node, path = waiting.pop()
                if tree.is_leaf[node]:
                    found.add(path)
                    continue
                longer = path | {int(tree.feature[node])}
                waiting += [(int(tree.children_left[node]), longer), (int(tree.children_right[node]), longer)]
    return found


class TestInteractions:
    @pytest.mark.parametrize("policy", ["depthwise", "lossguide"])
    @pytest.mark.parametrize("groups", [[[0, 1], [2, 3, 4]], [[0, 1], [1, 2], [3]], [[0], [1, 2, 3, 4, 5]], []])
    @pytest.mark.parametrize("method", METHODS)
    def test_every_path_stays_in_a_set(self, groups, policy, method):
        rng = np.random.default_rng(11)
        x = rng.normal(size=(300, 6))
        y = x[:, 0] * x[:, 1] * x[:, 2] + x[:, 3] * x[:, 4] + x[:, 5] ** 2
        model = NewtonBoostingRegressor(
            n_estimators=10,
            interaction_constraints=groups,
            grow_policy=policy,
            max_leaves=15,
            tree_method=method,
            n_jobs=1,
        ).fit(x, y)
        allowed = [frozenset(group) for group in groups]
        for path in paths(model):
            assert len(path) <= 1 or any(path <= group for group in allowed), path
        together = {path for path in paths(model) if len(path) > 1}
        assert bool(together) == any(len(group) > 1 for group in groups)

    def test_with_columns_drawn_and_names(self):
        rng = np.random.default_rng(12)
        frame = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
        y = frame["a"] * frame["c"] + frame["b"] * frame["d"]
        model = NewtonBoostingRegressor(
            n_estimators=20,
            interaction_constraints=[["a", "c"], ["b", 3]],
            colsample_bylevel=0.7,
            colsample_bynode=0.7,
            random_state=0,
            n_jobs=1,
        ).fit(frame, y)
        assert all(path <= {0, 2} or path <= {1, 3} for path in paths(model))

    def test_effects_of_the_sets_add_up(self):
        """Without paths across the sets, a column of one set has the same effect whatever the others are."""
        rng = np.random.default_rng(13)
        x = rng.normal(size=(300, 3))
        y = x[:, 0] * x[:, 1] * x[:, 2]
        model = NewtonBoostingRegressor(n_estimators=20, interaction_constraints=[[0, 1], [2]], n_jobs=1).fit(x, y)
        here, there = rng.normal(size=(2, 50, 3))
        moved_here, moved_there = here.copy(), there.copy()
        moved_here[:, 2], moved_there[:, 2] = 1.3, 1.3
        here[:, 2], there[:, 2] = -0.4, -0.4
        effect = model.predict(moved_here) - model.predict(here)
        np.testing.assert_allclose(effect, model.predict(moved_there) - model.predict(there), atol=1e-12)

"""Trees of drawn thresholds grown in preorder, against the growth of all other trees: the same bits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapwood.codes.coded import CodedTable, code_table
from sapwood.growth import grower
from sapwood.growth.criteria import Statistics, statistics_of
from sapwood.growth.rules import GrowthRules
from sapwood.table.table import Table
from sapwood.table.target import ClassTarget
from sapwood.tree import Tree
from strategies import examples


def statistics(rng: np.random.Generator, n_rows: int, criterion: str) -> Statistics:
    """Two classes, and weights that are small whole numbers."""
    codes = rng.integers(0, 2, (n_rows, 1))
    target = ClassTarget(codes.astype(np.int64), (np.arange(2),), single=True)
    return statistics_of(target, rng.integers(1, 4, n_rows).astype(np.float64), criterion)


def grow(coded: CodedTable, given: Statistics, rules: GrowthRules, rows: Any, features: Any) -> Tree:
    n_levels = np.zeros(coded.n_features, dtype=np.int32)
    return grower.grow_tree(coded, given, rules, n_levels=n_levels, draw_thresholds=True, rows=rows, features=features)


def assert_same_bits(one: Tree, other: Tree) -> None:
    assert one.arrays().keys() == other.arrays().keys()
    for name, array in one.arrays().items():
        assert array.tobytes() == other.arrays()[name].tobytes(), name


def cells(rng: np.random.Generator, n_rows: int, n_columns: int) -> Any:
    """Ties, a constant column, infinite and tiny values."""
    X = rng.integers(-20, 20, (n_rows, n_columns)) * rng.choice([0.5, 1e-310, 1e300], n_columns)
    X[:, 0] = 1.0
    X[rng.random(X.shape) < 0.02] = np.inf
    X[rng.random(X.shape) < 0.02] = -0.0
    return X.astype(rng.choice([np.float32, np.float64])) if abs(X[np.isfinite(X)]).max() < 1e30 else X


limits = st.fixed_dictionaries(
    {
        "max_depth": st.sampled_from([1, 3, 2**31 - 1]),
        "min_split_rows": st.sampled_from([2, 9]),
        "min_child_rows": st.sampled_from([1, 4]),
        "min_child_weight": st.sampled_from([0.0, 5.0]),
        "min_decrease": st.sampled_from([0.0, 0.01]),
        "impurity_threshold": st.sampled_from([0.0, 0.2]),
        "max_features": st.sampled_from([1, 2, 7]),
    }
)


@examples
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 2, 3, 40, 300]),
    limits,
    st.sampled_from(["gini", "entropy", "error"]),
)
def test_the_same_tree_as_by_general_growth(seed: int, n_rows: int, limits: dict[str, Any], criterion: str) -> None:
    rng = np.random.default_rng(seed)
    table, own = Table.from_any(cells(rng, n_rows, 5)), statistics(rng, n_rows, criterion)
    rules = GrowthRules(**limits, seed=seed)
    rows = np.flatnonzero(rng.random(n_rows) < 0.8) if n_rows > 3 else np.arange(n_rows)
    features = None if seed % 2 else np.array([0, 2, 3])
    coded = code_table(table, keep_values=True)
    assert grower.grows_by_values(rules, grower._columns(coded, grower._sample_lists(coded, own, rows), None))
    with pytest.MonkeyPatch.context() as patch:
        fast = grow(coded, own, rules, rows, features)
        patch.setattr(grower, "grows_by_values", lambda *_: False)
        assert_same_bits(fast, grow(coded, own, rules, rows, features))


def test_other_trees_are_grown_in_general() -> None:
    rng = np.random.default_rng(0)
    X, own = cells(rng, 50, 4), statistics(rng, 50, "gini")
    coded = code_table(Table.from_any(X), keep_values=True)
    columns = grower._columns(coded, grower._sample_lists(coded, own, np.arange(50)), None)
    assert grower.grows_by_values(GrowthRules(), columns)
    assert not grower.grows_by_values(replace(GrowthRules(), max_leaves=5), columns)
    assert not grower.grows_by_values(replace(GrowthRules(), significance=0.1), columns)
    X[3, 1] = np.nan
    coded = code_table(Table.from_any(X), keep_values=True)
    columns = grower._columns(coded, grower._sample_lists(coded, own, np.arange(50)), None)
    assert not grower.grows_by_values(GrowthRules(), columns)
    assert grower.grows_by_values(GrowthRules(), columns[[0, 2, 3]])

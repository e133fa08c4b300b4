"""Data and helpers for the laws that every fitted tree must obey.

Columns come in all the forms the codes have: many values (sorted lists), few values (codes), one value that almost
every row holds (implicit), almost only missing values, infinities. Targets and weights are small multiples of powers of
two, whose sums are exact, so that laws about the order of rows can ask for equality.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sapwood import DecisionTreeClassifier, DecisionTreeRegressor
from sapwood.tree import Tree

CLASSIFICATION = ("gini", "entropy", "error")
REGRESSION = ("squared_error", "absolute_error", "poisson")
CRITERIA = CLASSIFICATION + REGRESSION

examples = settings(
    max_examples=int(os.environ.get("SAPWOOD_EXAMPLES", "20")),
    deadline=None,
    phases=[phase for phase in Phase if phase is not Phase.explain],  # it traces every line: minutes
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def new_tree(criterion: str, **parameters: Any) -> DecisionTreeClassifier | DecisionTreeRegressor:
    """The estimator that has this criterion."""
    kind = DecisionTreeClassifier if criterion in CLASSIFICATION else DecisionTreeRegressor
    return kind(criterion=criterion, **parameters)


@dataclass(frozen=True)
class Data:
    """Training data for one criterion."""

    X: NDArray
    y: NDArray
    criterion: str
    seed: int

    def fit(self, X: Any = None, y: Any = None, sample_weight: Any = None, **parameters: Any) -> Any:
        """A tree on this data, or on what is given instead."""
        X = self.X if X is None else X
        y = self.y if y is None else y
        return new_tree(self.criterion, **parameters).fit(X, y, sample_weight=sample_weight)

    def rng(self) -> np.random.Generator:
        """Random numbers that belong to this example."""
        return np.random.default_rng(self.seed + 1)


Maker = Callable[[np.random.Generator, int], NDArray]
COLUMNS: dict[str, Maker] = {
    "many": lambda rng, n: rng.normal(size=n),
    "few": lambda rng, n: rng.integers(-3, 4, size=n).astype(float),
    "zeros": lambda rng, n: np.where(rng.random(n) < 0.1, rng.normal(size=n), 0.0),
    "negative zeros": lambda rng, n: np.where(rng.random(n) < 0.1, rng.integers(-2, 3, size=n), -0.0),
    "infinite": lambda rng, n: rng.choice([-np.inf, -1.5, 0.0, 1.5, np.inf], size=n),
    "holes": lambda rng, n: np.where(rng.random(n) < 0.1, rng.normal(size=n), np.nan),
    "some missing": lambda rng, n: np.where(rng.random(n) < 0.8, rng.normal(size=n), np.nan),
    "constant": lambda rng, n: np.full(n, rng.choice([0.0, np.nan, np.inf])),
}
COMPLETE = ("many", "few", "zeros", "negative zeros", "infinite")


@st.composite
def tables(
    draw: st.DrawFn,
    criteria: tuple[str, ...] = CRITERIA,
    columns: tuple[str, ...] = tuple(COLUMNS),
    most_classes: int = 3,
) -> Data:
    """Up to 600 rows, more than a coded column has values."""
    seed = draw(st.integers(0, 2**31))
    n_rows = draw(st.sampled_from([2, 7, 30, 300, 600]))
    kinds = draw(st.lists(st.sampled_from(columns), min_size=1, max_size=4))
    criterion = draw(st.sampled_from(criteria))
    n_outputs = draw(st.sampled_from([1, 1, 2])) if most_classes > 2 else 1
    rng = np.random.default_rng(seed)
    X = np.column_stack([COLUMNS[kind](rng, n_rows) for kind in kinds])
    y = np.column_stack([_target(rng, X, criterion, most_classes) for _ in range(n_outputs)])
    return Data(X, y[:, 0] if n_outputs == 1 else y, criterion, seed)


def _target(rng: np.random.Generator, X: NDArray, criterion: str, most_classes: int) -> NDArray:
    """Part signal, part noise."""
    signal = np.nan_to_num(X[:, rng.integers(X.shape[1])], nan=1.0, posinf=2.0, neginf=-2.0)
    noisy = signal + rng.normal(size=len(X))
    if criterion in CLASSIFICATION:
        return np.digitize(noisy, np.linspace(-0.5, 0.5, rng.integers(1, most_classes)))
    if criterion == "poisson":
        y = np.floor(np.exp(np.clip(noisy, -3, 2)))
        y[0] += 1
        return y
    return np.round(noisy * 8) / 8


def assert_same_tree(first: Tree, second: Tree, *, exact: bool = True) -> None:
    """The arrays are bit-equal; if not `exact`, derived numbers may differ by rounding."""
    loose = set() if exact else {"value", "impurity", "weighted_n_node_samples"}
    for name, array in first.arrays().items():
        other = second.arrays()[name]
        assert array.shape == other.shape, name
        if name in loose:
            np.testing.assert_allclose(array, other, rtol=1e-9, atol=1e-9, err_msg=name)
        else:
            np.testing.assert_array_equal(array, other, err_msg=name)


def recounted(tree: Tree, leaves: NDArray) -> NDArray:
    """Rows that reach each node, from the leaves they end in."""
    counts = np.bincount(leaves, minlength=tree.node_count)
    for node in np.flatnonzero(~tree.is_leaf)[::-1]:  # preorder: children come later
        counts[node] = counts[tree.children_left[node]] + counts[tree.children_right[node]]
    return counts


def assert_leaves_kept(model: Any, X: Any) -> None:
    """Training rows reach at prediction the leaves they were in at training."""
    np.testing.assert_array_equal(recounted(model.tree_, model.apply(X)), model.tree_.n_node_samples)


def partition(groups: NDArray) -> NDArray:
    """Group numbers in order of first appearance, so that equal partitions are equal arrays."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def outputs(model: Any, X: Any) -> list[NDArray]:
    """All that a model predicts."""
    predicted = [model.predict(X)]
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(X)
        predicted += shares if isinstance(shares, list) else [shares]
    return predicted


def assert_same_predictions(first: Any, second: Any, X: Any, other_X: Any = None) -> None:
    """Two models say exactly the same."""
    for one, other in zip(outputs(first, X), outputs(second, X if other_X is None else other_X), strict=True):
        np.testing.assert_array_equal(one, other)


def decreases(tree: Tree) -> NDArray:
    """Decrease of impurity at every inner node, as a share of the whole."""
    inner = np.flatnonzero(~tree.is_leaf)
    mass = tree.weighted_n_node_samples * tree.impurity
    left, right = tree.children_left[inner], tree.children_right[inner]
    return (mass[inner] - mass[left] - mass[right]) / tree.weighted_n_node_samples[0]


def rows_of_nodes(model: Any, X: Any) -> list[NDArray]:
    """The rows of X that pass each node."""
    paths = model.decision_path(X).tocsc()
    return [paths.indices[paths.indptr[node] : paths.indptr[node + 1]] for node in range(model.tree_.node_count)]

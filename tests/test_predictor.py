"""The predictor on real trees: batches, threads, pickles and paths."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

from sapwood import DecisionTreeClassifier, DecisionTreeRegressor
from sapwood.predictor import BLOCK_ROWS, Predictor, paths

RNG = np.random.default_rng(0)
N_ROWS = 2 * BLOCK_ROWS + 5


def numbers(dtype: str) -> np.ndarray:
    X = RNG.normal(size=(N_ROWS, 5)).round(2).astype(dtype)
    X[RNG.random(X.shape) < 0.05] = np.nan
    X[:2, 0] = np.inf, -np.inf
    return X


def frame() -> pd.DataFrame:
    colours = RNG.choice(["red", "blue", "green", "black"], size=N_ROWS).astype(object)
    colours[::50] = None
    return pd.DataFrame({"size": RNG.normal(size=N_ROWS), "colour": colours})


def fitted(X, n_train: int = 400):
    first = np.asarray(X)[:n_train, 0].astype(float)
    y = np.nan_to_num(first, posinf=3, neginf=-3) + RNG.normal(size=n_train)
    return DecisionTreeRegressor().fit(X[:n_train], y)


INPUTS = [numbers("float32"), numbers("float64"), frame()]


@pytest.mark.parametrize("X", INPUTS, ids=["float32", "float64", "frame"])
def test_leaves_do_not_depend_on_threads_or_batches(X):
    model = fitted(X)
    table = model.schema_.match(X)
    predictor = Predictor(model.tree_)
    alone = predictor.leaves(table)
    for n_jobs in (2, 5):
        np.testing.assert_array_equal(predictor.leaves(table, n_jobs=n_jobs), alone)
    for size in (1, 7, 300):
        np.testing.assert_array_equal(predictor.leaves(model.schema_.match(X[:size])), alone[:size])


@pytest.mark.parametrize("X", INPUTS, ids=["float32", "float64", "frame"])
def test_training_rows_reach_the_leaves_they_trained(X):
    model = fitted(X)
    leaves = Predictor(model.tree_).leaves(model.schema_.match(X[:400]))
    counts = np.bincount(leaves, minlength=model.tree_.node_count)
    np.testing.assert_array_equal(counts, np.where(model.tree_.is_leaf, model.tree_.n_node_samples, 0))


def test_any_memory_order_gives_the_same_leaves():
    X = INPUTS[0]
    model = fitted(X)
    expected = model.apply(X)
    np.testing.assert_array_equal(model.apply(np.asfortranarray(X)), expected)
    np.testing.assert_array_equal(model.apply(X[::-1]), expected[::-1])


def test_lone_leaf():
    model = DecisionTreeClassifier().fit([[1.0], [2.0]], [1, 1])
    assert model.apply([[0.0], [np.nan]]).tolist() == [0, 0]
    assert model.decision_path([[0.0]]).toarray().tolist() == [[1]]


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))])
def test_copies_and_pickles_find_the_same_leaves(duplicate):
    for X in INPUTS:
        model = fitted(X)
        table = model.schema_.match(X)
        predictor = Predictor(model.tree_)
        expected = predictor.leaves(table)
        np.testing.assert_array_equal(duplicate(predictor).leaves(table), expected)


def test_pickle_holds_only_the_tree():
    model = fitted(INPUTS[0])
    predictor = Predictor(model.tree_)
    predictor.leaves(model.schema_.match(INPUTS[0]))
    together = len(pickle.dumps((model.tree_, predictor)))
    assert together < len(pickle.dumps(model.tree_)) + 200


def test_unseen_level_stops_at_its_node():
    X = pd.DataFrame({"colour": ["red", "blue"] * 20})
    model = DecisionTreeClassifier().fit(X, [0, 1] * 20)
    table = model.schema_.match(pd.DataFrame({"colour": ["pink", "red", None]}), unseen="node")
    predictor = Predictor(model.tree_)
    stopped, followed = predictor.leaves(table, stop_at_unseen=True), predictor.leaves(table)
    assert stopped[0] == 0
    assert model.tree_.is_leaf[followed].all()
    np.testing.assert_array_equal(stopped[1:], followed[1:])


def test_paths_lead_from_the_root_to_the_leaf():
    X = INPUTS[0]
    model = fitted(X)
    leaves = Predictor(model.tree_).leaves(model.schema_.match(X[:50]))
    found = paths(model.tree_, leaves)
    parents = model.tree_.parents()
    for row, leaf in enumerate(leaves):
        nodes = found[row].indices
        assert nodes[0] == 0
        assert nodes[-1] == leaf
        assert (parents[nodes[1:]] == nodes[:-1]).all()

"""Laws of fitted trees: what must not matter does not matter."""

from __future__ import annotations

import copy
import io
import pickle
from itertools import pairwise
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from law_cases import (
    CLASSIFICATION,
    COMPLETE,
    CRITERIA,
    Data,
    assert_leaves_kept,
    assert_same_predictions,
    assert_same_tree,
    examples,
    new_tree,
    outputs,
    partition,
    tables,
)

pytestmark = pytest.mark.timeout(1200)  # the first example of a kind waits for the compiler


def variants() -> st.SearchStrategy[dict]:
    """Parameters that choose different ways through growth."""
    return st.sampled_from(
        [{}, {"max_bins": 8}, {"max_leaf_nodes": 7}, {"splitter": "random", "random_state": 3}, {"max_depth": 3}]
    )


@examples
@given(tables(), variants())
def test_integer_weights_are_copies(data: Data, parameters: dict) -> None:
    if "max_bins" in parameters:
        parameters = {}  # bins hold equal counts of rows, not of weight
    times = data.rng().integers(1, 4, size=len(data.y))
    weighted = data.fit(sample_weight=times.astype(float), **parameters)
    copied = data.fit(np.repeat(data.X, times, axis=0), np.repeat(data.y, times, axis=0), **parameters)
    assert weighted.tree_.node_count == copied.tree_.node_count
    np.testing.assert_array_equal(weighted.tree_.threshold, copied.tree_.threshold)
    for one, other in zip(outputs(weighted, data.X), outputs(copied, data.X), strict=True):
        if data.criterion in CLASSIFICATION:
            np.testing.assert_array_equal(one, other)
        else:
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


@examples
@given(tables(), variants())
def test_a_row_of_weight_zero_is_not_there(data: Data, parameters: dict) -> None:
    weight = data.rng().integers(0, 3, size=len(data.y)) / 4
    weight[0] = 1.0  # Poisson has an event in row 0
    kept = weight > 0
    with_zeros = data.fit(sample_weight=weight, **parameters)
    without = data.fit(data.X[kept], data.y[kept], weight[kept], **parameters)
    assert_same_tree(with_zeros.tree_, without.tree_)
    if data.criterion in CLASSIFICATION:
        np.testing.assert_equal(with_zeros.classes_, without.classes_)


@examples
@given(tables(), variants())
def test_order_of_rows_does_not_matter(data: Data, parameters: dict) -> None:
    order = data.rng().permutation(len(data.y))
    first, second = data.fit(**parameters), data.fit(data.X[order], data.y[order], **parameters)
    assert_same_tree(first.tree_, second.tree_, exact=False)


@examples
@given(tables(), st.randoms(use_true_random=False))
def test_columns_are_found_by_name(data: Data, random) -> None:
    frame = pd.DataFrame(data.X, columns=[f"c{j}" for j in range(data.X.shape[1])])
    shuffled = random.sample(list(frame.columns), frame.shape[1])
    model = data.fit(frame)
    more = frame[shuffled].assign(more=1.0)
    assert_same_predictions(model, model, frame, frame[shuffled])
    assert_same_predictions(model, model, frame, more)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_order_of_columns_in_training_does_not_matter_without_ties(criterion: str) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(500, 4)), columns=list("abcd"))
    signal = X["c"] + X["a"] ** 2 + rng.normal(size=500)
    y = (signal > 1).astype(int) if criterion in CLASSIFICATION else signal - signal.min()
    first = new_tree(criterion, max_depth=2).fit(X, y)
    second = new_tree(criterion, max_depth=2).fit(X[list("dbca")], y)
    assert_same_predictions(first, second, X)


@examples
@given(tables(), st.sampled_from([{}, {"max_bins": 8}, {"max_leaf_nodes": 7}]))
def test_a_strictly_increasing_transform_keeps_the_partition(data: Data, parameters: dict) -> None:
    stretched = data.X.copy()
    for j in range(data.X.shape[1]):
        present = ~np.isnan(data.X[:, j])
        _, ranks = np.unique(data.X[present, j], return_inverse=True)
        stretched[present, j] = (ranks - 3.0) ** 3
    first, second = data.fit(**parameters), data.fit(stretched, **parameters)
    np.testing.assert_array_equal(first.apply(data.X), second.apply(stretched))


@examples
@given(tables(), variants())
def test_training_rows_keep_their_leaves(data: Data, parameters: dict) -> None:
    assert_leaves_kept(data.fit(**parameters), data.X)


@examples
@given(tables(), variants())
def test_the_number_of_threads_does_not_matter(data: Data, parameters: dict) -> None:
    trees = [data.fit(n_jobs=n_jobs, **parameters) for n_jobs in (1, 2, 5)]
    for other in trees[1:]:
        assert_same_tree(trees[0].tree_, other.tree_)
        assert_same_predictions(trees[0], other, data.X)


def test_the_number_of_threads_does_not_matter_for_many_rows() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(50_000, 3)), rng.integers(0, 3, size=50_000)
    trees = [new_tree("gini", n_jobs=n_jobs, max_depth=8).fit(X, y) for n_jobs in (1, 2, 5)]
    for other in trees[1:]:
        assert_same_tree(trees[0].tree_, other.tree_)
        assert_same_predictions(trees[0], other, X)
    np.testing.assert_array_equal(trees[1].apply(X)[40_000:], trees[0].apply(X[40_000:]))


@examples
@given(tables(), variants())
def test_fitting_again_changes_nothing(data: Data, parameters: dict) -> None:
    model = data.fit(**parameters)
    before = {name: array.copy() for name, array in model.tree_.arrays().items()}
    model.fit(data.X[:2], data.y[:2])
    model.fit(data.X, data.y)
    for name, array in model.tree_.arrays().items():
        np.testing.assert_array_equal(array, before[name])
    assert_same_tree(clone(model).fit(data.X, data.y).tree_, model.tree_)


def _joblib_copy(model):
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    buffer.seek(0)
    return joblib.load(buffer)


@pytest.mark.parametrize("copied", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy, _joblib_copy])
@examples
@given(tables(), variants())
def test_copies_predict_the_same(copied, data: Data, parameters: dict) -> None:
    model = data.fit(**parameters)
    twin = copied(model)
    assert_same_predictions(model, twin, data.X)
    assert_same_tree(model.tree_, twin.tree_)
    assert twin.schema_ == model.schema_


@examples
@given(tables(), variants())
def test_a_row_is_predicted_by_itself(data: Data, parameters: dict) -> None:
    model = data.fit(**parameters)
    rows = data.rng().permutation(len(data.y))[: max(1, len(data.y) // 3)]
    for whole, part in zip(outputs(model, data.X), outputs(model, data.X[rows]), strict=True):
        np.testing.assert_array_equal(whole[rows], part)
    np.testing.assert_array_equal(model.apply(data.X)[rows], model.apply(data.X[rows]))
    one_by_one = np.concatenate([model.apply(data.X[[row]]) for row in rows[:20]])
    np.testing.assert_array_equal(one_by_one, model.apply(data.X)[rows[:20]])


@examples
@given(tables(), variants())
def test_paths_end_in_the_leaf_and_follow_the_children(data: Data, parameters: dict) -> None:
    model = data.fit(**parameters)
    tree, paths, leaves = model.tree_, model.decision_path(data.X), model.apply(data.X)
    assert paths.shape == (len(data.X), tree.node_count)
    for row in range(min(len(data.X), 30)):
        way = paths[[row]].indices.tolist()
        assert way[0] == 0
        assert way[-1] == leaves[row]
        for above, below in pairwise(way):
            assert below in (tree.children_left[above], tree.children_right[above])
    assert tree.is_leaf[leaves].all()


@examples
@given(tables(columns=COMPLETE), variants())
def test_single_precision_grows_the_same_tree(data: Data, parameters: dict) -> None:
    single = data.X.astype(np.float32)
    first, second = data.fit(single, **parameters), data.fit(single.astype(np.float64), **parameters)
    assert_same_tree(first.tree_, second.tree_)
    assert_same_predictions(first, second, single)
    np.testing.assert_array_equal(first.apply(single), first.apply(single.astype(np.float64)))


@examples
@given(tables(), variants(), st.sampled_from(["F", "strided", "reversed", "read-only", "big-endian", "list"]))
def test_layout_in_memory_does_not_matter(data: Data, parameters: dict, layout: str) -> None:
    X = {
        "F": np.asfortranarray,
        "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
        "reversed": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
        "read-only": _read_only,
        "big-endian": lambda X: X.astype(">f8"),
        "list": lambda X: X.tolist(),
    }[layout](data.X)
    first, second = data.fit(**parameters), data.fit(X, **parameters)
    assert_same_tree(first.tree_, second.tree_)
    assert_same_predictions(first, second, data.X, X)


def _read_only(X):
    X = X.copy()
    X.setflags(write=False)
    return X


def test_memory_mapped_data(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 3)), rng.integers(0, 2, size=500)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    first, second = new_tree("gini").fit(X, y), new_tree("gini").fit(mapped, y)
    assert_same_tree(first.tree_, second.tree_)
    assert_same_predictions(first, second, X, mapped)


@examples
@given(tables(criteria=CLASSIFICATION), variants(), st.sampled_from(["share", "softmax"]))
def test_probabilities_sum_to_one_and_decide(data: Data, parameters: dict, leaf: str) -> None:
    model = data.fit(leaf=leaf, **parameters)
    shares = model.predict_proba(data.X)
    predicted, classes = model.predict(data.X), model.classes_
    if not isinstance(shares, list):
        shares, predicted, classes = [shares], predicted[:, None], [classes]
    for o, share in enumerate(shares):
        np.testing.assert_allclose(share.sum(axis=1), 1.0, atol=1e-12)
        assert (share >= 0).all()
        np.testing.assert_array_equal(classes[o][share.argmax(axis=1)], predicted[:, o])


@examples
@given(tables(criteria=CLASSIFICATION))
def test_names_of_the_classes_do_not_matter(data: Data) -> None:
    if data.y.ndim > 1:
        return
    first, second = data.fit(), data.fit(y=np.array(["ant", "bee", "cat"])[data.y])
    assert_same_tree(first.tree_, second.tree_)
    np.testing.assert_array_equal(partition(first.predict(data.X)), partition(second.predict(data.X)))

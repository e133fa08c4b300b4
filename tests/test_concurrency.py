"""Threads and forks: many at once give what one gives, and a forked child neither hangs nor differs."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from law_cases import assert_same_tree, new_tree

LIMIT = 120  # seconds for a child, which may have to compile
MATRIX = Path(__file__).parent / "kernel_matrix.py"


def sample(seed: int, n_rows: int = 3000) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers and a category."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n_rows, 6)), columns=list("abcdef"))
    frame["level"] = rng.choice(["x", "y", "z"], size=n_rows)
    return frame, (frame["a"] + (frame["level"] == "x") + rng.normal(size=n_rows) > 0).astype(int).to_numpy()


def fit_and_predict(seed: int, n_jobs: int) -> tuple[Any, np.ndarray]:
    X, y = sample(seed)
    model = new_tree("gini", n_jobs=n_jobs).fit(X, y)
    big = pd.concat([X] * 12)  # several blocks of prediction
    return model, model.predict_proba(big)


def _in_child(connection: Any) -> None:
    model, predicted = fit_and_predict(1, n_jobs=2)
    connection.send((model.tree_.threshold, predicted))
    connection.close()


@pytest.mark.timeout(3 * LIMIT)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings(
    "ignore:.*fork.*:DeprecationWarning"
)  # that a child of a threaded parent works is the point
def test_a_forked_child_fits_and_predicts_after_the_parent_used_threads() -> None:
    model, predicted = fit_and_predict(1, n_jobs=2)
    context = multiprocessing.get_context("fork")
    for _ in range(3):
        here, there = context.Pipe(duplex=False)
        child = context.Process(target=_in_child, args=(there,))
        child.start()
        there.close()
        if not here.poll(LIMIT):
            child.kill()
            pytest.fail("the child hangs")
        threshold, from_child = here.recv()
        child.join(LIMIT)
        assert child.exitcode == 0
        np.testing.assert_array_equal(threshold, model.tree_.threshold)
        np.testing.assert_array_equal(from_child, predicted)
    again = fit_and_predict(1, n_jobs=2)[0]  # the parent's threads still work
    assert_same_tree(again.tree_, model.tree_)


@pytest.mark.timeout(3 * LIMIT)
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_other_ways_to_start_a_process(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system cannot {method}")
    fit_and_predict(1, n_jobs=2)
    with multiprocessing.get_context(method).Pool(1) as pool:
        model, predicted = pool.apply_async(fit_and_predict, (1, 2)).get(LIMIT)
    assert_same_tree(model.tree_, fit_and_predict(1, n_jobs=1)[0].tree_)
    np.testing.assert_array_equal(predicted, fit_and_predict(1, n_jobs=1)[1])


def test_eight_threads_at_once_give_the_same_trees() -> None:
    seeds = [seed % 4 for seed in range(32)]
    expected = {seed: fit_and_predict(seed, n_jobs=1) for seed in set(seeds)}
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda seed: fit_and_predict(seed, n_jobs=2), seeds))
    for seed, (model, predicted) in zip(seeds, found, strict=True):
        assert_same_tree(model.tree_, expected[seed][0].tree_)
        np.testing.assert_array_equal(predicted, expected[seed][1])


def test_one_model_may_predict_in_many_threads() -> None:
    model, predicted = fit_and_predict(0, n_jobs=2)
    big = pd.concat([sample(0)[0]] * 12)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: model.predict_proba(big), range(24)):
            np.testing.assert_array_equal(found, predicted)


@pytest.mark.slow
@pytest.mark.boundscheck
@pytest.mark.timeout(3600)
def test_no_kernel_leaves_its_arrays(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    environment["PYTHONPATH"] = os.pathsep.join([str(MATRIX.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, str(MATRIX)], env=environment, capture_output=True, text=True, timeout=3500, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert "fits" in done.stdout

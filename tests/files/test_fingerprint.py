"""Fingerprints: equal for equal models, and for no others."""

from __future__ import annotations

import copy
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from file_cases import changed, trip
from saved_models import classes, matrix, numbers

import sapwood as sw


def test_a_fingerprint_does_not_depend_on_threads_or_what_is_shown(tmp_path: Path) -> None:
    X = matrix()
    for maker in (sw.RandomForestClassifier, sw.NewtonBoostingClassifier, sw.ExtraTreesClassifier):
        one, two = (maker(n_estimators=3, random_state=0, n_jobs=n).fit(X, classes(X, 3)) for n in (1, 2))
        assert sw.fingerprint(one) == sw.fingerprint(two)
        two.set_params(verbose=1)
        assert sw.fingerprint(one) == sw.fingerprint(two) == sw.fingerprint(trip(one, tmp_path))
        assert sw.fingerprint(one) == sw.fingerprint(trip(two, tmp_path, "json")) == sw.fingerprint(copy.deepcopy(one))


def test_a_fingerprint_of_a_forest_does_not_depend_on_the_order_of_its_rows() -> None:
    """Leaves hold one target each, or shares of classes, which are exact in any order."""
    X = matrix()
    order = np.random.default_rng(0).permutation(len(X))
    y, weight = np.rint(4 * numbers(X)), np.arange(len(X)) % 4 + 0.5
    bags = [order[:40].tolist(), order[20:90].tolist()]
    forests: list[tuple[Any, Any, dict[str, Any]]] = [
        (sw.RandomForestClassifier(n_estimators=30, random_state=0, oob_score=True), classes(X, 3), {}),
        (sw.RandomForestRegressor(n_estimators=30, random_state=0, oob_score=True, keep_targets=True), y, {}),
        (sw.RandomForestRegressor(n_estimators=3, random_state=0), y, {"sample_weight": weight}),
        (sw.BaggingClassifier(n_estimators=3, random_state=0, max_features=0.5), classes(X), {"sample_weight": weight}),
        (sw.ExtraTreesRegressor(n_estimators=3, random_state=0), y, {"sample_weight": (weight > 1).astype(float)}),
        (sw.RandomForestRegressor(n_estimators=2, random_state=0, keep_targets=True), y, {"rows": bags}),
    ]
    place = np.argsort(order)
    for forest, target, options in forests:
        before = sw.fingerprint(forest.fit(X, target, **options))
        moved = {
            name: [place[own] for own in bags] if name == "rows" else given[order] for name, given in options.items()
        }
        assert sw.fingerprint(forest.fit(X[order], target[order], **moved)) == before
        assert sw.fingerprint(forest.fit(X[::-1], target, **options)) != before


def test_a_fingerprint_does_not_depend_on_a_seed_that_was_not_used() -> None:
    X = matrix()
    one, two = (sw.NewtonBoostingRegressor(recipe="xgboost", n_estimators=2).fit(X, numbers(X)) for _ in range(2))
    assert one._seed != two._seed
    assert sw.fingerprint(one) == sw.fingerprint(two)


def test_a_fingerprint_does_not_depend_on_threads_of_trees_inside() -> None:
    X = matrix()
    one, two = (
        sw.AdaBoostRegressor(sw.DecisionTreeRegressor(max_depth=2, n_jobs=n), n_estimators=2, random_state=0).fit(
            X, numbers(X)
        )
        for n in (1, 2)
    )
    assert sw.fingerprint(one) == sw.fingerprint(two)
    two.estimator.max_depth = 3
    assert sw.fingerprint(one) != sw.fingerprint(two)


def test_a_fingerprint_changes_with_a_leaf_a_label_and_a_parameter(tmp_path: Path) -> None:
    X = matrix()
    model = sw.NewtonBoostingClassifier(recipe="xgboost", n_estimators=2, max_depth=2).fit(X, classes(X))
    before = sw.fingerprint(model)

    def nudge(document: Any, arrays: dict[str, Any]) -> None:
        leaves = arrays["fitted.ensemble_.trees.value.leaf"]
        leaves[0, 0] = np.nextafter(leaves[0, 0], np.inf)

    def rename(document: Any, arrays: dict[str, Any]) -> None:
        arrays["fitted.classes_"][1] = 7

    others = [changed(model, tmp_path, nudge), changed(model, tmp_path, rename)]
    others.append(copy.deepcopy(model).set_params(reg_lambda=2.0))
    found = {before, *map(sw.fingerprint, others)}
    assert len(found) == 4
    assert all(re.fullmatch("[0-9a-f]{64}", one) for one in found)


def test_a_fingerprint_does_not_depend_on_parameters_that_have_their_default(tmp_path: Path) -> None:
    X = matrix()
    model = sw.NewtonBoostingRegressor(recipe="xgboost", n_estimators=2, max_depth=2).fit(X, numbers(X))

    def forget(document: Any, arrays: dict[str, Any]) -> None:
        del document["parameters"]["reg_alpha"], document["parameters"]["grow_policy"]

    assert sw.fingerprint(changed(model, tmp_path, forget)) == sw.fingerprint(model)


TINY_SCRIPT = """
import numpy as np, sapwood as sw
model = sw.DecisionTreeClassifier(max_depth=2).fit(np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0]]), ["a", "b", "a"])
print(sw.fingerprint(model))
"""
TINY_FINGERPRINT = "889a046f9acbddbf8191618b8671cc4c8504de724f9acdd440969913d216049d"


def test_the_fingerprint_of_a_tiny_model_is_the_same_for_ever() -> None:
    found = subprocess.run([sys.executable, "-c", TINY_SCRIPT], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == TINY_FINGERPRINT

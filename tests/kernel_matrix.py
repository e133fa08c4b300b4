"""A small matrix of fits and predictions that enters every kernel; run as a script with NUMBA_BOUNDSCHECK=1."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from law_cases import CLASSIFICATION, COLUMNS, CRITERIA, assert_leaves_kept, new_tree
from sapwood.explain import shap_interaction_values, shap_values

WAYS: dict[str, dict[str, Any]] = {
    "default": {},
    "best first": {"max_leaf_nodes": 9},
    "few leaves": {"max_leaf_nodes": 2},
    "bins": {"max_bins": 8},
    "random": {"splitter": "random", "random_state": 1},
    "drawn features": {"max_features": 2, "random_state": 1},
    "significance": {"significance": 0.2},
    "limits": {"min_samples_leaf": 3, "min_weight_fraction_leaf": 0.01, "min_impurity_decrease": 1e-4},
    "pruned": {"ccp_alpha": 0.01},
    "other leaves": {},
}


def tables(n_rows: int, rng: np.random.Generator) -> dict[str, Any]:
    """Numbers in every form, sparse numbers, and a frame with many and few levels."""
    X = np.column_stack([maker(rng, n_rows) for maker in COLUMNS.values()])
    frame = pd.DataFrame(X[:, :4], columns=list("abcd"))
    for name, n_levels in (("few", 3), ("some", 12), ("many", 70)):
        codes = rng.integers(-1, n_levels, size=n_rows)
        frame[name] = np.append([f"level {k}" for k in range(n_levels)], None).astype(object)[codes]
    return {"dense": X, "single": X.astype(np.float32), "sparse": sparse.csr_array(np.nan_to_num(X)), "frame": frame}


def targets(criterion: str, n_rows: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Two classes, several classes, several outputs; or numbers, one or two."""
    if criterion in CLASSIFICATION:
        two, four = rng.integers(0, 2, size=n_rows), rng.integers(0, 4, size=n_rows)
        return [two, four, np.column_stack([two, four])]
    numbers = rng.integers(0, 9, size=(n_rows, 2)) / 4
    return [numbers[:, 0], numbers]


def use(model: Any, X: Any, y: np.ndarray, weight: np.ndarray | None) -> None:
    """Fit, and call everything that enters a kernel."""
    model.fit(X, y, sample_weight=weight)
    if weight is None:
        assert_leaves_kept(model, X)
    model.predict(X)
    model.decision_path(X)
    shap_values(model, X[:3])
    shap_values(model, X[:3], background=X[:4])
    shap_interaction_values(model, X[:3])
    if model.splitter == "best":
        model.cost_complexity_pruning_path(X, y, sample_weight=weight)


def leaf_of(criterion: str, way: str) -> str:
    if way != "other leaves":
        return "auto"
    return "softmax" if criterion in CLASSIFICATION else "median"


def main() -> None:
    """Run the whole matrix."""
    rng = np.random.default_rng(0)
    n_fits = 0
    for n_rows, criterion, way in product((1, 2, 5, 330), CRITERIA, WAYS):
        for (kind, X), y in product(tables(n_rows, rng).items(), targets(criterion, n_rows, rng)):
            if criterion == "poisson":
                y[0] += 1
            weight = None if n_fits % 3 else rng.random(n_rows) + 0.1
            unseen = ("missing", "node")[n_fits % 2]
            options = {**WAYS[way], "unseen": unseen, "leaf": leaf_of(criterion, way), "n_jobs": 1 + n_fits % 2}
            signs = np.ndim(y) == 1 and len(np.unique(y)) <= 2 and kind != "frame"
            if signs and n_fits % 5 == 0:
                options["monotonic_cst"] = rng.integers(-1, 2, size=X.shape[1]).tolist()
            use(new_tree(criterion, **options), X, y, weight)
            n_fits += 1
    print(f"{n_fits} fits")


if __name__ == "__main__":
    main()

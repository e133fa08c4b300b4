"""What the trees themselves tell of their columns: gains, numbers of splits, and rows that pass them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.tree_sum import TreeSum

Floats = NDArray[np.float64]


def structure(model: Any) -> dict[str, Floats]:
    """Measures of every column; `gain` is the model's `feature_importances_`."""
    tree_sum: TreeSum = model._tree_sum()
    n_features = model.schema_.n_features
    splits, cover = np.zeros(n_features), np.zeros(n_features)
    for member in tree_sum:
        inner = np.flatnonzero(~member.tree.is_leaf)
        asked, passed = member.tree.feature[inner], member.tree.weighted_n_node_samples[inner]
        splits += np.bincount(asked, minlength=n_features)
        cover += np.bincount(asked, weights=passed, minlength=n_features)
    return {"gain": np.asarray(model.feature_importances_), "splits": splits, "cover": _share(cover)}


def _share(amounts: Floats) -> Floats:
    total = amounts.sum()
    return amounts / total if total > 0 else amounts

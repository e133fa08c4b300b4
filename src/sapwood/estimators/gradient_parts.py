"""Parts of gradient boosting: sets of columns that may meet, and trees as estimators."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.estimators.constraints import interaction_sets
from sapwood.estimators.tree import DecisionTreeRegressor
from sapwood.table.schema import Schema
from sapwood.tree import Tree

Floats = NDArray[np.float64]
OF_TREES = (
    *("max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "max_features"),
    *("max_leaf_nodes", "min_impurity_decrease", "ccp_alpha"),
)


def sets_that_meet(setting: Any, schema: Schema) -> tuple[frozenset[int], ...] | None:
    """Columns that may meet on a path; those that are in no set form one more, as in scikit-learn."""
    everything = range(schema.n_features)
    if isinstance(setting, str):
        size = {"no_interactions": 1, "pairwise": min(2, schema.n_features)}[setting]
        return tuple(map(frozenset, combinations(everything, size)))
    sets = interaction_sets(setting, schema, "interaction_cst")
    if sets is None:
        return None
    rest = frozenset(everything).difference(*sets)
    return (*sets, rest) if rest else sets


def tree_settings(owner: Any, first: int) -> dict[str, Any]:
    """Parameters of the trees from this stage on, in types that a file can hold."""
    settings = {"first": first} | {name: getattr(owner, name) for name in OF_TREES}
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in settings.items()}


def stage_tree(owner: Any, tree: Tree, rate: float, stage: int) -> DecisionTreeRegressor:
    """A tree of the ensemble as an estimator of its own, whose values are those before the learning rate."""
    fits = getattr(owner, "_grown_with", None) or [tree_settings(owner, 0)]  # older files do not tell
    of_stage = next((one for one in reversed(fits) if one["first"] <= stage), fits[0])
    settings = {name: of_stage[name] for name in OF_TREES}
    found = DecisionTreeRegressor(**settings, random_state=owner.random_state, unseen=owner.unseen)
    for name in ("schema_", "n_features_in_", "feature_names_in_", "max_features_"):
        if hasattr(owner, name):
            setattr(found, name, getattr(owner, name))
    found.n_outputs_, found._single_output = 1, True
    return found._set_tree(replace(tree, value=tree.value / rate) if rate > 0.0 else tree)

"""The rivals."""

from __future__ import annotations

from typing import Any

import sklearn.tree

import sapwood

LIBRARIES = {"scikit-learn": sklearn.tree, "sapwood": sapwood}
NAMES = {"classes": "DecisionTreeClassifier", "numbers": "DecisionTreeRegressor"}


def make_model(library: str, task: str, **parameters: Any) -> Any:
    """A tree of one of the libraries; both run on one thread."""
    return getattr(LIBRARIES[library], NAMES[task])(**parameters)

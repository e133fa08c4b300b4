"""Names of features and classes: the user's if given, else those the model remembers; always on one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sapwood.errors import ParameterError, ParameterTypeError
from sapwood.one_line import one_line
from sapwood.show.fitted import Schema, classes_by_output

__all__ = ["class_names_for", "feature_names_for", "one_line"]


def feature_names_for(names: Any, schema: Schema) -> list[str]:
    """One name per column."""
    columns = schema.columns
    if names is None:
        return [one_line(column.name) for column in columns]
    given = _as_list("feature_names", names)
    if len(given) != len(columns):
        raise ParameterError(
            f"feature_names has {len(given)} names, but the tree was fitted on {len(columns)} features. "
            "Give one name per feature, or None for the names seen in fit."
        )
    return [one_line(name) for name in given]


def class_names_for(names: Any, estimator: Any) -> list[list[str]]:
    """Class names of every output; empty for a regressor, whose `class_names` have no meaning."""
    classes = classes_by_output(estimator)
    if not classes or names is None or isinstance(names, (bool, np.bool_)):
        return [[one_line(label) for label in labels] for labels in classes]
    given = _as_list("class_names", names)
    per_output = [given] if len(classes) == 1 else [_as_list("class_names", item) for item in given]
    _check_class_counts([len(item) for item in per_output], [len(labels) for labels in classes])
    return [[one_line(name) for name in item] for item in per_output]


def _check_class_counts(given: Sequence[int], needed: Sequence[int]) -> None:
    if list(given) == list(needed):
        return
    got, want = (", ".join(str(count) for count in counts) for counts in (given, needed))
    raise ParameterError(
        f"class_names has {got or 'no'} names, but the tree was fitted with {want} classes. "
        "Give one name per class in the order of classes_ (one list per output), or None for the classes seen in fit."
    )


def _as_list(argument: str, names: Any) -> list[Any]:
    if isinstance(names, (str, bytes, dict, set)) or not hasattr(names, "__len__"):
        raise ParameterTypeError(
            f"{argument}={names!r} is not allowed: it must be a list of names, or None. "
            f"Use {argument}=None for the names seen in fit."
        )
    return list(names)

"""Names of features and classes: the user's if given, else those of the model; always on one line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sapwood.arrays import Array
from sapwood.errors import ParameterError, ParameterTypeError
from sapwood.one_line import one_line
from sapwood.table.schema import Schema

__all__ = ["class_names_for", "feature_names_for", "one_line"]


def feature_names_for(names: object, schema: Schema) -> list[str]:
    """One name per column."""
    if names is None:
        return [one_line(name) for name in schema.names]
    given = _as_list("feature_names", names)
    if len(given) != schema.n_features:
        raise ParameterError(
            f"feature_names has {len(given)} names, but the tree was fitted on {schema.n_features} features. "
            "Give one name per feature, or None for the names seen in fit."
        )
    return [one_line(name) for name in given]


def class_names_for(names: object, classes: Sequence[Array | Sequence[object]]) -> list[list[str]]:
    """Class names of each output; empty without classes, where `class_names` have no meaning."""
    if not classes or names is None or isinstance(names, (bool, np.bool_)):
        return [[one_line(label) for label in labels] for labels in classes]
    given = _as_list("class_names", names)
    per_output = [given] if len(classes) == 1 else [_as_list("class_names", item) for item in given]
    _check_class_counts([len(item) for item in per_output], [len(labels) for labels in classes])
    return [[one_line(name) for name in item] for item in per_output]


def _check_class_counts(given: Sequence[int], needed: Sequence[int]) -> None:
    if list(given) == list(needed):
        return
    got, want = (", ".join(map(str, counts)) for counts in (given, needed))
    raise ParameterError(
        f"class_names has {got or 'no'} names, but there are {want} classes. "
        "Give one name per class in the order of classes_ (one list per output), or None for the classes seen in fit."
    )


def _as_list(argument: str, names: object) -> list[object]:
    if isinstance(names, (str, bytes, dict, set)) or not hasattr(names, "__len__"):
        raise ParameterTypeError(
            f"{argument}={names!r} is not allowed: it must be a list of names, or None. "
            f"Use {argument}=None for the names seen in fit."
        )
    return list(names)  # type: ignore[call-overload,no-any-return]

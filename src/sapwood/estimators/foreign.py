"""Estimators of other libraries inside of bagging and AdaBoost: what kind they are, copies, rows and predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.utils import InputTags, Tags, TargetTags, get_tags

from sapwood.errors import InputError, ParameterError

INDEXED = ("csr", "csc")  # formats of sparse matrices whose rows can be taken


def tags_of(estimator: Any) -> Tags:
    """What an estimator tells scikit-learn of itself; one that has only `fit` and `predict` tells nothing."""
    try:
        return get_tags(estimator)
    except (AttributeError, TypeError):  # TypeError: of a class, which the rules of parameters refuse
        return Tags(estimator_type=None, target_tags=TargetTags(required=True), input_tags=InputTags())


def check_kind(ensemble: Any, estimator: Any) -> None:
    """Refuse a regressor in an ensemble of classifiers, and the other way round; others are what they predict."""
    wanted = "classifier" if is_classifier(ensemble) else "regressor"
    if not hasattr(estimator, "fit") or isinstance(estimator, type):
        return  # the rules of parameters refuse these
    if tags_of(estimator).estimator_type not in (wanted, None):
        raise ParameterError(
            f"estimator={estimator!r} is not a {wanted}, but {type(ensemble).__name__} needs one. Use a {wanted}, "
            f"such as DecisionTree{wanted.capitalize()}()."
        )


def seeded(estimator: Any, seed: int) -> Any:
    """A copy that is not fitted, each of whose random states is the seed."""
    copy = clone(estimator, safe=False)
    names = sorted(copy.get_params()) if hasattr(copy, "get_params") else []
    states = [name for name in names if name == "random_state" or name.endswith("__random_state")]
    if states:
        copy.set_params(**dict.fromkeys(states, seed))
    return copy


def indexed(X: Any) -> Any:
    """X in a form whose rows and columns can be taken: lists become arrays, sparse matrices of other formats csr."""
    if isinstance(X, (list, tuple)):
        return np.asarray(X)
    return X.tocsr() if sparse.issparse(X) and X.format not in INDEXED else X


def class_numbers(classes: NDArray[Any], predicted: Any, member: Any) -> NDArray[np.int64]:
    """Places of predicted labels among the classes."""
    labels = np.asarray(predicted)
    places = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    wrong = np.flatnonzero(classes[places] != labels)
    if len(wrong):
        label = labels[wrong].tolist()[0]
        raise InputError(
            f"estimator={type(member).__name__} predicts {label!r}, which is not one of the classes "
            f"{classes.tolist()}. Use an estimator that predicts the labels it was fitted to."
        )
    return places

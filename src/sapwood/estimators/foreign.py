"""Estimators of other libraries inside of bagging and AdaBoost: what kind they are, how they are fitted and asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import InputTags, Tags, TargetTags, _safe_indexing, get_tags
from sklearn.utils.validation import has_fit_parameter

from sapwood.arrays import Array, Floats, Ints
from sapwood.data_warnings import quiet
from sapwood.errors import InputError, ParameterError
from sapwood.estimators.tree import DecisionTree
from sapwood.forest.bags import Bag
from sapwood.packed_tree import PackedTree
from sapwood.table.table import Table
from sapwood.table.target import ClassTarget, Target


def is_foreign(estimator: object) -> bool:
    """Whether members are estimators of another library."""
    return estimator is not None and not isinstance(estimator, DecisionTree)


def own_tree(ensemble: Any) -> DecisionTree | None:
    """A new tree like those of an ensemble; None if its members are estimators of another library."""
    estimator, wanted = ensemble.estimator, ensemble.task.kind
    if estimator is None:
        default: DecisionTree = ensemble.default_estimator()
        return default
    if tags_of(estimator).estimator_type not in (wanted, None):
        raise ParameterError(
            f"estimator={estimator!r} is not a {wanted}, but {type(ensemble).__name__} needs one. Use a {wanted}, "
            f"such as DecisionTree{wanted.capitalize()}()."
        )
    if is_foreign(estimator):
        return None
    tree: DecisionTree = clone(estimator)
    tree._check_parameters()
    return tree


def tags_of(estimator: Any) -> Tags:
    """Scikit-learn's tags of an estimator; one that has only `fit` and `predict` has none."""
    try:
        return get_tags(estimator)
    except (AttributeError, TypeError):  # TypeError: of a class, which the rules of parameters refuse
        return Tags(estimator_type=None, target_tags=TargetTags(required=True), input_tags=InputTags())


def take_input_tags(tags: Tags, estimator: Any) -> Tags:
    """The tags of an ensemble, whose members decide what it takes; returns the tags of these."""
    given = tags_of(estimator)
    for name in ("allow_nan", "sparse", "categorical"):
        setattr(tags.input_tags, name, getattr(given.input_tags, name))
    return given


def seeded(estimator: Any, seed: int) -> Any:
    """A copy that is not fitted, each of whose random states is the seed."""
    copy = clone(estimator, safe=False)
    names = sorted(copy.get_params()) if hasattr(copy, "get_params") else []
    states = [name for name in names if name == "random_state" or name.endswith("__random_state")]
    if states:
        copy.set_params(**dict.fromkeys(states, seed))
    return copy


def indexed(X: Any, rows: Array | None = None) -> Any:
    """X, or some rows of it, in a form whose rows and columns can be taken: lists become arrays, COO matrices csr."""
    if isinstance(X, (list, tuple)):
        X = np.asarray(X)
    elif sparse.issparse(X) and X.format not in ("csr", "csc"):
        X = X.tocsr()
    return X if rows is None else _safe_indexing(X, rows)


def columns_of(X: Any, bag: Bag) -> Any:
    """The columns of X that a member uses."""
    return X if bag.features is None else _safe_indexing(X, bag.features, axis=1)


def class_numbers(classes: Array, predicted: Any, member: Any) -> Ints:
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


@quiet()
def fitted_member(member: Any, X: Any, y: Array, weight: Floats, bag: Bag) -> Any:
    """Fit a member of bagging to the rows and columns of its bag."""
    own = columns_of(X, bag)
    if has_fit_parameter(member, "sample_weight"):
        drawn = np.zeros(len(y))
        drawn[bag.rows] = bag.counts
        member.fit(own, y, sample_weight=drawn * weight)
    else:
        member.fit(_safe_indexing(own, bag.drawn), _safe_indexing(y, bag.drawn))
    return member  # what `fit` returns may be anything


@quiet()
def member_values(member: Any, X: Any, classes: Sequence[Array], single: bool) -> Floats:
    """Predictions of a member of bagging, (rows, outputs, classes or 1): probabilities, votes, or numbers."""
    if not classes:
        predicted = np.asarray(member.predict(X), dtype=np.float64)
        return predicted.reshape(len(predicted), -1, 1)
    width = max(map(len, classes))
    if not (hasattr(member, "predict_proba") and hasattr(member, "classes_")):
        labels = np.asarray(member.predict(X)).reshape(-1, len(classes))
        out = np.zeros((len(labels), len(classes), width))
        for o, known in enumerate(classes):
            out[np.arange(len(out)), o, class_numbers(known, labels[:, o], member)] = 1.0
        return out
    shares = member.predict_proba(X)
    parts, own = ([shares], [member.classes_]) if single else (shares, member.classes_)
    out = np.zeros((len(parts[0]), len(classes), width))
    for o, known in enumerate(classes):
        out[:, o, np.searchsorted(known, own[o])] = parts[o]
    return out


class AnyMembers:
    """Fitted learners of AdaBoost of any kind."""

    def __init__(self, classes: Array | None) -> None:
        self.fitted: list[Any] = []
        self._classes = classes

    @quiet()
    def predict(self, member: Any, X: Any) -> Floats:
        """Predictions of a learner as numbers; the ensemble has compared the rows with those of training."""
        predicted = member.predict(X)
        if self._classes is not None:
            predicted = class_numbers(self._classes, predicted, member)
        return np.asarray(predicted, dtype=np.float64)

    def predictions(self, X: Any, table: Table | None) -> Iterator[Floats]:  # noqa: ARG002 - members read X themselves
        """Predictions of each learner for new rows."""
        X = indexed(X)
        for member in self.fitted:
            yield self.predict(member, X)


class AnyLearner:
    """Clones of any estimator that takes weights, or rows that were drawn.

    Weights of AdaBoost sum to 1. Learners get them with a mean of 1, as if most rows had no weight: penalties and
    minimum weights of nodes (min_child_weight) are meant for that scale.
    """

    def __init__(self, estimator: Any, X: Any, target: Target, resample: bool) -> None:
        if not resample and not has_fit_parameter(estimator, "sample_weight"):
            raise ParameterError(
                f"{type(estimator).__name__} doesn't support sample_weight. Use an estimator whose fit takes "
                "sample_weight, or resample=True."
            )
        self._estimator, self._X, self._y = estimator, X, target.labels()
        self.members = AnyMembers(target.classes[0] if isinstance(target, ClassTarget) else None)

    def fit(self, weight: Floats, drawn: Array | None, seed: int, done: PackedTree | None = None) -> Floats:  # noqa: ARG002
        """Fit one more clone."""
        member = seeded(self._estimator, seed)
        with quiet():
            if drawn is None:
                member.fit(self._X, self._y, sample_weight=weight * (len(weight) / weight.sum()))
            else:
                member.fit(_safe_indexing(self._X, drawn), _safe_indexing(self._y, drawn))
        self.members.fitted.append(member)
        return self.members.predict(member, self._X)

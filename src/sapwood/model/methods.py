"""The Model of each method, from what training leaves behind: a tree, a forest, learners, or rounds of boosting.

`common` is what models of all methods have, see `Common`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NotRequired, TypedDict, Unpack

import numpy as np

from sapwood.adaboost.members import TreeMembers
from sapwood.arrays import Array, Floats
from sapwood.boosting.ensemble import Ensemble
from sapwood.forest.forest import Forest
from sapwood.losses.counts import Gamma, Poisson, Tweedie
from sapwood.losses.custom import CustomLoss
from sapwood.losses.exponential import Exponential
from sapwood.losses.logistic import Logistic
from sapwood.losses.loss import Loss
from sapwood.losses.multinomial import Multinomial
from sapwood.losses.per_target import PerTarget
from sapwood.losses.quantile import Quantile
from sapwood.model.model import Begin, Model
from sapwood.model.response import Response
from sapwood.table.schema import Schema, Unseen
from sapwood.tree import Tree
from sapwood.tree_sum import Term, TreeSum

Names = tuple[object, ...]
LINKS: dict[type[Loss], Response] = {
    Logistic: Response("logistic"),
    Exponential: Response("logistic", scale=2.0),
    Multinomial: Response("softmax"),
    **{counts: Response("exponential") for counts in (Poisson, Gamma, Tweedie)},
}
TIE = 1e-9  # scores that are closer differ by rounding: the first class wins, whatever the order of summation


class Common(TypedDict):
    """Attributes of a Model that do not depend on the method."""

    estimator: str
    schema: Schema
    classes: tuple[Array, ...]
    single: bool
    unseen: Unseen
    drift_warning: bool
    begin: NotRequired[Begin | None]


def tree_model(tree: Tree, criterion: str, **common: Unpack[Common]) -> Model:
    """A single tree."""
    values = tree.value.reshape(tree.node_count, -1)
    trees = TreeSum(np.zeros(values.shape[1]), 1, (Term(tree, values),).__getitem__, criterion=criterion)
    names = _outputs(tree.value.shape[1], common["classes"], common["single"])
    return Model(trees=trees, response=Response(), score_names=names, **common)


def forest_model(forest: Forest, criterion: str, prior_weight: float, **common: Unpack[Common]) -> Model:
    """The mean of the trees of a forest, in which the mean of their roots counts as `prior_weight` trees."""
    names = _outputs(forest.trees[0].value_shape[0], common["classes"], common["single"])
    return Model(trees=forest.tree_sum(criterion, prior_weight), response=Response(), score_names=names, **common)


def members_model(n_outputs: int, **common: Unpack[Common]) -> Model:
    """Members of other libraries, whose mean scores `begin` gives."""
    names = _outputs(n_outputs, common["classes"], common["single"])
    return Model(trees=_no_trees(len(names)), response=Response(), score_names=names, **common)


def _outputs(n_outputs: int, classes: Sequence[Array], single: bool) -> Names:
    """Classes, or numbers of outputs, in the order of the values of a node; None for classes that fill up a row."""
    if not classes:
        return ("prediction",) if single else tuple(f"output {o}" for o in range(n_outputs))
    if single:
        return tuple(classes[0].tolist())
    width = max(map(len, classes))
    names: list[object] = []
    for o, labels in enumerate(classes):
        own = [f"output {o}: {label}" for label in labels.tolist()]
        names += [*own, *[None] * (width - len(own))]
    return tuple(names)


def _no_trees(n_columns: int) -> TreeSum:
    return TreeSum(np.zeros(n_columns), 0, ().__getitem__)


def adaboost_model(members: TreeMembers | None, weights: Floats, criterion: str, **common: Unpack[Common]) -> Model:
    """Weighted votes of the learners for classes, by SAMME; their weighted median for numbers, by AdaBoost.R2."""
    if common["classes"]:
        return _voting_model(members, weights, criterion, **common)
    trees = _no_trees(len(weights))
    if members is not None:
        trees = TreeSum(np.zeros(len(weights)), len(weights), _Values(members), criterion=criterion)
    names = tuple(f"learner {t}" for t in range(len(weights)))
    return Model(trees=trees, response=Response("median", weights=weights), score_names=names, **common)


def _voting_model(members: TreeMembers | None, weights: Floats, criterion: str, **common: Unpack[Common]) -> Model:
    labels = tuple(common["classes"][0].tolist())
    two = len(labels) == 2
    names = labels[1:] if two else labels
    response = Response("logistic") if two else Response("softmax", scale=1.0 / max(len(labels) - 1, 1))
    trees = _no_trees(len(names))
    if members is not None:
        votes = _Votes(members, weights, len(labels))
        trees = TreeSum(np.zeros(len(names)), len(weights), votes, float(np.cumsum(weights)[-1]), criterion=criterion)
    return Model(trees=trees, response=response, score_names=names, **common)


@dataclass(frozen=True, eq=False)
class _Votes:
    """Each learner adds its weight for one class, and takes weight / (K - 1) from the others.

    Two classes share one column, the difference of theirs.
    """

    members: TreeMembers
    weights: Floats
    n_classes: int

    def __call__(self, t: int) -> Term:
        tree, own, n = self.members.fitted[t].unpack(), self.weights[t], self.n_classes
        likely = self.members.values(tree.value)[:, None]
        if n == 2:
            return Term(tree, np.where(likely == 1.0, 2.0 * own, -2.0 * own))
        return Term(tree, np.where(likely == np.arange(n), own, -own / max(n - 1, 1)))


@dataclass(frozen=True, eq=False)
class _Values:
    """The values of each learner, in a column of its own."""

    members: TreeMembers

    def __call__(self, t: int) -> Term:
        tree = self.members.fitted[t].unpack()
        return Term(tree, self.members.values(tree.value)[:, None], t)


def boosting_model(
    ensemble: Ensemble,
    n_rounds: int,
    loss: Loss,
    factors: Floats | None,
    second_of_equals: bool,
    **common: Unpack[Common],
) -> Model:
    """The first rounds of boosting; `factors` are the weights of classes that probabilities undo, if these differ."""
    classes = common["classes"]
    common["single"] = ensemble.n_scores == 1 or bool(classes)
    response = _link(loss, bool(classes))
    if classes:
        undone = factors if factors is not None and (factors != factors[0]).any() else None
        margin = 0.0 if second_of_equals else TIE
        response = replace(response, factors=undone, second_of_equals=second_of_equals, margin=margin)
    names = loss.targets or _score_names(classes, ensemble.n_scores)
    return Model(trees=ensemble.tree_sum(n_rounds), response=response, score_names=names, **common)


def _score_names(classes: Sequence[Array], n_scores: int) -> Names:
    if classes:
        labels = tuple(classes[0].tolist())
        return labels[1:] if n_scores == 1 else labels
    return ("score",) if n_scores == 1 else tuple(f"score {k}" for k in range(n_scores))


def _link(loss: Loss, of_classes: bool) -> Response:
    """The inverse link of a loss; scores of a custom objective are log-odds, or the prediction itself."""
    loss = loss.each if isinstance(loss, PerTarget) else loss
    if isinstance(loss, CustomLoss):
        return Response("same" if not of_classes else "logistic" if loss.n_scores == 1 else "softmax")
    if isinstance(loss, Quantile) and loss.n_scores > 1:
        order = np.argsort(np.argsort(loss.quantiles, kind="stable"), kind="stable")
        return Response("sorted", ranks=tuple(order.tolist()))
    return next((link for kind, link in LINKS.items() if isinstance(loss, kind)), Response())

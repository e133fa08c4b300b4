"""Kinds of trees that internal validation chooses between: linear leaves or not, shared splits or not.

Models of all kinds are trained for the same number of rounds, and those of the best kind go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sapwood.boosting.fitting import Setup
from sapwood.metrics.metric import Metric

CLEARLY = 0.05  # share of the loss that symmetric trees must save: small differences after few rounds mean nothing


@dataclass(frozen=True, eq=False)
class TreeKind:
    """The setup that trains a kind of trees, its parameters, its name, and how much of the first kind's loss it must save."""

    setup: Setup
    parameters: dict[str, Any] = field(default_factory=dict)
    name: str = ""
    margin: float = 0.0


def kinds_of(setup: Setup) -> list[TreeKind]:
    """The kinds that a setup leaves open, the usual one first; one kind if it leaves none."""
    kinds = [TreeKind(setup)]
    if setup.rounds.linear is None:
        kinds = [_varied(kind, {"linear_tree": flag}, linear=flag) for kind in kinds for flag in (False, True)]
    tree, chosen = setup.rounds.shared_splits, setup.recipe.choices
    if tree is not None:
        usual = [_varied(kind, {"grow_policy": "lossguide"}, shared_splits=None) for kind in kinds]
        limits = {"max_depth": tree.max_depth, "max_leaves": tree.max_leaves, "extra_trees": tree.extra_trees}
        own = {"grow_policy": "symmetric"} | {name: value for name, value in limits.items() if name in chosen}
        alternates = setup.rounds.alternates and "extra_trees" not in chosen
        rounds = {"tree": tree, "shared_splits": None, "alternates": alternates}
        kinds = usual + [replace(_varied(kind, own, **rounds), margin=CLEARLY) for kind in kinds]
    return kinds


def _varied(kind: TreeKind, parameters: dict[str, Any], **rounds: Any) -> TreeKind:
    """The kind with other options of rounds; it is named by the first of the parameters."""
    setup = replace(kind.setup, rounds=replace(kind.setup.rounds, **rounds))
    parameter, value = next(iter(parameters.items()))
    name = ", ".join(filter(None, [kind.name, f"{parameter}={value!r}"]))
    return TreeKind(setup, kind.parameters | parameters, name, kind.margin)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Means over the folds of the best metric of each kind after some rounds."""

    metric: Metric
    n_rounds: int
    kinds: Sequence[TreeKind]
    means: Sequence[float]

    @property
    def best(self) -> int:
        """The number of the best kind; of equal ones the first."""
        sign = -1.0 if self.metric.larger_is_better else 1.0
        losses = [sign * mean for mean in self.means]
        least = [loss + kind.margin * abs(losses[0]) for loss, kind in zip(losses, self.kinds, strict=True)]
        return 0 if np.all(np.isnan(least)) else int(np.nanargmin(least))

    @property
    def chosen(self) -> dict[str, Any]:
        """Parameters of the best kind."""
        return self.kinds[self.best].parameters

    @property
    def sentence(self) -> str:
        """What was compared, and the best kind."""
        found = "; ".join(f"{kind.name}: {mean:.6g}" for kind, mean in zip(self.kinds, self.means, strict=True))
        name = f"Mean {self.metric.name} after {self.n_rounds} rounds, on rows that did not train"
        return f"{self.kinds[self.best].name}: chosen by validation. {name}: {found}."

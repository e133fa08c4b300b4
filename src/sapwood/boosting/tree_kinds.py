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
    """Parameters of a kind of trees, the setup that trains them, and the share of the first kind's loss it must save."""

    setup: Setup
    parameters: dict[str, Any] = field(default_factory=dict)
    margin: float = 0.0

    @property
    def name(self) -> str:
        """The parameters as a user writes them."""
        return ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())


def kinds_of(setup: Setup) -> list[TreeKind]:
    """The kinds that a setup leaves open, the usual one first; one kind if it leaves none."""
    kinds = [TreeKind(setup)]
    if setup.rounds.linear is None:
        kinds = [_varied(kind, {"linear_tree": flag}, 0.0, linear=flag) for kind in kinds for flag in (False, True)]
    shared = setup.rounds.shared_splits
    if shared is not None:
        usual = [_varied(kind, {"grow_policy": "lossguide"}, 0.0, shared_splits=None) for kind in kinds]
        others = {"tree": shared, "shared_splits": None, "alternates": False}
        kinds = usual + [_varied(kind, {"grow_policy": "symmetric"}, CLEARLY, **others) for kind in kinds]
    return kinds


def _varied(kind: TreeKind, parameters: dict[str, Any], margin: float, **rounds: Any) -> TreeKind:
    setup = replace(kind.setup, rounds=replace(kind.setup.rounds, **rounds))
    return TreeKind(setup, kind.parameters | parameters, max(kind.margin, margin))


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

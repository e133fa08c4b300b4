"""Kinds of trees that internal validation chooses between: linear leaves or not, trees by leaf or symmetric ones.

Models of all kinds are trained on the same folds, and those of the kind of least loss on the folds' rows are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sapwood.boosting.fitting import Setup
from sapwood.boosting.options import RoundOptions
from sapwood.boosting.rate import learning_rate
from sapwood.metrics.metric import Metric

CLEARLY = 0.05  # share of the loss that alternatives must save: smaller differences are not worth other trees


@dataclass(frozen=True, eq=False)
class TreeKind:
    """The setup that trains a kind of trees, and the parameters that are special about it.

    `margin` is the share of the first kind's loss that it must save. `is_early` if some rounds are enough to compare.
    """

    setup: Setup
    parameters: dict[str, Any] = field(default_factory=dict)
    margin: float = 0.0
    is_early: bool = True

    @property
    def name(self) -> str:
        """Parameters as a user writes them, such as grow_policy='symmetric'; numbers are left out."""
        shown = {name: value for name, value in self.parameters.items() if name in ("grow_policy", "linear_tree")}
        return ", ".join(f"{name}={value!r}" for name, value in shown.items())


def kinds_of(setup: Setup) -> list[TreeKind]:
    """The kinds that a setup leaves open, the usual one first; one kind if it leaves none."""
    kinds = [TreeKind(setup)]
    if setup.alternative is not None:
        usual = {name: setup.recipe.values[name] for name in setup.recipe.alternative}
        alternative = _with_rounds(setup, setup.alternative)
        if "learning_rate" in setup.recipe.alternative:
            rate = learning_rate(setup.recipe.alternative["learning_rate"])
            alternative = replace(alternative, plan=replace(setup.plan, rate=rate))
        kinds = [TreeKind(setup, usual), TreeKind(alternative, setup.recipe.alternative, CLEARLY, is_early=False)]
    if setup.rounds.linear is None:
        kinds = [_with_linear(kind, flag) for kind in kinds for flag in (False, True)]
    return kinds


def _with_rounds(setup: Setup, rounds: RoundOptions) -> Setup:
    return replace(setup, rounds=rounds)


def _with_linear(kind: TreeKind, flag: bool) -> TreeKind:
    rounds, own = replace(kind.setup.rounds, linear=flag), {"linear_tree": flag}
    if flag and rounds.tree.leaf_wise and "max_leaves" in kind.setup.recipe.linear:
        own |= kind.setup.recipe.linear
        rounds = replace(rounds, tree=replace(rounds.tree, max_leaves=own["max_leaves"]))
    return replace(kind, setup=_with_rounds(kind.setup, rounds), parameters=kind.parameters | own)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Means over the folds of the best metric of each kind, after so many rounds or (0) after all."""

    metric: Metric
    n_rounds: int
    kinds: Sequence[TreeKind]
    means: Sequence[float]

    @property
    def best(self) -> int:
        """The number of the best kind; of equal ones the first."""
        sign = -1.0 if self.metric.larger_is_better else 1.0
        losses = [sign * mean for mean in self.means]
        wanted = [loss + kind.margin * abs(losses[0]) for loss, kind in zip(losses, self.kinds, strict=True)]
        return 0 if np.all(np.isnan(wanted)) else int(np.nanargmin(wanted))

    @property
    def chosen(self) -> TreeKind:
        """The best kind."""
        return self.kinds[self.best]

    @property
    def sentence(self) -> str:
        """What was compared, and the best kind."""
        means = zip(self.kinds, self.means, strict=True)
        found = ", ".join(f"{mean:.6g} with {kind.name}" for kind, mean in means if not np.isnan(mean))
        when = f"after {self.n_rounds} rounds" if self.n_rounds else "after the best numbers of rounds"
        return f"{self.chosen.name}: {when}, {self.metric.name} on rows that did not train was {found}."

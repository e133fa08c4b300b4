"""What the engine's floats can hold, and a warning if limits keep every tree from splitting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sapwood.arrays import Floats
from sapwood.errors import InputError, NoSplitWarning, ParameterError, warn_user
from sapwood.tree import Tree

MOST = 1e150  # gains hold squares of sums of gradients
LEAST = 1e-100


def check_size(y: Floats, weight: Floats | None, weight_name: str) -> None:
    """Refuse numbers, of each target, whose sums of squares overflow: trees could not be grown."""
    heaviest = 1.0 if weight is None else float(weight.max())
    for k, size in enumerate(np.atleast_1d(np.abs(y).max(axis=0)).tolist()):
        _check_numbers(size, heaviest, len(y), weight_name, "y" if y.ndim == 1 else f"Column {k} of y")
    if heaviest < LEAST:
        raise InputError(
            f"{weight_name} is at most {heaviest:.3g}, whose squares are smaller than a 64-bit float can be. Make it "
            "larger by a constant factor."
        )


def _check_numbers(size: float, heaviest: float, n_rows: int, weight_name: str, owner: str) -> None:
    if max(1.0, size) * heaviest * n_rows > MOST:
        raise InputError(
            f"{owner} reaches {size:.3g} and {weight_name} {heaviest:.3g}: squares of their sums are larger than "
            "a 64-bit float can be. Divide them by a constant."
        )
    if 0.0 < size < LEAST:
        raise InputError(
            f"{owner} is at most {size:.3g} in size, whose square is smaller than a 64-bit float can be. Multiply it "
            "by a constant."
        )


def refuse_divergence(progress: Any) -> None:
    """Refuse to train on before leaves, which grow from round to round, overflow."""
    of_folds = [fold.rounds for fold in getattr(progress, "folds", ())]
    for rounds in of_folds or [progress.rounds]:
        for ago, trees in zip(range(progress.n_new - 1, -1, -1), rounds.trees[-progress.n_new :], strict=False):
            largest = max(float(np.abs(tree.value).max()) for tree in trees)
            if not largest < MOST:
                raise ParameterError(
                    f"Training diverges: leaves reached {largest:.3g} in round {progress.round - ago}. Use a smaller "
                    "learning_rate (above 1, each round overshoots), or a larger reg_lambda or min_child_weight."
                )


def warn_of_no_split(rounds: Sequence[Sequence[Tree]], least: float, y: Floats) -> None:
    """Warn if no tree has a split because min_child_weight, the minimum hessian of a child, allows none."""
    if (y == y[0]).all():  # there is nothing to split
        return
    trees = [tree for own in rounds for tree in own]
    most = max((float(tree.weighted_n_node_samples[0]) for tree in trees), default=np.inf)
    if most < 2 * least and all(tree.node_count == 1 for tree in trees):
        warn_user(
            f"No tree has a split, so the model is a constant: min_child_weight={least} is the minimum sum of hessians "
            f"in a leaf, and all rows together have {most:.4g}. Use a smaller min_child_weight, such as "
            f"{_power_below(most / 100)}, or larger sample weights.",
            NoSplitWarning,
        )


def _power_below(number: float) -> str:
    """1e-3 for 0.0042."""
    return "0" if number <= 0 else f"1e{int(f'{number:e}'.partition('e')[2])}"

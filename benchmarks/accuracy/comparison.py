"""One library against another, over sets."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest

from accuracy.losses import Losses


@dataclass(frozen=True)
class Comparison:
    """Logarithms of the ratios of losses, ours over theirs, by set: below 0 we win. Infinite where one has failed.

    Nearly solved sets count for wins and the sign test, but not for the median and the worst set.
    """

    ratios: dict[str, float]
    solved: frozenset[str]
    seconds: float  # of all fits, one for each set
    other_seconds: float

    @property
    def wins(self) -> int:
        return sum(ratio < 0 for ratio in self.ratios.values())

    @property
    def losses(self) -> int:
        return sum(ratio > 0 for ratio in self.ratios.values())

    @property
    def p_value(self) -> float:
        """Of the sign test with two sides; sets with the same loss do not count."""
        n = self.wins + self.losses
        return float(binomtest(self.wins, n).pvalue) if n else math.nan

    @property
    def median(self) -> float:
        clear = list(self._clear().values())
        return float(np.median(clear)) if clear else math.nan

    @property
    def worst(self) -> tuple[str, float]:
        """The set of the largest ratio, and the ratio."""
        clear = self._clear()
        name = max(clear, key=lambda each: clear[each], default="")
        return name, clear.get(name, math.nan)

    def _clear(self) -> dict[str, float]:
        """Ratios of sets that are not nearly solved."""
        return {name: ratio for name, ratio in self.ratios.items() if name not in self.solved}


def compare(losses: Losses, one: str, other: str, sets: Collection[str] | None = None) -> Comparison:
    """One library against another on the sets that both have run on, or on those of them that are named."""
    names = [name for name in losses.common(one, other) if sets is None or name in sets]
    ours, theirs = losses.loss[one], losses.loss[other]
    return Comparison(
        {name: _log_ratio(ours[name], theirs[name]) for name in names},
        frozenset(name for name in names if losses.is_nearly_solved(name)),
        *(float(np.nansum([losses.seconds[library][name] for name in names])) for library in (one, other)),
    )


def _log_ratio(ours: float, theirs: float) -> float:
    if ours == theirs:
        return 0.0
    if 0.0 in (ours, theirs) or math.inf in (ours, theirs):
        return math.copysign(math.inf, ours - theirs)
    return math.log(ours / theirs)

"""Small data for forests: numbers with ties and gaps, categories, targets of all kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Array = NDArray[Any]


def frame(n: int = 200, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    found = pd.DataFrame(rng.normal(size=(n, 5)), columns=list("abcde"))
    found["b"] = found["b"].round(1)
    found.loc[rng.random(n) < 0.2, "c"] = np.nan
    found["level"] = pd.Categorical(rng.choice([None, *"stuvw"], n))
    return found


def signal(X: pd.DataFrame) -> Array:
    level = X["level"].cat.codes.to_numpy() % 3
    noise = np.random.default_rng(len(X)).normal(size=len(X))
    return (X["a"] + X["b"] * (X["d"] > 0) + X["c"].fillna(1.0) + level + 0.3 * noise).to_numpy()


def tables(forest: Any) -> list[dict[str, Array]]:
    """Every array of every tree."""
    return [tree.arrays() for tree in forest.forest_.unpacked()]


def same(first: Any, second: Any) -> bool:
    """Whether two forests have equal bytes."""
    ours, theirs = tables(first), tables(second)
    return len(ours) == len(theirs) and all(
        one[name].tobytes() == other[name].tobytes() for one, other in zip(ours, theirs, strict=True) for name in one
    )

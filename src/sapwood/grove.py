"""A grove: trees whose words are added up. Every model of the library is one to prediction and explanation.

Each member of a grove is a tree, what each of its nodes says (one or more numbers), and the column of the scores that
the first of these numbers is added to:

    scores(row) = base + sum over members of words[leaf of the row]  (in the order of the members), all / divisor

| model | words of a node | columns |
|---|---|---|
| single tree, forest, bagging | class shares, votes or means | one for each output and class; divisor: trees |
| boosting | the leaf | tree k of a round adds to score k |
| AdaBoost, classes | ± the learner's say | one for each class, or one for the second of two; divisor: sum of says |
| AdaBoost, numbers | the value | one for each learner: the prediction is their weighted median, not their sum |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapwood.tree import Tree

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Member:
    """A tree, what its nodes say (nodes, width), and the column of the scores where the first word goes."""

    tree: Tree
    words: Floats
    column: int = 0


@dataclass(frozen=True, eq=False)
class Grove:
    """Members are made when they are asked for, since a forest keeps its trees packed."""

    base: Floats  # scores before the first member
    size: int
    member: Callable[[int], Member]
    divisor: float = 1.0

    def __len__(self) -> int:
        """Number of members."""
        return self.size

    def __iter__(self) -> Iterator[Member]:
        """All members, one at a time."""
        return map(self.member, range(self.size))

    @property
    def n_columns(self) -> int:
        """Number of scores of a row."""
        return len(self.base)
